// SPDX-License-Identifier: Apache-2.0
//
// Sections that the linker writes itself: notes, call graph, attributes.
#include <algorithm>
#include <array>

#include "base/strings.h"
#include "devlink/version.h"
#include "format/call_graph_records.h"
#include "format/elf_cuda.h"
#include "format/notes.h"
#include "format/nv_info.h"
#include "image/emitter.h"

namespace devlink::internal {

namespace {

// Written by nvlink into every executable below sm_100; its meaning is not known.
constexpr std::array<std::uint8_t, 16> kRelocationActions = {
    0x73, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x25, 0x00, 0x05, 0x36};

// devlink's record takes exactly nvlink's room, so that nothing behind it moves.
std::vector<std::uint8_t> OwnRecord(const LinkOptions& options) {
  constexpr std::string_view kTool = "devlink";
  constexpr std::size_t kNvlinkNameLength = 6;
  const ToolkitProfile& profile = options.profile;
  format::ToolRecord record;
  record.object = options.recorded_object;
  record.tool = kTool;
  record.version =
      base::Cat({"libdevlink ", Version(), ", as nvlink of CUDA ",
                 std::to_string(profile.release / 10), ".", std::to_string(profile.release % 10)});
  record.version.resize(profile.version_text_length, ' ');
  record.build = "https://github.com/libdevlink";
  record.build.resize(profile.build_text_length - (kTool.size() - kNvlinkNameLength), ' ');
  record.options = options.recorded_options;
  return format::EncodeToolRecord(record);
}

}  // namespace

void Emitter::FillNotes() {
  const SectionHandle tools = section_handles_[program_.tool_note];
  writer_.AppendCopy(tools, OwnRecord(options_));
  if (!relocatable_) {
    for (const Piece& piece : program_.sections[program_.tool_note].pieces) {
      writer_.AppendAligned(tools, piece.bytes, 1);
    }
  }
  writer_.AppendCopy(section_handles_[program_.cuda_note], program_.cuda_note_bytes);
  if (program_.compat != kNone) {
    writer_.AppendCopy(section_handles_[program_.compat], program_.compat_bytes);
  }
  if (action_ != kNoSection) writer_.AppendCopy(action_, kRelocationActions);
}

bool Emitter::HasPrototype(FunctionId function) const {
  return linked_.liveness.live[function] && !linked_.liveness.address_taken[function] &&
         program_.functions[function].prototype != kNone;
}

bool Emitter::AnyPrototype() const {
  for (FunctionId f = 0; f < program_.functions.size(); ++f) {
    if (HasPrototype(f)) return true;
  }
  return false;
}

namespace {

// Pairs of a call-graph list by function, last arrived first.
template <typename Pairs, typename FirstOf, typename Emit>
void ForEachByFunction(const Pairs& pairs, const FirstOf& first_of, const Emit& emit) {
  std::vector<std::uint32_t> order(pairs.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<std::uint32_t>(order.size()) - 1 - i;
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return first_of(pairs[a]) < first_of(pairs[b]);
  });
  for (const std::uint32_t i : order) emit(pairs[i]);
}

}  // namespace

void Emitter::FillCallGraph() {
  const auto& live = linked_.liveness.live;
  const auto begin_list = [this](format::CallGraphList list) {
    writer_.AppendWord(call_graph_, 0);
    writer_.AppendWord(call_graph_, format::CallGraphMarker(list));
  };
  begin_list(format::CallGraphList::kCalls);
  for (FunctionId f = 0; f < program_.functions.size(); ++f) {
    if (!live[f]) continue;
    for (const FunctionId callee : linked_.graph.DirectCallees(f)) {
      if (!live[callee]) continue;
      writer_.AppendSymbolIndex(call_graph_, SymbolOf(f));
      writer_.AppendSymbolIndex(call_graph_, SymbolOf(callee));
    }
  }
  const auto put_use = [&](const PrototypeUse& use) {
    if (!live[use.function]) return;
    writer_.AppendSymbolIndex(call_graph_, SymbolOf(use.function));
    writer_.AppendWord(call_graph_, use.prototype);
  };
  const auto user = [](const PrototypeUse& use) { return use.function; };
  begin_list(format::CallGraphList::kAddressesTaken);
  ForEachByFunction(program_.addresses_taken, user, put_use);
  begin_list(format::CallGraphList::kIndirectCallers);
  ForEachByFunction(program_.indirect_callers, user, put_use);
  begin_list(format::CallGraphList::kAddressTakers);
  ForEachByFunction(
      program_.address_takers, [](const CallEdge& edge) { return edge.caller; },
      [&](const CallEdge& edge) {
        if (!live[edge.caller] || !live[edge.callee]) return;
        writer_.AppendSymbolIndex(call_graph_, SymbolOf(edge.caller));
        writer_.AppendSymbolIndex(call_graph_, SymbolOf(edge.callee));
      });

  if (prototypes_ == kNoSection) return;
  for (FunctionId f = 0; f < program_.functions.size(); ++f) {
    if (!HasPrototype(f)) continue;
    writer_.AppendSymbolIndex(prototypes_, SymbolOf(f));
    writer_.AppendWord(prototypes_, program_.functions[f].prototype);
  }
}

void Emitter::FillAttributes() {
  FillModuleInfo();
  for (const SectionId id : program_.info_sections) {
    if (id != program_.module_info && section_handles_[id] != kNoSection) FillFunctionInfo(id);
  }
}

bool Emitter::StaysInModuleInfo(const InfoEntry& entry) const {
  if (entry.format != format::kInfoSized) return true;
  if (entry.symbol == kNone) return entry.externs == kNone;
  if (entry.id == format::kAttrMaxStackSize && !relocatable_) return false;
  if (format::IsTextureType(program_.symbols[entry.symbol].type)) {
    return symbol_handles_[entry.symbol] != kNoSymbol;
  }
  const FunctionId function = program_.symbols[entry.symbol].function;
  return function != kNone && linked_.liveness.live[function] && program_.IsDefined(function);
}

