// SPDX-License-Identifier: Apache-2.0
#include "image/register_ranges.h"

#include <algorithm>
#include <cstddef>

#include "base/bounded_reader.h"
#include "image/section_bytes.h"

namespace devlink::internal {

// A list is the function's name and a count, then so many of: a word, the variable's name, the
// register's class and number, and the first and last place in code.
std::optional<std::vector<std::uint8_t>> KeepRegisterRanges(
    const Section& section, const std::function<bool(std::string_view, std::uint64_t)>& stays) {
  constexpr std::uint64_t kWord = 4;
  constexpr std::uint64_t kPlaces = 2 * kWord;
  const std::vector<std::uint8_t> bytes = BytesOf(section);
  std::vector<std::uint8_t> out = bytes;
  const base::BoundedReader reader(bytes);
  for (std::uint64_t at = 0; at < bytes.size();) {
    const auto function = reader.CString(at);
    if (!function) return std::nullopt;
    const bool keeps = stays(*function, at);
    at += function->size() + 1;
    std::uint32_t count = 0;
    if (!reader.Read(at, count)) return std::nullopt;
    at += kWord;
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto variable = reader.CString(at + kWord);
      if (!variable) return std::nullopt;
      const std::uint64_t places = at + kWord + variable->size() + 1 + kWord;
      if (!reader.Slice(places, kPlaces)) return std::nullopt;
      const auto begin = out.begin() + static_cast<std::ptrdiff_t>(places);
      if (!keeps) std::fill(begin, begin + kPlaces, std::uint8_t{0});
      at = places + kPlaces;
    }
  }
  return out;
}

}  // namespace devlink::internal
