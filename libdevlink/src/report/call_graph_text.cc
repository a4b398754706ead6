// SPDX-License-Identifier: Apache-2.0
#include "report/call_graph_text.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/hash_table.h"
#include "base/strings.h"
#include "base/visible_text.h"
#include "report/nvlink_names.h"

namespace devlink::internal {

namespace {

// nvlink's lists: of calls through pointers every function that can be meant, and behind them those
// that are called by name.
class Callees {
 public:
  Callees(const Program& program, const CallGraph& graph) : graph_(graph) {
    for (auto use = program.addresses_taken.rbegin(); use != program.addresses_taken.rend();
         ++use) {
      pointees_[use->prototype].push_back(use->function);
    }
    for (const PrototypeUse& use : program.indirect_callers) {
      prototypes_[use.function].push_back(use.prototype);
    }
  }

  template <typename Visit>
  void ForEach(FunctionId function, Visit visit) const {
    if (const auto used = prototypes_.find(function); used != prototypes_.end()) {
      for (const std::uint32_t prototype : used->second) {
        const auto found = pointees_.find(prototype);
        if (found == pointees_.end()) continue;
        for (const FunctionId pointee : found->second) visit(pointee);
      }
    }
    ForEachDirect(function, visit);
  }
  template <typename Visit>
  void ForEachDirect(FunctionId function, Visit visit) const {
    for (const NodeId callee : graph_.DirectCallees(function)) visit(callee);
  }

 private:
  const CallGraph& graph_;
  base::HashMap<std::uint32_t, std::vector<FunctionId>> pointees_;  // by prototype, last one first
  base::HashMap<FunctionId, std::vector<std::uint32_t>> prototypes_;
};

class Text {
 public:
  Text(const PassResults& passes, Arch target)
      : passes_(passes), program_(passes.program), callees_(passes.program, passes.graph) {
    lines_ = {base::Cat({"callgraph for ", target.Name(), ":"}),
              "# A: s -> B // s (number A) potentially calls B",
              "# s [N]     // s uses N registers", "# ^s        // s is entry point",
              "# &s        // s has address taken"};
    for (const Function& function : program_.functions) is_entry_.push_back(function.is_kernel);
    for (const FunctionId kernel : passes_.liveness.unfollowed) is_entry_[kernel] = false;
    for (FunctionId id = 0; id < program_.functions.size(); ++id) AddLine(id);
    AddPropagation();
  }
  std::vector<std::string> Take() && { return std::move(lines_); }

 private:
  [[nodiscard]] std::string NameOf(FunctionId function) const {
    return NameAsNvlinkSpellsIt(program_.symbols[program_.functions[function].symbol].name);
  }

  void AddLine(FunctionId id) {
    std::string line = absl::StrCat(id + 1, ": ");
    if (passes_.liveness.live[id]) {
      if (is_entry_[id]) line += '^';
      if (passes_.liveness.address_taken[id]) line += '&';
      line += NameOf(id);
      const std::uint32_t registers = passes_.resources.function_registers[id];
      if (registers != 0) absl::StrAppend(&line, " [", registers, "]");
      line += " ->";
      callees_.ForEach(id, [&](FunctionId callee) { absl::StrAppend(&line, " ", callee + 1); });
    }
    lines_.push_back(std::move(line));
  }

  // Callee by callee, the registers go to every kernel from which it can be reached.
  void AddPropagation() {
    const std::size_t count = program_.functions.size();
    std::vector<std::vector<FunctionId>> callers(count);
    for (FunctionId id = 0; id < count; ++id) {
      if (!passes_.liveness.live[id]) continue;
      callees_.ForEach(id, [&](FunctionId callee) { callers[callee].push_back(id); });
    }
    std::vector<std::uint32_t> registers = passes_.resources.function_registers;
    // All kernels above a function have at least as many.
    std::vector<std::uint32_t> everywhere(count, 0);
    for (FunctionId callee = 0; callee < count; ++callee) {
      const std::uint32_t needed = passes_.resources.function_registers[callee];
      if (!passes_.liveness.live[callee] || program_.functions[callee].is_kernel || needed == 0) {
        continue;
      }
      for (const FunctionId kernel : KernelsAbove(callee, needed, callers, everywhere)) {
        if (registers[kernel] >= needed) continue;
        registers[kernel] = needed;
        lines_.push_back(absl::StrCat("regcount ", needed, " for ", NameOf(callee),
                                      " propagated to entry ", NameOf(kernel)));
      }
    }
  }

  // Those that may have fewer registers than `needed`. Each function is looked at again only for
  // more registers than before, of which there are 255 at most.
  [[nodiscard]] std::vector<FunctionId> KernelsAbove(
      FunctionId callee, std::uint32_t needed, const std::vector<std::vector<FunctionId>>& callers,
      std::vector<std::uint32_t>& everywhere) const {
    std::vector<FunctionId> kernels;
    if (everywhere[callee] >= needed) return kernels;
    std::vector<FunctionId> work = {callee};
    everywhere[callee] = needed;
    while (!work.empty()) {
      const FunctionId function = work.back();
      work.pop_back();
      if (is_entry_[function]) kernels.push_back(function);
      for (const FunctionId caller : callers[function]) {
        if (everywhere[caller] >= needed) continue;
        everywhere[caller] = needed;
        work.push_back(caller);
      }
    }
    return kernels;
  }

  const PassResults& passes_;
  const Program& program_;
  const Callees callees_;
  std::vector<bool> is_entry_;  // by FunctionId
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> CallGraphLines(const PassResults& passes, Arch target) {
  return Text(passes, target).Take();
}

namespace {

// As it is where every reader takes it for one word, as nvlink writes all names; else in quotes.
std::string DotName(std::string_view name) {
  const auto plain = [](char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '$' || c == '.';
  };
  if (!name.empty() && std::all_of(name.begin(), name.end(), plain)) return std::string(name);
  std::string out = "\"";
  for (const char c : base::VisibleText(name)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string CallGraphDot(const PassResults& passes, bool relocatable) {
  const Program& program = passes.program;
  const Callees callees(program, passes.graph);
  std::string out = "digraph callgraph {\n";
  for (FunctionId id = 0; id < program.functions.size(); ++id) {
    if (!relocatable && !passes.liveness.live[id]) continue;
    const auto add = [&](FunctionId callee) {
      out += base::Cat({DotName(program.symbols[program.functions[id].symbol].name), " -> ",
                        DotName(program.symbols[program.functions[callee].symbol].name), ";\n"});
    };
    relocatable ? callees.ForEachDirect(id, add) : callees.ForEach(id, add);
  }
  return out + "}\n";
}

std::string CallGraphDot() { return "digraph callgraph {\n}\n"; }

}  // namespace devlink::internal
