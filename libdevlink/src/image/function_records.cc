// SPDX-License-Identifier: Apache-2.0
#include "image/function_records.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/bounded_reader.h"
#include "base/hash_table.h"
#include "format/call_graph_records.h"
#include "format/elf_cuda.h"
#include "format/nv_info.h"

namespace devlink::internal {

namespace {

bool HasPrototype(const PassResults& passes, FunctionId function) {
  return passes.liveness.live[function] && !passes.liveness.address_taken[function] &&
         passes.program.functions[function].prototype != kNone;
}

const std::vector<AttributeRecord>& ModuleRecords(const Program& program) {
  return program.info_lists[program.sections[program.module_info].info_list];
}

bool IsOfTexture(const Program& program, const AttributeRecord& record) {
  return record.format == format::kInfoSized && record.symbol != kNone &&
         format::IsTextureType(program.symbols[record.symbol].type);
}

// Of records that are not of a texture.
bool StaysInModuleInfo(const PassResults& passes, bool relocatable, const AttributeRecord& record) {
  const Program& program = passes.program;
  if (record.format != format::kInfoSized) return true;
  if (record.symbol == kNone) return record.externs == kNone;
  const bool is_of_stack =
      record.id == format::kAttrMaxStackSize || record.id == format::kAttrMinStackSize;
  if (is_of_stack && !relocatable) return false;
  const Symbol& symbol = program.symbols[record.symbol];
  const FunctionId function = symbol.function;
  if (function == kNone && symbol.type == format::kSttFunc) {  // a part of one
    return !passes.liveness.section_removed[symbol.section];
  }
  return function != kNone && passes.liveness.live[function] && program.IsDefined(function);
}

base::Bytes BytesOf(const std::uint32_t& word) {
  return {reinterpret_cast<const std::uint8_t*>(&word), sizeof(word)};
}

// Pairs of a call-graph list by function, last arrived first.
template <typename Pairs, typename FirstOf, typename Emit>
void ForEachByFunction(const Pairs& pairs, const FirstOf& first_of, const Emit& emit) {
  std::vector<std::uint32_t> order(pairs.size());
  std::iota(order.rbegin(), order.rend(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return first_of(pairs[a]) < first_of(pairs[b]);
  });
  for (const std::uint32_t i : order) emit(pairs[i]);
}

class CallGraphWriter {
 public:
  CallGraphWriter(const PassResults& passes, const ViewHandles& handles, CubinWriter& writer)
      : passes_(passes), program_(passes.program), handles_(handles), writer_(writer) {}

  void Write() {
    const auto user = [](const PrototypeUse& use) { return use.function; };
    const auto put_use = [this](const PrototypeUse& use) { PutUse(use); };
    BeginList(format::CallGraphList::kCalls);
    for (FunctionId f = 0; f < program_.functions.size(); ++f) {
      if (!passes_.liveness.live[f]) continue;
      for (const FunctionId callee : passes_.graph.DirectCallees(f)) PutEdge({f, callee});
    }
    BeginList(format::CallGraphList::kAddressesTaken);
    ForEachByFunction(program_.addresses_taken, user, put_use);
    BeginList(format::CallGraphList::kIndirectCallers);
    ForEachByFunction(program_.indirect_callers, user, put_use);
    BeginList(format::CallGraphList::kAddressTakers);
    ForEachByFunction(
        program_.address_takers, [](const CallEdge& edge) { return edge.caller; },
        [this](const CallEdge& edge) { PutEdge(edge); });
  }

 private:
  void BeginList(format::CallGraphList list) {
    writer_.AppendWord(handles_.call_graph, 0);
    writer_.AppendWord(handles_.call_graph, format::CallGraphMarker(list));
  }
  void PutUse(const PrototypeUse& use) {
    if (!passes_.liveness.live[use.function]) return;
    PutFunction(use.function);
    writer_.AppendWord(handles_.call_graph, use.prototype);
  }
  void PutEdge(const CallEdge& edge) {
    if (!passes_.liveness.live[edge.caller] || !passes_.liveness.live[edge.callee]) return;
    PutFunction(edge.caller);
    PutFunction(edge.callee);
  }
  void PutFunction(FunctionId function) {
    writer_.AppendSymbolIndex(handles_.call_graph, handles_.SymbolOf(program_, function));
  }

