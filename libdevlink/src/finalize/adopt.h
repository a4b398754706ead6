// SPDX-License-Identifier: Apache-2.0
//
// The finalizer's file is nvlink's, but for the record of the tool and, where host code decides
// which kernels stay, some names. Here it becomes devlink's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/bounded_reader.h"

namespace devlink::internal {

// A name that nvlink leaves in the string tables although nothing bears it any more.
struct LeftName {
  std::string text;
  // The names behind which it stands, the nearest first: it goes behind the first one that the
  // table has.
  std::vector<std::string> behind;
};

struct Adoption {
  base::Bytes record;  // what becomes the first record of `.note.nv.tkinfo`
  // In the order in which they stand in the tables; those that have the same neighbour, too.
  std::vector<LeftName> section_names;  // of `.shstrtab`
  std::vector<LeftName> symbol_names;   // of `.strtab`
};

// The file as devlink writes it. InvalidArgument where it is not one that can be taken over.
absl::StatusOr<std::vector<std::uint8_t>> Adopt(base::Bytes cubin, const Adoption& adoption);

}  // namespace devlink::internal
