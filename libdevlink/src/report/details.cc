// SPDX-License-Identifier: Apache-2.0
#include "report/details.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "base/hash_table.h"
#include "format/elf_cuda.h"
#include "format/nv_info.h"
#include "model/module.h"
#include "plan/settings.h"

namespace devlink::internal {

namespace {

// Shortest ways from functions to all that they reach, through calls by name and through pointers.
class Ways {
 public:
  // The second ones, such as kernels that stay since device code uses them, lead to what the first
  // do not.
  Ways(const CallGraph& graph, std::span<const FunctionId> first,
       std::span<const FunctionId> second)
      : graph_(graph), from_(graph.node_count(), kNone), met_(graph.node_count(), false) {
    Walk(first);
    Walk(second);
  }

  [[nodiscard]] bool Reaches(FunctionId function) const { return met_[function]; }
  // Of one that is reached and not where a way begins.
  void Explain(FunctionId function, FunctionDetails& out) const {
    NodeId from = from_[function];
    if (from == kNone) return;
    out.why = LiveReason::kCalled;
    if (from >= graph_.function_count()) {  // whoever calls through such a pointer
      out.why = LiveReason::kCalledThroughPointer;
      from = from_[from];
    }
    out.reached_from = from;
  }

 private:
  void Walk(std::span<const FunctionId> roots) {
    std::vector<NodeId> queue;
    for (const FunctionId root : roots) {
      if (!met_[root]) queue.push_back(root);
      met_[root] = true;
    }
    for (std::size_t next = 0; next < queue.size(); ++next) {
      for (const NodeId to : graph_.Successors(queue[next])) {
        if (met_[to]) continue;
        met_[to] = true;
        from_[to] = queue[next];
        queue.push_back(to);
      }
    }
  }

  const CallGraph& graph_;
  std::vector<NodeId> from_;
  std::vector<bool> met_;
};

// Which inputs define a function of that name, and with how much code.
struct Copies {
  std::uint32_t count = 0;
  std::uint64_t bytes = 0;
};
using CopiesByName = base::HashMap<std::string, Copies>;

CopiesByName CountCopies(std::span<const LinkInput> inputs) {
  CopiesByName out;
  for (const LinkInput& input : inputs) {
    for (const ModuleFunction& function : InspectModule(input.module).functions) {
      Copies& copies = out[function.name];
      ++copies.count;
      copies.bytes += function.code_bytes;
    }
  }
  return out;
}

class Describer {
 public:
  Describer(const PassResults& linked, std::span<const LinkInput> inputs,
            const KernelSelection& kernels, const std::vector<std::string>& asked_for)
      : linked_(linked),
        program_(linked.program),
        inputs_(inputs),
        kernels_(kernels),
        asked_for_(ReachableFrom(linked.graph, FindFunctions(linked.program, asked_for).functions)),
        wanted_(KernelsThat(true)),
        ways_(linked.graph, wanted_, KernelsThat(false)),
        behind_pointers_(linked.graph, linked.liveness.pointed, {}),
        met_(linked.program.functions.size(), false) {}

  LinkDetails Run() {
    for (const LinkInput& input : inputs_) {
      out_.inputs.push_back({.name = input.name, .bytes = input.module->bytes().size()});
    }
    const CopiesByName copies = CountCopies(inputs_);
    for (FunctionId f = 0; f < program_.functions.size(); ++f) AddFunction(f, copies);
    ExplainAddresses();
    AddPointerCalls();
    for (const Symbol& symbol : program_.symbols) AddVariable(symbol);
    return std::move(out_);
  }

 private:
  // The kernels that the host may launch, or those that stay for another reason.
  [[nodiscard]] std::vector<FunctionId> KernelsThat(bool are_wanted) const {
    std::vector<FunctionId> out;
    for (const FunctionId kernel : linked_.liveness.kernels) {
      const Symbol& symbol = program_.symbols[program_.functions[kernel].symbol];
      if (kernels_.Wants(symbol) == are_wanted) out.push_back(kernel);
    }
    return out;
  }

