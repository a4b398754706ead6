// SPDX-License-Identifier: Apache-2.0
//
// A small generator of random numbers whose sequence is the same everywhere. The distributions of
// the standard library are not: a seed would mean another program with another compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

namespace devlink::testing {

class Prng {
 public:
  explicit Prng(std::uint64_t seed) : state_(seed) {}

  // SplitMix64.
  std::uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  // 0 to bound - 1; 0 for bound 0.
  std::uint32_t Below(std::size_t bound) {
    if (bound == 0) return 0;
    return static_cast<std::uint32_t>((Next() >> 32) * bound >> 32);
  }

  // first to last, both included.
  int Range(int first, int last) {
    return first + static_cast<int>(Below(static_cast<std::size_t>(last - first) + 1));
  }

  bool Chance(int percent) { return Range(0, 99) < percent; }

  template <typename T>
  T Pick(std::initializer_list<T> items) {
    return items.begin()[Below(items.size())];
  }

  template <typename T>
  const T& Pick(const std::vector<T>& items) {
    return items[Below(items.size())];
  }

  template <typename T>
  void Shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[Below(i)]);
  }

  // A generator of its own, for a part whose size shall not disturb what follows.
  Prng Fork() { return Prng(Next()); }

 private:
  std::uint64_t state_;
};

}  // namespace devlink::testing