  const PassResults& passes_;
  const Program& program_;
  const ViewHandles& handles_;
  CubinWriter& writer_;
};

// The records that machine code has for a function, as far as they are not written yet.
class SassRecords {
 public:
  SassRecords(const SassAttributes& sass, const std::vector<AttributeRecord>& list) : sass_(sass) {
    for (const AttributeRecord& record : list) {
      if (record.format == format::kInfoSized) by_id_[record.id].push_back(&record);
    }
  }

  // Whether machine code's record stands in the place of the Mercury view's. Lists of functions and
  // of fragments, and stacks, are the link's own.
  bool Take(SectionHandle handle, const AttributeRecord& record, CubinWriter& writer) {
    written_.insert(record.id);
    if (record.format != format::kInfoSized || record.id == format::kAttrExterns ||
        record.id == format::kAttrCrsStackSize || record.id == format::kAttrEntryFragments) {
      return false;
    }
    const auto found = by_id_.find(record.id);
    if (found == by_id_.end() || found->second.empty()) return false;
    Write(handle, *found->second.back(), writer);  // the last one first, as all lists
    found->second.pop_back();
    return true;
  }
  void Took(std::uint8_t id) { written_.insert(id); }

  // What the Mercury view has nothing of, as it came.
  void WriteRest(SectionHandle handle, const std::vector<AttributeRecord>& list,
                 CubinWriter& writer) const {
    for (const AttributeRecord& record : list) {
      if (written_.contains(record.id) || record.id == format::kAttrExterns) continue;
      Write(handle, record, writer);
    }
  }

 private:
  void Write(SectionHandle handle, const AttributeRecord& record, CubinWriter& writer) const {
    if (record.format == format::kInfoSized && record.symbol != kNone) {
      return writer.AddSymbolAttribute(handle, record.id, sass_.handles.symbols[record.symbol],
                                       record.payload.subspan(4));
    }
    writer.AddAttribute(handle, record.format, record.id, record.value, record.payload);
  }

  const SassAttributes& sass_;
  base::HashMap<std::uint8_t, std::vector<const AttributeRecord*>> by_id_;
  base::HashSet<std::uint8_t> written_;
};

class AttributeWriter {
 public:
  AttributeWriter(const PassResults& passes, const ViewHandles& handles, bool relocatable,
                  CubinWriter& writer)
      : passes_(passes),
        program_(passes.program),
        handles_(handles),
        relocatable_(relocatable),
        writer_(writer) {
    for (std::uint32_t i = 0; i < passes.liveness.kernels.size(); ++i) {
      const FunctionId kernel = passes.liveness.kernels[i];
      kernel_place_[kernel] = i;
      if (!passes.resources.kernels[i].stack) unbounded_kernels_.insert(kernel);
    }
  }

  // Registers and frames of all functions, last arrived first; then the stack of every kernel.
  void WriteModuleInfo();
  void WriteFunctionInfo(SectionId id);
  void WriteSassInfo(SectionId id, const SassAttributes& sass);

 private:
  void WriteModuleRecord(SectionHandle handle, const AttributeRecord& record);
  void WriteStackSizes(SectionHandle handle);
  void WriteRecord(SectionHandle handle, const AttributeRecord& record,
                   const FunctionAttributes& attributes);
  void WriteExterns(SectionHandle handle, const FunctionAttributes& attributes);
  void WriteWords(SectionHandle handle, std::uint8_t id, const std::vector<std::uint32_t>& words);
  void WriteUnknownStack(SectionHandle handle) {
    if (sass_ != nullptr) sass_->Took(format::kAttrCrsStackSize);
    constexpr std::uint32_t kUnknown = format::kUnknownStackSize;
    writer_.AddAttribute(handle, format::kInfoSized, format::kAttrCrsStackSize, sizeof(kUnknown),
                         BytesOf(kUnknown));
  }

