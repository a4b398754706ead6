// SPDX-License-Identifier: Apache-2.0
//
// nvvm_probe LIBRARY MODULE WORD... [-- WORD...]... : compiles the module once for each list of
// words, all with one loaded library, and prints a line `rc SIZE-OF-THE-RESULT` and the log for
// each. A process of its own, since some words end the process and others stay in the library.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

template <typename Function>
Function Find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

std::string ReadAll(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 3;
  using Program = void*;
  const auto create = Find<int (*)(Program*)>(library, "nvvmCreateProgram");
  const auto add = Find<int (*)(Program, const char*, std::size_t, const char*)>(
      library, "nvvmAddModuleToProgram");
  const auto compile = Find<int (*)(Program, int, const char**)>(library, "nvvmCompileProgram");
  const auto log_size = Find<int (*)(Program, std::size_t*)>(library, "nvvmGetProgramLogSize");
  const auto get_log = Find<int (*)(Program, char*)>(library, "nvvmGetProgramLog");
  const auto result_size =
      Find<int (*)(Program, std::size_t*)>(library, "nvvmGetCompiledResultSize");
  if (!create || !add || !compile || !log_size || !get_log || !result_size) return 4;
  const std::string module = ReadAll(argv[2]);
  for (int i = 3; i <= argc; ++i) {
    std::vector<const char*> words;
    for (; i < argc && std::string_view(argv[i]) != "--"; ++i) words.push_back(argv[i]);
    Program program = nullptr;
    if (create(&program) != 0 || add(program, module.data(), module.size(), "m") != 0) return 5;
    const int code = compile(program, static_cast<int>(words.size()), words.data());
    std::size_t size = 0;
    log_size(program, &size);
    std::string log(size, '\0');
    if (size > 1) get_log(program, log.data());
    size = 0;
    if (code == 0) result_size(program, &size);
    std::printf("%d %zu\n%s\n", code, size, log.c_str());
  }
  return 0;
}
