// SPDX-License-Identifier: Apache-2.0
#include "devlink-inspect/describe_cubin.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "devlink-diff/cubin_names.h"
#include "devlink-diff/cubin_view.h"
#include "devlink-inspect/describe_records.h"
#include "devlink/module.h"
#include "devlink/toolkit_profile.h"
#include "format/driver_names.h"
#include "format/elf_cuda.h"
#include "format/notes.h"
#include "format/sections.h"
#include "format/views.h"

namespace devlink::inspect {

namespace {

using diff::CubinView;
using diff::ViewSection;
using diff::ViewSymbol;

// `13.0` for 130; empty for 0.
std::string ReleaseName(std::uint16_t toolkit) {
  if (toolkit == 0) return {};
  return ToolkitProfile{.release = toolkit}.ReleaseName();
}

std::string_view TypeName(std::uint16_t type) {
  if (type == format::kTypeRel) return "relocatable";
  return type == format::kTypeExec ? "executable" : "other";
}

std::string_view SpaceName(MemorySpace space) {
  switch (space) {
    case MemorySpace::kGlobal:
      return "global";
    case MemorySpace::kShared:
      return "shared";
    case MemorySpace::kConstant:
      return "constant";
    case MemorySpace::kNone:
      break;
  }
  return "";
}

std::string_view KindName(SymbolKind kind) {
  switch (kind) {
    case SymbolKind::kFunction:
      return "function";
    case SymbolKind::kVariable:
      return "variable";
    case SymbolKind::kTexture:
      return "texture";
    case SymbolKind::kSampler:
      return "sampler";
    case SymbolKind::kSurface:
      return "surface";
    case SymbolKind::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view BindingName(SymbolBinding binding) {
  if (binding == SymbolBinding::kLocal) return "local";
  return binding == SymbolBinding::kWeak ? "weak" : "global";
}

Cell NumberOrNothing(const std::optional<std::uint32_t>& number) {
  return number ? Cell{std::uint64_t{*number}} : Cell{};
}

class Describer {
 public:
  Describer(base::Bytes bytes, const Choice& choice, Report& report)
      : bytes_(bytes), choice_(choice), report_(report), view_(diff::ViewCubin(bytes)) {
    (void)base::BoundedReader(bytes).Read(0, header_);
  }

  void Run() {
    ModulePool pool;
    auto module = pool.AddCubin(bytes_);
    if (module.ok()) info_ = InspectModule(*module);
    ReadNotes();
    Headline();
    Header();
    for (const std::string& problem : view_.problems) report_.Problem(problem);
    if (!module.ok()) report_.Problem(base::FromAbsl(module.status().message()));
    Summary();
    if (choice_.notes) Notes();
    if (choice_.headers) Segments();
    if (choice_.sections) Sections();
    if (choice_.symbols) Symbols();
    if (choice_.relocations) DescribeRelocations(view_, report_);
    if (choice_.attributes) DescribeAttributes(view_, report_);
    if (choice_.call_graph) DescribeCallGraph(view_, report_);
  }

 private:
  void ReadNotes() {
    for (const std::string_view name : {format::kCudaNoteName, format::kOldCudaNoteName}) {
      const ViewSection* section = view_.Find(name);
      if (section != nullptr && !cuda_) cuda_ = format::ReadCudaInfo(section->data);
    }
    if (const ViewSection* section = view_.Find(format::kToolNoteName); section != nullptr) {
      auto tools = format::ReadToolRecords(section->data);
      if (tools) {
        tools_ = *std::move(tools);
      } else {
        view_.problems.emplace_back("the tools' note cannot be read");
      }
    }
    toolkit_ = info_ ? info_->toolkit : 0;
    if (toolkit_ == 0 && cuda_) toolkit_ = cuda_->toolkit;
    if (toolkit_ == 0 && format::HasOldAbi(header_)) {
      toolkit_ = static_cast<std::uint16_t>(header_.version);
    }
    arch_ = info_ ? info_->arch.Name() : absl::StrCat("sm_", format::SmOf(header_));
    if (cuda_) virtual_arch_ = cuda_->virtual_arch;
    if (!cuda_ && format::HasOldAbi(header_)) virtual_arch_ = format::OldVirtualArchOf(header_);
  }

  void Headline() {
    std::string text = absl::StrCat(std::string(TypeName(header_.type)), " cubin for ", arch_);
    if (toolkit_ != 0) absl::StrAppend(&text, ", CUDA ", ReleaseName(toolkit_));
    if (!view_.mercury_symbols.empty()) text += ", with a Mercury view";
    absl::StrAppend(&text, ", ", bytes_.size(), " bytes");
    if (!tools_.empty()) absl::StrAppend(&text, ", by ", tools_.front().tool);
    report_.Headline(text);
  }

  // A text shows it where it is asked for.
  void Header() {
    const Shown shown = choice_.headers ? Shown::kEverywhere : Shown::kInJson;
    const auto field = [&](std::string_view key, std::string_view title, const Cell& value,
                           bool hex = false) {
      report_.Field({.key = key, .title = title, .shown = shown, .hex = hex}, value);
    };
    const auto number = [](auto value) { return Cell{std::uint64_t{value}}; };
    field("type", "type", Text(TypeName(header_.type)));
    field("arch", "architecture", arch_);
    field("virtual_arch", "virtual architecture",
          virtual_arch_ != 0 ? Cell{absl::StrCat("compute_", virtual_arch_)} : Cell{});
    field("toolkit", "toolkit", TextOrNothing(ReleaseName(toolkit_)));
    field("os_abi", "OS ABI", number(header_.ident[format::kIdentOsAbi]), true);
    field("abi_version", "ABI version", number(header_.ident[format::kIdentAbiVersion]));
    field("elf_version", "ELF version", number(header_.version));
    field("flags", "flags", number(header_.flags), true);
    field("has_mercury_view", "Mercury view", !view_.mercury_symbols.empty());
  }

  void Functions(bool kernels) {
    // The columns that are for those who ask.
    const Shown more = choice_.resources ? Shown::kEverywhere : Shown::kInJson;
    const Shown of_kernels = kernels ? Shown::kEverywhere : Shown::kInJson;
    const std::array columns = {
        Column{"registers", "registers"},
        Column{"frame_bytes", "frame", more},
        Column{"stack_bytes", "stack"},
        Column{"shared_bytes", "shared", of_kernels},
        Column{"parameter_bytes", "parameters", kernels ? more : Shown::kInJson},
        Column{"constant_bytes", "constant", of_kernels},
        Column{"barriers", "barriers"},
        Column{"code_bytes", "code"},
        Column{"name", "name"},
    };
    report_.BeginTable({.key = kernels ? "kernels" : "functions",
                        .title = kernels ? "kernels" : "functions",
                        .columns = columns,
                        .most_rows = choice_.resources ? 0 : choice_.most_rows});
    for (const ModuleFunction& f : info_->functions) {
      if (f.is_kernel != kernels) continue;
      AddRow(report_, columns, NumberOrNothing(f.registers), NumberOrNothing(f.frame_bytes),
             NumberOrNothing(f.stack_bytes), f.shared_bytes, f.parameter_bytes, f.constant_bytes,
             NumberOrNothing(f.barriers), f.code_bytes, MangledName{f.name});
    }
    report_.EndTable();
  }

  void Summary() {
    if (!info_) return;
    if (choice_.summary || choice_.resources) {
      Functions(true);
      Functions(false);
    }
    if (!choice_.summary) return;
    Variables();
    Undefined();
  }

  // The symbols of the library's list in the table of the file; the library leaves those without a
  // name out.
  [[nodiscard]] std::vector<const ViewSymbol*> NamedSymbols() const {
    std::vector<const ViewSymbol*> out;
    for (const ViewSymbol& s : view_.symbols) {
      if ((s.info & 15) != format::kSttSection && !s.name.empty()) out.push_back(&s);
    }
    return out;
  }

  // An executable does not say it but by where a variable lies.
  [[nodiscard]] std::string_view SpaceOf(const ModuleSymbol& symbol,
                                         const ViewSymbol& place) const {
    if (symbol.is_managed) return "managed";
    if (symbol.space != MemorySpace::kNone || place.section >= view_.sections.size()) {
      return SpaceName(symbol.space);
    }
    const std::string_view section = view_.sections[place.section].name;
    if (section.starts_with(format::section_name::kGlobal)) return "global";
    if (section.starts_with(format::section_name::kKernelShared)) return "shared";
    return section.starts_with(format::section_name::kConstants) ? "constant" : "";
  }

  void Variables() {
    constexpr std::array kColumns = {
        Column{"space", "space"}, Column{"size", "size"}, Column{"binding", "binding"},
        Column{"is_managed", "managed", Shown::kInJson}, Column{"name", "name"}};
    report_.BeginTable({.key = "variables",
                        .title = "variables",
                        .columns = kColumns,
                        .most_rows = choice_.most_rows});
    const std::vector<const ViewSymbol*> places = NamedSymbols();
    for (std::size_t i = 0; i < info_->symbols.size() && i < places.size(); ++i) {
      const ModuleSymbol& s = info_->symbols[i];
      if (!s.is_defined || s.kind != SymbolKind::kVariable) continue;
      // What compilers made for themselves: parameters, constants of code.
      if ((places[i]->other & format::kStoInternal) != 0) continue;
      AddRow(report_, kColumns, TextOrNothing(SpaceOf(s, *places[i])), s.size,
             Text(BindingName(s.binding)), s.is_managed, MangledName{s.name});
    }
    report_.EndTable();
  }

  void Undefined() {
    constexpr std::array kColumns = {Column{"kind", "kind"}, Column{"space", "space"},
                                     Column{"binding", "binding"}, Column{"is_driver", "in driver"},
                                     Column{"name", "name"}};
    report_.BeginTable({.key = "undefined",
                        .title = "undefined",
                        .columns = kColumns,
                        .most_rows = choice_.most_rows});
    for (const ModuleSymbol& s : info_->symbols) {
      const bool is_driver = format::IsKnownToDriver(s.name);
      // From sm_90 on every cubin has a dozen of these.
      if (s.is_defined || (is_driver && s.binding == SymbolBinding::kWeak)) continue;
      AddRow(report_, kColumns, Text(KindName(s.kind)), TextOrNothing(SpaceName(s.space)),
             Text(BindingName(s.binding)), is_driver, MangledName{s.name});
    }
    report_.EndTable();
  }

  void Notes() {
    constexpr std::array kTools = {Column{"tool", "tool"}, Column{"version", "version"},
                                   Column{"build", "build"}, Column{"options", "options"},
                                   Column{"object", "object"}};
    report_.BeginTable({.key = "tools", .title = "tools", .columns = kTools});
    for (const format::ToolRecord& t : tools_) {
      AddRow(report_, kTools, t.tool, t.version, t.build, TextOrNothing(t.options),
             TextOrNothing(t.object));
    }
    report_.EndTable();
    DescribeCompatibility(view_, report_);
  }

  void Segments() {
    constexpr std::array kColumns = {Column{"type", "type", Shown::kEverywhere, true},
                                     Column{"flags", "flags", Shown::kEverywhere, true},
                                     Column{"offset", "offset", Shown::kEverywhere, true},
                                     Column{"address", "address", Shown::kEverywhere, true},
                                     Column{"file_size", "in file", Shown::kEverywhere, true},
                                     Column{"memory_size", "in memory", Shown::kEverywhere, true},
                                     Column{"align", "align"}};
    report_.BeginTable({.key = "segments", .title = "program headers", .columns = kColumns});
    for (const diff::ViewSegment& s : view_.segments) {
      AddRow(report_, kColumns, std::uint64_t{s.type}, std::uint64_t{s.flags}, s.offset,
             s.virtual_address, s.file_size, s.memory_size, s.align);
    }
    report_.EndTable();
  }

  void Sections();
  void Symbols();
  void SymbolRows(std::string_view table, const std::vector<ViewSymbol>& symbols);
  [[nodiscard]] std::uint32_t SectionOf(std::string_view table, const ViewSymbol& symbol,
                                        std::uint64_t index) const;

  base::Bytes bytes_;
  const Choice& choice_;
  Report& report_;
  CubinView view_;
  format::Ehdr header_ = {};
  std::optional<ModuleInfo> info_;
  std::optional<format::CudaInfo> cuda_;
  std::vector<format::ToolRecord> tools_;
  std::uint16_t toolkit_ = 0;
  std::uint16_t virtual_arch_ = 0;
  std::string arch_;
};

std::string FlagLetters(std::uint64_t flags) {
  std::string out;
  constexpr std::array kLetters = {
      std::pair{format::kShfWrite, 'W'}, std::pair{format::kShfAlloc, 'A'},
      std::pair{format::kShfExec, 'X'}, std::pair{format::kShfInfoLink, 'I'},
      std::pair{std::uint64_t{format::kShfMercury}, 'M'}};
  for (const auto& [bit, letter] : kLetters) {
    if ((flags & bit) != 0) out += letter;
    flags &= ~bit;
  }
  if (flags != 0) absl::StrAppend(&out, out.empty() ? "" : "+", "0x", absl::Hex(flags));
  return out.empty() ? "-" : out;
}

void Describer::Sections() {
  constexpr std::array kColumns = {Column{"index", "#"},
                                   Column{"type", "type"},
                                   Column{"type_number", "", Shown::kInJson},
                                   Column{"flags", "", Shown::kInJson},
                                   Column{"flag_letters", "flags", Shown::kInText},
                                   Column{"address", "", Shown::kInJson},
                                   Column{"offset", "offset", Shown::kEverywhere, true},
                                   Column{"size", "size", Shown::kEverywhere, true},
                                   Column{"align", "align"},
                                   Column{"entry_size", "", Shown::kInJson},
                                   Column{"link", "link"},
                                   Column{"info", "", Shown::kInJson},
                                   Column{"name", "name"},
                                   Column{"info_means", "info"}};
  report_.BeginTable({.key = "sections", .title = "sections", .columns = kColumns});
  std::uint64_t index = 0;
  for (const ViewSection& s : view_.sections) {
    AddRow(report_, kColumns, index++, diff::SectionTypeName(s.type), std::uint64_t{s.type},
           s.flags, FlagLetters(s.flags), s.address, s.offset, s.size, s.align, s.entry_size,
           std::uint64_t{s.link}, std::uint64_t{s.info}, s.name, diff::DecodeSectionInfo(view_, s));
  }
  report_.EndTable();
}

// The number that did not fit into a symbol stands in a table of its own.
std::uint32_t Describer::SectionOf(std::string_view table, const ViewSymbol& symbol,
                                   std::uint64_t index) const {
  if (symbol.section != format::kShnXindex || table != format::section_name::kSymbols) {
    return symbol.section;
  }
  const ViewSection* wide = view_.Find(format::section_name::kWideIndices);
  return wide == nullptr ? format::kShnXindex
                         : base::BoundedReader(wide->data).ReadOrZero<std::uint32_t>(4 * index);
}

std::string SymbolTypeName(std::uint8_t type) {
  switch (type) {
    case format::kSttNone:
      return "NOTYPE";
    case format::kSttObject:
      return "OBJECT";
    case format::kSttFunc:
      return "FUNC";
    case format::kSttSection:
      return "SECTION";
    case format::kSttCudaTexture:
      return "TEXTURE";
    case format::kSttCudaSampler:
      return "SAMPLER";
    case format::kSttCudaSurface:
      return "SURFACE";
    case format::kSttCudaObject:
      return "CUDA_OBJECT";
    default:
      return absl::StrCat(type);
  }
}

std::string SymbolBindingName(std::uint8_t binding) {
  if (binding == format::kStbLocal) return "LOCAL";
  if (binding == format::kStbGlobal) return "GLOBAL";
  return binding == format::kStbWeak ? "WEAK" : absl::StrCat(binding);
}

// What `st_other` says.
struct SymbolMarks {
  std::string_view space;  // of memory
  bool is_kernel = false;
  bool is_managed = false;
  bool is_internal = false;  // made by a compiler for itself

  // All of it, for a text.
  [[nodiscard]] std::string Text() const {
    std::string out(space);
    const auto add = [&out](bool holds, const char* word) {
      if (holds) absl::StrAppend(&out, out.empty() ? "" : ",", word);
    };
    add(is_kernel, "kernel");
    add(is_managed, "managed");
    add(is_internal, "internal");
    return out.empty() ? "-" : out;
  }
};

std::string_view SpaceWord(std::uint8_t other) {
  switch (other & format::kStoSpaceMask) {
    case format::kStoGlobal:
      return "global";
    case format::kStoShared:
      return "shared";
    case format::kStoConstant:
      return "constant";
    case format::kStoReservedShared:
      return "reserved";
    default:
      return "";
  }
}

SymbolMarks MarksOf(std::uint8_t type, std::uint8_t other) {
  const bool is_function = type == format::kSttFunc;
  return {.space = SpaceWord(other),
          .is_kernel = is_function && (other & format::kStoEntry) != 0,
          .is_managed = !is_function && (other & format::kStoManaged) != 0,
          .is_internal = (other & format::kStoInternal) != 0};
}

std::string SectionName(const CubinView& view, std::uint32_t index) {
  if (index == format::kShnUndef) return "UND";
  if (index == (format::kShnAbs & 0xffff)) return "ABS";
  if (index == (format::kShnCommon & 0xffff)) return "COM";
  return diff::SectionKey(view, index);
}

constexpr std::array kSymbolColumns = {Column{.key = "table", .title = "", .group = true},
                                       Column{"index", "#"},
                                       Column{"value", "value", Shown::kEverywhere, true},
                                       Column{"size", "size"},
                                       Column{"type", "type"},
                                       Column{"binding", "binding"},
                                       Column{"marks", "space", Shown::kInText},
                                       Column{"space", "", Shown::kInJson},
                                       Column{"is_kernel", "", Shown::kInJson},
                                       Column{"is_managed", "", Shown::kInJson},
                                       Column{"is_internal", "", Shown::kInJson},
                                       Column{"other", "", Shown::kInJson},
                                       Column{"section", "section"},
                                       Column{"section_index", "", Shown::kInJson},
                                       Column{"name", "name"}};

void Describer::SymbolRows(std::string_view table, const std::vector<ViewSymbol>& symbols) {
  std::uint64_t index = 0;
  for (const ViewSymbol& s : symbols) {
    const std::uint8_t type = s.info & 15;
    const SymbolMarks marks = MarksOf(type, s.other);
    const std::uint32_t section = SectionOf(table, s, index);
    const bool is_section = type == format::kSttSection && s.name.empty();
    AddRow(report_, kSymbolColumns, Text(table), index, s.value, s.size, SymbolTypeName(type),
           SymbolBindingName(s.info >> 4), marks.Text(), TextOrNothing(marks.space),
           marks.is_kernel, marks.is_managed, marks.is_internal, std::uint64_t{s.other},
           SectionName(view_, section), std::uint64_t{section},
           is_section ? Cell{SectionName(view_, section)} : Cell{MangledName{s.name}});
    ++index;
  }
}

void Describer::Symbols() {
  report_.BeginTable({.key = "symbols", .title = "symbols", .columns = kSymbolColumns});
  SymbolRows(format::section_name::kSymbols, view_.symbols);
  SymbolRows(format::section_name::kMercurySymbols, view_.mercury_symbols);
  report_.EndTable();
}

}  // namespace

void DescribeCubin(base::Bytes bytes, const Choice& choice, Report& report) {
  Describer(bytes, choice, report).Run();
}

}  // namespace devlink::inspect