  const PassResults& passes_;
  const Program& program_;
  const ViewHandles& handles_;
  const bool relocatable_;
  CubinWriter& writer_;
  base::HashMap<FunctionId, std::uint32_t> kernel_place_;  // in Liveness::kernels
  base::HashSet<FunctionId> unbounded_kernels_;            // whose stack cannot be told
  SassRecords* sass_ = nullptr;                            // of the function, where it has any
};

void AttributeWriter::WriteModuleInfo() {
  const SectionHandle handle = handles_.sections[program_.module_info];
  if (handle == kNoSection) return;
  const auto& records = ModuleRecords(program_);
  for (auto record = records.rbegin(); record != records.rend(); ++record) {
    const bool stays = IsOfTexture(program_, *record)
                           ? handles_.symbols[record->symbol] != kNoSymbol
                           : StaysInModuleInfo(passes_, relocatable_, *record);
    if (stays) WriteModuleRecord(handle, *record);
  }
  if (!relocatable_) WriteStackSizes(handle);
}

void AttributeWriter::WriteModuleRecord(SectionHandle handle, const AttributeRecord& record) {
  if (record.format != format::kInfoSized || record.symbol == kNone) {
    writer_.AddAttribute(handle, record.format, record.id, record.value, record.payload);
    return;
  }
  const FunctionId function = program_.symbols[record.symbol].function;
  auto value = base::BoundedReader(record.payload).ReadOrZero<std::uint32_t>(4);
  const auto kernel = kernel_place_.find(function);
  if (record.id == format::kAttrRegCount && kernel != kernel_place_.end() && !relocatable_) {
    value = passes_.resources.kernels[kernel->second].registers;
  }
  writer_.AddSymbolAttribute(
      handle, record.id,
      function != kNone ? handles_.SymbolOf(program_, function) : handles_.symbols[record.symbol],
      BytesOf(value));
}

// Kernels in the order of the symbol table: its local part first.
void AttributeWriter::WriteStackSizes(SectionHandle handle) {
  const Liveness& liveness = passes_.liveness;
  const base::HashSet<FunctionId> unfollowed(liveness.unfollowed.begin(),
                                             liveness.unfollowed.end());
  for (const bool global : {false, true}) {
    for (std::uint32_t i = 0; i < liveness.kernels.size(); ++i) {
      const FunctionId kernel = liveness.kernels[i];
      if (program_.symbols[program_.functions[kernel].symbol].global_part != global) continue;
      if (liveness.single_kernel != kNone && liveness.single_kernel != kernel) continue;
      if (unfollowed.contains(kernel)) continue;
      const std::uint32_t stack =
          passes_.resources.kernels[i].stack.value_or(format::kUnknownStackSize);
      writer_.AddSymbolAttribute(handle, format::kAttrMinStackSize,
                                 handles_.SymbolOf(program_, kernel), BytesOf(stack));
    }
  }
}

void AttributeWriter::WriteFunctionInfo(SectionId id) {
  const SectionHandle handle = handles_.sections[id];
  const Section& section = program_.sections[id];
  const FunctionAttributes& attributes = passes_.attributes.functions[section.function];
  const auto& list = program_.info_lists[section.info_list];
  bool stack_unknown = unbounded_kernels_.contains(section.function);
  for (auto record = list.rbegin(); record != list.rend(); ++record) {
    if (stack_unknown && record->format == format::kInfoSized &&
        record->id == format::kAttrCrsStackSize) {
      WriteUnknownStack(handle);
      stack_unknown = false;
      continue;
    }
    WriteRecord(handle, *record, attributes);
  }
  if (stack_unknown) WriteUnknownStack(handle);
  for (const FunctionAttributes::Value& value : attributes.appended) {
    if (sass_ != nullptr) sass_->Took(value.id);
    if (value.id == format::kAttrExterns) {
      WriteExterns(handle, attributes);
    } else if (value.id == format::kAttrLanguage) {
      WriteWords(handle, value.id, attributes.languages);
    } else if (value.id == format::kAttrEntryFragments) {
      WriteWords(handle, value.id, attributes.fragments);
    } else {
      writer_.AddAttribute(handle, value.format, value.id, value.value);
    }
  }
}

void AttributeWriter::WriteSassInfo(SectionId id, const SassAttributes& sass) {
  const SectionId other = sass.pairs.sections[id];
  if (other == kNone) return WriteFunctionInfo(id);
  const auto& list = sass.program.info_lists[sass.program.sections[other].info_list];
  SassRecords records(sass, list);
  sass_ = &records;
  WriteFunctionInfo(id);
  sass_ = nullptr;
  records.WriteRest(handles_.sections[id], list, writer_);
}

void AttributeWriter::WriteRecord(SectionHandle handle, const AttributeRecord& record,
                                  const FunctionAttributes& attributes) {
  if (sass_ != nullptr &&
      (record.id == format::kAttrFinalizerOptions || sass_->Take(handle, record, writer_))) {
    return;
  }
  if (record.format != format::kInfoSized) {
    std::uint16_t value = record.value;
    for (const FunctionAttributes::Value& replaced : attributes.replaced) {
      if (replaced.id == record.id) value = replaced.value;
    }
    writer_.AddAttribute(handle, record.format, record.id, value);
  } else if (record.id == format::kAttrExterns) {
    if (attributes.externs_in_place) WriteExterns(handle, attributes);
  } else if (record.id == format::kAttrLanguage && !attributes.languages.empty()) {
    WriteWords(handle, record.id, attributes.languages);
  } else if (record.id == format::kAttrEntryFragments &&
             (attributes.loses_fragments || !attributes.fragments_in_place)) {
    return;
  } else if (record.id == format::kAttrEntryFragments && !attributes.fragments.empty()) {
    WriteWords(handle, record.id, attributes.fragments);
  } else if (record.symbol != kNone) {
    writer_.AddSymbolAttribute(handle, record.id, handles_.symbols[record.symbol],
                               record.payload.subspan(4));
  } else {
    writer_.AddAttribute(handle, record.format, record.id, record.value, record.payload);
  }
}

void AttributeWriter::WriteExterns(SectionHandle handle, const FunctionAttributes& attributes) {
  if (attributes.externs.empty()) return;
  writer_.AddAttribute(handle, format::kInfoSized, format::kAttrExterns,
                       static_cast<std::uint16_t>(attributes.externs.size() * 4));
  for (const SymbolId symbol : attributes.externs) {
    writer_.AppendSymbolIndex(handle, handles_.symbols[symbol]);
  }
}

void AttributeWriter::WriteWords(SectionHandle handle, std::uint8_t id,
                                 const std::vector<std::uint32_t>& words) {
  writer_.AddAttribute(handle, format::kInfoSized, id,
                       static_cast<std::uint16_t>(words.size() * 4));
  for (const std::uint32_t word : words) writer_.AppendWord(handle, word);
}

}  // namespace

bool HasPrototypes(const PassResults& passes) {
  for (FunctionId f = 0; f < passes.program.functions.size(); ++f) {
    if (HasPrototype(passes, f)) return true;
  }
  return false;
}

bool HasModuleRecord(const PassResults& passes, bool relocatable) {
  const auto& records = ModuleRecords(passes.program);
  return !passes.liveness.kernels.empty() ||
         std::any_of(records.begin(), records.end(), [&](const AttributeRecord& record) {
           return !IsOfTexture(passes.program, record) &&
                  StaysInModuleInfo(passes, relocatable, record);
         });
}

void FillCallGraph(const PassResults& passes, const ViewHandles& handles, CubinWriter& writer) {
  CallGraphWriter(passes, handles, writer).Write();
  if (handles.prototypes == kNoSection) return;
  const Program& program = passes.program;
  for (FunctionId f = 0; f < program.functions.size(); ++f) {
    if (!HasPrototype(passes, f)) continue;
    writer.AppendSymbolIndex(handles.prototypes, handles.SymbolOf(program, f));
    writer.AppendWord(handles.prototypes, program.functions[f].prototype);
  }
}

void FillAttributes(const PassResults& passes, const ViewHandles& handles, bool relocatable,
                    CubinWriter& writer) {
  AttributeWriter attributes(passes, handles, relocatable, writer);
  attributes.WriteModuleInfo();
  for (const SectionId id : passes.program.info_sections) {
    if (id != passes.program.module_info && handles.sections[id] != kNoSection) {
      attributes.WriteFunctionInfo(id);
    }
  }
}

void FillSassAttributes(const PassResults& mercury, const ViewHandles& plain, bool relocatable,
                        const SassAttributes& sass, CubinWriter& writer) {
  AttributeWriter attributes(mercury, plain, relocatable, writer);
  attributes.WriteModuleInfo();
  for (const SectionId id : mercury.program.info_sections) {
    if (id != mercury.program.module_info && plain.sections[id] != kNoSection) {
      attributes.WriteSassInfo(id, sass);
    }
  }
}

}  // namespace devlink::internal