  void AddFunction(FunctionId f, const CopiesByName& copies) {
    const Function& function = program_.functions[f];
    const Symbol& symbol = program_.symbols[function.symbol];
    FunctionDetails& out = out_.functions.emplace_back();
    out.name = symbol.name;
    out.is_kernel = function.is_kernel;
    out.is_address_taken = linked_.liveness.address_taken[f];
    for (const NodeId callee : linked_.graph.DirectCallees(f)) out.callees.push_back(callee);
    std::reverse(out.callees.begin(), out.callees.end());  // as they arrived
    std::erase_if(out.callees, [this](std::uint32_t callee) {
      const bool again = met_[callee];
      met_[callee] = true;
      return again;
    });
    for (const std::uint32_t callee : out.callees) met_[callee] = false;
    out.registers = linked_.resources.function_registers[f];
    out.frame_bytes = linked_.resources.frames[f];
    if (linked_.liveness.live[f]) Explain(f, out);
    if (!program_.IsDefined(f)) return;
    out.input = symbol.input;
    out.barriers = OwnBarriersOf(program_, f);
    if (function.alias_of == kNone) out.code_bytes = program_.sections[function.text].size;
    const auto known = copies.find(std::string(symbol.name));
    if (symbol.binding != format::kStbWeak || known == copies.end()) return;
    out.copies = known->second.count;
    out.discarded_bytes = known->second.bytes - std::min(known->second.bytes, out.code_bytes);
  }

  void Explain(FunctionId f, FunctionDetails& out) const {
    out.why = asked_for_[f] ? LiveReason::kAskedFor : LiveReason::kKeptAll;
    if (ways_.Reaches(f)) {
      out.why = LiveReason::kKernel;
      ways_.Explain(f, out);
      // Device code launches it by its address.
      if (out.reached_from == kNoIndex && out.is_address_taken && IsUnwanted(f)) {
        out.why = LiveReason::kAddressTaken;
      }
    } else if (out.is_address_taken) {
      out.why = LiveReason::kAddressTaken;
    } else if (!asked_for_[f]) {
      behind_pointers_.Explain(f, out);
    }
  }

  [[nodiscard]] bool IsUnwanted(FunctionId f) const {
    return !kernels_.Wants(program_.symbols[program_.functions[f].symbol]);
  }

  // Of those that no kernel reaches.
  void ExplainAddresses() {
    for (const CallEdge& edge : program_.address_takers) {
      FunctionDetails& taken = out_.functions[edge.callee];
      if (taken.why != LiveReason::kAddressTaken || taken.reached_from != kNoIndex) continue;
      if (edge.caller != edge.callee && linked_.liveness.live[edge.caller]) {
        taken.reached_from = edge.caller;
      }
    }
  }

  void AddPointerCalls() {
    std::map<std::uint32_t, PointerCalls> by_prototype;
    for (const PrototypeUse& use : program_.indirect_callers) {
      by_prototype[use.prototype].callers.push_back(use.function);
    }
    for (const PrototypeUse& use : program_.addresses_taken) {
      by_prototype[use.prototype].targets.push_back(use.function);
    }
    for (auto& [prototype, calls] : by_prototype) {
      if (calls.callers.empty() || calls.targets.empty()) continue;
      out_.pointer_calls.push_back(std::move(calls));
    }
  }

  // By code that stays.
  [[nodiscard]] std::vector<bool> FindSharedInUse() const {
    std::vector<bool> out(program_.symbols.size(), false);
    for (const Relocation& relocation : program_.relocations) {
      const Section& section = program_.sections[relocation.section];
      if (section.kind != SectionKind::kText || section.function == kNone) continue;
      if (linked_.liveness.live[section.function]) out[relocation.symbol] = true;
    }
    return out;
  }

  void AddVariable(const Symbol& symbol) {
    if (symbol.section == kNone || symbol.name.empty() || symbol.size == 0) return;
    const Section& section = program_.sections[symbol.section];
    VariableDetails out{.name = std::string(symbol.name),
                        .input = symbol.input,
                        .section = std::string(section.name),
                        .bytes = symbol.size,
                        .offset = symbol.value};
    switch (symbol.space) {
      case format::kStoGlobal:
        break;
      case format::kStoConstant:
        // What the compiler puts aside for one function is part of its code.
        if (section.kind == SectionKind::kFunctionConstants) return;
        out.memory = VariableMemory::kConstant;
        break;
      case format::kStoShared: {
        out.memory = VariableMemory::kShared;
        const auto id = static_cast<SymbolId>(&symbol - program_.symbols.data());
        const auto place = linked_.shared.places.find(id);
        if (place == linked_.shared.places.end() || !place->second.offset) return;
        if (!shared_in_use_[id]) return;
        out.offset = *place->second.offset;
        break;
      }
      default:
        return;
    }
    out_.variables.push_back(std::move(out));
  }

