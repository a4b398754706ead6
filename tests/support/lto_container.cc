// SPDX-License-Identifier: Apache-2.0
#include "support/lto_container.h"

#include <cstring>
#include <string>

namespace devlink::testing {
namespace {

void Put16(std::vector<std::uint8_t>& out, std::uint16_t value) {
  out.push_back(static_cast<std::uint8_t>(value));
  out.push_back(static_cast<std::uint8_t>(value >> 8));
}

void Put32(std::vector<std::uint8_t>& out, std::uint32_t value) {
  Put16(out, static_cast<std::uint16_t>(value));
  Put16(out, static_cast<std::uint16_t>(value >> 16));
}

}  // namespace

std::vector<std::uint8_t> MakeLtoContainer(Arch arch, std::string_view payload) {
  constexpr std::uint16_t kFixedPart = 24;
  std::vector<std::uint8_t> tags;
  Put16(tags, 1);
  Put16(tags, static_cast<std::uint16_t>(arch.number * 10));
  Put16(tags, 2);
  Put16(tags, 2);
  if (arch.variant == 'a') {
    Put16(tags, 0x20);
    Put16(tags, 1);
  }
  Put16(tags, 0x63);
  Put16(tags, 0);
  Put32(tags, 0);
  const auto key = static_cast<std::uint32_t>(kFixedPart + tags.size());

  std::vector<std::uint8_t> out = {0xed, 0x43, 0x4e, 0x7f, 1, 0x41, 2, 0x62, 3, 2};
  out.push_back(arch.number < 100 ? 7 : 20);  // LLVM
  out.push_back(0);
  Put16(out, kFixedPart);
  Put16(out, 1);
  Put32(out, key);
  Put32(out, key + 4);
  out.insert(out.end(), tags.begin(), tags.end());
  Put32(out, 0);  // no protection
  out.insert(out.end(), {'B', 'C', 0xc0, 0xde});
  out.insert(out.end(), payload.begin(), payload.end());
  out.resize((out.size() + 7) / 8 * 8);
  return out;
}

}  // namespace devlink::testing
