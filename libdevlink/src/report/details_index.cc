// SPDX-License-Identifier: Apache-2.0
#include "report/details_index.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "base/visible_text.h"

namespace devlink::internal {

absl::StatusOr<const LinkDetails*> DetailsOf(const LinkReport& report) {
  if (report.details != nullptr) return report.details.get();
  return absl::FailedPreconditionError(
      "the link kept no details; ask for them with the option details");
}

std::string ShownName(base::ReadableNames& names, std::string_view mangled) {
  return base::VisibleText(names.Readable(mangled));
}

std::string_view WordFor(VariableMemory memory) {
  switch (memory) {
    case VariableMemory::kGlobal:
      return "global";
    case VariableMemory::kConstant:
      return "constant";
    case VariableMemory::kShared:
      return "shared";
  }
  return "";
}

namespace {

constexpr std::string_view kOperator = "operator";
constexpr std::string_view kAnonymous = "(anonymous namespace)";

// How much of the text belongs together: an operator's name or a nameless namespace, whose brackets
// are none; or one character.
std::size_t WordAt(std::string_view text) {
  if (text.starts_with(kAnonymous)) return kAnonymous.size();
  if (!text.starts_with(kOperator)) return 1;
  const std::string_view name = text.substr(kOperator.size());
  if (name.starts_with("()") || name.starts_with("[]")) return kOperator.size() + 2;
  const std::size_t end = name.find_first_not_of("<>=+-*/%^&|~!,");
  return kOperator.size() + std::min(end, name.size());
}

// What stands in no brackets, from the last blank on: in front of a template's name is what the
// function returns. Ends at `end` (`(` or `<`), without which the result is empty.
std::string_view NameUpTo(std::string_view readable, char end) {
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < readable.size();) {
    const char c = readable[i];
    const std::size_t size = WordAt(readable.substr(i));
    if (size == 1 && depth == 0) {
      if (c == end) return readable.substr(begin, i - begin);
      if (c == '(') return {};
      if (c == ' ') begin = i + 1;
    }
    if (size == 1 && (c == '<' || c == '(')) ++depth;
    if (size == 1 && (c == '>' || c == ')')) --depth;
    i += size;
  }
  return {};
}

}  // namespace

std::string WithoutParameters(std::string_view readable) {
  const std::string_view name = NameUpTo(readable, '(');
  return std::string(name.empty() ? readable : name);
}

std::string TemplateName(std::string_view readable) {
  const std::string_view name = NameUpTo(readable, '<');
  return name.empty() ? "" : std::string(name) + "<>";
}

DetailsGraph::DetailsGraph(const LinkDetails& details) : details_(details) {
  const auto functions = static_cast<std::uint32_t>(details.functions.size());
  successors_.resize(functions + details.pointer_calls.size());
  for (std::uint32_t f = 0; f < functions; ++f) successors_[f] = details.functions[f].callees;
  std::uint32_t node = functions;
  for (const PointerCalls& calls : details.pointer_calls) {
    for (const std::uint32_t caller : calls.callers) successors_[caller].push_back(node);
    successors_[node++] = calls.targets;
  }
  predecessors_.resize(node_count());
  for (node = 0; node < node_count(); ++node) {
    for (const std::uint32_t to : successors_[node]) predecessors_[to].push_back(node);
  }
}

std::vector<DetailsGraph::Step> DetailsGraph::ReachableFrom(std::uint32_t from) const {
  std::vector<bool> met(node_count(), false);
  std::vector<Step> nodes = {{from, kNoIndex, false}};
  met[from] = true;
  for (std::size_t next = 0; next < nodes.size(); ++next) {
    const Step here = nodes[next];
    const bool is_function = IsFunction(here.function);
    for (const std::uint32_t to : successors_[here.function]) {
      if (met[to]) continue;
      met[to] = true;
      nodes.push_back({to, is_function ? here.function : here.from, !is_function});
    }
  }
  std::erase_if(nodes, [this](const Step& step) { return !IsFunction(step.function); });
  return nodes;
}

std::vector<std::uint32_t> DetailsGraph::DeepestWay(std::uint32_t from) const {
  constexpr std::uint32_t kOpen = kNoIndex - 1;
  std::vector<std::uint64_t> depth(node_count(), 0);
  std::vector<std::uint32_t> deepest(node_count(), kNoIndex);  // the next node of the way
  std::vector<std::uint32_t> state(node_count(), kNoIndex);    // kOpen: on the way here; 0: done
  std::vector<std::pair<std::uint32_t, std::size_t>> way = {{from, 0}};
  state[from] = kOpen;
  while (!way.empty()) {
    auto& [node, next] = way.back();
    if (next < successors_[node].size()) {
      const std::uint32_t to = successors_[node][next++];
      if (state[to] == kOpen) return {};
      if (state[to] == kNoIndex) {
        state[to] = kOpen;
        way.emplace_back(to, 0);
      }
      continue;
    }
    for (const std::uint32_t to : successors_[node]) {
      if (deepest[node] != kNoIndex && depth[to] <= depth[deepest[node]]) continue;
      deepest[node] = to;
    }
    if (deepest[node] != kNoIndex) depth[node] = depth[deepest[node]];
    if (IsFunction(node)) depth[node] += details_.functions[node].frame_bytes;
    state[node] = 0;
    way.pop_back();
  }
  std::vector<std::uint32_t> out;
  for (std::uint32_t node = from; node != kNoIndex; node = deepest[node]) {
    if (IsFunction(node)) out.push_back(node);
  }
  return out;
}

std::vector<std::uint32_t> DetailsGraph::CallersOf(std::uint32_t function) const {
  std::vector<std::uint32_t> out;
  for (const std::uint32_t node : predecessors_[function]) {
    if (IsFunction(node)) {
      out.push_back(node);
    } else {
      out.insert(out.end(), predecessors_[node].begin(), predecessors_[node].end());
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace devlink::internal
