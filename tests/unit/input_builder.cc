// SPDX-License-Identifier: Apache-2.0
#include "unit/input_builder.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "format/nv_info.h"
#include "format/sm_traits.h"
#include "model/module.h"

namespace devlink::testing {
namespace {

constexpr std::uint64_t kCodeSize = 16;

struct DataKind {
  std::uint32_t type = format::kShtProgbits;
  std::uint64_t flags = 0;
};

DataKind KindOf(const std::string& name) {
  constexpr std::uint64_t kMemory = format::kShfWrite | format::kShfAlloc;
  constexpr std::string_view kConstant = ".nv.constant";
  if (name == ".nv.global") return {format::kShtCudaGlobal, kMemory};
  if (name == ".nv.global.init") return {format::kShtCudaGlobalInit, kMemory};
  if (name == ".nv_debug.shared") return {format::kShtCudaShared, kMemory};
  if (name == ".nv.shared.reserved.0") return {format::kShtCudaReservedShared, kMemory};
  if (name.starts_with(".nv.shared.")) {
    return {format::kShtCudaShared, kMemory | format::kShfInfoLink};
  }
  if (name.starts_with(kConstant)) {
    const auto bank = static_cast<std::uint32_t>(name[kConstant.size()] - '0');
    const bool owned = name.size() > kConstant.size() + 1;
    return {format::kShtCudaConstant0 + bank,
            format::kShfAlloc | (owned ? format::kShfInfoLink : 0)};
  }
  return {};
}

// The writer knows no common symbols: they are made of undefined ones.
void MakeCommon(std::vector<std::uint8_t>& file, const std::vector<std::string>& names) {
  constexpr std::uint16_t kCommon = 0xfff2;
  format::Ehdr header;
  std::memcpy(&header, file.data(), sizeof(header));
  const auto section = [&](std::uint64_t index) {
    format::Shdr out;
    std::memcpy(&out, file.data() + header.shoff + index * sizeof(out), sizeof(out));
    return out;
  };
  for (std::uint64_t i = 0; i < header.shnum; ++i) {
    const format::Shdr table = section(i);
    if (table.type != format::kShtSymtab) continue;
    const format::Shdr strings = section(table.link);
    for (std::uint64_t at = table.offset; at < table.offset + table.size;
         at += sizeof(format::Sym)) {
      format::Sym symbol;
      std::memcpy(&symbol, file.data() + at, sizeof(symbol));
      const char* name = reinterpret_cast<const char*>(file.data() + strings.offset + symbol.name);
      if (std::find(names.begin(), names.end(), name) == names.end()) continue;
      symbol.shndx = kCommon;
      std::memcpy(file.data() + at, &symbol, sizeof(symbol));
    }
  }
}

}  // namespace

SymbolHandle InputBuilder::Define(const Function& function) {
  const std::string text_name = ".text." + function.name;
  const SectionHandle text =
      writer_.AddSection({.name = Keep(text_name),
                          .type = format::kShtProgbits,
                          .flags = format::kShfAlloc | format::kShfExec | function.more_flags,
                          .align = as_assembled_ ? 128U : 16U});
  section_symbols_[text] = writer_.AddSymbol({.type = format::kSttSection, .section = text});
  writer_.Append(text, bytes_.emplace_back(kCodeSize, function.fill));
  const SymbolHandle symbol =
      writer_.AddSymbol({.name = Keep(function.name),
                         .binding = function.binding,
                         .type = format::kSttFunc,
                         .other = function.kernel ? format::kStoEntry : std::uint8_t{0},
                         .section = text,
                         .size = kCodeSize});
  writer_.SetInfoSymbol(text, symbol, static_cast<std::uint8_t>(function.registers));
  texts_[symbol] = text;
  names_[symbol] = function.name;
  if (function.kernel) kernels_.push_back(symbol);
  section_names_[text] = text_name;
  AddModuleRecord(format::kAttrRegCount, symbol, function.registers);
  return symbol;
}

SymbolHandle InputBuilder::DefineAlias(const std::string& name, SymbolHandle of) {
  return writer_.AddSymbol({.name = Keep(name),
                            .binding = format::kStbGlobal,
                            .type = format::kSttFunc,
                            .section = texts_.at(of)});
}

SymbolHandle InputBuilder::Declare(const std::string& name, std::uint8_t binding,
                                   std::uint8_t other) {
  return writer_.AddSymbol(
      {.name = Keep(name), .binding = binding, .type = format::kSttFunc, .other = other});
}

SectionHandle InputBuilder::AddData(const std::string& name, std::uint64_t size, SymbolHandle owner,
                                    std::uint8_t fill, std::uint64_t align) {
  const DataKind kind = KindOf(name);
  const bool nobits = format::IsNobitsType(kind.type);
  const std::uint64_t left_out =
      flags_constants_ || !format::IsConstantType(kind.type) ? 0 : format::kShfInfoLink;
  const SectionHandle section = writer_.AddSection({.name = Keep(name),
                                                    .type = kind.type,
                                                    .flags = kind.flags & ~left_out,
                                                    .align = align,
                                                    .nobits_size = nobits ? size : 0});
  if (!nobits) writer_.Append(section, bytes_.emplace_back(size, fill));
  if (owner != kNoSymbol) writer_.SetInfoSection(section, texts_.at(owner));
  section_symbols_[section] = writer_.AddSymbol({.type = format::kSttSection, .section = section});
  section_names_[section] = name;
  return section;
}

SymbolHandle InputBuilder::Define(const Variable& variable) {
  if (variable.common) commons_.push_back(variable.name);
  return writer_.AddSymbol({.name = Keep(variable.name),
                            .binding = variable.binding,
                            .type = variable.type,
                            .other = static_cast<std::uint8_t>(variable.other | variable.space),
                            .section = variable.section,
                            .value = variable.value,
                            .size = variable.size});
}

SymbolHandle InputBuilder::AddConstants(SymbolHandle function, std::uint64_t size,
                                        std::uint8_t fill, std::uint64_t align) {
  const std::string name = ".nv.constant2." + names_.at(function);
  return Define(Variable{.name = "constants of " + names_.at(function),
                         .section = AddData(name, size, function, fill, align),
                         .space = format::kStoConstant,
                         .binding = format::kStbLocal,
                         .size = size});
}

SectionHandle InputBuilder::ModuleInfo() {
  if (info_ == kNoSection) {
    info_ = writer_.AddSection(
        {.name = ".nv.info", .type = format::kShtCudaInfo, .align = 4, .link = kSymbolTable});
  }
  return info_;
}

SectionHandle InputBuilder::InfoOf(SymbolHandle function) {
  const auto [known, inserted] = infos_.try_emplace(function, kNoSection);
  if (inserted) {
    known->second = writer_.AddSection({.name = Keep(".nv.info." + names_.at(function)),
                                        .type = format::kShtCudaInfo,
                                        .flags = format::kShfInfoLink,
                                        .align = 4,
                                        .link = kSymbolTable});
    writer_.SetInfoSection(known->second, texts_.at(function));
  }
  return known->second;
}

void InputBuilder::AddModuleRecord(std::uint8_t id, SymbolHandle symbol, std::uint32_t value) {
  const SectionHandle info = ModuleInfo();
  writer_.AddAttribute(info, format::kInfoSized, id, 8);
  writer_.AppendSymbolIndex(info, symbol);
  writer_.AppendWord(info, value);
}

void InputBuilder::AddRecord(SymbolHandle function, std::uint8_t format, std::uint8_t id,
                             std::uint16_t value) {
  writer_.AddAttribute(InfoOf(function), format, id, value);
}

void InputBuilder::AddWord(SymbolHandle function, std::uint8_t id, std::uint32_t word) {
  const SectionHandle info = InfoOf(function);
  writer_.AddAttribute(info, format::kInfoSized, id, sizeof(word));
  writer_.AppendWord(info, word);
}

void InputBuilder::AddExterns(SymbolHandle function, const std::vector<SymbolHandle>& symbols) {
  const SectionHandle info = InfoOf(function);
  writer_.AddAttribute(info, format::kInfoSized, format::kAttrExterns,
                       static_cast<std::uint16_t>(symbols.size() * 4));
  for (const SymbolHandle symbol : symbols) writer_.AppendSymbolIndex(info, symbol);
}

void InputBuilder::AddCompat(std::uint8_t format, std::uint8_t id, std::uint16_t value) {
  if (compat_ == kNoSection) {
    compat_ =
        writer_.AddSection({.name = ".nv.compat", .type = format::kShtCudaCompat, .align = 4});
  }
  writer_.AddAttribute(compat_, format, id, value);
}

void InputBuilder::Relocate(SectionHandle section, std::uint64_t offset, std::uint32_t type,
                            SymbolHandle symbol, std::optional<std::int64_t> addend) {
  const std::string name = (addend ? ".rela" : ".rel") + section_names_.at(section);
  const auto [list, inserted] = lists_.try_emplace(name, kNoSection);
  if (inserted) {
    list->second =
        writer_.AddSection({.name = Keep(name),
                            .type = addend ? format::kShtRela : format::kShtRel,
                            .flags = format::kShfInfoLink,
                            .align = 8,
                            .entry_size = addend ? sizeof(format::Rela) : format::kRelSize,
                            .link = kSymbolTable});
    writer_.SetInfoSection(list->second, section);
  }
  writer_.AddRelocation(list->second, offset, type, symbol, addend.value_or(0));
}

std::uint32_t InputBuilder::PrototypeAt(const std::string& text) {
  const std::string whole = text + '\0';
  std::size_t at = prototypes_.find(whole);
  if (at == std::string::npos) {
    at = prototypes_.size();
    prototypes_ += whole;
  }
  return static_cast<std::uint32_t>(at) + 1;  // `.strtab` begins with a NUL of its own
}

void InputBuilder::AddPairs(std::string_view section, std::uint32_t type, bool prototypes) {
  SectionHandle handle = kNoSection;
  std::uint32_t list = 0;
  // Every list has its marker, and they stand in order.
  const auto begin_lists_up_to = [&](format::CallGraphList last) {
    while (list < static_cast<std::uint32_t>(last)) {
      writer_.AppendWord(handle, 0);
      writer_.AppendWord(handle, format::CallGraphMarker(format::CallGraphList{++list}));
    }
  };
  std::ranges::stable_sort(pairs_, {}, &Pair::list);
  for (const Pair& pair : pairs_) {
    if ((pair.list == format::CallGraphList::kNone) != prototypes) continue;
    if (handle == kNoSection) {
      handle = writer_.AddSection(
          {.name = section, .type = type, .align = 4, .entry_size = 8, .link = kSymbolTable});
    }
    begin_lists_up_to(pair.list);
    writer_.AppendSymbolIndex(handle, pair.first);
    if (pair.second != kNoSymbol) {
      writer_.AppendSymbolIndex(handle, pair.second);
    } else {
      writer_.AppendWord(handle, PrototypeAt(pair.prototype));
    }
  }
  if (handle != kNoSection && !prototypes) {
    begin_lists_up_to(format::CallGraphList::kAddressTakers);
  }
}

void InputBuilder::AddNote() {
  const SectionHandle note = writer_.AddSection({.name = ".note.nv.cuinfo",
                                                 .type = format::kShtNote,
                                                 .flags = format::kShfCuInfo,
                                                 .align = 4});
  for (const std::uint32_t word : {12U, 8U, format::kNoteCudaInfo}) writer_.AppendWord(note, word);
  static constexpr char kVendor[] = "NVIDIA Corp";  // with its NUL
  writer_.AppendCopy(note, {reinterpret_cast<const std::uint8_t*>(kVendor), sizeof(kVendor)});
  writer_.AppendWord(note, 2U | std::uint32_t{sm_} << 16);
  writer_.AppendWord(note, 130);
}

void InputBuilder::Complete() {
  for (const auto& [function, text] : texts_) {
    InfoOf(function);
    AddModuleRecord(format::kAttrFrameSize, function, 0);
    AddModuleRecord(format::kAttrMaxStackSize, function, 0);
  }
  for (const SymbolHandle kernel : kernels_) {
    AddRecord(kernel, format::kInfoHalfValue, format::kAttrMaxRegCount, 255);
    AddData(".nv.constant0." + names_.at(kernel), format::TraitsOf(sm_).parameters_at, kernel, 0);
  }
}

ModuleRef InputBuilder::Build() {
  if (as_assembled_) Complete();
  AddNote();
  AddPairs(".nv.callgraph", format::kShtCudaCallGraph, false);
  AddPairs(".nv.prototype", format::kShtCudaPrototype, true);
  writer_.SetPrototypes(prototypes_);
  auto file = writer_.Write();
  if (!file.ok()) throw std::logic_error(file.status().ToString());
  MakeCommon(*file, commons_);
  auto module = internal::Module::Load(*std::move(file));
  if (!module.ok()) throw std::logic_error(module.status().ToString());
  return *std::move(module);
}

}  // namespace devlink::testing
