// SPDX-License-Identifier: Apache-2.0
//
// Damaged and foreign files: each must end in a diagnostic that names the file, or, where the
// damage is in bytes that a linker only copies, in a link. Never in a crash, a hang or silence.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "damage/losses.h"
#include "devlink/devlink.h"
#include "format/elf_cuda.h"
#include "golden/golden.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/text.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

constexpr std::string_view kName = "the-damaged-input";

struct Sample {
  std::string arch;
  Bytes damaged;              // the input that will be changed
  std::vector<Bytes> others;  // what it is linked with
};

// One for each input of each golden link.
std::vector<Sample> Samples() {
  std::vector<Sample> out;
  for (const Golden& golden : FindGoldens()) {
    std::vector<Bytes> inputs;
    for (const auto& input : golden.inputs) {
      inputs.push_back(ReadBytes(input).value_or(Bytes{}));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Sample& sample = out.emplace_back(Sample{golden.arch, inputs[i], inputs});
      sample.others.erase(sample.others.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return out;
}

enum class Mode { kExecutable, kRelocatable, kKeepReferences };

// What a link of this input alone loses of it without a word; empty where nothing.
std::string Losses(const Sample& sample, const Bytes& bytes, Mode mode,
                   const std::shared_ptr<ModulePool>& pool) {
  if (mode == Mode::kRelocatable) return {};  // resolves what the mode that keeps references keeps
  LinkOptions options;
  options.target = Arch::Parse(sample.arch).value_or(Arch{});
  options.relocatable = mode == Mode::kKeepReferences;
  options.keep_references = options.relocatable;
  auto session = LinkSession::Create(options, {.pool = pool});
  if (!session->AddCubin(kName, bytes).ok()) return {};
  const LinkOutcome alone = session->Link();
  if (!alone.ok()) return {};
  const std::vector<std::string> lost = options.relocatable
                                            ? LossesOfPartialLink(bytes, alone.cubin)
                                            : LossesOfLink(bytes, alone.cubin);
  return lost.empty() ? std::string() : Cat(lost.size(), " lost, the first: ", lost.front());
}

// Empty where all is as it should be.
std::string Complaint(const Sample& sample, const Bytes& bytes, Mode mode,
                      const std::shared_ptr<ModulePool>& pool) {
  LinkOptions options;
  options.target = Arch::Parse(sample.arch).value_or(Arch{});
  options.relocatable = mode != Mode::kExecutable;
  options.keep_references = mode == Mode::kKeepReferences;
  auto session = LinkSession::Create(options, {.pool = pool});
  const absl::Status added = session->AddCubin(kName, bytes);
  if (!added.ok()) {
    // What nvlink doubts comes before what it refuses.
    const std::vector<Diagnostic> said = session->diagnostics();
    if (said.empty()) return "refused without a diagnostic";
    const auto is_doubt = [](const Diagnostic& d) { return d.severity == Severity::kWarning; };
    if (!std::all_of(said.begin(), said.end() - 1, is_doubt)) return "refused more than once";
    const Diagnostic& d = said.back();
    if (d.severity != Severity::kFatal) return "refused with less than a fatal diagnostic";
    const std::string text = RenderDiagnostic(d, "devlink");
    if (d.input != kName || text.find(kName) == std::string::npos) {
      return "the diagnostic does not name the input: " + text;
    }
    return {};
  }
  for (const Bytes& other : sample.others) {
    if (!session->AddCubin("other", other).ok()) return "an undamaged input was refused";
  }
  const LinkOutcome result = session->Link();
  if (!result.ok() && result.diagnostics.empty()) {
    return "the link failed without a diagnostic: " + result.status.ToString();
  }
  if (result.ok() && result.cubin.empty()) return "a link without output";
  if (!result.ok()) return {};
  const std::string lost = Losses(sample, bytes, mode, pool);
  if (!lost.empty() || !options.relocatable) return lost;
  options.relocatable = false;
  auto again = LinkSession::Create(options);
  const bool added_again = again->AddCubin("linked", result.cubin).ok();
  const LinkOutcome next = again->Link();
  const bool linked = added_again && next.ok();
  return linked || !next.diagnostics.empty() ? "" : "the next link failed without a diagnostic";
}

void Check(const Sample& sample, Bytes bytes, const std::string& what) {
  INFO(what);  // stands in the report of a crash
  try {
    bytes.shrink_to_fit();  // so that a sanitizer sees a read past the end
    const auto pool = std::make_shared<ModulePool>();
    for (const Mode mode : {Mode::kExecutable, Mode::kRelocatable, Mode::kKeepReferences}) {
      CAPTURE(static_cast<int>(mode));
      const std::string complaint = Complaint(sample, bytes, mode, pool);
      if (!complaint.empty()) FAIL_CHECK(complaint);
    }
  } catch (const std::exception& e) {
    FAIL_CHECK("the library threw: " << e.what());
  }
}

// The check itself must find nothing where nothing is wrong, and something where something is.
TEST_CASE("What a link loses is found by a reader of its own", "[damage]") {
  for (const Sample& sample : Samples()) {
    const auto pool = std::make_shared<ModulePool>();
    CHECK(Losses(sample, sample.damaged, Mode::kExecutable, pool).empty());
    CHECK(Losses(sample, sample.damaged, Mode::kKeepReferences, pool).empty());
  }
  const std::vector<Sample> samples = Samples();
  CHECK_FALSE(LossesOfPartialLink(samples[0].damaged, samples[3].damaged).empty());
  CHECK_FALSE(LossesOfLink(samples[0].damaged, samples[3].damaged).empty());
}

TEST_CASE("Truncated inputs are refused", "[damage]") {
  const std::vector<Sample> samples = Samples();
  REQUIRE_FALSE(samples.empty());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    // Every length of a few files, some lengths of all.
    const std::size_t step = i % 12 == 0 ? 1 : 37;
    const Bytes& whole = samples[i].damaged;
    for (std::size_t size = 0; size < whole.size(); size += step) {
      Check(samples[i], Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)),
            Cat("sample ", i, " cut off at ", size));
    }
  }
}

