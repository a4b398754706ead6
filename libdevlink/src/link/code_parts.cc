// SPDX-License-Identifier: Apache-2.0
#include "link/code_parts.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "base/hash_table.h"
#include "format/elf_cuda.h"
#include "link/reach.h"

namespace devlink::internal {

namespace {

bool IsLiveCode(const Program& program, const Liveness& liveness, FunctionId function) {
  return liveness.live[function] && program.IsDefined(function);
}

std::uint64_t BytesOf(const Program& program, FunctionId function) {
  return program.sections[program.functions[function].text].size;
}

// What keeps roots together that use it.
struct Ties {
  // Shared variables and, behind the symbols' numbers, sections of constants. Those that several
  // kernels use lie in the same places for all of these, which depend on all that are used so.
  std::vector<OwnItem> of_places;
  // Functions that refer to `extern __shared__`, which begins at one place for all that reach them;
  // and all functions of a name, unless they are copies of one.
  std::vector<OwnItem> of_each;
};

// Whether one stands for the other wherever it was finalized, as do the compiler's own functions,
// of which every file has those that it needs: nothing but what they do tells them apart.
bool AreCopies(const Section& a, const Section& b) {
  const auto has_references = [](const Section& code) {
    return code.rel != kNone || code.rela != kNone;
  };
  return !has_references(a) && !has_references(b) && a.size == b.size &&
         std::ranges::equal(a.pieces, b.pieces, [](const Piece& piece, const Piece& other) {
           return piece.offset == other.offset && std::ranges::equal(piece.bytes, other.bytes);
         });
}

Ties FindTies(const Program& program, const Liveness& liveness) {
  Ties out;
  base::HashMap<std::string_view, FunctionId> first_of_name;
  for (FunctionId i = 0; i < program.functions.size(); ++i) {
    if (!IsLiveCode(program, liveness, i)) continue;
    const std::string_view name = program.sections[program.functions[i].text].name;
    const auto [first, is_new] = first_of_name.try_emplace(name, i);
    const Function& known = program.functions[first->second];
    if (is_new ||
        AreCopies(program.sections[known.text], program.sections[program.functions[i].text])) {
      continue;
    }
    out.of_each.push_back({.function = first->second, .item = first->second});
    out.of_each.push_back({.function = i, .item = first->second});
  }
  const auto first_section = static_cast<std::uint32_t>(program.symbols.size());
  for (const Relocation& relocation : program.relocations) {
    const Section& section = program.sections[relocation.section];
    if (section.kind != SectionKind::kText || section.function == kNone) continue;
    if (!IsLiveCode(program, liveness, section.function)) continue;
    const Symbol& symbol = program.symbols[relocation.symbol];
    if (symbol.external_shared) {
      out.of_each.push_back({.function = section.function, .item = section.function});
    } else if (symbol.space == format::kStoShared) {
      out.of_places.push_back({.function = section.function, .item = relocation.symbol});
    } else if (symbol.section != kNone &&
               program.sections[symbol.section].kind == SectionKind::kFunctionConstants) {
      out.of_places.push_back(
          {.function = section.function, .item = first_section + symbol.section});
    }
  }
  return out;
}

// Shared variables that no kernel comes to use, by the code that names them all the same.
struct SharedInVain {
  // A part may have kernels that go, of which one may come there: then the variable lies elsewhere.
  bool by_live_code = false;
  // It has a place among those that several kernels use; no part has that code.
  bool by_dead_code = false;
};

SharedInVain FindSharedInVain(const Program& program, const Liveness& liveness,
                              const std::vector<bool>& reached) {
  std::vector<bool> is_used(program.symbols.size());
  std::vector<std::pair<SymbolId, SectionId>> in_vain;
  for (const Relocation& relocation : program.relocations) {
    const Symbol& symbol = program.symbols[relocation.symbol];
    const Section& section = program.sections[relocation.section];
    if (symbol.space != format::kStoShared || symbol.external_shared ||
        section.kind != SectionKind::kText) {
      continue;
    }
    if (section.function != kNone && reached[section.function]) {
      is_used[relocation.symbol] = true;
    } else {
      in_vain.emplace_back(relocation.symbol, relocation.section);
    }
  }
  SharedInVain out;
  for (const auto& [symbol, code] : in_vain) {
    if (is_used[symbol]) continue;
    (liveness.section_removed[code] ? out.by_dead_code : out.by_live_code) = true;
  }
  return out;
}

// Sets of roots that are to stay together; the first of each stands for it.
class Groups {
 public:
  explicit Groups(std::size_t count) : first_(count) { std::iota(first_.begin(), first_.end(), 0); }

  std::uint32_t Of(std::uint32_t root) {
    while (first_[root] != root) root = first_[root] = first_[first_[root]];
    return root;
  }
  void Join(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t of_a = Of(a);
    const std::uint32_t of_b = Of(b);
    first_[std::max(of_a, of_b)] = std::min(of_a, of_b);
  }
  void JoinAll(const std::vector<std::uint32_t>& roots) {
    for (const std::uint32_t root : roots) Join(roots.front(), root);
  }

