// SPDX-License-Identifier: Apache-2.0
//
// What the passes behind the merge found, as text.
#include <algorithm>
#include <vector>

#include "base/hash_table.h"
#include "format/nv_info.h"
#include "format/relocations.h"
#include "report/dump.h"
#include "report/dump_text.h"

namespace devlink::internal {

namespace {

// Keys of a hash map in an order that does not depend on the hash.
template <typename Value>
std::vector<std::uint32_t> SortedKeys(const base::HashMap<std::uint32_t, Value>& map) {
  std::vector<std::uint32_t> keys;
  keys.reserve(map.size());
  for (const auto& [key, value] : map) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::string AttributeName(std::uint8_t id) {
  const std::string_view name = format::InfoAttributeName(id);
  return name.empty() ? DumpHex(id) : std::string(name);
}

std::string RelocationName(std::uint32_t type) {
  const format::RelocationInfo* info = format::FindRelocation(type);
  return info != nullptr ? std::string(info->name) : DumpHex(type);
}

std::string At(std::string_view section, std::uint64_t offset) {
  std::string out(section);
  if (offset != 0) absl::StrAppend(&out, "+", DumpHex(offset));
  return out;
}

void AddBanks(DumpLines& lines, const std::vector<ConstantBank>& banks) {
  for (const ConstantBank& bank : banks) {
    lines.Line(1, DumpWord(bank.name)).WordIf(bank.section == kNone, "new");
    lines.Hex("size", bank.size).Number("align", bank.align).Hex("flags", bank.flags);
    for (const Piece& piece : bank.pieces) lines.Line(2, DumpPiece(piece));
  }
}

void AddValues(DumpLines& lines, std::string_view title,
               const std::vector<FunctionAttributes::Value>& values) {
  for (const FunctionAttributes::Value& value : values) {
    lines.Line(2, title).Word(AttributeName(value.id));
    if (value.format != format::kInfoNoValue && value.format != format::kInfoSized) {
      lines.Number("value", value.value);
    }
  }
}

}  // namespace

std::string DumpCallGraph(const Program& program, const CallGraph& graph) {
  const DumpNames names(program);
  DumpLines lines;
  // Hubs stand for all functions whose address is taken under one prototype.
  const auto name = [&](NodeId node) {
    return node < graph.function_count()
               ? std::string(names.Function(node))
               : absl::StrCat("(pointer ", node - graph.function_count() + 1, ")");
  };
  lines.Line(0, "calls");
  for (NodeId node = 0; node < graph.node_count(); ++node) {
    if (graph.Successors(node).empty()) continue;
    lines.Line(1, name(node)).Word("->");
    for (const NodeId target : graph.Successors(node)) lines.Word(name(target));
  }
  lines.Line(0, "components, callees first");
  for (ComponentId component = 0; component < graph.component_count(); ++component) {
    const auto members = graph.Members(component);
    for (std::size_t i = 0; i < members.size(); ++i) {
      i == 0 ? lines.Line(1, name(members[i])) : lines.Word(name(members[i]));
    }
    lines.WordIf(graph.IsCyclic(component), "cyclic");
  }
  return lines.Take();
}

std::string DumpLiveness(const Program& program, const Liveness& liveness) {
  const DumpNames names(program);
  DumpLines lines;
  lines.Line(0, "kernels");
  for (const FunctionId kernel : liveness.kernels) {
    lines.Line(1, names.Function(kernel)).WordIf(kernel == liveness.single_kernel, "single");
  }
  if (!liveness.left_out.empty()) {
    lines.Line(0, "kernels left out").WordIf(liveness.left_out_keep_names, "but for names");
    for (const FunctionId kernel : liveness.left_out) lines.Line(1, names.Function(kernel));
  }
  if (!liveness.unfollowed.empty()) {
    lines.Line(0, "kernels whose calls do not count");
    for (const FunctionId kernel : liveness.unfollowed) lines.Line(1, names.Function(kernel));
  }
  lines.Line(0, "functions");
  for (FunctionId f = 0; f < liveness.live.size(); ++f) {
    lines.Line(1, names.Function(f)).Word(liveness.live[f] ? "live" : "dead");
    lines.WordIf(liveness.address_taken[f], "address-taken");
  }
  lines.Line(0, "sections removed");
  for (SectionId id = 0; id < liveness.section_removed.size(); ++id) {
    if (liveness.section_removed[id]) lines.Line(1, names.Section(id));
  }
  return lines.Take();
}

std::string DumpShared(const Program& program, const Liveness& liveness,
                       const SharedLayout& layout) {
  const DumpNames names(program);
  DumpLines lines;
  lines.Line(0, "kernels");
  for (std::size_t i = 0; i < layout.kernels.size(); ++i) {
    const KernelShared& kernel = layout.kernels[i];
    lines.Line(1, names.Function(liveness.kernels[i])).Hex("size", kernel.size);
    lines.Number("align", kernel.align).WordIf(kernel.emitted, "emitted");
    lines.WordIf(kernel.has_symbol, "symbol");
  }
  if (!layout.without_section.empty()) lines.Line(0, "sections made late");
  for (const std::uint32_t i : layout.without_section) {
    lines.Line(1, names.Function(liveness.kernels[i]));
  }
  lines.Line(0, "variables");
  for (const SymbolId id : SortedKeys(layout.places)) {
    const SharedPlace& place = layout.places.at(id);
    lines.Line(1, names.Symbol(id)).SectionIf(names, "section", place.section);
    place.offset ? lines.Hex("offset", *place.offset) : lines.Word("unplaced");
    lines.WordIf(place.symbol_kept, "symbol");
  }
  if (!layout.external_offsets.empty()) {
    lines.Line(0, "extern begins");
    for (const FunctionId f : SortedKeys(layout.external_offsets)) {
      lines.Line(1, names.Function(f)).Hex("offset", layout.external_offsets.at(f));
    }
  }
  if (program.module_shared != kNone) {
    lines.Line(0, "section of all files").Hex("size", layout.module_section_size);
    lines.Number("align", layout.module_section_align);
    lines.WordIf(layout.module_section_emitted, "emitted");
    lines.WordIf(layout.module_section_has_symbol, "symbol");
    lines.WordIf(layout.external_symbols_shifted, "extern-shifted");
  }
  return lines.Take();
}

std::string DumpShared(const Program& program, const PartialSharedLayout& layout) {
  const DumpNames names(program);
  DumpLines lines;
  lines.Line(0, "sections");
  for (const SectionId id : SortedKeys(layout.sections)) {
    const SharedSize& section = layout.sections.at(id);
    lines.Line(1, names.Section(id)).Hex("size", section.size).Number("align", section.align);
    lines.WordIf(section.emitted, "emitted").WordIf(section.has_symbol, "symbol");
  }
  if (!layout.instances.empty()) {
    lines.Line(0, "extern instances");
    for (const ExternalInstance& instance : layout.instances) {
      lines.Line(1, names.Function(instance.kernel)).Hex("value", instance.value);
    }
  }
  if (!layout.external_values.empty()) {
    lines.Line(0, "extern symbols");
    for (const SymbolId id : SortedKeys(layout.external_values)) {
      lines.Line(1, names.Symbol(id)).Hex("value", layout.external_values.at(id));
    }
  }
  return lines.Take();
}

std::string DumpConstants(const Program& program, const ConstantLayout& layout) {
  const DumpNames names(program);
  DumpLines lines;
  lines.Line(0, "banks");
  AddBanks(lines, layout.banks);
  lines.Line(0, "moved");
  for (const SectionId id : SortedKeys(layout.moved)) {
    lines.Line(1, names.Section(id)).Hex("offset", layout.moved.at(id));
  }
  if (layout.null_symbol_value != 0) {
    lines.Line(0, "null symbol").Hex("value", layout.null_symbol_value);
  }
  return lines.Take();
}

std::string DumpTextures(const Program& program, const TextureLayout& layout) {
  const DumpNames names(program);
  DumpLines lines;
  lines.Line(0, "slots");
  for (const TextureSlot& slot : layout.slots) {
    lines.Line(1, names.Symbol(slot.symbol)).Hex("offset", slot.offset);
  }
  lines.Line(0, "banks");
  AddBanks(lines, layout.banks);
  return lines.Take();
}

std::string DumpResources(const Program& program, const Liveness& liveness,
                          const Resources& resources) {
  const DumpNames names(program);
  DumpLines lines;
  lines.Line(0, "kernels");
  for (std::size_t i = 0; i < resources.kernels.size(); ++i) {
    const KernelResources& kernel = resources.kernels[i];
    lines.Line(1, names.Function(liveness.kernels[i])).Number("registers", kernel.registers);
    kernel.stack ? lines.Number("stack", *kernel.stack) : lines.Pair("stack", "unknown");
  }
  lines.Line(0, "functions alone");
  for (FunctionId f = 0; f < resources.function_registers.size(); ++f) {
    lines.Line(1, names.Function(f)).Number("registers", resources.function_registers[f]);
    lines.Number("frame", resources.frames[f]);
  }
  return lines.Take();
}

std::string DumpAttributes(const Program& program, const Attributes& attributes) {
  const DumpNames names(program);
  DumpLines lines;
  lines.Line(0, "functions");
  for (FunctionId f = 0; f < attributes.functions.size(); ++f) {
    const FunctionAttributes& function = attributes.functions[f];
    const bool has_fragments = !function.fragments.empty() || function.loses_fragments;
    if (function.replaced.empty() && function.appended.empty() && function.externs.empty() &&
        !has_fragments) {
      continue;
    }
    lines.Line(1, names.Function(f));
    AddValues(lines, "replaced", function.replaced);
    AddValues(lines, "appended", function.appended);
    if (has_fragments) {
      lines.Line(2, function.loses_fragments ? "loses fragments" : "fragments");
      for (const std::uint32_t word : function.fragments) lines.Word(absl::StrCat(word));
    }
    if (function.externs.empty()) continue;
    lines.Line(2, function.externs_in_place ? "externs in place" : "externs appended");
    for (const SymbolId id : function.externs) lines.Word(names.Symbol(id));
  }
  return lines.Take();
}

std::string DumpRelocated(const Program& program, const Relocated& relocated) {
  const DumpNames names(program);
  DumpLines lines;
  lines.Line(0, "stored");
  for (const FieldPatch& patch : relocated.patches) {
    lines.Line(1, At(names.Section(patch.section), patch.offset));
    lines.Pair("bits", absl::StrCat(patch.field.position, ":", patch.field.width));
    lines.Hex("value", patch.value);
  }
  lines.Line(0, "kept");
  for (const KeptRelocation& kept : relocated.kept) {
    lines.Line(1, At(names.Section(kept.list), kept.offset)).Word(RelocationName(kept.type));
    lines.Word(names.Symbol(kept.symbol));
    if (kept.addend != 0) lines.Hex("addend", static_cast<std::uint64_t>(kept.addend));
    if (kept.instance != kNone) lines.Number("instance", kept.instance);
  }
  if (!relocated.refused.empty()) {
    lines.Line(0, "refused");
    for (const Relocation& relocation : relocated.refused) {
      lines.Line(1, At(names.Section(relocation.section), relocation.offset));
      lines.Word(RelocationName(relocation.type)).Word(names.Symbol(relocation.symbol));
    }
  }
  if (relocated.early_shared != 0 || relocated.early_constants != 0) {
    lines.Line(0, "resolved early").Number("shared", relocated.early_shared);
    lines.Number("constants", relocated.early_constants);
  }
  return lines.Take();
}

}  // namespace devlink::internal
