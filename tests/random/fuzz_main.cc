// SPDX-License-Identifier: Apache-2.0
//
// devlink-fuzz: random programs through nvlink and devlink.
//
//   devlink-fuzz --arch sm_80,sm_90 --kind ptx --seed 1 --count 500 --jobs 2 --keep differences
//
// For each seed and architecture it makes a program, compiles it, links it with both and compares
// the whole files, whether they succeed, and what they print. A differing program is kept with both
// outputs, the explanation and a smaller program that differs in the same way. The exit status is 1
// if anything differs, 2 for a usage error.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "random/cuda_program.h"
#include "random/link_pair.h"
#include "random/packages.h"
#include "random/ptx_program.h"
#include "random/shrink.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kUsage[] =
    "usage: devlink-fuzz [--arch sm_80,sm_90a] [--kind ptx|cuda|packaged|lto] [--seed N]\n"
    "                    [--count M] [--jobs J] [--minutes T] [--keep DIR] [--shrink SECONDS] "
    "[--devlink PROGRAM]\n"
    "                    [--features MASK] [--max-files N] [--max-functions N] [--print]\n"
    "                    [--relocatable] [--again] [--preserve]\n"
    "  --kind      packaged: PTX programs as fat binaries, host objects and archives, with "
    "options\n"
    "              that leave kernels out; links with the devlink beside this program\n"
    "              lto: CUDA programs as LTO IR in host objects, with it, too\n"
    "  --devlink   link with this command line instead of in process\n"
    "  --shrink    time for making a differing program smaller, 0 for none (default 30)\n"
    "  --minutes   stop then, whatever the count\n"
    "  --relocatable  link with -r\n"
    "  --preserve     link with -preserve-relocs; wants --devlink\n"
    "  --again     with -r, then what nvlink made of it to the end\n"
    "  --print     print the sources of --seed and do nothing else\n";

struct Options {
  std::vector<ProgramTarget> targets = {{80, 0}};
  std::string kind = "ptx";
  bool print = false;
  bool relocatable = false;
  bool preserve = false;
  bool again = false;
  std::uint64_t seed = 1;
  std::uint64_t count = 100;
  int jobs = 2;
  int minutes = 0;
  int shrink_seconds = 30;
  std::string keep;
  std::string program;
  GeneratorLimits limits;
};

std::optional<ProgramTarget> ParseTarget(std::string_view name) {
  constexpr std::string_view kPrefix = "sm_";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  ProgramTarget target{.number = 0, .variant = 0};
  for (const char c : name) {
    if (c >= '0' && c <= '9') {
      target.number = target.number * 10 + (c - '0');
    } else {
      target.variant = c;
    }
  }
  return target;
}

bool ParseTargets(std::string_view list, std::vector<ProgramTarget>& targets) {
  targets.clear();
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    const auto target = ParseTarget(list.substr(0, end));
    if (!target) return false;
    targets.push_back(*target);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return !targets.empty();
}

std::optional<Options> ParseOptions(const std::vector<std::string>& args) {
  Options o;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string& name = args[i];
    if (name == "--print") {
      o.print = true;
      continue;
    }
    if (name == "--preserve") {
      o.preserve = true;
      continue;
    }
    if (name == "--relocatable" || name == "--again") {
      o.relocatable = true;
      o.again = o.again || name == "--again";
      continue;
    }
    if (i + 1 == args.size()) return std::nullopt;
    const std::string& value = args[++i];
    const auto number = std::strtoull(value.c_str(), nullptr, 0);
    if (name == "--arch") {
      if (!ParseTargets(value, o.targets)) return std::nullopt;
    } else if (name == "--kind") {
      if (value != "ptx" && value != "cuda" && value != "packaged" && value != "lto")
        return std::nullopt;
      o.kind = value;
    } else if (name == "--seed") {
      o.seed = number;
    } else if (name == "--count") {
      o.count = number;
    } else if (name == "--jobs") {
      o.jobs = static_cast<int>(number);
    } else if (name == "--minutes") {
      o.minutes = static_cast<int>(number);
    } else if (name == "--shrink") {
      o.shrink_seconds = static_cast<int>(number);
    } else if (name == "--keep") {
      o.keep = value;
    } else if (name == "--devlink") {
      o.program = value;
    } else if (name == "--features") {
      o.limits.features = static_cast<std::uint32_t>(number);
    } else if (name == "--max-files") {
      o.limits.max_files = static_cast<int>(number);
    } else if (name == "--max-functions") {
      o.limits.max_functions = static_cast<int>(number);
    } else {
      return std::nullopt;
    }
  }
  return o;
}

