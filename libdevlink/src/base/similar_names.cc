// SPDX-License-Identifier: Apache-2.0
#include "base/similar_names.h"

#include <algorithm>

#include "base/demangle.h"
#include "base/edit_distance.h"

namespace devlink::base {

namespace {

// The plain name of a function or variable: `foo` of `ns::foo(int)`.
std::string_view PlainName(std::string_view readable) {
  const std::size_t end = readable.find('(');
  readable = readable.substr(0, end);
  const std::size_t colon = readable.rfind(':');
  return colon == std::string_view::npos ? readable : readable.substr(colon + 1);
}

}  // namespace

void SimilarNames::Want(std::string_view wanted) {
  constexpr std::size_t kShort = 3;
  wanted_ = wanted;
  const std::string readable = Demangle(wanted);
  const std::string_view plain = PlainName(readable);
  is_short_ = plain.size() < kShort;
  plain_ = readable.size() != wanted.size() ? plain : std::string_view();
}

bool SimilarNames::IsLike(std::string_view name) {
  if (name.size() > kLongest || is_exhausted()) return false;
  return (!is_short_ && IsSpeltAlike(name)) || IsNamedAlike(name);
}

bool SimilarNames::IsSpeltAlike(std::string_view name) {
  // In longer names more than a letter is wrong, and nobody would see which.
  constexpr std::size_t kLongestAlike = 256;
  if (wanted_.size() > kLongestAlike || name.size() > 2 * kLongestAlike) return false;
  const std::size_t limit = std::max<std::size_t>(2, wanted_.size() / 6) + 1;
  effort_ += 1 + limit * limit;  // unless they are alike in the beginning
  return EditDistance(name, wanted_, limit) < limit;
}

// Of another overload.
bool SimilarNames::IsNamedAlike(std::string_view name) {
  effort_ += name.size();
  if (plain_.empty() || name.find(plain_) == std::string_view::npos) return false;
  constexpr std::size_t kCostOfReading = 64;
  effort_ += name.size() * kCostOfReading;
  return PlainName(Demangle(name)) == plain_;
}

}  // namespace devlink::base
