// SPDX-License-Identifier: Apache-2.0
#include "fuzz/mutation.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <iterator>

#include "format/elf_cuda.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Numbers at which something turns over, and such as a file may hold.
std::uint64_t Number(Prng& random) {
  switch (random.Below(4)) {
    case 0:
      return random.Pick<std::uint64_t>({0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fffffff, 0x80000000,
                                         0xffffffff, 0x7fffffffffffffff, 0xffffffffffffffff});
    case 1:
      return random.Below(256);
    case 2:
      return random.Below(65536);
    default:
      return random.Next();
  }
}

void Store(Bytes& bytes, std::size_t at, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size && at + i < bytes.size(); ++i) {
    bytes[at + i] = static_cast<std::uint8_t>(value >> 8 * i);
  }
}

// One after the other, so that an input's number gives the same input with every compiler.
void StoreNumber(Prng& random, Bytes& bytes, std::size_t at,
                 std::initializer_list<std::size_t> sizes) {
  const std::size_t size = random.Pick(sizes);
  const std::uint64_t value = Number(random);
  Store(bytes, at, value, size);
}

// A field of a section header or an entry of the symbol table, of the ELF file at `begin`.
void ChangeTable(Prng& random, Bytes& bytes, std::size_t begin) {
  format::Ehdr header = {};
  if (bytes.size() - begin < sizeof(header)) return;
  std::memcpy(&header, bytes.data() + begin, sizeof(header));
  if (header.shnum == 0 || header.shoff > bytes.size() - begin) return;
  const std::size_t at = begin + header.shoff + random.Below(header.shnum) * sizeof(format::Shdr);
  if (at + sizeof(format::Shdr) > bytes.size()) return;
  format::Shdr section = {};
  std::memcpy(&section, bytes.data() + at, sizeof(section));
  const bool inside = section.size >= 8 && section.offset <= bytes.size() - begin &&
                      section.size <= bytes.size() - begin - section.offset;
  if (!inside || random.Chance(40)) {
    const std::size_t field = random.Pick<std::size_t>({0, 4, 8, 24, 32, 40, 44, 48, 56});
    return StoreNumber(random, bytes, at + field, {1, 2, 4, 8});
  }
  // In tables most entries are 4, 8, 16 or 24 bytes from one another.
  const std::size_t place = random.Below(section.size / 4) * std::size_t{4};
  StoreNumber(random, bytes, begin + section.offset + place, {1, 2, 4, 8});
}

// Where an ELF file begins within the bytes, which may be a container; one of them, by chance.
std::size_t FindElf(Prng& random, const Bytes& bytes) {
  constexpr std::uint8_t kMagic[] = {0x7f, 'E', 'L', 'F'};
  const auto from = bytes.begin() + random.Below(bytes.size());
  auto found = std::search(from, bytes.end(), std::begin(kMagic), std::end(kMagic));
  if (found == bytes.end()) {
    found = std::search(bytes.begin(), bytes.end(), std::begin(kMagic), std::end(kMagic));
  }
  return static_cast<std::size_t>(found - bytes.begin());
}

// Bytes of one place at another, instead of those there or before them.
void CopyPiece(Prng& random, Bytes& bytes, std::size_t at) {
  const std::size_t from = random.Below(bytes.size());
  const std::size_t size = std::min<std::size_t>(1 + random.Below(64), bytes.size() - from);
  const Bytes piece(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                    bytes.begin() + static_cast<std::ptrdiff_t>(from + size));
  const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
  if (random.Chance(30)) {
    bytes.insert(place, piece.begin(), piece.end());
  } else {
    std::copy_n(piece.begin(), std::min(size, bytes.size() - at), place);
  }
}

void ChangeOnce(Prng& random, Bytes& bytes) {
  const std::size_t at = random.Below(bytes.size());
  const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
  const int kind = random.Range(0, 99);
  if (kind < 35) {
    if (const std::size_t begin = FindElf(random, bytes); begin < bytes.size()) {
      return ChangeTable(random, bytes, begin);
    }
  }
  if (kind < 55) {
    bytes[at] = static_cast<std::uint8_t>(random.Chance(50) ? bytes[at] ^ 1U << random.Below(8)
                                                            : Number(random));
  } else if (kind < 75) {
    StoreNumber(random, bytes, at, {2, 4, 8});
  } else if (kind < 85) {
    CopyPiece(random, bytes, at);
  } else if (kind < 92) {
    // What would do something on a terminal, or end a line or a text.
    bytes[at] = random.Pick<std::uint8_t>({0x1b, '\n', '\r', 0, 0x9b, 0xc2, '"', '\\', '/', '*'});
  } else if (kind < 97) {
    const std::size_t size = std::min<std::size_t>(1 + random.Below(64), bytes.size() - at);
    bytes.erase(place, place + static_cast<std::ptrdiff_t>(size));
  } else {
    bytes.resize(at);
  }
}

}  // namespace

void Mutate(Prng& random, Bytes& bytes) {
  for (int n = random.Pick({1, 1, 1, 2, 3, 4, 8}); n > 0 && !bytes.empty(); --n) {
    ChangeOnce(random, bytes);
  }
}

}  // namespace devlink::testing