  const PassResults& linked_;
  const Program& program_;
  std::span<const LinkInput> inputs_;
  const KernelSelection& kernels_;
  const std::vector<bool> asked_for_;  // by LinkOptions::kept_functions, and what those call
  const std::vector<FunctionId> wanted_;
  const Ways ways_;             // from kernels
  const Ways behind_pointers_;  // from functions that keep what no kernel reaches
  const std::vector<bool> shared_in_use_ = FindSharedInUse();  // by SymbolId
  std::vector<bool> met_;                                      // scratch: callees of one function
  LinkDetails out_;
};

KernelChoice ChoiceOf(const KernelSelection& kernels, const LinkOptions& options) {
  if (LeavesOutNothing(options)) return KernelChoice::kNothingIsLeftOut;
  if (NamesWhatIsUsed(options)) return KernelChoice::kNames;
  return kernels.LeavesOut() ? KernelChoice::kHostReferences : KernelChoice::kAll;
}

}  // namespace

LinkDetails DescribeLink(const PassResults& linked, std::span<const LinkInput> inputs,
                         const KernelSelection& kernels, const LinkOptions& options) {
  const bool asks = !LeavesOutNothing(options);
  LinkDetails out =
      Describer(linked, inputs, kernels, asks ? options.kept_functions : std::vector<std::string>())
          .Run();
  out.kernel_choice = ChoiceOf(kernels, options);
  return out;
}

void MarkFinalized(std::span<const std::string> names, LinkDetails& details) {
  const base::HashSet<std::string_view> finalized(names.begin(), names.end());
  for (FunctionDetails& function : details.functions) {
    if (function.why == LiveReason::kDead) continue;
    function.is_finalized = finalized.contains(function.name);
  }
}

std::vector<SectionDetails> OutputSections(base::Bytes cubin) {
  const base::BoundedReader file(cubin);
  const auto header = file.ReadOrZero<format::Ehdr>(0);
  const auto at = [&](std::uint64_t index) {
    return file.ReadOrZero<format::Shdr>(header.shoff + index * sizeof(format::Shdr));
  };
  const format::Shdr first = at(0);
  std::uint64_t count = format::SectionCountOf(header, first);
  count = std::min<std::uint64_t>(count, file.size() / sizeof(format::Shdr));
  const format::Shdr names = at(format::SectionNamesOf(header, first));
  const auto text = file.Slice(names.offset, names.size);
  std::vector<SectionDetails> out;
  for (std::uint64_t i = 1; i < count; ++i) {
    const format::Shdr section = at(i);
    SectionDetails& added = out.emplace_back();
    if (text) added.name = base::BoundedReader(*text).CString(section.name).value_or("");
    added.bytes = section.size;
    added.file_bytes = format::IsNobitsType(section.type) ? 0 : section.size;
    added.align = std::max<std::uint64_t>(1, section.addralign);
  }
  return out;
}

LinkDetails DescribeWholeProgram(base::Bytes cubin, std::string_view name) {
  LinkDetails out;
  out.inputs.push_back({.name = std::string(name), .bytes = cubin.size()});
  out.sections = OutputSections(cubin);
  const auto module = Module::Load({cubin.begin(), cubin.end()});
  if (!module.ok()) return out;
  for (const ModuleFunction& function : InspectModule(*module).functions) {
    out.functions.push_back({.name = function.name,
                             .input = 0,
                             .is_kernel = function.is_kernel,
                             .why = function.is_kernel ? LiveReason::kKernel : LiveReason::kKeptAll,
                             .code_bytes = function.code_bytes,
                             .registers = function.registers.value_or(0),
                             .barriers = function.barriers.value_or(0),
                             .frame_bytes = function.frame_bytes.value_or(0)});
  }
  return out;
}

}  // namespace devlink::internal
