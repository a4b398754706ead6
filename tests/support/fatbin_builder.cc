// SPDX-License-Identifier: Apache-2.0
#include "support/fatbin_builder.h"

#include <algorithm>
#include <cstring>

namespace devlink::testing {

namespace {

using Bytes = std::vector<std::uint8_t>;

template <typename T>
void Put(Bytes& out, std::size_t at, T value) {
  if (out.size() < at + sizeof(value)) out.resize(at + sizeof(value));
  std::memcpy(out.data() + at, &value, sizeof(value));
}

void Append(Bytes& out, const void* data, std::size_t size) {
  const std::size_t at = out.size();
  out.resize(at + size);
  if (size != 0) std::memcpy(out.data() + at, data, size);
}

void Pad(Bytes& out) { out.resize((out.size() + 7) / 8 * 8); }

}  // namespace

Bytes FatbinBuilder::Member(std::span<const std::uint8_t> code) const {
  constexpr std::uint32_t kHeader = 64;
  constexpr std::uint32_t kRecord = kHeader + 8;
  constexpr std::size_t kCompatHead = 35;
  const bool sass = kind == CodeKind::kSass;
  std::uint64_t flags = is_64bit ? 0x11 : 0x10;
  if (arch.variant == 'a') flags |= 0x100000;
  if (arch.variant == 'f') flags |= 0x200000;

  Bytes data(options.begin(), options.end());
  if (sass) {
    data.clear();
    if (arch.number >= 100 && !compat.empty()) {
      data.push_back(0);
      Append(data, compat.data(), std::min(compat.size(), kCompatHead));
      flags |= 0x1000000;
    }
  }
  Bytes out;
  Put<std::uint16_t>(out, 0x00, sass ? 2 : kind == CodeKind::kPtx ? 1 : 8);
  Put<std::uint16_t>(out, 0x02, 0x0101);
  Put<std::uint16_t>(out, 0x18, sass ? 8 : kind == CodeKind::kPtx ? 0 : 0x41);
  Put<std::uint16_t>(out, 0x1a, kind == CodeKind::kPtx ? 9 : 1);
  Put<std::uint32_t>(out, 0x1c, arch.number);
  Put<std::uint64_t>(out, 0x28, flags);
  out.resize(kHeader);
  if (!sass || !data.empty()) {
    Put<std::uint32_t>(out, 0x14, kHeader);
    Put<std::uint32_t>(out, kHeader, kRecord);
    Put<std::uint32_t>(out, kHeader + 4, static_cast<std::uint32_t>(data.size()));
    Append(out, data.data(), data.size());
    if (!sass) out.push_back(0);
    Pad(out);
  }
  Put<std::uint32_t>(out, 0x04, static_cast<std::uint32_t>(out.size()));
  Put<std::uint64_t>(out, 0x08, (code.size() + 7) / 8 * 8);
  Append(out, code.data(), code.size());
  Pad(out);
  return out;
}

Bytes FatbinBuilder::Container(const std::vector<Bytes>& members) {
  Bytes out;
  Put<std::uint32_t>(out, 0, 0xBA55ED50);
  Put<std::uint16_t>(out, 4, 1);
  Put<std::uint16_t>(out, 6, 16);
  out.resize(16);
  for (const Bytes& member : members) Append(out, member.data(), member.size());
  Put<std::uint64_t>(out, 8, out.size() - 16);
  return out;
}

}  // namespace devlink::testing
