// SPDX-License-Identifier: Apache-2.0
//
// Looks things up in the details of a link.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/readable_names.h"
#include "devlink/link_report.h"

namespace devlink::internal {

// FailedPrecondition where the link kept none.
absl::StatusOr<const LinkDetails*> DetailsOf(const LinkReport& report);

// The name as C++ spells it, without control characters.
std::string ShownName(base::ReadableNames& names, std::string_view mangled);

std::string_view WordFor(VariableMemory memory);

// Of a readable name: `ns::f<int>` for `void ns::f<int>(int)`, and `ns::f<>`; the latter is empty
// for what is no template.
std::string WithoutParameters(std::string_view readable);
std::string TemplateName(std::string_view readable);

// Ways through calls by name and through pointers. Borrows the details.
class DetailsGraph {
 public:
  explicit DetailsGraph(const LinkDetails& details);

  // Every function that `from` can come to call, itself first, with the one that led there on a
  // shortest way. In the order of being met.
  struct Step {
    std::uint32_t function = kNoIndex;
    std::uint32_t from = kNoIndex;
    bool through_pointer = false;
  };
  [[nodiscard]] std::vector<Step> ReachableFrom(std::uint32_t from) const;

  // The functions on the way whose frames add up to the most. Empty where calls can go round.
  [[nodiscard]] std::vector<std::uint32_t> DeepestWay(std::uint32_t from) const;

  // Who calls a function by name, and who may through a pointer.
  [[nodiscard]] std::vector<std::uint32_t> CallersOf(std::uint32_t function) const;

 private:
  // Functions first, then one node for each of LinkDetails::pointer_calls.
  [[nodiscard]] std::uint32_t node_count() const {
    return static_cast<std::uint32_t>(successors_.size());
  }
  [[nodiscard]] bool IsFunction(std::uint32_t node) const {
    return node < details_.functions.size();
  }

  const LinkDetails& details_;
  std::vector<std::vector<std::uint32_t>> successors_;
  std::vector<std::vector<std::uint32_t>> predecessors_;
};

}  // namespace devlink::internal
