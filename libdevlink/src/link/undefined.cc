// SPDX-License-Identifier: Apache-2.0
#include "link/undefined.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/demangle.h"
#include "base/similar_names.h"
#include "base/strings.h"
#include "format/driver_names.h"
#include "format/elf_cuda.h"
#include "format/nvlink_text.h"

namespace devlink::internal {

namespace {

bool IsMissing(const CheckInput& input, const Symbol& symbol) {
  if (symbol.section != kNone) return false;
  if (symbol.function != kNone) {
    return input.liveness.live[symbol.function] && HasToBeDefined(symbol);
  }
  if (symbol.binding == format::kStbLocal || symbol.weak_reference ||
      format::IsTextureType(symbol.type)) {
    return false;
  }
  if (symbol.external_shared && symbol.size == 0) return false;
  return !format::IsKnownToDriver(symbol.name);
}

class Explainer {
 public:
  explicit Explainer(const CheckInput& input) : input_(input), program_(input.program) {
    WalkFromKernels();
    for (const Relocation& relocation : program_.relocations) {
      const Symbol& symbol = program_.symbols[relocation.symbol];
      if (symbol.section != kNone || symbol.function != kNone) continue;
      const Section& section = program_.sections[relocation.section];
      if (section.function != kNone) users_.try_emplace(relocation.symbol, section.function);
    }
  }

  std::vector<std::string> Explain(SymbolId id) {
    const Symbol& symbol = program_.symbols[id];
    const std::string name(symbol.name);
    const std::string readable = base::Demangle(name);
    std::vector<std::string> notes;
    if (readable != name) notes.push_back(base::Cat({"'", name, "' is ", readable}));
    if (symbol.function != kNone) {
      ExplainCallers(symbol.function, notes);
    } else if (const auto user = users_.find(id); user != users_.end()) {
      notes.push_back(base::Cat({"used by ", Path(user->second)}));
    } else {
      notes.emplace_back("declared there, but no function uses it");
    }
    if (format::IsDeviceRuntime(symbol.name)) {
      notes.push_back(format::AdviceOnDeviceRuntime());
      return notes;
    }
    Suggest(symbol, notes);
    return notes;
  }

 private:
  // For every function that runs, through whom it is reached first.
  void WalkFromKernels() {
    parent_.assign(input_.graph.node_count(), kNone);
    std::vector<NodeId> queue;
    for (const FunctionId kernel : input_.liveness.kernels) {
      parent_[kernel] = kernel;
      queue.push_back(kernel);
    }
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (const NodeId target : input_.graph.Successors(queue[i])) {
        if (parent_[target] != kNone) continue;
        parent_[target] = queue[i];
        queue.push_back(target);
      }
    }
  }

  [[nodiscard]] std::string NameOf(FunctionId function) const {
    return base::Demangle(program_.symbols[program_.functions[function].symbol].name);
  }

  // `k(int*) -> f(int)` and where it is.
  [[nodiscard]] std::string Path(FunctionId function) const {
    constexpr std::size_t kLongest = 8;
    std::vector<std::string> steps;
    for (NodeId node = function; steps.size() < kLongest;) {
      if (node < program_.functions.size()) steps.push_back(NameOf(node));
      if (parent_[node] == kNone || parent_[node] == node) break;
      node = parent_[node];
    }
    std::string out;
    for (std::size_t i = steps.size(); i-- > 0;) {
      out += steps[i];
      if (i != 0) out += " -> ";
    }
    const InputId input = program_.symbols[program_.functions[function].symbol].input;
    return base::Cat({out, " in '", input_.inputs[input].name, "'"});
  }

  void ExplainCallers(FunctionId function, std::vector<std::string>& notes) const {
    constexpr std::size_t kMost = 3;
    std::size_t callers = 0;
    FunctionId last = kNone;
    for (const CallEdge& call : program_.calls) {
      if (call.callee != function || call.caller == last || !input_.liveness.live[call.caller]) {
        continue;
      }
      last = call.caller;
      if (++callers <= kMost) notes.push_back(base::Cat({"called by ", Path(call.caller)}));
    }
    if (callers > kMost) {
      notes.push_back(base::Cat({"and by ", std::to_string(callers - kMost), " more functions"}));
    }
    if (callers == 0) notes.emplace_back("its address is taken; no function calls it directly");
  }

  // Defined names that may have been meant.
  void Suggest(const Symbol& wanted, std::vector<std::string>& notes) {
    constexpr std::size_t kMost = 3;
    similar_.Want(wanted.name);
    std::size_t found = 0;
    for (const Symbol& symbol : program_.symbols) {
      if (found == kMost || similar_.is_exhausted()) return;
      if (symbol.section == kNone || symbol.type == format::kSttSection) continue;
      if ((symbol.function != kNone) != (wanted.function != kNone)) continue;
      if (!similar_.IsLike(symbol.name)) continue;
      ++found;
      const std::string_view kind =
          symbol.binding == format::kStbLocal ? "similar, but local to its file: " : "similar: ";
      notes.push_back(base::Cat(
          {kind, base::Demangle(symbol.name), " in '", input_.inputs[symbol.input].name, "'"}));
    }
  }

  const CheckInput& input_;
  const Program& program_;
  std::vector<NodeId> parent_;
  base::HashMap<SymbolId, FunctionId> users_;  // of variables: any one function
  base::SimilarNames similar_;
};

}  // namespace

std::vector<Diagnostic> FindUndefined(const CheckInput& input, bool allow_globals) {
  std::vector<SymbolId> missing;
  for (SymbolId id = 0; id < input.program.symbols.size(); ++id) {
    const Symbol& symbol = input.program.symbols[id];
    if (allow_globals && symbol.function == kNone && symbol.space == format::kStoGlobal) continue;
    if (IsMissing(input, symbol)) missing.push_back(id);
  }
  std::vector<Diagnostic> out;
  if (missing.empty()) return out;
  // Explaining each costs a look at every symbol; past this many, the first ones tell the story.
  constexpr std::size_t kExplained = 20;
  Explainer explainer(input);
  for (const SymbolId id : missing) {
    const Symbol& symbol = input.program.symbols[id];
    const std::string& file = input.inputs[symbol.input].name;
    out.push_back(
        {.code = DiagnosticCode::kUndefinedReference,
         .severity = Severity::kError,
         .text = format::nvlink_text::UndefinedReference(symbol.name, file),
         .symbol = std::string(symbol.name),
         .input = file,
         .notes = out.size() < kExplained ? explainer.Explain(id) : std::vector<std::string>()});
  }
  if (missing.size() > kExplained) {
    out.back().notes.push_back(
        base::Cat({std::to_string(missing.size()), " names are undefined; notes explain the first ",
                   std::to_string(kExplained)}));
  }
  return out;
}

}  // namespace devlink::internal
