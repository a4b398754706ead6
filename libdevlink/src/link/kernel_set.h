// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace devlink::internal {

// Which kernels of a link use something: a list while they are few, a bit for each kernel of the
// link from there on. Never larger than either.
class KernelSet {
 public:
  // Each kernel of the link's `total` once, in any order.
  void Add(std::uint32_t kernel, std::size_t total) {
    const std::size_t words = (total + kBits - 1) / kBits;
    ++count_;
    if (!is_bits_ && count_ <= words) {
      words_.push_back(kernel);
      return;
    }
    if (!is_bits_) {
      const std::vector<std::uint32_t> list = std::move(words_);
      words_.assign(words, 0);
      is_bits_ = true;
      for (const std::uint32_t known : list) Set(known);
    }
    Set(kernel);
  }

  [[nodiscard]] std::size_t size() const { return count_; }

  [[nodiscard]] std::vector<std::uint32_t> Sorted() const {
    std::vector<std::uint32_t> kernels;
    kernels.reserve(count_);
    ForEach([&](std::uint32_t kernel) { kernels.push_back(kernel); });
    std::sort(kernels.begin(), kernels.end());
    return kernels;
  }

  template <typename Function>
  void ForEach(const Function& function) const {
    if (!is_bits_) {
      for (const std::uint32_t kernel : words_) function(kernel);
      return;
    }
    for (std::uint32_t i = 0; i < words_.size(); ++i) {
      for (std::uint32_t word = words_[i]; word != 0; word &= word - 1) {
        function(i * kBits + static_cast<std::uint32_t>(std::countr_zero(word)));
      }
    }
  }

 private:
  static constexpr std::uint32_t kBits = 32;

  void Set(std::uint32_t kernel) { words_[kernel / kBits] |= std::uint32_t{1} << (kernel % kBits); }

  std::vector<std::uint32_t> words_;
  std::uint32_t count_ = 0;
  bool is_bits_ = false;
};

}  // namespace devlink::internal
