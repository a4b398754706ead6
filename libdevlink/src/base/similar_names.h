// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace devlink::base {

// Finds symbols that may have been meant where another one is missing: those that differ little,
// and those that differ in their parameters only. What all comparisons of one object cost together
// is bounded: about a second.
class SimilarNames {
 public:
  // The name that is missing, as compilers mangle it. Borrowed.
  void Want(std::string_view wanted);
  [[nodiscard]] bool IsLike(std::string_view name);
  // Nothing is alike any more.
  [[nodiscard]] bool is_exhausted() const { return effort_ >= kMostEffort; }

 private:
  // In characters; what is longer than that is not read.
  static constexpr std::uint64_t kMostEffort = std::uint64_t{1} << 28;
  static constexpr std::size_t kLongest = 2048;

  [[nodiscard]] bool IsSpeltAlike(std::string_view name);
  [[nodiscard]] bool IsNamedAlike(std::string_view name);

  std::string_view wanted_;
  std::string plain_;      // `foo` of `ns::foo(int)`; empty where the name is no C++ name
  bool is_short_ = false;  // of names of a letter or two, any two are alike
  std::uint64_t effort_ = 0;
};

}  // namespace devlink::base
