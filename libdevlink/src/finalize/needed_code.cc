// SPDX-License-Identifier: Apache-2.0
#include "finalize/needed_code.h"

#include <algorithm>
#include <cstddef>

#include "finalize/kernel_memory.h"
#include "format/call_graph_records.h"
#include "format/line_table.h"
#include "format/nv_info.h"
#include "format/relocations.h"
#include "format/sections.h"
#include "format/views.h"

namespace devlink::internal {

namespace {

bool IsFunction(const InputSymbol& symbol) { return symbol.type == format::kSttFunc; }

// Lists of what only says where code lies: it goes with the code.
bool FollowsCode(const InputSection& section) {
  return section.name == format::section_name::kDebugFrame || format::IsLineTable(section.name);
}

}  // namespace

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
    has_constants_.push_back(false);
  }
  return place->second;
}

void NeededCode::AddEdge(Node from, Node to) {
  if (needs_[from].empty() || needs_[from].back() != to) needs_[from].push_back(to);
}

// What stands for the symbol: the code that it lies in, or its name.
NeededCode::Node NeededCode::NodeOfSymbol(Place& place, std::uint32_t symbol) {
  if (place.nodes[symbol] != kNone) return place.nodes[symbol];
  const InputSymbol read = place.view.SymbolAt(symbol);
  const std::uint32_t owner = read.section < place.owners.size() ? place.owners[read.section] : 0;
  const bool is_code = owner != 0 && !CountsForKernels(read);
  return place.nodes[symbol] = NodeOf(is_code ? place.sections[owner].name : read.name);
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
      case SectionRole::kFunctionConstants:
        if (owners[i] != 0 && sections[i].size != 0 && !sections[i].IsParameterBank()) {
          has_constants_[NodeOf(sections[owners[i]].name)] = true;
        }
        break;
      default:
        break;
    }
  }
}

// Functions of other files are known by name, which an alias shares with no section.
void NeededCode::ReadDefinitions(const Place& place) {
  for (std::uint32_t i = 1; i < place.view.symbol_count(); ++i) {
    const InputSymbol symbol = place.view.SymbolAt(i);
    const std::uint32_t owner =
        symbol.section < place.owners.size() ? place.owners[symbol.section] : 0;
    if (owner == 0 || symbol.name.empty()) continue;
    const Node code = NodeOf(place.sections[owner].name);
    if (IsFunction(symbol) || CountsForKernels(symbol)) AddEdge(NodeOf(symbol.name), code);
    if (IsFunction(symbol) && (symbol.other & format::kStoEntry) != 0) is_kernel_[code] = true;
  }
}

void NeededCode::ReadReferences(Place& place, std::uint32_t list) {
  const InputSection& section = place.sections[list];
  if (section.info >= place.sections.size() || FollowsCode(place.sections[section.info])) return;
  const std::uint32_t owner = place.owners[list];
  for (const format::Rela& entry :
       format::ReadRelocations(section.data, section.type == format::kShtRela)) {
    if (entry.symbol >= place.view.symbol_count()) continue;
    const Node target = NodeOfSymbol(place, entry.symbol);
    if (owner == 0) {
      roots_.push_back(target);
      continue;
    }
    AddReference(place, NodeOf(place.sections[owner].name), entry.symbol, target);
  }
}

void NeededCode::AddReference(const Place& place, Node code, std::uint32_t symbol, Node target) {
  AddEdge(code, target);
  const InputSymbol read = place.view.SymbolAt(symbol);
  if (!CountsForKernels(read)) return;
  const auto [place_of, is_new] = shared_of_.try_emplace(target, shared_.size());
  if (is_new) shared_.emplace_back();
  SharedVariable& variable = shared_[place_of->second];
  if (variable.users.empty() || variable.users.back() != code) variable.users.push_back(code);
  // `extern __shared__`, and what the system keeps.
  const bool is_reserved = (read.other & format::kStoSpaceMask) == format::kStoReservedShared;
  variable.has_own_place = is_reserved || read.section == 0;
  const bool is_of_file = read.section < place.sections.size() &&
                          place.sections[read.section].role == SectionRole::kModuleShared;
  if (is_of_file) variable.align = std::max(variable.align, read.value);
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

// Variables that one kernel alone names lie in its memory. All others are laid out together, by the
// kernels that reach them. `extern __shared__` lies behind the rest, but that there is such a
// variable in the link counts for all, and so does the strictest alignment.
std::vector<std::string_view> NeededCode::Deciding() const {
  std::vector<std::string_view> out;
  // One user of several: of code that stays if there is any.
  const auto add_one = [&](const std::vector<Node>& users) {
    const auto stays = std::ranges::find_if(users, [&](Node user) -> bool { return !goes_[user]; });
    out.push_back(names_[stays != users.end() ? *stays : users.front()]);
  };
  const auto strictest = std::ranges::max_element(shared_, {}, &SharedVariable::align);
  if (strictest != shared_.end() && strictest->align != 0) add_one(strictest->users);
  for (const SharedVariable& variable : shared_) {
    const bool by_kernels =
        std::ranges::all_of(variable.users, [&](Node user) -> bool { return is_kernel_[user]; });
    if (by_kernels && variable.has_own_place) {
      add_one(variable.users);
    } else if (!by_kernels || variable.users.size() > 1) {
      for (const Node user : variable.users) out.push_back(names_[user]);
    }
  }
  for (Node node = 0; node < names_.size(); ++node) {
    if (has_constants_[node] && !is_kernel_[node]) out.push_back(names_[node]);
  }
  return out;
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
