// SPDX-License-Identifier: Apache-2.0
#include "fuzz/mutated_link.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <map>
#include <string_view>
#include <tuple>

#include "damage/losses.h"
#include "devlink-diff/cubin_view.h"
#include "devlink/nvlink_command.h"
#include "fuzz/mutation.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOutput = "out.cubin";
constexpr const char* kRegisterFile = "ids.h";
constexpr const char* kCode = "code.cubin";  // what is linked with damaged options
constexpr auto kLimit = std::chrono::seconds(10);
constexpr std::uint64_t kMemory = std::uint64_t{256} << 20;

std::string FileOf(const MutatedInput& input) { return "in." + input.seed->extension; }
bool Has(const MutatedInput& input, std::string_view word) {
  return std::find(input.words.begin(), input.words.end(), word) != input.words.end();
}

// Of the toolkit; empty where there is none.
const std::string& NvvmFolder() {
  static const std::string folder = [] {
    const auto toolkit = FindToolkit();
    if (!toolkit) return std::string();
    return (fs::path(toolkit->nvcc).parent_path().parent_path() / "nvvm").string();
  }();
  return folder;
}

std::vector<std::string> WordsFor(Prng& random, const std::string& extension) {
  if (extension == "cubin") {
    switch (random.Below(8)) {
      case 0:
        return {"-r"};
      case 1:
        return {"-r", "-g"};
      case 2:
        return {"-v"};
      case 3:
        return {"-kernels-used=k"};
      default:
        return {};
    }
  }
  if (extension == "o" && random.Chance(30)) {
    return {Cat("-register-link-binaries=", kRegisterFile)};
  }
  if (extension == "opt") return {"-optf", "in.opt"};
  // What is in it is the compiler's business: damage is in front of that then (MakeMutatedInput).
  if (extension == "ltoir" && random.Chance(1) && !NvvmFolder().empty()) {
    return {"-lto", Cat("-nvvmpath=", NvvmFolder())};
  }
  return {};
}

void WriteInputs(const MutatedInput& input) {
  WriteBytes(FileOf(input), input.bytes);
  if (input.code != nullptr) WriteBytes(kCode, input.code->bytes);
}

// Files that are there and should not be; all are removed.
std::string StrayFiles(const MutatedInput& input, int status) {
  std::string found;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(".")) paths.push_back(entry.path());
  for (const fs::path& path : paths) {
    const std::string name = path.filename().string();
    const bool expected = name == FileOf(input) || name == kCode || name == kRegisterFile ||
                          (name == kOutput && status == 0);
    if (!expected) Append(found, name, " ");
    fs::remove_all(path);
  }
  return found;
}

bool HasControlCharacter(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) return true;
    const auto before = i == 0 ? 0U : static_cast<unsigned char>(text[i - 1]);
    if (before == 0xc2 && c >= 0x80 && c < 0xa0) return true;
  }
  return false;
}

bool HasFunctions(std::span<const std::uint8_t> cubin) {
  const diff::CubinView view = diff::ViewCubin(cubin);
  return std::any_of(view.symbols.begin(), view.symbols.end(), [](const diff::ViewSymbol& symbol) {
    return (symbol.info & 15U) == 2 && symbol.section != 0;
  });
}

// Whether a file still says that it holds device code. One that has lost its magic, or the names of
// all sections that matter, is any file.
bool SaysThatItHoldsCode(const MutatedInput& input) {
  const std::string_view text(reinterpret_cast<const char*>(input.bytes.data()),
                              input.bytes.size());
  if (input.seed->extension == "fatbin") return text.starts_with("\x50\xed\x55\xba");
  if (!text.starts_with("\x7f"
                        "ELF"))
    return false;
  return text.find("__nv_relfatbin") != std::string_view::npos ||
         text.find("__nv_module_id") != std::string_view::npos ||
         text.find(".nvFatBinSegment") != std::string_view::npos;
}

// What a link that succeeded has lost of its input without a word.
std::string Losses(const MutatedInput& input, const std::vector<std::uint8_t>& output,
                   const MutatedResult& result) {
  const std::string& what = input.seed->extension;
  std::vector<std::string> lost;
  if (what == "cubin" && (input.words.empty() || Has(input, "-v"))) {
    lost = LossesOfLink(input.bytes, output);
  } else if (what == "cubin" && Has(input, "-r")) {
    lost = LossesOfPartialLink(input.bytes, output);
    // Of two views these tables are made anew, as nvlink does, and so are their references.
    std::erase_if(lost, [](const std::string& text) {
      return text.starts_with("relocation .debug_frame + ") ||
             text.starts_with("relocation .debug_line + ") ||
             text.starts_with("relocation .nv_debug_line_sass + ");
    });
  } else if ((what == "o" || what == "fatbin") && SaysThatItHoldsCode(input) &&
             result.said.empty() && !HasFunctions(output)) {
    return "all code";
  }
  return lost.empty() ? "" : Cat(lost.size(), ": ", lost.front());
}

