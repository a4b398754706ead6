// SPDX-License-Identifier: Apache-2.0
#include "merge/call_graph_merge.h"

#include "base/bounded_reader.h"
#include "base/strings.h"

namespace devlink::internal {

void CallGraphMerge::TakeCalls(const InputSection& section) {
  using List = format::CallGraphList;
  const auto function_of = [&](std::uint32_t index) {
    const SymbolId symbol = input_.symbols[index];
    return symbol == kNone ? kNone : program_.symbols[symbol].function;
  };
  format::CallGraphReader pairs(section.data);
  format::CallGraphPair pair;
  while (pairs.Next(pair)) {
    const FunctionId function = function_of(pair.first);
    if (function == kNone && pair.first != 0) Lose(section, pair.first);
    // What is said of a discarded copy does not count: neither whom it calls, nor that a pointer to
    // it lies in a variable, but that of a kernel. Of a function that takes its address, that
    // function's pair tells.
    if (function == kNone) continue;
    if (input_.discarded[pair.first]) {
      if (pair.list != List::kAddressesTaken) continue;
      if (program_.functions[function].is_kernel) {
        TakeAddress(function);
      } else {
        NotePointed(function, pair.second);
      }
      continue;
    }
    if (format::HoldsSymbolPairs(pair.list)) {
      const FunctionId callee = function_of(pair.second);
      if (callee == kNone) {
        if (pair.second != 0) Lose(section, pair.second);
        continue;
      }
      const bool takes_address = pair.list == List::kAddressTakers;
      if (takes_address) TakeAddress(callee);
      if (relocatable_ && !edges_.insert({pair.list, function, callee}).second) continue;
      (takes_address ? program_.address_takers : program_.calls).push_back({function, callee});
    } else if (pair.list == List::kAddressesTaken || pair.list == List::kIndirectCallers) {
      const std::uint32_t prototype = builder_.AddPrototype(input_.view->StringAt(pair.second));
      if (pair.list == List::kIndirectCallers) {
        program_.indirect_callers.push_back({function, prototype});
        continue;
      }
      program_.functions[function].prototype = prototype;  // nvlink compares nothing here
      TakeAddress(function);
    }
  }
}

void CallGraphMerge::TakePrototypes(const InputSection& section) {
  const base::BoundedReader pairs(section.data);
  for (std::uint64_t at = 0; at < section.size; at += 8) {
    const auto index = pairs.ReadOrZero<std::uint32_t>(at);
    const std::uint32_t prototype =
        builder_.AddPrototype(input_.view->StringAt(pairs.ReadOrZero<std::uint32_t>(at + 4)));
    const SymbolId symbol = input_.symbols[index];
    if (symbol == kNone || program_.symbols[symbol].function == kNone) {
      if (index != 0) Lose(section, index);
      findings_.NoteCalledVariable();
      continue;
    }
    findings_.CheckPrototype(builder_, symbol, prototype);
  }
}

void CallGraphMerge::Lose(const InputSection& section, std::uint32_t symbol) {
  findings_.ReportLost(base::Cat({"'", section.name, "' names '",
                                  input_.view->SymbolAt(symbol).name, "', which is no function"}));
}

// Whether a function is met for the first time.
bool CallGraphMerge::IsFirst(FunctionId function, std::vector<bool>& met) const {
  met.resize(program_.functions.size());
  const bool is_first = !met[function];
  met[function] = true;
  return is_first;
}

void CallGraphMerge::TakeAddress(FunctionId function) {
  if (IsFirst(function, address_taken_)) program_.addresses_taken.push_back({.function = function});
}

void CallGraphMerge::NotePointed(FunctionId function, std::uint32_t prototype) {
  if (!IsFirst(function, pointed_)) return;
  program_.pointed_functions.push_back(
      {.function = function, .prototype = input_.view->StringAt(prototype)});
}

void CallGraphMerge::Settle() {
  address_taken_.resize(program_.functions.size());
  std::erase_if(program_.pointed_functions, [this](const PointedFunction& pointed) {
    return address_taken_[pointed.function];
  });
  for (PrototypeUse& use : program_.addresses_taken) {
    const std::uint32_t prototype = program_.functions[use.function].prototype;
    use.prototype = prototype == kNone ? 0 : prototype;
  }
}

}  // namespace devlink::internal
