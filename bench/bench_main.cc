// SPDX-License-Identifier: Apache-2.0
//
// devlink-bench: links the same programs with nvlink and with devlink and compares time and memory.
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "measure.h"
#include "modules.h"
#include "programs.h"
#include "table.h"

namespace devlink::bench {

namespace {

namespace fs = std::filesystem;

struct Options {
  bool quick = false;
  bool without_nvlink = false;
  std::string target = "sm_80";
  std::vector<std::string> classes;  // empty: all
  std::string json;
  fs::path devlink;
  fs::path diff;
  fs::path cache;
};

void PrintUsage() {
  std::puts(
      "usage: devlink-bench [OPTION...]\n"
      "  --quick           leave nvlink out where it takes more than 20 s\n"
      "  --no-nvlink       leave nvlink out\n"
      "  --class NAME      only this class of programs (repeatable)\n"
      "  --arch ARCH       the target, sm_80 where nothing is said\n"
      "  --json FILE       write the results to a file, too\n"
      "  --devlink FILE    measure this devlink instead of the one beside this program\n"
      "  --cache DIR       where compiled modules are kept\n"
      "classes:");
  for (const ProgramClass& program : ProgramClasses()) {
    std::printf("  %-10s %d modules\n", program.name.c_str(), program.modules);
  }
}

std::optional<Options> ParseOptions(int argc, char** argv) {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  Options options;
  options.devlink = here / "devlink";
  options.diff = here / "devlink-diff";
  options.cache = here.parent_path() / "bench-modules";
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--quick") {
      options.quick = true;
      continue;
    }
    if (option == "--no-nvlink") {
      options.without_nvlink = true;
      continue;
    }
    if (i + 1 == argc) return std::nullopt;
    const char* value = argv[++i];
    if (option == "--class") {
      options.classes.emplace_back(value);
    } else if (option == "--arch") {
      options.target = value;
    } else if (option == "--json") {
      options.json = value;
    } else if (option == "--devlink") {
      options.devlink = fs::absolute(value);
    } else if (option == "--cache") {
      options.cache = fs::absolute(value);
    } else {
      return std::nullopt;
    }
  }
  return options;
}

bool Wanted(const Options& options, const ProgramClass& program) {
  if (options.classes.empty()) return true;
  for (const std::string& name : options.classes) {
    if (name == program.name) return true;
  }
  return false;
}

std::vector<std::string> LinkCommand(const std::string& linker, const Options& options,
                                     const std::string& output,
                                     const std::vector<std::string>& files) {
  std::vector<std::string> command = {linker, "-arch=" + options.target, "-o", output};
  command.insert(command.end(), files.begin(), files.end());
  return command;
}

Result MeasureClass(const ProgramClass& program, Options options) {
  if (!program.only_target.empty()) options.target = program.only_target;
  constexpr double kNever = 1e9;
  constexpr double kLongRun = 5;
  const std::string theirs = "nvlink.out";
  const std::string ours = "devlink.out";
  std::fprintf(stderr, "%s: compiling ...\n", program.name.c_str());
  const CompiledProgram compiled = CompileProgram(program, options.target, options.cache);
  const fs::path& directory = compiled.directory;
  std::error_code ignored;
  fs::remove(directory / theirs, ignored);
  fs::remove(directory / ours, ignored);

  Result result;
  result.name = program.name;
  result.inputs = compiled.files.size();
  result.bytes_in = compiled.bytes;
  std::vector<std::string> cat = {"cat"};
  cat.insert(cat.end(), compiled.files.begin(), compiled.files.end());
  // First, and so it is also what brings the inputs into the page cache for the two linkers.
  result.cat = Measure(cat, directory, 5, kNever);
  result.is_ptx = program.is_ptx;
  const std::vector<std::string> our_link =
      LinkCommand(options.devlink.string(), options, ours, compiled.files);
  const std::vector<std::string> their_link =
      LinkCommand("nvlink", options, theirs, compiled.files);
  const bool both = !options.without_nvlink && !(options.quick && program.slow_for_nvlink);
  if (program.is_ptx && both) {
    std::fprintf(stderr, "%s: devlink and nvlink in turns ...\n", program.name.c_str());
    std::tie(result.devlink, result.nvlink) = MeasureInTurns(our_link, their_link, directory, 7);
  } else {
    std::fprintf(stderr, "%s: devlink ...\n", program.name.c_str());
    result.devlink = Measure(our_link, directory, 5, kNever);
  }
  if (result.devlink.ok) result.bytes_out = fs::file_size(directory / ours);
  if (!both) return result;
  if (!program.is_ptx) {
    std::fprintf(stderr, "%s: nvlink ...\n", program.name.c_str());
    result.nvlink = Measure(their_link, directory, 3, kLongRun);
  }
  if (result.nvlink.ok && result.devlink.ok) {
    const Measurement diff = Measure({options.diff.string(), theirs, ours}, directory, 1, kNever);
    result.outputs = diff.ok ? Comparison::kIdentical : Comparison::kDifferent;
  }
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
  const Measurement idle = Measure({options.devlink.string(), "-V"}, options.cache, 5, 1e9);
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
  try {
    const auto options = devlink::bench::ParseOptions(argc, argv);
    if (!options) {
      devlink::bench::PrintUsage();
      return argc == 2 && std::strcmp(argv[1], "--help") == 0 ? 0 : 2;
    }
    return devlink::bench::Run(*options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "devlink-bench: %s\n", error.what());
    return 1;
  }
}