std::string ToolkitFolder() {
  const char* home = std::getenv("CUDA_HOME");
  return home == nullptr ? "/usr/local/cuda" : home;
}

RandomProgram MakeProgram(const Options& options, std::uint64_t seed, ProgramTarget target,
                          const GeneratorLimits& limits) {
  RandomProgram program = options.kind == "cuda"       ? MakeCudaProgram(seed, target, limits)
                          : options.kind == "packaged" ? MakePackagedProgram(seed, target, limits)
                          : options.kind == "lto"
                              ? MakeLtoProgram(seed, target, ToolkitFolder(), limits)
                              : MakePtxProgram(seed, target, limits);
  if (options.relocatable) program.link_flags.emplace_back("-r");
  if (options.preserve) program.link_flags.emplace_back("-preserve-relocs");
  program.link_again = options.again;
  return program;
}

// The command that links a kept program again.
std::string LinkCommand(const RandomProgram& program, ProgramTarget target) {
  std::string out = "nvlink -arch=" + TargetName(target);
  for (const std::string& flag : program.link_flags) Append(out, " ", flag);
  for (const Package& package : program.packages) Append(out, " ", package.name);
  for (const SourceFile& f : program.files) {
    if (program.packages.empty()) Append(out, " ", f.name, ".cubin");
  }
  out += " -o out.cubin\n";
  for (const SourceFile& f : program.files)
    Append(out, "# ", f.name, " ", Join(f.flags, " "), "\n");
  return out;
}

class Fuzzer {
 public:
  Fuzzer(Options options, Toolkit toolkit)
      : options_(std::move(options)), toolkit_(std::move(toolkit)), next_(options_.seed) {}

  int Run() {
    const Clock::time_point start = Clock::now();
    if (options_.minutes > 0) end_ = start + std::chrono::minutes(options_.minutes);
    std::vector<std::jthread> workers;
    workers.reserve(static_cast<std::size_t>(options_.jobs));
    for (int i = 0; i < options_.jobs; ++i) workers.emplace_back([this] { Work(); });
    workers.clear();  // joins
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const int all = identical_ + different_ + skipped_;
    std::printf("%d identical, %d different, %d skipped (%.1f links per second)\n",
                identical_.load(), different_.load(), skipped_.load(), all / seconds);
    return different_ == 0 ? 0 : 1;
  }

 private:
  void Work() {
    const TemporaryDirectory directory("devlink-fuzz");
    while (!end_ || Clock::now() < *end_) {
      const std::uint64_t seed = next_.fetch_add(1);
      if (seed - options_.seed >= options_.count) return;
      for (const ProgramTarget target : options_.targets) {
        CheckOne(seed, target, directory.path() / "program");
      }
    }
  }

  void CheckOne(std::uint64_t seed, ProgramTarget target, const std::filesystem::path& directory) {
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
    LinkPair pair(toolkit_, target, directory, options_.program);
    const RandomProgram program = MakeProgram(options_, seed, target, options_.limits);
    PairResult result = pair.Check(program);
    switch (result.verdict) {
      case Verdict::kIdentical:
        ++identical_;
        return;
      case Verdict::kSkipped:
        ++skipped_;
        Report(seed, target, "skipped, " + result.kind, result.explanation);
        return;
      case Verdict::kDifferent:
        break;
    }
    ++different_;
    Report(seed, target, "DIFFERENT, " + result.kind, result.explanation);
    if (!options_.keep.empty()) KeepProgram(seed, target, pair, {program, std::move(result)});
  }