// Without one, as where every kernel was left out, nvlink writes no `.nv.info` and keeps its name.
bool Emitter::AnyModuleRecord() const {
  const auto& list = program_.info_lists[program_.sections[program_.module_info].info_list];
  return !linked_.liveness.entries.empty() ||
         std::any_of(list.begin(), list.end(),
                     [this](const InfoEntry& entry) { return StaysInModuleInfo(entry); });
}

// Registers and frames of all functions, last arrived first; then the stack of every entry.
void Emitter::FillModuleInfo() {
  const SectionHandle handle = section_handles_[program_.module_info];
  if (handle == kNoSection) return;
  const auto& list = program_.info_lists[program_.sections[program_.module_info].info_list];
  absl::flat_hash_map<FunctionId, std::uint32_t> entry_index;
  for (std::uint32_t i = 0; i < linked_.liveness.entries.size(); ++i) {
    entry_index[linked_.liveness.entries[i]] = i;
  }
  for (auto entry = list.rbegin(); entry != list.rend(); ++entry) {
    if (!StaysInModuleInfo(*entry)) continue;
    if (entry->format != format::kInfoSized || entry->symbol == kNone) {
      writer_.AddAttribute(handle, entry->format, entry->id, entry->value);
      if (entry->format == format::kInfoSized) writer_.AppendCopy(handle, entry->payload);
      continue;
    }
    const FunctionId function = program_.symbols[entry->symbol].function;
    auto value = base::BoundedReader(entry->payload).ReadOrZero<std::uint32_t>(4);
    const auto index = entry_index.find(function);
    if (entry->id == format::kAttrRegCount && index != entry_index.end() && !relocatable_) {
      value = linked_.resources.entries[index->second].registers;
    }
    writer_.AddAttribute(handle, format::kInfoSized, entry->id, 8);
    writer_.AppendSymbolIndex(
        handle, function != kNone ? SymbolOf(function) : symbol_handles_[entry->symbol]);
    writer_.AppendWord(handle, value);
  }
  if (relocatable_) return;
  // Entries in the order of the symbol table: its local part first.
  for (const bool global : {false, true}) {
    for (std::uint32_t i = 0; i < linked_.liveness.entries.size(); ++i) {
      const FunctionId entry = linked_.liveness.entries[i];
      if (program_.symbols[program_.functions[entry].symbol].global_part != global) continue;
      if (linked_.liveness.single_entry != kNone && linked_.liveness.single_entry != entry)
        continue;
      writer_.AddAttribute(handle, format::kInfoSized, format::kAttrMinStackSize, 8);
      writer_.AppendSymbolIndex(handle, SymbolOf(entry));
      writer_.AppendWord(handle, linked_.resources.entries[i].stack.value_or(0xffffffff));
    }
  }
}

void Emitter::FillFunctionInfo(SectionId id) {
  const SectionHandle handle = section_handles_[id];
  const Section& section = program_.sections[id];
  const FunctionAttributes& attributes = linked_.attributes.functions[section.function];
  const auto& list = program_.info_lists[section.info_list];
  bool stack_unknown = unbounded_entries_.contains(section.function);
  for (auto entry = list.rbegin(); entry != list.rend(); ++entry) {
    if (stack_unknown && entry->format == format::kInfoSized &&
        entry->id == format::kAttrCrsStackSize) {
      writer_.AddAttribute(handle, format::kInfoSized, format::kAttrCrsStackSize, 4);
      writer_.AppendWord(handle, 0xffffffff);
      stack_unknown = false;
      continue;
    }
    FillInfoRecord(handle, *entry, attributes);
  }
  if (stack_unknown) {
    writer_.AddAttribute(handle, format::kInfoSized, format::kAttrCrsStackSize, 4);
    writer_.AppendWord(handle, 0xffffffff);
  }
  for (const FunctionAttributes::Value& value : attributes.appended) {
    if (value.id == format::kAttrExterns) {
      FillExterns(handle, attributes);
    } else {
      writer_.AddAttribute(handle, value.format, value.id, value.value);
    }
  }
}

void Emitter::FillInfoRecord(SectionHandle handle, const InfoEntry& entry,
                             const FunctionAttributes& attributes) {
  if (entry.format != format::kInfoSized) {
    std::uint16_t value = entry.value;
    for (const FunctionAttributes::Value& replaced : attributes.replaced) {
      if (replaced.id == entry.id) value = replaced.value;
    }
    writer_.AddAttribute(handle, entry.format, entry.id, value);
  } else if (entry.id == format::kAttrExterns) {
    if (attributes.externs_in_place) FillExterns(handle, attributes);
  } else if (entry.symbol != kNone) {
    writer_.AddAttribute(handle, entry.format, entry.id, entry.value);
    writer_.AppendSymbolIndex(handle, symbol_handles_[entry.symbol]);
    writer_.AppendCopy(handle, entry.payload.subspan(4));
  } else {
    writer_.AddAttribute(handle, entry.format, entry.id, entry.value);
    writer_.AppendCopy(handle, entry.payload);
  }
}

void Emitter::FillExterns(SectionHandle handle, const FunctionAttributes& attributes) {
  if (attributes.externs.empty()) return;
  writer_.AddAttribute(handle, format::kInfoSized, format::kAttrExterns,
                       static_cast<std::uint16_t>(attributes.externs.size() * 4));
  for (const SymbolId symbol : attributes.externs) {
    writer_.AppendSymbolIndex(handle, symbol_handles_[symbol]);
  }
}

}  // namespace devlink::internal