TEST_CASE("Every bit of the headers, section headers and symbols may be wrong", "[damage]") {
  const std::vector<Sample> samples = Samples();
  for (std::size_t i = 0; i < samples.size(); i += 11) {  // first inputs and others
    const Bytes& whole = samples[i].damaged;
    format::Ehdr header = {};
    std::memcpy(&header, whole.data(), sizeof(header));
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges = {
        {0, sizeof(header)}, {header.shoff, header.shoff + header.shnum * sizeof(format::Shdr)}};
    for (unsigned s = 0; s < header.shnum; ++s) {
      format::Shdr section = {};
      std::memcpy(&section, whole.data() + header.shoff + s * sizeof(section), sizeof(section));
      if (section.type == format::kShtSymtab) {
        ranges.emplace_back(section.offset, section.offset + section.size);
      }
    }
    for (const auto& [begin, end] : ranges) {
      for (std::uint64_t at = begin; at < end; ++at) {
        for (unsigned bit = 0; bit < 8; ++bit) {
          Bytes bytes = whole;
          bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ (1U << bit));
          Check(samples[i], std::move(bytes), Cat("sample ", i, " byte ", at, " bit ", bit));
        }
      }
    }
  }
}

TEST_CASE("Single bits anywhere may be wrong", "[damage]") {
  std::mt19937 random(19920229);  // the same bits on every machine
  for (const Sample& sample : Samples()) {
    for (int i = 0; i < 250; ++i) {
      Bytes bytes = sample.damaged;
      const std::size_t at = random() % bytes.size();
      const unsigned bit = random() % 8;
      bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ (1U << bit));
      Check(sample, std::move(bytes), Cat("byte ", at, " bit ", bit));
    }
  }
}

TEST_CASE("Several bytes anywhere may be wrong", "[damage]") {
  std::mt19937 random(4711);
  for (const Sample& sample : Samples()) {
    for (int i = 0; i < 100; ++i) {
      Bytes bytes = sample.damaged;
      for (unsigned n = 1 + random() % 8; n > 0; --n) {
        bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random() % 2 ? 0xff : random());
      }
      Check(sample, std::move(bytes), Cat("round ", i));
    }
  }
}

// --- files that are not cubins
// --------------------------------------------------------------------

Bytes Text(std::string_view text, std::size_t size = 0) {
  Bytes bytes(text.begin(), text.end());
  if (bytes.size() < size) bytes.resize(size);
  return bytes;
}

