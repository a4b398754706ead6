// SPDX-License-Identifier: Apache-2.0
#include "finalize/telling_texts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "base/hash_table.h"

namespace devlink::internal {

namespace {

// Longer beginnings would only shorten what is passed on.
constexpr std::size_t kLongest = 512;

// Which beginnings of one length other names have somewhere.
class Beginnings {
 public:
  explicit Beginnings(std::size_t length) : length_(length) {
    for (std::size_t i = 1; i < length; ++i) highest_ *= kBase;
  }

  void Add(std::string_view beginning) {
    const std::uint64_t sum = SumOf(beginning);
    filter_[SlotOf(sum)] = true;
    telling_.try_emplace(beginning, true);
  }

  // Whatever stands in this name tells nothing.
  void LookThrough(std::string_view name) {
    if (name.size() < length_) return;
    std::uint64_t sum = SumOf(name.substr(0, length_));
    for (std::size_t at = 0;; ++at) {
      if (filter_[SlotOf(sum)]) {
        const auto found = telling_.find(name.substr(at, length_));
        if (found != telling_.end()) found->second = false;
      }
      if (at + length_ == name.size()) return;
      sum = (sum - highest_ * Byte(name[at])) * kBase + Byte(name[at + length_]);
    }
  }

  [[nodiscard]] bool Tells(std::string_view beginning) const {
    return telling_.find(beginning)->second;
  }

 private:
  static constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15;  // odd, with mixed bits
  static constexpr int kSlotBits = 16;

  static std::uint64_t SlotOf(std::uint64_t sum) { return (sum * kBase) >> (64 - kSlotBits); }
  static std::uint64_t Byte(char c) { return static_cast<unsigned char>(c) + 1U; }
  static std::uint64_t SumOf(std::string_view text) {
    std::uint64_t sum = 0;
    for (const char c : text) sum = sum * kBase + Byte(c);
    return sum;
  }

  std::size_t length_;
  std::uint64_t highest_ = 1;  // what the first byte of a text counts
  std::vector<bool> filter_ = std::vector<bool>(std::size_t{1} << kSlotBits);
  base::HashMap<std::string_view, bool> telling_;
};

}  // namespace

TextsWithin::TextsWithin(std::span<const std::string> texts) : texts_(texts.begin(), texts.end()) {
  std::sort(texts_.begin(), texts_.end());
  const auto begins = [](std::string_view one, std::string_view other) {
    return other.starts_with(one);
  };
  texts_.erase(std::unique(texts_.begin(), texts_.end(), begins), texts_.end());
}

std::string_view TextsWithin::FirstIn(std::string_view name) const {
  for (; !name.empty(); name.remove_prefix(1)) {
    // What the rest begins with sorts before it, and no other text between them.
    const auto behind = std::upper_bound(texts_.begin(), texts_.end(), name);
    if (behind != texts_.begin() && name.starts_with(*std::prev(behind))) {
      return *std::prev(behind);
    }
  }
  return {};
}

std::vector<std::string> TellingTexts(std::span<const std::string_view> kept,
                                      std::span<const std::string_view> others) {
  std::vector<std::string_view> open(kept.begin(), kept.end());
  std::vector<std::string> out;
  for (std::size_t length = 1; length <= kLongest && !open.empty(); length *= 2) {
    Beginnings beginnings(length);
    for (const std::string_view name : open) {
      if (name.size() > length) beginnings.Add(name.substr(0, length));
    }
    for (const std::string_view name : others) beginnings.LookThrough(name);
    std::erase_if(open, [&](std::string_view name) {
      if (name.size() > length && !beginnings.Tells(name.substr(0, length))) return false;
      out.emplace_back(name.substr(0, length));
      return true;
    });
  }
  out.insert(out.end(), open.begin(), open.end());
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace devlink::internal
