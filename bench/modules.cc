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

bool Compile(const std::string& target, const fs::path& source, const fs::path& object) {
  const std::vector<std::string> arguments = {"ptxas",         "-c", "-arch=" + target,
                                              source.string(), "-o", object.string()};
  std::vector<char*> raw;
  // posix_spawn takes char* for historical reasons and does not write to the strings.
  for (const std::string& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
  raw.push_back(nullptr);
  pid_t pid = 0;
  if (posix_spawnp(&pid, raw[0], nullptr, nullptr, raw.data(), environ) != 0) return false;
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string FileName(int module) { return "m" + std::to_string(module) + ".cubin"; }

std::string ReadText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The text is kept beside the object and compared, so that a changed generator is noticed. An
// object appears under its name only when it is whole: an interrupted run leaves nothing half done.
bool MakeModule(const ProgramClass& program, int module, const std::string& target,
                const fs::path& directory) {
  const std::string text = ModuleText(program.family, module, target);
  const fs::path object = directory / FileName(module);
  const fs::path source = fs::path(object).replace_extension(".ptx");
  if (fs::exists(object) && ReadText(source) == text) return true;
  std::error_code ignored;
  fs::remove(object, ignored);
  std::ofstream(source, std::ios::binary) << text;
  const fs::path unfinished = fs::path(object).replace_extension(".new");
  if (!Compile(target, source, unfinished)) return false;
  fs::rename(unfinished, object);
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
  if (failed) throw std::runtime_error("ptxas failed on a module of " + program.name);
  for (int module = 0; module < program.modules; ++module) {
    out.files.push_back(FileName(module));
    out.bytes += fs::file_size(out.directory / out.files.back());
  }
  return out;
}

}  // namespace devlink::bench