std::map<std::string, Bytes> ForeignFiles() {
  std::map<std::string, Bytes> files = {
      {"empty", {}},
      {"one-byte", {0x7f}},
      {"elf-magic", Text("\x7f"
                         "ELF")},
      {"text", Text("int main() { return 0; } // not a cubin, but long enough to hold a header")},
      {"ptx", Text("//\n.version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k() {}\n")},
      {"bitcode", Text("BC\xc0\xde\x35\x14", 128)},
      {"archive", Text("!<arch>\nmember.o/       0           0     0     644     4         `\n")},
      {"thin-archive", Text("!<thin>\n", 128)},
      {"fatbin", Text("\x50\xed\x55\xba\x01", 128)},
      {"lto-ir", Text("\xed\x43\x4e\x7f", 128)},
      {"zeroes", Bytes(4096, 0)},
      {"ones", Bytes(4096, 0xff)},
  };
  files["host-elf"] = ReadBytes("/proc/self/exe").value_or(Bytes{});
  const Sample sample = Samples().front();
  Bytes cut = sample.damaged;
  cut.resize(cut.size() / 2);
  files["truncated"] = cut;
  Bytes machine = sample.damaged;
  machine[18] = 62;
  files["other-machine"] = machine;
  Bytes narrow = sample.damaged;
  narrow[4] = 1;
  files["elf32"] = narrow;
  Bytes big = sample.damaged;
  big[5] = 2;
  files["big-endian"] = big;
  Bytes abi = sample.damaged;
  abi[7] = 0x33;
  files["other-abi"] = abi;
  return files;
}

TEST_CASE("Foreign files are refused", "[damage]") {
  const Sample sample = Samples().front();
  for (const auto& [name, bytes] : ForeignFiles()) {
    CAPTURE(name);
    LinkOptions options;
    options.target = *Arch::Parse(sample.arch);
    CHECK_FALSE(LinkSession::Create(options)->AddCubin(kName, bytes).ok());
    Check(sample, bytes, name);
  }
}

std::vector<std::string> FilesIn(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The command line: status, message, and that no file changed.
void CheckCommand(const TemporaryDirectory& directory, const std::string& arch,
                  const std::string& input) {
  CAPTURE(input);
  const std::vector<std::string> before = FilesIn(directory.path());
  for (const bool output_exists : {false, true}) {
    const std::string output = directory.File("out");
    if (output_exists) REQUIRE(WriteText(output, "precious"));
    const ProcessResult run =
        RunProcess({DEVLINK_PROGRAM, "-arch=" + arch, "-o", output, directory.File(input)});
    CHECK(run.exit_status == 1);
    CHECK(run.signal == 0);
    CHECK(run.out.empty());
    // What an assembler has to say of PTX comes before.
    CHECK(run.err.find("devlink fatal   : ") != std::string::npos);
    CHECK(run.err.find(input) != std::string::npos);
    if (output_exists) {
      CHECK(ReadText(output) == std::optional<std::string>("precious"));
      fs::remove(output);
    }
    CHECK(FilesIn(directory.path()) == before);
  }
}

TEST_CASE("The command refuses what cannot be linked and leaves no file", "[damage]") {
  const TemporaryDirectory directory("devlink-damage");
  const std::string arch = Samples().front().arch;
  for (const auto& [name, bytes] : ForeignFiles()) {
    // By this name; under another one a file without device code is none of the linker's business.
    const std::string file = name + ".cubin";
    REQUIRE(WriteBytes(directory.File(file), bytes));
    CheckCommand(directory, arch, file);
  }
  fs::create_directory(directory.path() / "a-directory");
  CheckCommand(directory, arch, "a-directory");
  CheckCommand(directory, arch, "missing-file");
}

TEST_CASE("The command ends with 255 for undefined references and leaves no file", "[damage]") {
  const TemporaryDirectory directory("devlink-damage");
  bool found = false;
  for (const Golden& golden : FindGoldens()) {
    if (!golden.name.starts_with("static_functions") && !golden.name.starts_with("diamond"))
      continue;
    // One input of several alone.
    const std::string output = directory.File("out");
    const ProcessResult run = RunProcess(
        {DEVLINK_PROGRAM, "-arch=" + golden.arch, "-o", output, golden.inputs.front().string()});
    if (run.exit_status == 0) {
      fs::remove(output);
      continue;
    }
    found = true;
    CHECK(run.exit_status == 255);
    CHECK(run.err.starts_with("devlink error   : Undefined reference to '"));
    CHECK(run.err.find(golden.inputs.front().string()) != std::string::npos);
    CHECK(FilesIn(directory.path()).empty());
  }
  CHECK(found);
}

}  // namespace
}  // namespace devlink::testing