void Judge(const MutatedInput& input, bool compatible, MutatedResult& result) {
  const auto found = [&result](Trouble trouble, std::string what) {
    if (result.trouble != Trouble::kNone) return;
    result.trouble = trouble;
    result.what = std::move(what);
  };
  if (result.status != 0 && result.signal == 0 && !result.timed_out && result.said.empty()) {
    found(Trouble::kSilent, Cat("status ", result.status));
  }
  if (HasControlCharacter(result.said)) found(Trouble::kEscape, result.said);
  if (result.status == 0 && !compatible) {
    if (const auto output = ReadBytes(kOutput)) {
      const std::string lost = Losses(input, *output, result);
      if (!lost.empty()) found(Trouble::kLoss, lost);
    }
  }
  const std::string stray = StrayFiles(input, result.status);
  // Damaged options may ask for any file.
  if (!stray.empty() && input.seed->extension != "opt") found(Trouble::kStrayFile, stray);
}

}  // namespace

std::vector<Seed> ReadSeeds(const fs::path& folder) {
  std::vector<Seed> seeds;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    const fs::path& path = entry.path();
    const auto bytes = entry.is_regular_file() ? ReadBytes(path) : std::nullopt;
    if (!bytes || bytes->empty()) continue;
    seeds.push_back({path.filename().string(), path.extension().string().substr(1),
                     path.parent_path().filename().string(), *bytes});
  }
  std::sort(seeds.begin(), seeds.end(), [](const Seed& a, const Seed& b) {
    return std::tie(a.arch, a.name) < std::tie(b.arch, b.name);
  });
  return seeds;
}

MutatedInput MakeMutatedInput(const std::vector<Seed>& seeds, std::uint64_t seed,
                              std::uint64_t number) {
  Prng random(seed * 0x9e3779b97f4a7c15U ^ number);
  // Shares of the formats in percent; few of what starts an assembler.
  static const std::map<std::string, int> kShares = {
      {"cubin", 45}, {"o", 20}, {"fatbin", 12}, {"a", 10}, {"ltoir", 7}, {"opt", 5}, {"ptx", 1}};
  std::vector<const Seed*> those;
  while (those.empty()) {
    int share = random.Range(0, 99);
    std::string extension = "cubin";
    for (const auto& [name, size] : kShares) {
      if (share < size) extension = name;
      if ((share -= size) < 0) break;
    }
    for (const Seed& s : seeds) {
      if (s.extension == extension) those.push_back(&s);
    }
  }
  MutatedInput input;
  input.seed = random.Pick(those);
  input.bytes = input.seed->bytes;
  input.words = WordsFor(random, input.seed->extension);
  if (input.seed->extension == "opt") {
    const auto code = std::find_if(seeds.begin(), seeds.end(), [&input](const Seed& s) {
      return s.arch == input.seed->arch && s.extension == "cubin";
    });
    if (code != seeds.end()) input.code = &*code;
  }
  if (Has(input, "-lto")) {
    constexpr std::size_t kHeader = 64;
    std::vector<std::uint8_t> header(input.bytes.begin(),
                                     input.bytes.begin() + std::min(kHeader, input.bytes.size()));
    Mutate(random, header);
    std::copy_n(header.begin(), std::min(header.size(), input.bytes.size()), input.bytes.begin());
  } else {
    Mutate(random, input.bytes);
  }
  return input;
}

MutatedResult LinkWithDevlink(const MutatedInput& input) {
  MutatedResult result;
  WriteInputs(input);
  const char* path = std::getenv("PATH");
  const CommandContext context = {.path = path == nullptr ? "" : path,
                                  .working_directory = fs::current_path().string(),
                                  .temporary_directory = fs::current_path().string()};
  std::vector<std::string> words = {"-arch=" + input.seed->arch, "-o", kOutput,
                                    "--ptx-backend=ptxas", "--finalize=never"};
  // By the bytes, so that the same input is always linked in the same way.
  const bool compatible = input.bytes.size() % 5 == 0;
  if (compatible) words.emplace_back("--compat=nvlink");
  words.insert(words.end(), input.words.begin(), input.words.end());
  words.push_back(input.code != nullptr ? kCode : FileOf(input));
  try {
    auto command = ParseNvlinkCommand(words, context);
    if (command.ok()) {
      command->options.max_memory_bytes = kMemory;
      result.status = RunNvlinkCommand(
          *command, context,
          {.out = [&](std::string_view text) { result.said += text; },
           .say = [&](const Diagnostic& d) { result.said += RenderDiagnostic(d, "devlink"); }});
    } else {
      result.status = 1;
      result.said = RenderDiagnostic(
          {.severity = Severity::kFatal, .text = std::string(command.status().message())},
          "devlink");
    }
  } catch (const std::exception& e) {
    result.trouble = Trouble::kException;
    result.what = e.what();
  }
  Judge(input, compatible, result);
  return result;
}

MutatedResult LinkWithNvlink(const MutatedInput& input, const std::string& nvlink) {
  MutatedResult result;
  WriteInputs(input);
  std::vector<std::string> words = {"/usr/bin/prlimit",
                                    "--as=4294967296",
                                    "--core=0",
                                    nvlink,
                                    "-arch=" + input.seed->arch,
                                    "-o",
                                    kOutput};
  words.insert(words.end(), input.words.begin(), input.words.end());
  words.push_back(input.code != nullptr ? kCode : FileOf(input));
  const ProcessResult process = RunProcess(words, kLimit);
  result.status = process.exit_status;
  result.signal = process.signal;
  result.timed_out = process.timed_out;
  result.said = process.out + process.err;
  // Its -r resolves references, so only those of other links can be looked for.
  Judge(input, Has(input, "-r"), result);
  return result;
}

}  // namespace devlink::testing
