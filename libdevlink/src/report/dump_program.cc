// SPDX-License-Identifier: Apache-2.0
//
// The merged program as text.
#include <array>
#include <utility>

#include "format/elf_cuda.h"
#include "format/nv_info.h"
#include "format/relocations.h"
#include "report/dump.h"
#include "report/dump_text.h"

namespace devlink::internal {

namespace {

std::string_view KindName(SectionKind kind) {
  switch (kind) {
    case SectionKind::kDebug:
      return "debug";
    case SectionKind::kToolNote:
      return "tool-note";
    case SectionKind::kCudaNote:
      return "cuda-note";
    case SectionKind::kModuleInfo:
      return "module-info";
    case SectionKind::kFunctionInfo:
      return "function-info";
    case SectionKind::kCompat:
      return "compat";
    case SectionKind::kCallGraph:
      return "call-graph";
    case SectionKind::kPrototype:
      return "prototype";
    case SectionKind::kRelAction:
      return "rel-action";
    case SectionKind::kRelocations:
      return "relocations";
    case SectionKind::kConstantBank:
      return "constant-bank";
    case SectionKind::kFunctionConstants:
      return "function-constants";
    case SectionKind::kText:
      return "text";
    case SectionKind::kGlobalInit:
      return "global-init";
    case SectionKind::kGlobal:
      return "global";
    case SectionKind::kKernelShared:
      return "entry-shared";
    case SectionKind::kModuleShared:
      return "module-shared";
    case SectionKind::kReservedShared:
      return "reserved-shared";
    case SectionKind::kTable:
    case SectionKind::kOtherView:
      break;
  }
  return "?";
}

std::string TypeName(std::uint8_t type) {
  switch (type) {
    case format::kSttObject:
      return "object";
    case format::kSttFunc:
      return "function";
    case format::kSttSection:
      return "section";
    case format::kSttCudaTexture:
      return "texture";
    case format::kSttCudaSampler:
      return "sampler";
    case format::kSttCudaSurface:
      return "surface";
    case format::kSttCudaObject:
      return "cuda-object";
    default:
      return DumpHex(type);
  }
}

std::string BindingName(std::uint8_t binding) {
  constexpr std::array<std::string_view, 3> kNames = {"local", "global", "weak"};
  return binding < kNames.size() ? std::string(kNames[binding]) : DumpHex(binding);
}

std::string SpaceName(std::uint8_t space) {
  switch (space) {
    case format::kStoGlobal:
      return "global";
    case format::kStoShared:
      return "shared";
    case format::kStoConstant:
      return "constant";
    default:
      return DumpHex(space);
  }
}

// The text of a prototype, which is an offset in Program::prototypes plus one.
std::string PrototypeText(const Program& program, std::uint32_t prototype) {
  if (prototype == 0 || prototype > program.prototypes.size()) return "-";
  return DumpWord(program.prototypes.c_str() + prototype - 1);
}

std::string_view Sum(std::string& out, std::string_view symbol, std::int64_t addend) {
  out = symbol;
  const auto bits = static_cast<std::uint64_t>(addend);
  if (addend > 0) absl::StrAppend(&out, "+", DumpHex(bits));
  if (addend < 0) absl::StrAppend(&out, "-", DumpHex(0 - bits));
  return out;
}

void AddBytes(DumpLines& lines, std::string_view title, const std::vector<std::uint8_t>& bytes) {
  if (bytes.empty()) return;
  lines.Line(0, title);
  constexpr std::size_t kPerLine = 16;
  for (std::size_t at = 0; at < bytes.size(); at += kPerLine) {
    const base::Bytes all = bytes;
    lines.Line(1, DumpPiece({all.subspan(at, std::min(kPerLine, bytes.size() - at)), at}));
  }
}

class ProgramDump {
 public:
  explicit ProgramDump(const Program& program) : program_(program), names_(program) {}

