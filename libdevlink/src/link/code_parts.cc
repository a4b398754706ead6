// SPDX-License-Identifier: Apache-2.0
#include "link/code_parts.h"

#include <algorithm>
#include <functional>

#include "base/hash_table.h"

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

std::vector<FunctionId> KernelsReaching(const CallGraph& graph, const Liveness& liveness,
                                        const std::vector<bool>& functions) {
  std::vector<bool> reaches(graph.component_count());
  for (ComponentId component = 0; component < graph.component_count(); ++component) {
    reaches[component] = std::ranges::any_of(graph.Members(component), [&](NodeId node) {
      if (node < functions.size() && functions[node]) return true;
      return std::ranges::any_of(graph.Successors(node), [&](NodeId next) -> bool {
        return reaches[graph.ComponentOf(next)];
      });
    });
  }
  std::vector<FunctionId> out;
  for (const FunctionId kernel : liveness.kernels) {
    if (reaches[graph.ComponentOf(kernel)]) out.push_back(kernel);
  }
  return out;
}

}  // namespace devlink::internal
