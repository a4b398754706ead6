// SPDX-License-Identifier: Apache-2.0
//
// Merged programs made by hand, for tests of the passes behind the merge.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "format/elf_cuda.h"
#include "format/nv_info.h"
#include "link/call_graph.h"
#include "model/program.h"

namespace devlink::testing {

class ProgramBuilder {
 public:
  ProgramBuilder() {
    program.module_info = AddSection(internal::SectionKind::kModuleInfo, internal::kNone);
    program.sections[program.module_info].info_list = 0;
    program.info_lists.emplace_back();
    program.info_sections.push_back(program.module_info);
  }

  internal::SectionId AddSection(internal::SectionKind kind, internal::FunctionId function) {
    internal::Section& section = program.sections.emplace_back();
    section.kind = kind;
    section.function = function;
    return static_cast<internal::SectionId>(program.sections.size() - 1);
  }

  internal::FunctionId AddFunction(bool kernel = false, bool defined = true) {
    const auto id = static_cast<internal::FunctionId>(program.functions.size());
    internal::Symbol symbol;
    symbol.name = names_.emplace_back("f" + std::to_string(id));
    symbol.type = format::kSttFunc;
    symbol.binding = format::kStbGlobal;
    symbol.function = id;
    internal::Function function;
    function.is_kernel = kernel;
    function.symbol = static_cast<internal::SymbolId>(program.symbols.size());
    if (defined) {
      function.text = symbol.section = AddSection(internal::SectionKind::kText, id);
      program.sections[function.text].symbol = function.symbol;
    }
    if (kernel) function.shared = AddSection(internal::SectionKind::kKernelShared, id);
    program.symbols.push_back(symbol);
    program.functions.push_back(function);
    return id;
  }

  void AddCall(internal::FunctionId caller, internal::FunctionId callee) {
    program.calls.push_back({caller, callee});
  }

  void SetResources(internal::FunctionId function, std::uint32_t registers, std::uint32_t frame) {
    AddInfo(function, format::kAttrRegCount, registers);
    AddInfo(function, format::kAttrFrameSize, frame);
  }

  // A variable in `.nv_debug.shared`.
  internal::SymbolId AddShared(std::uint64_t size, std::uint32_t align) {
    if (program.module_shared == internal::kNone) {
      program.module_shared = AddSection(internal::SectionKind::kModuleShared, internal::kNone);
    }
    const internal::SymbolId id = AddSharedSymbol(size, align, program.module_shared);
    program.shared_definitions.push_back(id);
    if (align > program.module_shared_align) program.module_shared_align = align;
    return id;
  }
  // A variable of one kernel.
  internal::SymbolId AddLocalShared(internal::FunctionId kernel, std::uint64_t size,
                                    std::uint32_t align) {
    return AddSharedSymbol(size, align, program.functions[kernel].shared);
  }
  // `extern __shared__ x[]`
  internal::SymbolId AddExternalShared() {
    const internal::SymbolId id = AddSharedSymbol(0, 16, internal::kNone);
    program.symbols[id].external_shared = true;
    program.shared_definitions.push_back(id);
    return id;
  }
  // The parameter bank of a kernel.
  void AddParameters(internal::FunctionId kernel, std::uint64_t size) {
    const auto id = AddSection(internal::SectionKind::kFunctionConstants, kernel);
    program.sections[id].size = size;
    program.functions[kernel].constants.push_back(id);
  }
  // A texture reference.
  internal::SymbolId AddTexture() {
    internal::Symbol symbol;
    symbol.type = format::kSttCudaTexture;
    program.symbols.push_back(symbol);
    return static_cast<internal::SymbolId>(program.symbols.size() - 1);
  }
  void AddUse(internal::FunctionId function, internal::SymbolId symbol) {
    internal::Relocation relocation;
    relocation.section = program.functions[function].text;
    if (program.sections[relocation.section].rel == internal::kNone) {
      const auto list = AddSection(internal::SectionKind::kRelocations, function);
      program.sections[list].owner = relocation.section;
      program.sections[relocation.section].rel = list;
    }
    relocation.list = program.sections[relocation.section].rel;
    relocation.symbol = symbol;
    relocation.type = 1;
    program.relocations.push_back(relocation);
  }

  internal::Program program;

 private:
  internal::SymbolId AddSharedSymbol(std::uint64_t size, std::uint32_t align,
                                     internal::SectionId section) {
    internal::Symbol symbol;
    symbol.type = format::kSttObject;
    symbol.space = format::kStoShared;
    symbol.size = size;
    symbol.align = align;
    symbol.section = section;
    program.symbols.push_back(symbol);
    return static_cast<internal::SymbolId>(program.symbols.size() - 1);
  }

  void AddInfo(internal::FunctionId function, std::uint8_t id, std::uint32_t value) {
    auto& bytes = payloads_.emplace_back(8, std::uint8_t{0});
    for (unsigned i = 0; i < 4; ++i) bytes[4 + i] = static_cast<std::uint8_t>(value >> (8 * i));
    internal::AttributeRecord record;
    record.payload = bytes;
    record.value = 8;
    record.format = format::kInfoSized;
    record.id = id;
    record.symbol = program.functions[function].symbol;
    program.info_lists.front().push_back(record);
  }

  std::deque<std::string> names_;
  std::deque<std::vector<std::uint8_t>> payloads_;
};

}  // namespace devlink::testing
