// SPDX-License-Identifier: Apache-2.0
//
// The hash of symbol and section names, of which a link of a thousand modules takes a hundred
// thousand. absl::Hash hands a std::string_view to the standard library's, which takes twice as
// long where Abseil was built with a string_view of its own, as Debian's is.
#pragma once

#include <cstddef>
#include <string_view>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"

namespace devlink::base {

inline std::size_t HashName(std::string_view name) {
  return absl::Hash<absl::string_view>()({name.data(), name.size()});
}

// For containers with names as keys.
struct NameHash {
  std::size_t operator()(std::string_view name) const { return HashName(name); }
};

}  // namespace devlink::base
