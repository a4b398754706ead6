// SPDX-License-Identifier: Apache-2.0
//
// Which kernels a link keeps for the host's sake (docs/host-references.md).
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_table.h"
#include "devlink/experimental/host_references.h"
#include "model/program.h"

namespace devlink::internal {

// `*` in `pattern` stands for any characters, also none; everything else for itself.
bool MatchesPattern(std::string_view pattern, std::string_view name);

// Patterns by the text before their first `*`, and those of one such text by what stands behind it,
// so that a name meets few of them: lists may have hundred thousands that begin with the same, and
// a program as many kernels.
class PatternSet {
 public:
  void Add(std::string pattern);
  [[nodiscard]] bool empty() const { return by_head_.empty(); }
  [[nodiscard]] bool Matches(std::string_view name) const;
  // With how many patterns Matches compares a name that none of them matches.
  [[nodiscard]] std::size_t Comparisons(std::string_view name) const;
  [[nodiscard]] std::vector<std::string_view> Patterns() const;
  // Those that match none of `names`, sorted; nothing where to find out would take long.
  [[nodiscard]] std::vector<std::string_view> NotAmong(
      const std::vector<std::string_view>& names) const;

 private:
  struct Bucket {
    std::vector<std::string> patterns;
    bool head_alone = false;  // one of them is the head, or the head and a `*`
    bool any_tail = false;
    // Of the others, by the text between the first two stars, or behind the only one: their places.
    std::map<std::string, std::vector<std::size_t>, std::less<>> by_middle;
  };
  // Calls `matches` for each pattern of the bucket whose middle occurs in `tail`, until one returns
  // true.
  template <typename Function>
  static bool AnyCandidate(const Bucket& bucket, std::string_view tail, const Function& matches);
  template <typename Function>
  bool AnyCandidate(std::string_view name, const Function& matches) const;

  base::HashMap<std::string, Bucket> by_head_;
  std::set<std::size_t> head_sizes_;
};

// Says of every kernel whether the host may launch it.
class KernelSelection {
 public:
  // Every kernel, which is what a link without host references does.
  KernelSelection() = default;

  // nvlink -kernels-used, -variables-used: kernels with one of these texts in their names. Where
  // only variables are named, `parts` is empty and no kernel is wanted.
  static KernelSelection Containing(const std::vector<std::string>& parts);

  // What the host code of all inputs refers to. Everything, where one of them does not say what
  // its host code refers to, and where no host code refers to any kernel.
  // `known_before`: kernels are left out as they are met, which nvlink does where libNVVM was told
  // the same references.
  static KernelSelection ReferredTo(const std::vector<HostReferences>& inputs,
                                    bool known_before = false);

  // The same, and kernels of these names in any case. Borrows the names.
  [[nodiscard]] KernelSelection And(const std::vector<std::string>& names) &&;

  // Whether kernels are left out when the program is complete; else it happens as they are met.
  [[nodiscard]] bool ByHostReferences() const { return by_host_references_; }
  // Whether kernels are left out at all, if only in principle: every kernel may be wanted by name.
  [[nodiscard]] bool LeavesOut() const { return !wants_all_; }
  // `kernel` is the symbol of a kernel.
  [[nodiscard]] bool Wants(const Symbol& kernel) const;
  // What the host code refers to and none of `kernels` is called, sorted; but not what nvcc lists
  // as static beside what it lists as not.
  [[nodiscard]] std::vector<std::string_view> NotAmong(const std::vector<Symbol>& kernels) const;

 private:
  bool wants_all_ = true;
  bool by_host_references_ = false;
  base::HashSet<std::string_view> named_;
  PatternSet external_;
  PatternSet internal_;
};

}  // namespace devlink::internal
