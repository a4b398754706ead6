// SPDX-License-Identifier: Apache-2.0
#include "command/tar.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/strings.h"

namespace devlink::internal {

namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kNameSize = 100;
constexpr std::uint64_t kLargestOctal = 077777777777;

// Fields of the header, by their places in it.
constexpr std::size_t kMode = 100;
constexpr std::size_t kOwner = 108;
constexpr std::size_t kGroup = 116;
constexpr std::size_t kSize = 124;
constexpr std::size_t kTime = 136;
constexpr std::size_t kSum = 148;
constexpr std::size_t kType = 156;
constexpr std::size_t kMagic = 257;

std::string Block(std::string_view name, std::uint64_t size, unsigned mode, char type) {
  std::string out(kBlock, '\0');
  const auto put = [&out](std::size_t at, std::string_view text) {
    std::memcpy(out.data() + at, text.data(), text.size());
  };
  put(0, name.substr(0, kNameSize));
  put(kMode, absl::StrFormat("%07o", mode));
  put(kOwner, "0000000");
  put(kGroup, "0000000");
  put(kSize, absl::StrFormat("%011o", std::min(size, kLargestOctal)));
  put(kTime, "00000000000");
  put(kSum, "        ");
  out[kType] = type;
  put(kMagic, {"ustar\00000", 8});
  unsigned sum = 0;
  for (const char c : out) sum += static_cast<unsigned char>(c);
  put(kSum, absl::StrFormat("%06o", sum));
  out[kSum + 6] = '\0';
  return out;
}

// `LENGTH key=value`, where the length counts its own digits.
std::string Record(std::string_view key, std::string_view value) {
  const std::string rest = base::Cat({" ", key, "=", value, "\n"});
  std::size_t length = rest.size() + 1;
  while (absl::StrCat(length).size() + rest.size() != length) {
    length = absl::StrCat(length).size() + rest.size();
  }
  return absl::StrCat(length, rest);
}

}  // namespace

std::string TarPadding(std::uint64_t size) {
  return std::string((kBlock - size % kBlock) % kBlock, '\0');
}

std::string TarHeader(std::string_view name, std::uint64_t size, bool executable) {
  std::string records;
  if (name.size() > kNameSize) records += Record("path", name);
  if (size > kLargestOctal) records += Record("size", absl::StrCat(size));
  std::string out;
  if (!records.empty()) {
    out = Block("pax", records.size(), 0644, 'x') + records + TarPadding(records.size());
  }
  return out + Block(name, size, executable ? 0755 : 0644, '0');
}

std::string TarEnd() { return std::string(2 * kBlock, '\0'); }

}  // namespace devlink::internal
