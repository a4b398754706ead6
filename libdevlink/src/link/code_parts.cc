// SPDX-License-Identifier: Apache-2.0
#include "link/code_parts.h"

#include <algorithm>
#include <compare>
#include <functional>
#include <span>

#include "base/hash_table.h"
#include "format/elf_cuda.h"
#include "format/sections.h"
#include "link/reach.h"

namespace devlink::internal {

namespace {

bool IsLiveCode(const Program& program, const Liveness& liveness, FunctionId function) {
  return liveness.live[function] && program.IsDefined(function);
}

std::uint64_t BytesOf(const Program& program, FunctionId function) {
  return program.sections[program.functions[function].text].size;
}

// Functions of one name, which alone tells them from others.
struct Namesakes {
  std::string_view section;
  std::uint64_t bytes = 0;
};

std::vector<Namesakes> FindNamesakes(const Program& program, const Liveness& liveness) {
  std::vector<Namesakes> out;
  base::HashMap<std::string_view, std::size_t> places;
  for (FunctionId i = 0; i < program.functions.size(); ++i) {
    if (!IsLiveCode(program, liveness, i)) continue;
    const std::string_view name = program.sections[program.functions[i].text].name;
    const auto [place, is_new] = places.try_emplace(name, out.size());
    if (is_new) out.push_back({.section = name});
    out[place->second].bytes += BytesOf(program, i);
  }
  return out;
}

// A shared variable and a function that refers to it.
struct SharedUse {
  SymbolId variable = kNone;
  FunctionId user = kNone;
  friend auto operator<=>(const SharedUse&, const SharedUse&) = default;
};

// By variable, each once.
std::vector<SharedUse> SharedUses(const Program& program) {
  std::vector<SharedUse> out;
  for (const Relocation& relocation : program.relocations) {
    const std::uint8_t space = program.symbols[relocation.symbol].space;
    if (space != format::kStoShared && space != format::kStoReservedShared) continue;
    const Section& section = program.sections[relocation.section];
    if (section.kind != SectionKind::kText) continue;
    out.push_back({relocation.symbol, section.function});
  }
  std::ranges::sort(out);
  const auto repeated = std::ranges::unique(out);
  out.erase(repeated.begin(), repeated.end());
  return out;
}

// A variable that one kernel alone names lies in that kernel's memory. All others are laid out
// together, by the kernels that reach them. `extern __shared__` lies behind the rest, and what the
// system keeps in front, but that there is such a variable in the link counts for all kernels, and
// so does the strictest alignment: of those one user has a say, of what stays if there is any.
void MarkUsersOfShared(const Program& program, const Liveness& liveness, std::vector<bool>& out) {
  std::vector<bool> stays(program.functions.size());
  for (const FunctionId kernel : liveness.kernels) stays[kernel] = true;
  const auto mark_one = [&](std::span<const SharedUse> uses) {
    const auto user =
        std::ranges::find_if(uses, [&](const SharedUse& use) -> bool { return stays[use.user]; });
    out[user != uses.end() ? user->user : uses.front().user] = true;
  };
  const std::vector<SharedUse> all = SharedUses(program);
  std::span<const SharedUse> strictest;
  for (auto begin = all.begin(); begin != all.end();) {
    const Symbol& variable = program.symbols[begin->variable];
    const auto end = std::find_if(
        begin, all.end(), [&](const SharedUse& use) { return use.variable != begin->variable; });
    const std::span<const SharedUse> uses(begin, end);
    begin = end;
    const bool by_kernels = std::ranges::all_of(
        uses, [&](const SharedUse& use) { return program.functions[use.user].is_kernel; });
    const bool has_own_place =
        variable.space == format::kStoReservedShared || variable.section == kNone;
    if (by_kernels && has_own_place) {
      mark_one(uses);
    } else if (!by_kernels || uses.size() > 1) {
      for (const SharedUse& use : uses) out[use.user] = true;
    }
    if (variable.section == kNone || variable.section != program.module_shared) continue;
    if (strictest.empty() || variable.align > program.symbols[strictest.front().variable].align) {
      strictest = uses;
    }
  }
  if (!strictest.empty()) mark_one(strictest);
}

void MarkOwnersOfConstants(const Program& program, std::vector<bool>& out) {
  for (const Section& section : program.sections) {
    if (section.kind != SectionKind::kFunctionConstants || section.bank != format::kCompilerBank) {
      continue;
    }
    if (!program.functions[section.function].is_kernel) out[section.function] = true;
  }
}

}  // namespace

LiveCode LiveCodeOf(const Program& program, const Liveness& liveness) {
  LiveCode out;
  for (SectionId id = 0; id < program.sections.size(); ++id) {
    if (program.sections[id].kind != SectionKind::kText) continue;
    if (liveness.section_removed[id]) {
      out.bytes_that_go += program.sections[id].size;
      continue;
    }
    out.bytes += program.sections[id].size;
    ++out.sections;
  }
  return out;
}

std::vector<CodePart> CutIntoParts(const Program& program, const Liveness& liveness,
                                   std::size_t count) {
  if (count == 0) return {};
  std::vector<Namesakes> code = FindNamesakes(program, liveness);
  std::ranges::stable_sort(code, std::greater(), &Namesakes::bytes);
  std::vector<CodePart> out(count);
  for (const Namesakes& next : code) {
    CodePart& lightest = *std::ranges::min_element(out, {}, &CodePart::bytes);
    lightest.sections.push_back(next.section);
    lightest.bytes += next.bytes;
  }
  // A part is not done before the largest one, which a whole must exceed by far.
  constexpr std::uint64_t kMostOfTen = 7;
  std::uint64_t whole = 0;
  for (const CodePart& part : out) whole += part.bytes;
  const bool is_won = std::ranges::all_of(out, [&](const CodePart& part) {
    return !part.sections.empty() && (count == 1 || part.bytes * 10 <= whole * kMostOfTen);
  });
  return is_won ? out : std::vector<CodePart>();
}

std::vector<FunctionId> CodeOfAllParts(const Program& program, const CallGraph& graph,
                                       const Liveness& liveness) {
  std::vector<bool> has_say(program.functions.size());
  MarkUsersOfShared(program, liveness, has_say);
  MarkOwnersOfConstants(program, has_say);
  std::vector<OwnItem> items;
  for (FunctionId i = 0; i < has_say.size(); ++i) {
    if (has_say[i]) items.push_back({.function = i});
  }
  for (const auto& [item, kernels] : UsersOfItems(graph, items, liveness.kernels)) {
    kernels.ForEach([&](std::uint32_t kernel) { has_say[liveness.kernels[kernel]] = true; });
  }
  std::vector<FunctionId> out;
  for (FunctionId i = 0; i < has_say.size(); ++i) {
    if (has_say[i]) out.push_back(i);
  }
  return out;
}

std::vector<FunctionId> CallersFromKernels(const CallGraph& graph, const Liveness& liveness) {
  std::vector<FunctionId> out(graph.function_count(), kNone);
  std::vector<FunctionId> caller_of(graph.node_count(), kNone);  // by node: of hubs, too
  std::vector<bool> reached(graph.node_count());
  std::vector<NodeId> queue;
  for (const FunctionId kernel : liveness.kernels) {
    if (!reached[kernel]) queue.push_back(kernel);
    reached[kernel] = true;
  }
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const bool is_function = queue[i] < graph.function_count();
    const FunctionId caller = is_function ? queue[i] : caller_of[queue[i]];
    for (const NodeId next : graph.Successors(queue[i])) {
      if (reached[next]) continue;
      reached[next] = true;
      caller_of[next] = caller;
      queue.push_back(next);
      if (next < graph.function_count()) out[next] = caller;
    }
  }
  return out;
}

}  // namespace devlink::internal