  void KeepProgram(std::uint64_t seed, ProgramTarget target, const LinkPair& pair,
                   const Shrunk& found) {
    const std::filesystem::path place =
        std::filesystem::path(options_.keep) / Cat(seed, "-", TargetName(target));
    std::error_code ignored;
    std::filesystem::remove_all(place, ignored);
    std::filesystem::create_directories(place, ignored);
    std::filesystem::copy(pair.directory(), place, std::filesystem::copy_options::recursive,
                          ignored);
    WriteText(place / "difference.txt", found.result.explanation);
    WriteText(place / "link.txt", LinkCommand(found.program, target));
    if (options_.shrink_seconds == 0) return;
    const TemporaryDirectory scratch("devlink-shrink");
    LinkPair small_pair(toolkit_, target, scratch.path() / "program", options_.program);
    const auto maker = [this, target](std::uint64_t s, const GeneratorLimits& limits) {
      return MakeProgram(options_, s, target, limits);
    };
    const Shrunk shrunk = Shrink(small_pair, maker, seed, options_.limits, found,
                                 std::chrono::seconds(options_.shrink_seconds));
    // Once more, in a directory that holds nothing else.
    LinkPair(toolkit_, target, place / "small", options_.program).Check(shrunk.program);
    WriteText(place / "small" / "difference.txt", shrunk.result.explanation);
    WriteText(place / "small" / "link.txt", LinkCommand(shrunk.program, target));
  }

  void Report(std::uint64_t seed, ProgramTarget target, const std::string& what,
              const std::string& explanation) {
    const std::lock_guard lock(print_);
    std::string first = explanation.substr(0, explanation.find('\n'));
    const std::size_t second = explanation.find('\n');
    if (second != std::string::npos) {
      Append(first, " ",
             explanation.substr(second + 1, explanation.find('\n', second + 1) - second - 1));
    }
    std::printf("seed %llu %s: %s: %.160s\n", static_cast<unsigned long long>(seed),  // NOLINT
                TargetName(target).c_str(), what.c_str(), first.c_str());
    std::fflush(stdout);
  }

  Options options_;
  Toolkit toolkit_;
  std::optional<Clock::time_point> end_;
  std::atomic<std::uint64_t> next_;
  std::atomic<int> identical_ = 0;
  std::atomic<int> different_ = 0;
  std::atomic<int> skipped_ = 0;
  std::mutex print_;
};

int Main(const std::vector<std::string>& args) {
  auto options = ParseOptions(args);
  if (!options) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  if (options->print) {
    const RandomProgram program =
        MakeProgram(*options, options->seed, options->targets.front(), options->limits);
    for (const SourceFile& f : program.files) {
      std::printf("// %s %s\n%s\n", f.name.c_str(), Join(f.flags, " ").c_str(), f.text.c_str());
    }
    return 0;
  }
  const auto toolkit = FindToolkit();
  if (!toolkit) {
    std::fputs("devlink-fuzz: nvcc, ptxas and nvlink are needed\n", stderr);
    return 2;
  }
  const bool by_program = options->kind == "packaged" || options->kind == "lto";
  if (by_program && options->program.empty()) {
    std::error_code error;
    const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
    options->program = (own.parent_path() / "devlink").string();
  }
  return Fuzzer(*options, *toolkit).Run();
}

}  // namespace
}  // namespace devlink::testing

int main(int argc, char** argv) {
  try {
    return devlink::testing::Main({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "devlink-fuzz: %s\n", e.what());
    return 2;
  }
}
