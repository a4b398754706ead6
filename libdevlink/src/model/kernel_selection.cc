// SPDX-License-Identifier: Apache-2.0
#include "model/kernel_selection.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash_table.h"
#include "base/strings.h"
#include "format/elf_cuda.h"

namespace devlink::internal {

// Goes back to the last `*` only: what an earlier one stands for never needs to grow again.
bool MatchesPattern(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

namespace {

// What nvcc writes of a kernel in either list: `_ZN3foo2kt*` and `__nv_static_..._*3foo2kt*`. A
// template's instances stand in both, though none of them is static.
std::string_view MangledPart(std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star != std::string_view::npos && star + 1 < pattern.size()) return pattern.substr(star + 1);
  if (pattern.starts_with("_Z")) pattern.remove_prefix(2);
  if (pattern.starts_with("N")) pattern.remove_prefix(1);
  return pattern;
}

}  // namespace

void PatternSet::Add(std::string pattern) {
  const std::string head = pattern.substr(0, pattern.find('*'));
  head_sizes_.insert(head.size());
  Bucket& bucket = by_head_[head];
  const std::size_t middle = pattern.find_first_not_of('*', head.size());
  if (head.size() == pattern.size()) {
    bucket.head_alone = true;
  } else if (middle == std::string::npos) {
    bucket.any_tail = true;
  } else {
    bucket.by_middle[pattern.substr(middle, pattern.find('*', middle) - middle)].push_back(
        bucket.patterns.size());
  }
  bucket.patterns.push_back(std::move(pattern));
}

// At each place of the tail it goes down from the longest middle that may begin there. A middle
// that is the beginning of a text stands before it in the order of the map, and so do all others
// that are; those between share fewer characters with the text than they have.
template <typename Function>
bool PatternSet::AnyCandidate(const Bucket& bucket, std::string_view tail,
                              const Function& matches) {
  base::HashSet<const std::vector<std::size_t>*> seen;
  for (; !tail.empty() && !bucket.by_middle.empty(); tail.remove_prefix(1)) {
    std::string_view rest = tail;
    while (!rest.empty()) {
      auto found = bucket.by_middle.upper_bound(rest);
      if (found == bucket.by_middle.begin()) break;
      const auto& [middle, places] = *--found;
      const auto differs = std::ranges::mismatch(middle, rest).in1;
      std::size_t common = static_cast<std::size_t>(differs - middle.begin());
      if (common == middle.size()) {
        --common;
        if (seen.insert(&places).second && std::ranges::any_of(places, [&](std::size_t i) {
              return matches(bucket.patterns[i]);
            })) {
          return true;
        }
      }
      rest = rest.substr(0, common);
    }
  }
  return false;
}

template <typename Function>
bool PatternSet::AnyCandidate(std::string_view name, const Function& matches) const {
  for (const std::size_t size : head_sizes_) {
    if (size > name.size()) break;
    const auto found = by_head_.find(base::ToAbsl(name.substr(0, size)));
    if (found == by_head_.end()) continue;
    const Bucket& bucket = found->second;
    if (bucket.any_tail || (bucket.head_alone && size == name.size())) return true;
    if (AnyCandidate(bucket, name.substr(size), matches)) return true;
  }
  return false;
}

bool PatternSet::Matches(std::string_view name) const {
  return AnyCandidate(name,
                      [&](const std::string& pattern) { return MatchesPattern(pattern, name); });
}

std::size_t PatternSet::Comparisons(std::string_view name) const {
  std::size_t count = 0;
  AnyCandidate(name, [&](const std::string& /*pattern*/) {
    ++count;
    return false;
  });
  return count;
}

std::vector<std::string_view> PatternSet::NotAmong(
    const std::vector<std::string_view>& names) const {
  constexpr std::size_t kMostComparisons = 1 << 20;
  std::size_t comparisons = 0;
  std::vector<std::string_view> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string_view> out;
  for (const auto& [head, bucket] : by_head_) {
    const std::vector<std::string>& patterns = bucket.patterns;
    // The names that begin like this one stand together.
    const auto first = std::lower_bound(sorted.begin(), sorted.end(), head);
    const auto last = std::partition_point(
        first, sorted.end(), [&](std::string_view name) { return name.starts_with(head); });
    comparisons += patterns.size() * static_cast<std::size_t>(last - first);
    if (comparisons > kMostComparisons) return {};
    for (const std::string& pattern : patterns) {
      const bool matches = std::any_of(
          first, last, [&](std::string_view name) { return MatchesPattern(pattern, name); });
      if (!matches) out.push_back(pattern);
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<std::string_view> PatternSet::Patterns() const {
  std::vector<std::string_view> out;
  for (const auto& [head, bucket] : by_head_) {
    out.insert(out.end(), bucket.patterns.begin(), bucket.patterns.end());
  }
  return out;
}

KernelSelection KernelSelection::Containing(const std::vector<std::string>& parts) {
  KernelSelection out;
  out.wants_all_ = false;
  for (const std::string& part : parts) out.external_.Add(base::Cat({"*", part, "*"}));
  out.internal_ = out.external_;
  return out;
}

KernelSelection KernelSelection::ReferredTo(const std::vector<HostReferences>& inputs,
                                            bool known_before) {
  KernelSelection out;
  out.by_host_references_ = !known_before;
  for (const HostReferences& input : inputs) {
    // nvlink looks for this one list; an object with any of the others only counts as one without.
    if (!input.kernels_external.present) return {};
    for (const std::string& name : input.kernels_external.names) out.external_.Add(name);
    for (const std::string& name : input.kernels_internal.names) out.internal_.Add(name);
  }
  out.wants_all_ = out.external_.empty() && out.internal_.empty();
  return out;
}

KernelSelection KernelSelection::And(const std::vector<std::string>& names) && {
  for (const std::string& name : names) named_.insert(name);
  return std::move(*this);
}

bool KernelSelection::Wants(const Symbol& kernel) const {
  if (wants_all_ || named_.contains(kernel.name)) return true;
  return (kernel.binding == format::kStbLocal ? internal_ : external_).Matches(kernel.name);
}

std::vector<std::string_view> KernelSelection::NotAmong(const std::vector<Symbol>& kernels) const {
  std::vector<std::string_view> external;
  std::vector<std::string_view> internal;
  for (const Symbol& kernel : kernels) {
    (kernel.binding == format::kStbLocal ? internal : external).push_back(kernel.name);
  }
  std::vector<std::string_view> out = external_.NotAmong(external);
  const std::vector<std::string_view> more = internal_.NotAmong(internal);
  if (!more.empty()) {
    base::HashSet<std::string_view> known;
    for (const std::string_view pattern : external_.Patterns()) known.insert(MangledPart(pattern));
    std::copy_if(more.begin(), more.end(), std::back_inserter(out),
                 [&](std::string_view pattern) { return !known.contains(MangledPart(pattern)); });
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace devlink::internal
