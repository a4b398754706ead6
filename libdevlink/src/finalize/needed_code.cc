// SPDX-License-Identifier: Apache-2.0
#include "finalize/needed_code.h"

#include <cstddef>

#include "format/call_graph_records.h"
#include "format/nv_info.h"
#include "format/relocations.h"
#include "format/sections.h"
#include "format/views.h"

namespace devlink::internal {

std::vector<std::uint32_t> CodeOwners(const std::vector<InputSection>& sections) {
  std::vector<std::uint32_t> out(sections.size());
  const auto owner_of = [&](std::uint32_t section) -> std::uint32_t {
    return section < sections.size() && sections[section].role == SectionRole::kText ? section : 0;
  };
  for (std::uint32_t i = 0; i < sections.size(); ++i) {
    switch (sections[i].role) {
      case SectionRole::kText:
        out[i] = i;
        break;
      case SectionRole::kFunctionInfo:
      case SectionRole::kFunctionConstants:
      case SectionRole::kKernelShared:
        out[i] = owner_of(sections[i].info);
        break;
      default:
        break;
    }
  }
  for (std::uint32_t i = 0; i < sections.size(); ++i) {
    if (sections[i].role != SectionRole::kRelocations) continue;
    if (sections[i].info < sections.size()) out[i] = out[sections[i].info];
  }
  return out;
}

NeededCode::NeededCode(std::span<const Module* const> modules, const CodeNames& stays) {
  for (const Module* module : modules) {
    for (const format::ViewKind kind : {format::ViewKind::kSass, format::ViewKind::kMercury}) {
      if (module->HasView(kind)) Read(module->view(kind));
    }
  }
  for (Node i = 0; i < names_.size(); ++i) goes_[i] = is_kernel_[i] && !stays.contains(names_[i]);
}

NeededCode::Node NeededCode::NodeOf(std::string_view name) {
  const auto [place, is_new] = nodes_.try_emplace(name, static_cast<Node>(names_.size()));
  if (is_new) {
    names_.push_back(name);
    needs_.emplace_back();
    callers_.emplace_back();
    is_kernel_.push_back(false);
    goes_.push_back(false);
  }
  return place->second;
}

void NeededCode::AddEdge(Node from, Node to) {
  if (needs_[from].empty() || needs_[from].back() != to) needs_[from].push_back(to);
}

// What stands for the symbol: the code that it lies in, or that has it, or its name.
NeededCode::Node NeededCode::NodeOfSymbol(Place& place, std::uint32_t symbol) {
  if (place.nodes[symbol] != kNone) return place.nodes[symbol];
  const InputSymbol read = place.view.SymbolAt(symbol);
  const std::uint32_t owner = read.section < place.owners.size() ? place.owners[read.section] : 0;
  return place.nodes[symbol] = NodeOf(owner != 0 ? place.sections[owner].name : read.name);
}

void NeededCode::Read(const ModuleView& view) {
  const std::vector<InputSection> sections = view.sections();
  const std::vector<std::uint32_t> owners = CodeOwners(sections);
  Place place{view, sections, owners, std::vector<Node>(view.symbol_count(), kNone)};
  ReadDefinitions(place);
  for (std::uint32_t i = 0; i < sections.size(); ++i) {
    switch (sections[i].role) {
      case SectionRole::kRelocations:
        ReadReferences(place, i);
        break;
      case SectionRole::kFunctionInfo:
        ReadRecords(place, i);
        break;
      case SectionRole::kCallGraph:
        ReadCalls(place, i);
        break;
      default:
        break;
    }
  }
}

// What lies in other files is known by name, which an alias shares with no section.
void NeededCode::ReadDefinitions(const Place& place) {
  for (std::uint32_t i = 1; i < place.view.symbol_count(); ++i) {
    const InputSymbol symbol = place.view.SymbolAt(i);
    const std::uint32_t owner =
        symbol.section < place.owners.size() ? place.owners[symbol.section] : 0;
    if (owner == 0 || symbol.name.empty()) continue;
    const Node code = NodeOf(place.sections[owner].name);
    AddEdge(NodeOf(symbol.name), code);
    const bool is_function = symbol.type == format::kSttFunc;
    if (is_function && (symbol.other & format::kStoEntry) != 0) is_kernel_[code] = true;
  }
}

void NeededCode::ReadReferences(Place& place, std::uint32_t list) {
  const InputSection& section = place.sections[list];
  if (section.info >= place.sections.size()) return;
  if (format::GoesWithBody(place.sections[section.info].name)) return;
  const std::uint32_t owner = place.owners[list];
  for (const format::Rela& entry :
       format::ReadRelocations(section.data, section.type == format::kShtRela)) {
    if (entry.symbol >= place.view.symbol_count()) continue;
    const Node target = NodeOfSymbol(place, entry.symbol);
    if (owner == 0) {
      roots_.push_back(target);
      continue;
    }
    AddEdge(NodeOf(place.sections[owner].name), target);
  }
}

void NeededCode::ReadRecords(Place& place, std::uint32_t section) {
  if (place.owners[section] == 0) return;
  const Node code = NodeOf(place.sections[place.owners[section]].name);
  format::InfoReader reader(place.sections[section].data);
  format::InfoRecord record;
  while (reader.Next(record)) {
    const base::BoundedReader words(record.payload);
    for (std::uint64_t i = 0; i < format::SymbolsOf(record).count; ++i) {
      const auto symbol = words.ReadOrZero<std::uint32_t>(i * sizeof(std::uint32_t));
      if (symbol < place.view.symbol_count()) AddEdge(code, NodeOfSymbol(place, symbol));
    }
  }
}

void NeededCode::ReadCalls(Place& place, std::uint32_t section) {
  format::CallGraphReader reader(place.sections[section].data);
  format::CallGraphPair pair;
  while (reader.Next(pair)) {
    if (pair.first >= place.view.symbol_count()) continue;
    const Node first = NodeOfSymbol(place, pair.first);
    if (!format::HoldsSymbolPairs(pair.list)) {
      roots_.push_back(first);
      continue;
    }
    if (pair.second >= place.view.symbol_count()) continue;
    const Node second = NodeOfSymbol(place, pair.second);
    AddEdge(first, second);
    // It may stay for that alone.
    if (pair.list == format::CallGraphList::kAddressTakers) AddEdge(second, first);
  }
}

void NeededCode::AlwaysNeed(std::string_view code) { roots_.push_back(NodeOf(code)); }

void NeededCode::NeedCallers(std::span<const CodeCall> calls) {
  for (const CodeCall& call : calls) {
    const Node caller = NodeOf(call.caller);
    callers_[NodeOf(call.code)].push_back(caller);
  }
}

std::optional<CodeNames> NeededCode::Of(std::span<const std::string_view> sections) const {
  // What is called by needed code stays by that; the part's own code, and what keeps it, has to be
  // kept in its own right.
  enum class State : std::uint8_t { kAbsent, kNeeded, kKept };
  std::vector<State> states(names_.size(), State::kAbsent);
  std::vector<Node> queue;
  const auto need = [&](Node node, State state) {
    if (states[node] >= state) return;
    states[node] = state;
    queue.push_back(node);
  };
  for (const std::string_view section : sections) {
    const auto found = nodes_.find(section);
    if (found != nodes_.end()) need(found->second, State::kKept);
  }
  for (const Node root : roots_) need(root, State::kNeeded);
  CodeNames out;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Node node = queue[i];
    if (goes_[node]) return std::nullopt;
    out.insert(names_[node]);
    for (const Node next : needs_[node]) need(next, State::kNeeded);
    if (states[node] != State::kKept) continue;
    for (const Node caller : callers_[node]) need(caller, State::kKept);
  }
  return out;
}

}  // namespace devlink::internal
