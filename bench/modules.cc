// SPDX-License-Identifier: Apache-2.0
#include "modules.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
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

std::string FileName(const ProgramClass& program, int module) {
  return "m" + std::to_string(module) + (program.is_ptx ? ".ptx" : ".cubin");
}

std::string ReadText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// How the module `output` is made of the file `source`.
std::vector<std::string> CompileCommand(const ProgramClass& program, int module,
                                        const std::string& target, const fs::path& source,
                                        const fs::path& output) {
  const std::string arch = "-arch=" + target;
  if (!program.is_ptx) return {"ptxas", "-c", arch, source.string(), "-o", output.string()};
  return {"nvcc", "-ptx",          "-rdc=true",
          arch,   source.string(), "-DUNIT=" + std::to_string(module),
          "-o",   output.string(), "-DNEXT=" + std::to_string((module + 1) % program.modules)};
}

// The source is kept beside the module and compared, so that a changed generator is noticed. A
// module appears under its name only when it is whole: an interrupted run leaves nothing half done.
bool MakeModule(const ProgramClass& program, int module, const std::string& target,
                const fs::path& directory) {
  const std::string text = program.is_ptx ? ReadText(DEVLINK_BENCH_SOURCE "/kernels.cu")
                                          : ModuleText(program.family, module, target);
  const fs::path output = directory / FileName(program, module);
  const fs::path source = fs::path(output).replace_extension(program.is_ptx ? ".cu" : ".ptx");
  if (fs::exists(output) && ReadText(source) == text) return true;
  std::error_code ignored;
  fs::remove(output, ignored);
  std::ofstream(source, std::ios::binary) << text;
  const fs::path unfinished = fs::path(output).replace_extension(".new");
  if (!RunTool(CompileCommand(program, module, target, source, unfinished))) return false;
  fs::rename(unfinished, output);
  return true;
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
  return out;
}

}  // namespace devlink::bench