  void Sections() {
    lines_.Line(0, "sections");
    for (SectionId id = 0; id < program_.sections.size(); ++id) {
      const Section& section = program_.sections[id];
      lines_.Line(1, names_.Section(id)).Word(KindName(section.kind)).Hex("size", section.size);
      lines_.Number("align", section.align).Hex("flags", section.flags);
      if (section.owner != kNone) lines_.Pair("owner", names_.Section(section.owner));
      lines_.FunctionIf(names_, "function", section.function);
      if (section.bank != 0) lines_.Number("bank", section.bank);
      if (section.registers != 0) lines_.Number("registers", section.registers);
      lines_.WordIf(section.comes_late, "late");
      for (const Piece& piece : section.pieces) lines_.Line(2, DumpPiece(piece));
    }
  }

  void Symbols() {
    lines_.Line(0, "symbols");
    for (SymbolId id = 0; id < program_.symbols.size(); ++id) {
      const Symbol& symbol = program_.symbols[id];
      lines_.Line(1, names_.Symbol(id)).Word(TypeName(symbol.type));
      if (symbol.type == format::kSttSection) continue;
      lines_.Word(BindingName(symbol.binding));
      lines_.WordIf(symbol.section == kNone, "undefined");
      lines_.SectionIf(names_, "section", symbol.section);
      if (symbol.space != 0) lines_.Pair("space", SpaceName(symbol.space));
      if (symbol.value != 0) lines_.Hex("value", symbol.value);
      if (symbol.size != 0) lines_.Hex("size", symbol.size);
      if (symbol.align != 1) lines_.Number("align", symbol.align);
      if (symbol.other != 0) lines_.Hex("other", symbol.other);
      lines_.Number("input", symbol.input);
      lines_.WordIf(symbol.global_part, "global-part");
      lines_.WordIf(symbol.external_shared, "external-shared");
      lines_.WordIf(symbol.constant_size, "constant-size");
      lines_.WordIf(symbol.common, "common");
      lines_.WordIf(symbol.weak_reference, "weak-reference");
    }
  }

  void Functions() {
    lines_.Line(0, "functions");
    for (FunctionId id = 0; id < program_.functions.size(); ++id) {
      const Function& function = program_.functions[id];
      lines_.Line(1, names_.Function(id));
      lines_.WordIf(function.is_kernel, "kernel").WordIf(function.text == kNone, "undefined");
      lines_.SectionIf(names_, "text", function.text).SectionIf(names_, "info", function.info);
      lines_.SectionIf(names_, "shared", function.shared);
      for (const SectionId bank : function.constants)
        lines_.Pair("constants", names_.Section(bank));
      if (function.registers != 0) lines_.Number("registers", function.registers);
      if (function.prototype != kNone) {
        lines_.Pair("prototype", PrototypeText(program_, function.prototype));
      }
      lines_.FunctionIf(names_, "alias-of", function.alias_of);
    }
  }

  void Calls() {
    Edges("calls", program_.calls);
    Uses("indirect callers", program_.indirect_callers);
    Uses("addresses taken", program_.addresses_taken);
    Edges("address takers", program_.address_takers);
  }

  void Records() {
    for (std::size_t list = 0; list < program_.info_lists.size(); ++list) {
      lines_.Line(0, "records of").Word(names_.Section(program_.info_sections[list]));
      for (const AttributeRecord& record : program_.info_lists[list]) Record(record);
    }
  }

  void Relocations() {
    lines_.Line(0, "relocations");
    std::string text;
    for (const Relocation& relocation : program_.relocations) {
      Sum(text, names_.Section(relocation.section), static_cast<std::int64_t>(relocation.offset));
      const format::RelocationInfo* info = format::FindRelocation(relocation.type);
      lines_.Line(1, text).Word(info != nullptr ? std::string(info->name)
                                                : DumpHex(relocation.type));
      lines_.Word(Sum(text, names_.Symbol(relocation.symbol), relocation.addend));
      lines_.Pair("list", names_.Section(relocation.list));
    }
  }

  void Names() {
    for (const auto& [title, names] : {std::pair("names in .shstrtab", &program_.section_names),
                                       std::pair("names in .strtab", &program_.symbol_names)}) {
      lines_.Line(0, title);
      for (const NameEntry& name : *names) {
        const std::string text = DumpWord(name.text);
        lines_.Line(1, text);
        // Whose it is, where it is not a name of its own.
        if (name.section != kNone && names_.Section(name.section) != text) {
          lines_.Pair("section", names_.Section(name.section));
        }
        if (name.symbol != kNone && names_.Symbol(name.symbol) != text) {
          lines_.Pair("symbol", names_.Symbol(name.symbol));
        }
      }
    }
  }

