// SPDX-License-Identifier: Apache-2.0
//
// What files begin with, as text and, where headers are read, as a little-endian word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace devlink::format {

constexpr std::uint32_t MagicWord(std::string_view text) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    out |= std::uint32_t{static_cast<unsigned char>(text[i])} << (8 * i);
  }
  return out;
}

inline constexpr std::string_view kElfMagic{"\177ELF"};
inline constexpr std::string_view kFatbinMagicText{"\x50\xed\x55\xba"};      // docs/fatbin.md
inline constexpr std::string_view kLtoIrMagicText{"\xed\x43\x4e\x7f"};       // docs/lto-ir.md
inline constexpr std::string_view kBitcodeMagic{"BC\xc0\xde"};               // LLVM's
inline constexpr std::string_view kBitcodeWrapperMagic{"\xde\xc0\x17\x0b"};  // LLVM's
inline constexpr std::string_view kArchiveMagic{"!<arch>\n"};
inline constexpr std::string_view kThinArchiveMagic{"!<thin>\n"};

}  // namespace devlink::format
