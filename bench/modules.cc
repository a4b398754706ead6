// SPDX-License-Identifier: Apache-2.0
#include "modules.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <thread>

extern char** environ;

namespace devlink::bench {

namespace {

namespace fs = std::filesystem;

bool RunTool(const std::vector<std::string>& arguments) {
  std::vector<char*> raw;
  raw.reserve(arguments.size() + 1);
  // posix_spawn takes char* for historical reasons and does not write to the strings.
  for (const std::string& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
  raw.push_back(nullptr);
  pid_t pid = 0;
  if (posix_spawnp(&pid, raw[0], nullptr, nullptr, raw.data(), environ) != 0) return false;
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// How nvcc makes a kind of module: the ending of its file, and the words.
struct Recipe {
  std::string_view ending;
  std::vector<std::string> words;
};

const Recipe& RecipeOf(ModuleKind kind) {
  static const Recipe cubin = {".cubin", {"-cubin"}};
  static const Recipe ptx = {".ptx", {"-ptx"}};
  static const Recipe object = {".o", {"-c"}};
  static const Recipe debug = {".cubin", {"-cubin", "-G"}};
  static const Recipe lto_object = {".o", {"-c", "-dlto"}};
  static const Recipe lto_ir = {".ltoir", {"-dlto", "-ltoir"}};
  switch (kind) {
    case ModuleKind::kPtx:
      return ptx;
    case ModuleKind::kObject:
    case ModuleKind::kArchive:
      return object;
    case ModuleKind::kDebug:
      return debug;
    case ModuleKind::kLtoObject:
      return lto_object;
    case ModuleKind::kLtoIr:
      return lto_ir;
    default:
      return cubin;
  }
}

std::string FileName(const ProgramClass& program, int module) {
  return "m" + std::to_string(module) + std::string(RecipeOf(program.kind).ending);
}

std::string ReadText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// How the module `output` is made of the file `source`.
std::vector<std::string> CompileCommand(const ProgramClass& program, int module,
                                        const std::string& target, const fs::path& source,
                                        const fs::path& output) {
  if (program.source.empty()) {
    return {"ptxas", "-c", "-arch=" + target, source.string(), "-o", output.string()};
  }
  // Of LTO IR without host code a target is called otherwise.
  const std::string arch = program.kind == ModuleKind::kLtoIr ? "lto_" + target.substr(3) : target;
  std::vector<std::string> command = {"nvcc", "-rdc=true", "-arch=" + arch};
  const std::vector<std::string>& words = RecipeOf(program.kind).words;
  command.insert(command.end(), words.begin(), words.end());
  const int next = (module + 1) % program.modules;
  command.insert(command.end(), {source.string(), "-DUNIT=" + std::to_string(module),
                                 "-DNEXT=" + std::to_string(next), "-o", output.string()});
  return command;
}

// The source is kept beside the module and compared, so that a changed generator is noticed. A
// module appears under its name only when it is whole: an interrupted run leaves nothing half done.
bool MakeModule(const ProgramClass& program, int module, const std::string& target,
                const fs::path& directory) {
  const bool is_generated = program.source.empty();
  const std::string text = is_generated ? ModuleText(program.family, module, target)
                                        : ReadText(DEVLINK_BENCH_SOURCE "/" + program.source);
  const fs::path output = directory / FileName(program, module);
  const fs::path source = fs::path(output).replace_extension(is_generated ? ".ptx" : ".cu");
  if (fs::exists(output) && ReadText(source) == text) return true;
  std::error_code ignored;
  fs::remove(output, ignored);
  std::ofstream(source, std::ios::binary) << text;
  const fs::path unfinished = fs::path(output).replace_extension(".new");
  if (!RunTool(CompileCommand(program, module, target, source, unfinished))) return false;
  fs::rename(unfinished, output);
  return true;
}

// Puts the modules into an archive, which is then the one input.
void MakeArchive(CompiledProgram& program) {
  const std::string name = "libmodules.a";
  std::error_code ignored;
  fs::remove(program.directory / name, ignored);
  std::vector<std::string> command = {"ar", "qc", (program.directory / name).string()};
  for (const std::string& file : program.files) {
    command.push_back((program.directory / file).string());
  }
  if (!RunTool(command)) throw std::runtime_error("ar failed");
  program.files = {name};
  program.bytes = fs::file_size(program.directory / name);
}

}  // namespace

CompiledProgram CompileProgram(const ProgramClass& program, const std::string& target,
                               const fs::path& cache) {
  CompiledProgram out;
  out.directory = cache / target / program.family;
  fs::create_directories(out.directory);
  std::atomic<int> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&] {
    for (int module = next++; module < program.modules && !failed; module = next++) {
      if (!MakeModule(program, module, target, out.directory)) failed = true;
    }
  };
  {
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
      workers.emplace_back(work);
    }
  }
  if (failed) throw std::runtime_error("compiling failed: a module of " + program.name);
  for (int module = 0; module < program.modules; ++module) {
    out.files.push_back(FileName(program, module));
    out.bytes += fs::file_size(out.directory / out.files.back());
  }
  if (program.kind == ModuleKind::kArchive) MakeArchive(out);
  return out;
}

}  // namespace devlink::bench