  void Rest() {
    Ids("common symbols", program_.commons);
    Ids("shared definitions", program_.shared_definitions);
  }

  std::string Take() { return lines_.Take(); }

 private:
  void Edges(std::string_view title, const std::vector<CallEdge>& edges) {
    if (edges.empty()) return;
    lines_.Line(0, title);
    for (const CallEdge& edge : edges) {
      lines_.Line(1, names_.Function(edge.caller)).Word("->").Word(names_.Function(edge.callee));
    }
  }

  void Uses(std::string_view title, const std::vector<PrototypeUse>& uses) {
    if (uses.empty()) return;
    lines_.Line(0, title);
    for (const PrototypeUse& use : uses) {
      lines_.Line(1, names_.Function(use.function));
      lines_.Pair("prototype", PrototypeText(program_, use.prototype));
    }
  }

  void Ids(std::string_view title, const std::vector<SymbolId>& symbols) {
    if (symbols.empty()) return;
    lines_.Line(0, title);
    for (const SymbolId id : symbols) lines_.Line(1, names_.Symbol(id));
  }

  void Record(const AttributeRecord& record) {
    const std::string_view name = format::InfoAttributeName(record.id);
    lines_.Line(1, name.empty() ? DumpHex(record.id) : std::string(name));
    if (record.format == format::kInfoByteValue || record.format == format::kInfoHalfValue) {
      lines_.Number("value", record.value);
    }
    if (record.format != format::kInfoSized) return;
    if (record.externs != kNone) {
      for (std::size_t i = 0; i < record.payload.size() / 4; ++i) {
        lines_.Word(names_.Symbol(program_.extern_symbols[record.externs + i]));
      }
      return;
    }
    base::Bytes rest = record.payload;
    if (record.symbol != kNone) {
      lines_.Word(names_.Symbol(record.symbol));
      rest = rest.subspan(std::min<std::size_t>(4, rest.size()));
    }
    const base::BoundedReader words(rest);
    for (std::uint64_t at = 0; at + 4 <= rest.size(); at += 4) {
      lines_.Word(DumpHex(words.ReadOrZero<std::uint32_t>(at)));
    }
    for (std::uint64_t at = rest.size() / 4 * 4; at < rest.size(); ++at) {
      lines_.Word(DumpHex(rest[at]));
    }
  }

  const Program& program_;
  DumpNames names_;
  DumpLines lines_;
};

std::string Part(const Program& program, void (ProgramDump::*part)()) {
  ProgramDump dump(program);
  (dump.*part)();
  return dump.Take();
}

}  // namespace

std::string DumpProgram(const Program& program) {
  ProgramDump dump(program);
  dump.Sections();
  dump.Symbols();
  dump.Functions();
  dump.Calls();
  dump.Records();
  dump.Relocations();
  dump.Names();
  dump.Rest();
  return dump.Take();
}

std::string DumpFileParts(const FileParts& file) {
  DumpLines lines;
  if (!file.tool_records.empty()) {
    lines.Line(0, "tool records").Number("count", file.tool_records.size());
  }
  AddBytes(lines, "cuda note", file.cuda_note);
  AddBytes(lines, "compat", file.compat);
  return lines.Take();
}

std::string DumpSections(const Program& program) { return Part(program, &ProgramDump::Sections); }
std::string DumpSymbols(const Program& program) { return Part(program, &ProgramDump::Symbols); }
std::string DumpFunctions(const Program& program) { return Part(program, &ProgramDump::Functions); }
std::string DumpCalls(const Program& program) { return Part(program, &ProgramDump::Calls); }
std::string DumpRecords(const Program& program) { return Part(program, &ProgramDump::Records); }
std::string DumpRelocations(const Program& program) {
  return Part(program, &ProgramDump::Relocations);
}
std::string DumpNameOrder(const Program& program) { return Part(program, &ProgramDump::Names); }

}  // namespace devlink::internal
