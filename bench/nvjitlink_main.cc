// SPDX-License-Identifier: Apache-2.0
//
// devlink-bench-nvjitlink: one link through a library with nvJitLink's interface, as a process that
// can be measured beside nvlink:
//
//   devlink-bench-nvjitlink LIBRARY OUTPUT OPTION... INPUT...
//
// Options begin with a dash.
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "nvjitlink_library.h"

namespace devlink::bench {
namespace {

int Main(const std::vector<std::string>& words) {
  if (words.size() < 4) {
    std::fputs("usage: devlink-bench-nvjitlink LIBRARY OUTPUT OPTION... INPUT...\n", stderr);
    return 2;
  }
  const auto library = NvJitLinkLibrary::Open(words[1]);
  if (!library) {
    std::fprintf(stderr, "cannot use '%s'\n", words[1].c_str());
    return 2;
  }
  std::vector<std::string> options;
  std::vector<NamedBytes> inputs;
  for (std::size_t i = 3; i < words.size(); ++i) {
    if (words[i].starts_with('-')) {
      options.push_back(words[i]);
      continue;
    }
    inputs.push_back({words[i], ReadBytes(words[i])});
    if (words[i].ends_with(".ptx")) inputs.back().bytes.push_back('\0');
  }
  std::string log;
  const auto cubin = library->Link(options, inputs, &log);
  if (!cubin) {
    std::fprintf(stderr, "%s\n", log.c_str());
    return 1;
  }
  std::ofstream file(words[2], std::ios::binary);
  file.write(cubin->data(), static_cast<std::streamsize>(cubin->size()));
  return file.flush() ? 0 : 1;
}

}  // namespace
}  // namespace devlink::bench

int main(int argc, char** argv) { return devlink::bench::Main({argv, argv + argc}); }