 private:
  std::vector<std::uint32_t> first_;
};

std::vector<FunctionId> LiveKernels(const Program& program, const Liveness& liveness) {
  std::vector<FunctionId> out;
  for (const FunctionId kernel : liveness.kernels) {
    if (IsLiveCode(program, liveness, kernel)) out.push_back(kernel);
  }
  return out;
}

// What each root adds to those before it: bytes of code that none of them reaches.
std::vector<std::uint64_t> Weigh(const Program& program, const CallGraph& graph,
                                 std::span<const FunctionId> roots) {
  std::vector<std::uint64_t> out(roots.size());
  std::vector<bool> seen(graph.node_count());
  std::vector<NodeId> open;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const auto visit = [&](NodeId node) {
      if (seen[node]) return;
      seen[node] = true;
      open.push_back(node);
    };
    visit(roots[i]);
    while (!open.empty()) {
      const NodeId node = open.back();
      open.pop_back();
      if (node < graph.function_count() && program.IsDefined(node)) {
        out[i] += BytesOf(program, node);
      }
      for (const NodeId next : graph.Successors(node)) visit(next);
    }
  }
  return out;
}

CodePart PartOf(const Program& program, const CallGraph& graph, const Liveness& liveness,
                std::span<const FunctionId> roots) {
  const std::vector<bool> reached = ReachableFrom(graph, roots);
  CodePart out;
  base::HashSet<std::string_view> known;
  for (FunctionId i = 0; i < program.functions.size(); ++i) {
    if (!reached[i] || !IsLiveCode(program, liveness, i)) continue;
    out.bytes += BytesOf(program, i);
    const std::string_view name = program.sections[program.functions[i].text].name;
    if (known.insert(name).second) out.sections.push_back(name);
  }
  return out;
}

// The heaviest group first, each to the part that is lightest by then.
std::vector<std::vector<FunctionId>> Distribute(std::span<const FunctionId> roots, Groups& groups,
                                                std::span<const std::uint64_t> weights,
                                                std::size_t count) {
  std::vector<std::uint64_t> weight_of(roots.size());
  for (std::uint32_t i = 0; i < roots.size(); ++i) weight_of[groups.Of(i)] += weights[i];
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < roots.size(); ++i) {
    if (groups.Of(i) == i) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return weight_of[a] > weight_of[b]; });
  std::vector<std::uint64_t> load(count);
  std::vector<std::size_t> part_of(roots.size());
  for (const std::uint32_t group : order) {
    const auto lightest = std::min_element(load.begin(), load.end());
    *lightest += weight_of[group];
    part_of[group] = static_cast<std::size_t>(lightest - load.begin());
  }
  std::vector<std::vector<FunctionId>> out(count);
  for (std::uint32_t i = 0; i < roots.size(); ++i) {
    out[part_of[groups.Of(i)]].push_back(roots[i]);
  }
  return out;
}

}  // namespace

std::uint64_t BytesOfLiveCode(const Program& program, const Liveness& liveness) {
  std::uint64_t out = 0;
  for (SectionId id = 0; id < program.sections.size(); ++id) {
    const bool is_code = program.sections[id].kind == SectionKind::kText;
    if (is_code && !liveness.section_removed[id]) out += program.sections[id].size;
  }
  return out;
}

std::vector<CodePart> CutIntoParts(const Program& program, const CallGraph& graph,
                                   const Liveness& liveness, std::size_t count) {
  if (count < 2) return {};
  std::vector<FunctionId> roots = LiveKernels(program, liveness);
  const std::vector<bool> reached = ReachableFrom(graph, roots);
  // What stays though no kernel reaches it.
  for (FunctionId i = 0; i < program.functions.size(); ++i) {
    const bool is_left = IsLiveCode(program, liveness, i) && !reached[i];
    if (is_left && !program.functions[i].is_kernel) roots.push_back(i);
  }
  const SharedInVain in_vain = FindSharedInVain(program, liveness, reached);
  if (roots.size() < count || in_vain.by_live_code) return {};
  Groups groups(roots.size());
  const Ties ties = FindTies(program, liveness);
  for (const auto& [function, users] : UsersOfItems(graph, ties.of_each, roots)) {
    groups.JoinAll(users.Sorted());
  }
  std::vector<std::uint32_t> places_in_common;
  for (const auto& [item, users] : UsersOfItems(graph, ties.of_places, roots)) {
    if (users.size() < 2) continue;
    users.ForEach([&](std::uint32_t root) { places_in_common.push_back(root); });
  }
  if (in_vain.by_dead_code && !places_in_common.empty()) return {};
  groups.JoinAll(places_in_common);
  std::vector<CodePart> out;
  const std::vector<std::uint64_t> weights = Weigh(program, graph, roots);
  for (const auto& part : Distribute(roots, groups, weights, count)) {
    if (part.empty()) return {};
    out.push_back(PartOf(program, graph, liveness, part));
  }
  // A part is not done before the largest one, which a whole must exceed by far.
  constexpr std::uint64_t kMostOfTen = 7;
  const std::uint64_t whole = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  for (const CodePart& part : out) {
    if (part.bytes * 10 > whole * kMostOfTen) return {};
  }
  return out;
}

}  // namespace devlink::internal
