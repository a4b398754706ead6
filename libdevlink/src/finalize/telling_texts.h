// SPDX-License-Identifier: Apache-2.0
//
// Names by parts of them: -kernels-used takes texts, and a kernel stays whose name has one of them
// anywhere.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace devlink::internal {

// Finds which of many texts stands in another, without looking at each of them.
class TextsWithin {
 public:
  // Borrows the texts. One that begins with another says nothing that the other does not.
  explicit TextsWithin(std::span<const std::string> texts);

  // Empty where none does.
  [[nodiscard]] std::string_view FirstIn(std::string_view name) const;

 private:
  std::vector<std::string_view> texts_;
};

// Few short texts of which each name of `kept` has one, and no name of `others` any: beginnings of
// the names, their length a power of two. A name of which no such beginning is telling is there as
// a whole, and may then stand in one of the others. libnvJitLink looks for each of its texts in
// each name, which takes longer than the link itself where kernels are many. Costs little more than
// reading all names ten times.
std::vector<std::string> TellingTexts(std::span<const std::string_view> kept,
                                      std::span<const std::string_view> others);

}  // namespace devlink::internal
