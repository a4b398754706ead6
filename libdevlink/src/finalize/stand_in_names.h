// SPDX-License-Identifier: Apache-2.0
//
// Kernels that go bear other names while the finalizer works. It knows what stays by texts that it
// looks for anywhere in a name, so that a kernel `scale2` would stay with `scale`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/bounded_reader.h"
#include "base/hash_table.h"

namespace devlink::internal {

class StandInNames {
 public:
  // For these, each of which is there once. Other names are as long and have no letters. Nothing
  // where there are not enough of a length.
  static std::optional<StandInNames> For(const std::vector<std::string_view>& names);

  [[nodiscard]] bool empty() const { return stand_ins_.empty(); }

  // Whether something of this name is called otherwise in what Hide returns.
  [[nodiscard]] bool Changes(std::string_view name) const;

  // An input under other names: symbols, and sections that are called after them. InvalidArgument
  // where the input has a stand-in of its own, or keeps another name within one that changes.
  [[nodiscard]] absl::StatusOr<std::vector<std::uint8_t>> Hide(base::Bytes cubin) const;

  // Gives a linked file its names back. InvalidArgument where it has no such tables.
  [[nodiscard]] absl::StatusOr<std::vector<std::uint8_t>> Restore(
      std::vector<std::uint8_t> cubin) const;

 private:
  using Names = base::HashMap<std::string, std::string>;

  Names stand_ins_;                   // by name
  Names names_;                       // by stand-in
  std::vector<std::size_t> lengths_;  // of the names, longest first
};

}  // namespace devlink::internal
