// SPDX-License-Identifier: Apache-2.0
//
// devlink-diff A B: tells how two cubins differ, as far as a linker is concerned: each linker's own
// record in `.note.nv.tkinfo` may differ. Exit status 0: equal; 1: different; 2: unreadable.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "devlink-diff/cubin_diff.h"

namespace {

using Bytes = std::vector<std::uint8_t>;

std::optional<Bytes> ReadBytes(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  if (!file || std::filesystem::is_directory(path, error)) return std::nullopt;
  return Bytes(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: devlink-diff A.cubin B.cubin\n", stderr);
    return 2;
  }
  const auto a = ReadBytes(argv[1]);
  const auto b = ReadBytes(argv[2]);
  if (!a || !b) {
    std::fprintf(stderr, "devlink-diff: cannot read '%s'\n", a ? argv[2] : argv[1]);
    return 2;
  }
  const std::string difference = devlink::diff::ExplainDifference(*a, *b);
  std::puts(difference.empty() ? "identical" : difference.c_str());
  return difference.empty() ? 0 : 1;
}
