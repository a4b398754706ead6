// SPDX-License-Identifier: Apache-2.0
//
// The output of a link follows from the bytes of its inputs, their order and the options. Whatever
// else a machine can do differently is done differently here, and every output is the same.
#include <cctype>
#include <clocale>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <locale>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "devlink/link_session.h"
#include "golden/golden.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/test_environment.h"
#include "support/toolkit.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

// A program: inputs in link order, each with the ending of its name.
struct Program {
  std::string name;
  std::string arch;
  std::vector<std::pair<std::string, Bytes>> inputs;
};

// A golden, and so many small inputs that it is worth reading them on several threads.
Program ProgramOf(const Golden& golden) {
  Program out{.name = golden.name, .arch = golden.arch, .inputs = {}};
  for (const fs::path& input : golden.inputs) {
    out.inputs.emplace_back(".cubin", ReadBytes(input).value_or(Bytes()));
  }
  const std::uint16_t sm = Arch::Parse(golden.arch)->number;
  for (int i = 0; i < 70; ++i) {
    const std::string name = "extra" + std::to_string(i);
    out.inputs.emplace_back(
        ".cubin",
        BuildCubin({.sm = sm,
                    .functions = {{.name = name, .kernel = i % 2 == 0, .weak = i % 4 == 1}},
                    .global_bytes = 4,
                    .global_name = "variable" + std::to_string(i)}));
  }
  return out;
}

// How inputs are called: by their number.
using Naming = std::function<std::string(std::size_t)>;

struct World {
  unsigned threads = 1;
  Executor executor;
  std::string folder = "in";
  Naming name = [](std::size_t i) { return std::to_string(i); };
  bool absolute = false;
};

// Writes the inputs into a folder of its own and links them from there.
Bytes LinkIn(const World& world, const Program& program,
             const std::shared_ptr<Toolchain>& tools = nullptr) {
  const TemporaryDirectory directory;
  const fs::path before = fs::current_path();
  fs::create_directories(directory.path() / world.folder);
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const auto& [ending, bytes] = program.inputs[i];
    const fs::path path = fs::path(world.folder) / (world.name(i) + ending);
    REQUIRE(WriteBytes(directory.path() / path, bytes));
    paths.push_back((world.absolute ? directory.path() / path : path).string());
  }
  TestEnvironment environment;
  environment.from_disk = true;
  environment.executor = world.executor;
  LinkOptions options;
  options.target = *Arch::Parse(program.arch);
  options.parallel.threads = world.threads;
  LinkSession session =
      *LinkSession::Create(options, {.environment = &environment, .toolchain = tools});
  fs::current_path(directory.path());
  const absl::Status added = session.AddFiles(paths);
  LinkOutcome outcome = session.Link();
  fs::current_path(before);
  CAPTURE(added.ToString(), outcome.status.ToString());
  REQUIRE(outcome.ok());
  CHECK((environment.parallel_runs > 0) == (world.threads > 1));
  return std::move(outcome.cubin);
}

std::map<std::string, World> Worlds() {
  std::map<std::string, World> out;
  for (const unsigned threads : {1U, 2U, 8U}) {
    out["threads: " + std::to_string(threads)] = {.threads = threads};
    for (const auto& [name, executor] : OddExecutors()) {
      out[name + ", " + std::to_string(threads)] = {.threads = threads, .executor = executor};
    }
  }
  const auto named = [](Naming name) { return World{.threads = 2, .executor = {}, .name = name}; };
  out["names of one letter"] =
      named([](std::size_t i) { return std::string(1, static_cast<char>('0' + i)); });
  out["names as long as they may be"] =
      named([](std::size_t i) { return std::string(240, 'x') + static_cast<char>('0' + i); });
  out["names in descending order"] = named([](std::size_t i) { return std::to_string(9999 - i); });
  out["names that no one gives"] =
      named([](std::size_t i) { return "\xc3\xa4 \n\t'\"$\xff" + std::to_string(i); });
  out["absolute paths"] = {.folder = "a/b", .absolute = true};
  std::string deep;
  for (int i = 0; i < 12; ++i) deep += std::string(200, static_cast<char>('a' + i)) + "/";
  out["a deep folder"] = {.folder = deep};
  return out;
}

// Sets what C and C++ programs find around them, and puts it back.
class Around {
 public:
  Around(const char* locale, const char* zone, const std::locale& streams)
      : locale_(std::setlocale(LC_ALL, nullptr)), streams_(std::locale::global(streams)) {
    std::setlocale(LC_ALL, locale);
    setenv("TZ", zone, 1);
    tzset();
  }
  Around(const Around&) = delete;
  Around& operator=(const Around&) = delete;
  ~Around() {
    std::locale::global(streams_);
    std::setlocale(LC_ALL, locale_.c_str());
    unsetenv("TZ");
    tzset();
  }

