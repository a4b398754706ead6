// SPDX-License-Identifier: Apache-2.0
//
// devlink-bench: links the same programs with nvlink, with NVIDIA's libnvJitLink and with devlink,
// and compares time and memory.
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "measure.h"
#include "modules.h"
#include "options.h"
#include "programs.h"
#include "table.h"

namespace devlink::bench {

namespace {

namespace fs = std::filesystem;

constexpr char kTheirs[] = "nvlink.out";
constexpr char kTheirLibrarys[] = "nvjitlink.out";
constexpr char kOurs[] = "devlink.out";

fs::path Programs() { return fs::read_symlink("/proc/self/exe").parent_path(); }

// The toolkit, as scripts/setup found it; empty where nobody says.
std::string Toolkit() {
  const char* const home = std::getenv("CUDA_HOME");
  return home == nullptr ? "" : home;
}

// A folder with copies of the inputs, which goes with it; or, where that is not wanted, theirs.
class Workplace {
 public:
  Workplace(const CompiledProgram& program, const fs::path& base) : path_(program.directory) {
    if (base.empty()) return;
    path_ = base / ("devlink-bench." + std::to_string(getpid()));
    is_own_ = true;
    fs::create_directories(path_);
    for (const std::string& file : program.files) {
      fs::copy_file(program.directory / file, path_ / file);
    }
  }
  ~Workplace() {
    std::error_code ignored;
    if (is_own_) fs::remove_all(path_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  bool is_own_ = false;
};

// The links of one program.
class Links {
 public:
  Links(const ProgramClass& program, const Options& options, std::vector<std::string> files)
      : program_(program),
        target_(program.only_target.empty() ? options.target : program.only_target),
        files_(std::move(files)) {}

  // nvlink's words; devlink takes the same.
  [[nodiscard]] Command Of(const std::string& linker, const std::string& output) const {
    Command out{.words = {linker, "-arch=" + target_, "-o", output}};
    const std::string toolkit = Toolkit();
    Append(out, program_.options);
    if (program_.IsLto()) {
      // As nvcc gives it; what is not in one place is in the other.
      for (const char* folder : {"", "/nvvm"}) {
        if (!fs::exists(toolkit + folder + "/lib64/libnvvm.so")) continue;
        Append(out, {"-nvvmpath=" + toolkit + folder});
        break;
      }
    }
    Append(out, files_);
    if (program_.IsLto()) {
      for (const char* folder : {"/lib64", "/lib", "/targets/x86_64-linux/lib"}) {
        if (fs::exists(toolkit + folder)) Append(out, {"-L" + toolkit + folder});
      }
      Append(out, {"-lcudadevrt"});
    }
    return out;
  }

  // Those, and what devlink alone knows.
  [[nodiscard]] Command OfDevlink(const std::string& devlink, const std::string& output) const {
    Command out = Of(devlink, output);
    Append(out, program_.own_options);
    return out;
  }

  // Nothing where the toolkit has no such library.
  [[nodiscard]] Command OfLibrary() const {
    for (const char* folder : {"/lib64", "/lib", "/targets/x86_64-linux/lib"}) {
      const std::string library = Toolkit() + folder + "/libnvJitLink.so.13";
      if (!fs::exists(library)) continue;
      Command out{.words = {(Programs() / "devlink-bench-nvjitlink").string(), library,
                            kTheirLibrarys, "-arch=" + target_}};
      Append(out, program_.options);
      Append(out, files_);
      return out;
    }
    return {};
  }

  // What reads the inputs and writes so many bytes.
  [[nodiscard]] Command OfNothing(std::uint64_t bytes_out) const {
    Command out{.words = {(Programs() / "devlink-bench-floor").string(), std::to_string(bytes_out),
                          "floor.out"}};
    Append(out, files_);
    return out;
  }

 private:
  static void Append(Command& command, const std::vector<std::string>& words) {
    command.words.insert(command.words.end(), words.begin(), words.end());
  }

  const ProgramClass& program_;
  std::string target_;
  std::vector<std::string> files_;
};

// The same command on a machine with so many processors.
Command WithThreads(Command command, int threads) {
  const fs::path library = Programs().parent_path() / "lib/bench/libdevlink_bench_threads.so";
  command.variables = {"LD_PRELOAD=" + library.string(),
                       "DEVLINK_BENCH_THREADS=" + std::to_string(threads)};
  return command;
}

// Whether the bytes are the same, whatever the number of threads was.
bool SameFile(const fs::path& folder, const std::string& one, const std::string& other) {
  return Measure({.words = {"cmp", "-s", one, other}}, folder, 1).ok;
}

std::string ThreadsOutput(int threads) { return kOurs + std::to_string(threads); }

// nvlink's output and devlink's, with each number of threads.
Comparison Compare(const Result& result, const ProgramClass& program, const Links& links,
                   const Options& options, const fs::path& folder) {
  if (!result.devlink.ok) return Comparison::kNotMade;
  for (const int threads : kThreads) {
    if (!SameFile(folder, kOurs, ThreadsOutput(threads))) return Comparison::kDifferent;
  }
  if (!program.own_options.empty()) return Comparison::kOtherCode;
  if (!result.nvlink.ok) return Comparison::kNotMade;
  const auto same = [&](const char* other) {
    return Measure({.words = {options.diff.string(), kTheirs, other}}, folder, 1).ok;
  };
  if (same(kOurs)) return Comparison::kIdentical;
  constexpr char kTheirsAgain[] = "again.out";
  for (int more = program.varies ? 3 : 0; more != 0; --more) {
    const bool ok = Measure(links.Of("nvlink", kTheirsAgain), folder, 1).ok;
    if (ok && !same(kTheirsAgain)) return Comparison::kVaries;
  }
  return Comparison::kDifferent;
}

Result MeasureClass(const ProgramClass& program, const Options& options) {
  constexpr double kLongRun = 5;
  std::fprintf(stderr, "%s: compiling ...\n", program.name.c_str());
  const std::string& target = program.only_target.empty() ? options.target : program.only_target;
  const CompiledProgram compiled = CompileProgram(program, target, options.cache);
  const Workplace workplace(compiled, options.folder);
  const fs::path& folder = workplace.path();
  const Links links(program, options, compiled.files);

  Result result;
  result.name = program.name;
  result.inputs = compiled.files.size();
  result.bytes_in = compiled.bytes;
  result.uses_tools = program.UsesTools();
  std::fprintf(stderr, "%s: linking in turns ...\n", program.name.c_str());
  // First, so that it also brings the inputs into the page cache, where they lie on a disk.
  Measure(links.OfNothing(0), folder, 1);
  const bool both = !options.without_nvlink && !(options.quick && program.slow_for_nvlink);
  const bool library = both && !(options.quick && program.slow_for_library);
  std::vector<Command> commands = {both ? links.Of("nvlink", kTheirs) : Command{},
                                   library ? links.OfLibrary() : Command{},
                                   links.OfDevlink(options.devlink.string(), kOurs)};
  for (const int threads : kThreads) {
    commands.push_back(
        WithThreads(links.OfDevlink(options.devlink.string(), ThreadsOutput(threads)), threads));
  }
  const std::vector<Measurement> measured =
      MeasureInTurns(commands, folder, options.runs, kLongRun);
  result.nvlink = measured[0];
  result.nvjitlink = measured[1];
  result.devlink = measured[2];
  for (std::size_t i = 0; i < kThreads.size(); ++i) result.with_threads[i] = measured[3 + i];
  if (result.devlink.ok) {
    result.bytes_out = fs::file_size(folder / kOurs);
    result.floor = Measure(links.OfNothing(result.bytes_out), folder, options.runs);
  }
  result.outputs = Compare(result, program, links, options, folder);
  if (options.counts_instructions) result.instructions = CountInstructions(commands[3], folder);
  return result;
}

int Run(const Options& options) {
  std::vector<Result> results;
  for (const ProgramClass& program : ProgramClasses()) {
    if (Wanted(options, program)) results.push_back(MeasureClass(program, options));
  }
  if (results.empty()) {
    std::fputs("devlink-bench: no such class\n", stderr);
    return 2;
  }
  const Measurement idle = Measure({.words = {options.devlink.string(), "-V"}}, options.cache, 5);
  std::fputs(TableText(results, idle.peak).c_str(), stdout);
  if (!options.json.empty()) {
    std::ofstream file(options.json);
    file << JsonText(results, idle.peak, options.target);
    if (!file.flush()) {
      std::fprintf(stderr, "devlink-bench: cannot write '%s'\n", options.json.c_str());
      return 1;
    }
  }
  for (const Result& result : results) {
    if (!result.devlink.ok || result.outputs == Comparison::kDifferent) return 1;
  }
  return 0;
}

}  // namespace

}  // namespace devlink::bench

int main(int argc, char** argv) {
  namespace bench = devlink::bench;
  try {
    const auto options =
        bench::ParseOptions(std::vector<std::string>(argv + 1, argv + argc), bench::Programs());
    if (!options) {
      const bool asked = argc == 2 && std::strcmp(argv[1], "--help") == 0;
      std::fputs(bench::UsageText().c_str(), asked ? stdout : stderr);
      return asked ? 0 : 2;
    }
    return bench::Run(*options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "devlink-bench: %s\n", error.what());
    return 1;
  }
}
