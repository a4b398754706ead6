// SPDX-License-Identifier: Apache-2.0
//
// devlink-bench-floor: what no linker can be faster than. Reads the inputs, as cat does, and writes
// as many bytes as an output has:
//
//   devlink-bench-floor BYTES OUTPUT INPUT...
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

std::array<char, std::size_t{128} * 1024> buffer;

bool ReadAll(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t taken = 0;
  do {
    taken = read(file, buffer.data(), buffer.size());
  } while (taken > 0);
  close(file);
  return taken == 0;
}

bool WriteAll(const char* path, std::uint64_t bytes) {
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return false;
  while (bytes != 0) {
    const ssize_t written = write(file, buffer.data(), std::min(bytes, buffer.size()));
    if (written <= 0) return false;
    bytes -= static_cast<std::uint64_t>(written);
  }
  return close(file) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  for (int i = 3; i < argc; ++i) {
    if (!ReadAll(argv[i])) return 1;
  }
  return WriteAll(argv[2], std::strtoull(argv[1], nullptr, /*base=*/10)) ? 0 : 1;
}