 private:
  std::string locale_;
  std::locale streams_;
};

// Writes 1000 as "1'0'0'0".
class Grouped : public std::numpunct<char> {
 protected:
  char do_thousands_sep() const override { return '\''; }
  std::string do_grouping() const override { return "\1"; }
};

void CheckProgram(const Program& program) {
  const Bytes expected = LinkIn({}, program);
  for (const auto& [name, world] : Worlds()) {
    CAPTURE(name);
    CHECK((LinkIn(world, program) == expected));
  }
  for (const char* zone : {"UTC", "Pacific/Kiritimati", "<-12>12"}) {
    const Around around("C.UTF-8", zone, std::locale(std::locale(), new Grouped));
    CAPTURE(zone);
    CHECK((LinkIn({.threads = 2}, program) == expected));
  }
}

// The program has addresses, and with them hash seeds, of its own in every process.
void CheckProcesses(const Program& program) {
  const Bytes expected = LinkIn({}, program);
  const TemporaryDirectory directory;
  const std::string output = directory.File("out.cubin");
  std::vector<std::string> link = {DEVLINK_PROGRAM, "-arch=" + program.arch, "-o", output};
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    link.push_back(directory.File(std::to_string(i) + program.inputs[i].first));
    REQUIRE(WriteBytes(link.back(), program.inputs[i].second));
  }
  for (const char* variable :
       {"TZ=Asia/Tokyo", "LC_ALL=C.UTF-8", "LC_ALL=tr_TR.UTF-8", "MALLOC_PERTURB_=165", "HOME=/"}) {
    CAPTURE(variable);
    std::vector<std::string> command = {"env", "-i", variable};
    command.insert(command.end(), link.begin(), link.end());
    const ProcessResult run = RunProcess(command);
    CAPTURE(run.err);
    REQUIRE(run.ok());
    CHECK((ReadBytes(output) == expected));
    fs::remove(output);
  }
}

TEST_CASE("PTX is assembled alike on any threads", "[determinism]") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  Program program{.name = "ptx", .arch = "sm_80", .inputs = {}};
  for (int i = 0; i < 8; ++i) {
    const std::string number = std::to_string(i);
    const std::string callee = std::to_string(i + 1);
    std::string text = ".version 9.0\n.target sm_80\n.address_size 64\n";
    if (i < 7) text += ".extern .func (.param .b32 r) f" + callee + "(.param .b32 x);\n";
    text += ".visible .func (.param .b32 r) f" + number +
            "(.param .b32 x) {\n.reg .b32 %a;\n"
            "ld.param.b32 %a, [x];\n";
    if (i < 7) text += "call (%a), f" + callee + ", (%a);\n";
    text += "add.s32 %a, %a, " + number + ";\nst.param.b32 [r], %a;\nret;\n}\n";
    text += ".visible .entry k" + number + "() { .reg .b32 %a; mov.u32 %a, 1; call (%a), f" +
            number + ", (%a); ret; }\n";
    program.inputs.emplace_back(".ptx", Bytes(text.begin(), text.end()));
  }
  const TemporaryDirectory temporary;
  const auto link = [&](const World& world) {
    ToolchainOptions tools;
    tools.ptx = {.backend = PtxBackend::kPtxas,
                 .ptxas_path = toolkit->ptxas,
                 .temporary_directory = temporary.path().string()};
    return LinkIn(world, program, std::make_shared<Toolchain>(std::move(tools)));
  };
  const Bytes expected = link({});
  for (const unsigned threads : {2U, 8U}) CHECK((link({.threads = threads}) == expected));
  for (const auto& [name, executor] : OddExecutors()) {
    CAPTURE(name);
    CHECK((link({.threads = 8, .executor = executor}) == expected));
  }
}

void AddPrograms() {
  const std::vector<Golden> goldens = FindGoldens();
  AddTestCase("There are programs", "[determinism]",
              [count = goldens.size()] { CHECK(count >= 30); });
  for (const Golden& golden : goldens) {
    AddTestCase(golden.name, "[determinism]", [golden] { CheckProgram(ProgramOf(golden)); });
    AddTestCase(golden.name + ", by processes", "[determinism]",
                [golden] { CheckProcesses(ProgramOf(golden)); });
  }
}

const AtStart kAddPrograms(AddPrograms);

}  // namespace
}  // namespace devlink::testing
