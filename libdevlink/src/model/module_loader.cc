// SPDX-License-Identifier: Apache-2.0
#include "model/module_loader.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/align.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "format/call_graph_records.h"
#include "format/capsule.h"
#include "format/notes.h"
#include "format/nv_compat.h"
#include "format/sections.h"
#include "format/sm_traits.h"
#include "format/views.h"
#include "model/attribute_check.h"
#include "model/call_graph_check.h"
#include "model/code_places.h"
#include "model/debug_check.h"
#include "model/function_check.h"
#include "model/header_check.h"
#include "model/relocation_check.h"
#include "model/symbol_check.h"
#include "model/view_records.h"
#include "model/view_references.h"
#include "model/view_symbols.h"

namespace devlink::internal {

using base::ToAbsl;

namespace {

// Bounds on numbers that a file states without backing them with bytes. Real values are far below;
// a hostile file must not make the linker allocate or overflow.
constexpr std::uint64_t kMaxNobitsSize = std::uint64_t{1} << 40;
// Names may end alike and share bytes. How often those of a table are named in all: without a bound
// thousands of symbols could share megabytes.
constexpr std::uint64_t kMaxSharing = 16;
constexpr std::uint64_t kFreelyShared = 1 << 16;  // bytes, in tables of any size

// Whether names of so many bytes in all are more than a table of `size` bytes can honestly hold.
bool IsSharedTooOften(std::uint64_t total, std::uint64_t size) {
  return total > kFreelyShared && total / kMaxSharing > size;
}

bool IsConstants(SectionRole role) {
  return role == SectionRole::kConstantBank || role == SectionRole::kFunctionConstants;
}

bool IsShared(SectionRole role) {
  return role == SectionRole::kKernelShared || role == SectionRole::kModuleShared;
}

// What is wrong with a common variable; empty where nothing is.
std::string_view WrongInCommon(const InputSymbol& symbol) {
  const std::uint8_t space = symbol.other & format::kStoSpaceMask;
  if (space == format::kStoShared || space == format::kStoReservedShared) {
    return "a common variable in shared memory";
  }
  if (!base::IsPowerOfTwo(symbol.value) || symbol.value > format::kMaxAlign) {
    return "its alignment is not a power of two up to 16 MiB";
  }
  return symbol.size > kMaxNobitsSize ? "its size is beyond any device's memory" : "";
}

// Whether each section begins where those before it have ended, as compilers write them.
bool StandInOrder(std::span<const InputSection> sections) {
  const std::uint8_t* end = nullptr;
  for (const InputSection& section : sections) {
    if (section.data.empty()) continue;
    if (end != nullptr && section.data.data() < end) return false;
    end = section.data.data() + section.data.size();
  }
  return true;
}

// Names share no bytes in what assemblers and linkers of CUDA write: one that begins within another
// was a different one.
bool IsStartOfString(base::Bytes table, std::uint64_t offset) {
  return offset == 0 || (offset <= table.size() && table[offset - 1] == 0);
}
constexpr std::uint8_t kPrototypeMark = '#';  // with which each prototype's text begins
constexpr std::string_view kNameWithinAnother = "its name begins within another";

absl::Status Malformed(std::string_view what) { return absl::InvalidArgumentError(ToAbsl(what)); }

}  // namespace

absl::Status ModuleLoader::Bad(std::uint32_t index, std::string_view what) const {
  std::string_view name;
  if (index < sections_.size()) name = sections_[index].name;
  if (view_->kind_ == format::ViewKind::kMercury) {  // as the file has it
    const auto raw = base::BoundedReader(view_->headers_)
                         .ReadOrZero<format::Shdr>(std::uint64_t{index} * sizeof(format::Shdr));
    name = base::BoundedReader(view_->names_).CString(raw.name).value_or(name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("section ", index, " '", ToAbsl(name), "': ", ToAbsl(what)));
}

absl::Status ModuleLoader::BadSymbol(std::uint32_t index, std::string_view what) const {
  const auto raw = base::BoundedReader(view_->symbols_)
                       .ReadOrZero<format::Sym>(std::uint64_t{index} * sizeof(format::Sym));
  return absl::InvalidArgumentError(
      absl::StrCat("symbol ", index, " '", ToAbsl(view_->StringAt(raw.name)), "': ", ToAbsl(what)));
}

absl::Status ModuleLoader::Load() {
  DEVLINK_RETURN_IF_ERROR(ReadHeader());
  DEVLINK_RETURN_IF_ERROR(ReadSections());
  if (!module_.relocatable()) {
    // Refused later, with a reason of its own; its symbols are for those who look into it.
    ReadSymbolTable().IgnoreError();
    return absl::OkStatus();
  }
  const WrongSection gap =
      WrongInGaps(sections_, view_->headers_, module_.header_.shoff, two_views_);
  if (!gap.what.empty()) return Bad(gap.section, gap.what);
  DEVLINK_RETURN_IF_ERROR(CheckView());
  const bool two_views = std::any_of(
      sections_.begin(), sections_.end(),
      [](const InputSection& section) { return section.role == SectionRole::kOtherView; });
  return two_views ? ReadMercuryView() : absl::OkStatus();
}

absl::Status ModuleLoader::ReadMercuryView() {
  module_.mercury_ = std::make_unique<ModuleView>(format::ViewKind::kMercury);
  ModuleView& view = *module_.mercury_;
  view.of_two_ = module_.sass_.of_two_ = true;
  view.extensible_ = module_.sass_.extensible_;
  view.file_ = module_.sass_.file_;
  view.headers_ = module_.sass_.headers_;
  view.names_ = module_.sass_.names_;
  view_ = &view;
  const auto count = static_cast<std::uint32_t>(sections_.size());
  view.roles_.assign(count, SectionRole::kOtherView);
  view.roles_[0] = SectionRole::kTable;
  for (std::uint32_t i = 1; i < count; ++i) {
    InputSection& section = sections_[i];
    section.role = SectionRole::kOtherView;
    const auto words = format::SectionInView(
        view.kind_, {.name = section.name, .type = section.type, .flags = section.flags});
    if (!words) continue;
    section.name = words->name;
    section.type = words->type;
    section.flags = words->flags;
    DEVLINK_RETURN_IF_ERROR(ClassifySection(i, section));
    view.roles_[i] = section.role;
  }
  DEVLINK_RETURN_IF_ERROR(CheckView());
  return CheckViewsAgree();
}

absl::Status ModuleLoader::CheckViewsAgree() {
  DEVLINK_RETURN_IF_ERROR(CheckSymbolsAgree(module_.sass_, *module_.mercury_));
  DEVLINK_RETURN_IF_ERROR(
      CheckRecordsAgree(module_.sass_, *module_.mercury_, [this] { return IsFromAssembler(); }));
  return CheckReferencesAgree(module_.sass_, *module_.mercury_);
}

absl::Status ModuleLoader::CheckView() {
  if (two_views_) DEVLINK_RETURN_IF_ERROR(CheckPlaces());
  names_tool_ = IndexOf(SectionRole::kToolNote) < sections_.size();
  if (names_tool_) {
    const WrongSection header = WrongInHeaders(sections_, view_->kind());
    if (!header.what.empty()) return Bad(header.section, header.what);
  }
  DEVLINK_RETURN_IF_ERROR(ReadSymbolTable());
  for (InputSection& section : sections_) {
    if (section.role == SectionRole::kKernelShared) section.info = view_->CodeOf(section.info);
  }
  if (names_tool_ && LostUnnamedShared()) return JoinedExtensible();
  if (view_->extensible() && HasTextureSlots()) {
    return absl::UnimplementedError(
        "it is an extensible whole program with slots for textures or surfaces: compile it "
        "without -ewp");
  }
  const auto count = static_cast<std::uint32_t>(sections_.size());
  for (std::uint32_t i = 0; i < count; ++i) DEVLINK_RETURN_IF_ERROR(CheckSection(i));
  std::uint64_t names = 0;
  variables_.clear();
  have_symbols_.assign(count, 0);
  for (std::uint32_t i = 0; i < view_->symbol_count_; ++i) {
    DEVLINK_RETURN_IF_ERROR(CheckSymbol(i, names));
    if (IsSharedTooOften(names, view_->strings_.size())) {
      return Malformed("its symbols share the names of a few");
    }
  }
  DEVLINK_RETURN_IF_ERROR(CheckWhole());
  if (view_->kind_ == format::ViewKind::kMercury) return absl::OkStatus();  // has no other
  const std::string wrong =
      WrongInCallGraph(*view_, sections_, [this] { return IsFromAssembler(); }, module_.toolkit());
  return wrong.empty() ? absl::OkStatus() : Bad(IndexOf(SectionRole::kCallGraph), wrong);
}

// What sections and symbols that are sound by themselves say of one another.
absl::Status ModuleLoader::CheckWhole() {
  const WrongSection variables = WrongInVariables(sections_, variables_, !view_->extensible(),
                                                  [this] { return IsFromAssembler(); });
  if (!variables.what.empty()) return Bad(variables.section, variables.what);
  if (!names_tool_) return absl::OkStatus();
  const WrongSection pointers = WrongInPointers(sections_, variables_);
  if (!pointers.what.empty() && IsFromAssembler()) return Bad(pointers.section, pointers.what);
  const WrongSection frames = WrongInFrames(sections_, [this] { return IsFromAssembler(); });
  if (!frames.what.empty()) return Bad(frames.section, frames.what);
  const WrongSymbol function = WrongInFunctions(*view_, sections_, format::TraitsOf(module_.sm()));
  return function.what.empty() ? absl::OkStatus() : BadSymbol(function.symbol, function.what);
}

// What -r joined has shared memory of a kernel that is larger than that of no variable, and has
// none.
bool ModuleLoader::LostUnnamedShared() {
  std::vector<bool> is_unnamed(sections_.size());
  bool any = false;
  for (std::uint32_t i = 0; i < sections_.size(); ++i) {
    const InputSection& section = sections_[i];
    if (section.role != SectionRole::kKernelShared || section.size <= section.align) continue;
    is_unnamed[i] = any = true;
  }
  if (!any || view_->extensible() || IsFromAssembler()) return false;
  for (std::uint32_t i = 0; i < view_->symbol_count(); ++i) {
    const std::uint8_t type = view_->SymbolTypeAt(i);
    if (type != format::kSttObject && type != format::kSttCudaObject) continue;
    const InputSymbol symbol = view_->SymbolAt(i);
    const std::uint8_t space = symbol.other & format::kStoSpaceMask;
    if (space == format::kStoShared && symbol.size == 0) return false;  // `extern x[]` may be there
    if (symbol.section < sections_.size()) is_unnamed[symbol.section] = false;
  }
  return std::ranges::find(is_unnamed, true) != is_unnamed.end();
}

// An assembler that laid out a kernel put the slots of its textures behind the parameters.
bool ModuleLoader::HasTextureSlots() const {
  return std::ranges::any_of(sections_, [this](const InputSection& section) {
    return section.role == SectionRole::kRelocations && section.info < sections_.size() &&
           sections_[section.info].IsParameterBank();
  });
}

absl::Status ModuleLoader::JoinedExtensible() {
  return absl::UnimplementedError(
      "nvlink -r made it of cubins of nvcc -ewp, and lost what lies in their kernels' shared "
      "memory: link those without -r, or compile with -rdc=true");
}

std::uint32_t ModuleLoader::IndexOf(SectionRole role) const {
  const auto found =
      std::ranges::find_if(sections_, [&](const InputSection& s) { return s.role == role; });
  return static_cast<std::uint32_t>(found - sections_.begin());
}

absl::Status ModuleLoader::ReadHeader() {
  format::Ehdr& header = module_.header_;
  if (!reader_.Read(0, header)) return Malformed("shorter than an ELF header");
  if (!format::HasElfMagic(header)) return Malformed("not an ELF file");
  if (header.ident[format::kIdentClass] != format::kClass64 ||
      header.ident[format::kIdentData] != format::kDataLittle) {
    return Malformed("not a 64-bit little-endian ELF file");
  }
  if (header.machine != format::kMachineCuda) return Malformed("not a CUDA ELF file");
  view_->extensible_ = header.type == format::kTypeEwp;
  if (!module_.relocatable() && header.type != format::kTypeExec) {
    return Malformed("neither relocatable nor executable");
  }
  if (header.shentsize != sizeof(format::Shdr)) {
    return Malformed("section headers of an unknown size");
  }
  if (format::HasOldAbi(header)) {
    module_.toolkit_ = static_cast<std::uint16_t>(header.version);
    module_.virtual_arch_ = format::OldVirtualArchOf(header);
  }
  return absl::OkStatus();
}

absl::Status ModuleLoader::ReadSections() {
  const format::Ehdr& header = module_.header_;
  format::Shdr first = {};
  if (!reader_.Read(header.shoff, first)) {
    return Malformed("the section header table lies outside the file: it is truncated or damaged");
  }
  const std::uint64_t count = format::SectionCountOf(header, first);
  const std::uint64_t names_index = format::SectionNamesOf(header, first);
  const auto headers = count > module_.bytes_.size() / sizeof(format::Shdr)
                           ? std::nullopt
                           : reader_.Slice(header.shoff, count * sizeof(format::Shdr));
  if (!headers) {
    return Malformed("the section header table lies outside the file: it is truncated or damaged");
  }
  format::Shdr names_header = {};
  if (names_index >= count ||
      !reader_.Read(header.shoff + names_index * sizeof(format::Shdr), names_header)) {
    return Malformed("no section name table");
  }
  const auto names = reader_.Slice(names_header.offset, names_header.size);
  if (!names || names_header.type != format::kShtStrtab) return Malformed("no section name table");

  two_views_ = format::HasTwoViews(module_.sm());
  sections_.resize(count);
  std::uint64_t name_bytes = 0;
  for (std::uint32_t i = 1; i < count; ++i) {
    const auto raw = reader_.ReadOrZero<format::Shdr>(header.shoff + i * sizeof(format::Shdr));
    DEVLINK_RETURN_IF_ERROR(ReadSection(i, raw, *names));
    name_bytes += sections_[i].name.size();
    if (IsSharedTooOften(name_bytes, names->size())) {
      return Malformed("its sections share the names of a few");
    }
  }
  // Where there are two views, some ranges are those of both: each is looked at by itself.
  if (!two_views_) DEVLINK_RETURN_IF_ERROR(CheckPlaces());
  ModuleView& view = *view_;
  view.file_ = module_.bytes_;
  view.headers_ = *headers;
  view.names_ = *names;
  view.roles_.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) view.roles_[i] = sections_[i].role;
  return absl::OkStatus();
}

// No two sections of a view have bytes in common: whichever has the wrong place, it is read as what
// it is not.
absl::Status ModuleLoader::CheckPlaces() const {
  if (StandInOrder(sections_)) return absl::OkStatus();
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 1; i < sections_.size(); ++i) {
    const InputSection& section = sections_[i];
    if (section.role != SectionRole::kOtherView && !section.data.empty()) order.push_back(i);
  }
  const auto begin = [this](std::uint32_t i) { return sections_[i].data.data(); };
  const auto earlier = [&](std::uint32_t a, std::uint32_t b) { return begin(a) < begin(b); };
  if (!std::is_sorted(order.begin(), order.end(), earlier)) {
    std::sort(order.begin(), order.end(), earlier);
  }
  for (std::size_t i = 1; i < order.size(); ++i) {
    const base::Bytes before = sections_[order[i - 1]].data;
    if (before.data() + before.size() > begin(order[i])) {
      return Bad(order[i], "it lies where another section lies");
    }
  }
  return absl::OkStatus();
}

absl::Status ModuleLoader::ReadSection(std::uint32_t index, const format::Shdr& raw,
                                       base::Bytes names) {
  InputSection& section = sections_[index];
  const auto name = base::BoundedReader(names).CString(raw.name);
  if (!name) return Bad(index, "its name lies outside the name table");
  section.name = *name;
  section.type = raw.type;
  if (raw.flags > std::numeric_limits<std::uint32_t>::max() ||
      (module_.relocatable() && (raw.flags & format::kShfNever) != 0)) {
    return Bad(index, "its flags are unknown");
  }
  section.flags = format::FlagsOf(raw);
  section.size = raw.size;
  section.link = raw.link;
  section.info = raw.info;
  if (raw.addralign > 1 &&
      (!base::IsPowerOfTwo(raw.addralign) || raw.addralign > format::kMaxAlign)) {
    return Bad(index, "its alignment is not a power of two up to 16 MiB");
  }
  section.align = raw.addralign == 0 ? 1 : static_cast<std::uint32_t>(raw.addralign);
  section.entry_size = static_cast<std::uint8_t>(raw.entsize);
  if (raw.entsize > 128) return Bad(index, "its entry size is unknown");
  if (format::IsNobitsType(raw.type)) {
    if (raw.size > kMaxNobitsSize) return Bad(index, "its size is beyond any device's memory");
  } else {
    const auto data = reader_.Slice(raw.offset, raw.size);
    if (!data) return Bad(index, "it lies outside the file: the file is truncated or damaged");
    section.data = *data;
    if (!data->empty() && raw.offset < sizeof(format::Ehdr)) {
      return Bad(index, "it lies where the header of the file lies");
    }
  }
  if (!module_.relocatable()) return absl::OkStatus();
  if (!IsStartOfString(names, raw.name)) return Bad(index, kNameWithinAnother);
  // A section of one view that passes for one of the other, debug information for example, is lost.
  const bool of_mercury = format::IsMercurySection(section.flags);
  if (format::HasMercuryName(section.name) != of_mercury && (two_views_ || !of_mercury)) {
    return Bad(index, "its name and its flags are not of one view");
  }
  if (two_views_ && of_mercury) {
    section.role = SectionRole::kOtherView;
    return absl::OkStatus();
  }
  return ClassifySection(index, section);
}

absl::Status ModuleLoader::ClassifySection(std::uint32_t index, InputSection& section) const {
  const auto role = format::RoleOf(section.name, section.type, section.flags, section.info);
  if (!role.ok()) {
    const absl::Status bad = Bad(index, base::FromAbsl(role.status().message()));
    return absl::Status(role.status().code(), bad.message());
  }
  section.role = *role;
  return absl::OkStatus();
}

absl::Status ModuleLoader::ReadSymbolTable() {
  ModuleView& view = *view_;
  for (const InputSection& section : sections_) {
    if (section.role == SectionRole::kOtherView) continue;
    if (section.type == format::kShtSymtabShndx) view.wide_indices_ = section.data;
  }
  for (std::uint32_t i = 0; i < sections_.size(); ++i) {
    const InputSection& section = sections_[i];
    if (section.role == SectionRole::kOtherView || section.type != format::kShtSymtab) continue;
    if (section.size % sizeof(format::Sym) != 0)
      return Bad(i, "its size is not a multiple of a symbol's");
    if (section.link >= sections_.size() || sections_[section.link].type != format::kShtStrtab) {
      return Bad(i, "it names no string table");
    }
    view.symbols_ = section.data;
    view.symbol_count_ = static_cast<std::uint32_t>(section.size / sizeof(format::Sym));
    view.strings_ = sections_[section.link].data;
    if (!view.strings_.empty() && view.strings_.back() != 0) {
      return Bad(section.link, "the string table does not end with a NUL");
    }
    return absl::OkStatus();
  }
  return Malformed("no symbol table");
}

// What is wrong with a variable that is defined there; empty where nothing is.
std::string_view ModuleLoader::WrongInVariable(const InputSection& section,
                                               const InputSymbol& symbol) const {
  const std::uint8_t space = symbol.other & format::kStoSpaceMask;
  if (!format::HoldsVariables(section.role)) return "a variable outside of any data section";
  const bool shared = space == format::kStoShared;
  const bool reserved = space == format::kStoReservedShared;
  if (shared != IsShared(section.role) ||
      reserved != (section.role == SectionRole::kReservedShared) ||
      (space == format::kStoConstant) != IsConstants(section.role)) {
    return "its memory space is not that of its section";
  }
  if (shared || reserved) {
    // The value is an alignment; of `extern x[]`, from nvlink -r -g, a place.
    if (symbol.size == 0 && section.role == SectionRole::kModuleShared) return {};
    if (symbol.value > format::kMaxAlign ||
        (symbol.value > 1 && !base::IsPowerOfTwo(symbol.value))) {
      return "its alignment is not a power of two up to 16 MiB";
    }
    if (symbol.size > kMaxNobitsSize) return "its size is beyond any device's memory";
    // Its bytes stand in the file of a target with two views.
    if (reserved && symbol.size > format::kMaxStaticShared) {
      return "its size is more than a kernel's shared memory";
    }
  } else if (section.role == SectionRole::kFunctionConstants &&
             (symbol.other & format::kStoInternal) != 0) {
    // nvlink -r leaves those of a body that it replaced; no byte is read through them.
  } else if (section.role == SectionRole::kGlobal && symbol.size != 0) {
    // How large all of them should be is looked at when all are known.
    if (symbol.value > kMaxNobitsSize || symbol.size > kMaxNobitsSize) {
      return "its size is beyond any device's memory";
    }
  } else if (symbol.value > section.size || section.size - symbol.value < symbol.size) {
    return "it reaches beyond its section";
  }
  return {};
}

// What is wrong with a texture, sampler or surface that lies somewhere; empty where nothing is. A
// kernel's parameter of such a type is a local name at the beginning of its code.
std::string_view ModuleLoader::WrongInTexture(const InputSymbol& symbol) const {
  const bool is_parameter = symbol.binding == format::kStbLocal && symbol.value == 0 &&
                            symbol.size == 0 && symbol.section < sections_.size() &&
                            sections_[symbol.section].role == SectionRole::kText;
  return is_parameter ? "" : "a texture reference that is defined";
}

absl::Status ModuleLoader::CheckSymbol(std::uint32_t index, std::uint64_t& names) {
  DEVLINK_RETURN_IF_ERROR(CheckSoundSymbol(index, names));
  if (!names_tool_) return absl::OkStatus();
  const InputSymbol symbol = view_->SymbolAt(index);
  std::string_view wrong = WrongInFormOf(*view_, sections_, symbol, format::TraitsOf(module_.sm()),
                                         [this] { return IsFromAssembler(); });
  if (symbol.type == format::kSttSection && symbol.section < sections_.size()) {
    std::uint8_t& has_symbol = have_symbols_[symbol.section];
    if (has_symbol != 0) wrong = "its section has another one";
    has_symbol = 1;
  }
  return wrong.empty() ? absl::OkStatus() : BadSymbol(index, wrong);
}

absl::Status ModuleLoader::CheckSoundSymbol(std::uint32_t index, std::uint64_t& names) {
  const ModuleView& view = *view_;
  const base::BoundedReader raw_symbols(view.symbols_);
  const auto raw = raw_symbols.ReadOrZero<format::Sym>(std::uint64_t{index} * sizeof(format::Sym));
  const auto bad = [&](std::string_view what) { return BadSymbol(index, what); };
  if (raw.name != 0 && raw.name >= view.strings_.size())
    return bad("its name lies outside the table");
  if (!IsStartOfString(view.strings_, raw.name)) return bad(kNameWithinAnother);
  if (raw.shndx == format::kShnXindex) {
    std::uint32_t wide = 0;
    const base::BoundedReader indices(view.wide_indices_);
    if (!indices.Read(std::uint64_t{index} * sizeof(wide), wide) || wide == format::kShnUndef) {
      return bad("its section stands in a table that is unknown");
    }
  }
  const InputSymbol symbol = view.SymbolAt(index);
  names += symbol.name.size();
  if (symbol.binding > format::kStbWeak) return bad("its binding is unknown");
  const bool unused = symbol.type == format::kSttNone && symbol.binding == format::kStbLocal &&
                      symbol.section == format::kShnUndef;
  if (IsReservedSharedAlias(view, sections_, symbol)) return absl::OkStatus();
  if (!unused && !format::IsKnownSymbolType(symbol.type)) return bad("its type is unknown");
  if (!format::IsKnownOther(symbol.type, symbol.other)) {
    return bad("its visibility or its memory space is unknown");
  }
  if (symbol.type == format::kSttSection &&
      (symbol.binding != format::kStbLocal || symbol.size != 0)) {
    return bad("it stands for a section and has a size or is not local");
  }
  const std::uint8_t space = symbol.other & format::kStoSpaceMask;
  if (symbol.name.empty() && !unused && symbol.type != format::kSttSection) {
    return bad("it has no name");
  }
  const bool object = symbol.type == format::kSttObject || symbol.type == format::kSttCudaObject;
  if (!object && space != 0) {
    return bad("it has a memory space but is not a variable");
  }
  if (symbol.section == format::kShnUndef) {
    if (symbol.type == format::kSttFunc && symbol.size != 0) {
      return bad("it has a size and no definition");
    }
    // What ptxas leaves without a place on purpose, such as labels, lies in no memory.
    return symbol.binding == format::kStbLocal && (symbol.type == format::kSttFunc || space != 0)
               ? bad("it is local and has no definition")
               : absl::OkStatus();
  }
  if (format::IsTextureType(symbol.type)) {
    const std::string_view wrong = WrongInTexture(symbol);
    return wrong.empty() ? absl::OkStatus() : bad(wrong);
  }
  if (symbol.section == format::kShnAbs) {
    return object || symbol.type == format::kSttFunc
               ? bad("it is a number and not a place in a section")
               : absl::OkStatus();
  }
  if (symbol.section == format::kShnCommon) {
    const std::string_view wrong = object ? WrongInCommon(symbol) : "it is common but no variable";
    return wrong.empty() ? absl::OkStatus() : bad(wrong);
  }
  if (symbol.section >= sections_.size()) return bad("it lies in a section that does not exist");
  const InputSection& section = sections_[symbol.section];
  if (symbol.type == format::kSttFunc) {
    return CheckFunctionSymbol(index, symbol);
  }
  if (object) {
    const std::string_view wrong = WrongInVariable(section, symbol);
    if (!wrong.empty()) return bad(wrong);
    const bool has_place = space != format::kStoShared && space != format::kStoReservedShared;
    if (has_place && symbol.size != 0 && !section.IsParameterBank()) {
      variables_.push_back({symbol.section, symbol.value, symbol.value + symbol.size});
    }
  }
  return absl::OkStatus();
}

// A symbol of a function that is defined in one of the sections.
absl::Status ModuleLoader::CheckFunctionSymbol(std::uint32_t index, const InputSymbol& symbol) {
  const ModuleView& view = *view_;
  const InputSection& section = sections_[symbol.section];
  if (section.role != SectionRole::kText) {
    return BadSymbol(index, "a function outside of any code section");
  }
  if (IsPartOfCode(view, sections_, index, symbol)) {
    const std::uint64_t end = EndOfPlaces(view, section);
    const bool fits = symbol.value <= end && symbol.size <= end - symbol.value &&
                      symbol.value % format::kInstructionSize == 0;
    return fits ? absl::OkStatus() : BadSymbol(index, "it is not a part of its function's code");
  }
  const bool may_be_part = symbol.value != 0 && names_tool_;
  if (may_be_part && !IsFromAssembler()) return JoinedExtensible();
  // An alias has no size; Mercury code is packed.
  const bool is_whole =
      symbol.size == 0 || symbol.size == section.size || view.kind_ != format::ViewKind::kSass;
  return symbol.value == 0 && is_whole ? absl::OkStatus()
                                       : BadSymbol(index, "it is not the whole of its code");
}

absl::Status ModuleLoader::CheckSection(std::uint32_t index) {
  const InputSection& section = sections_[index];
  switch (section.role) {
    case SectionRole::kText:
      return CheckCode(index);
    case SectionRole::kModuleInfo:
      return CheckAttributes(index);
    case SectionRole::kFunctionInfo:
      DEVLINK_RETURN_IF_ERROR(CheckOwner(index));
      return CheckAttributes(index);
    case SectionRole::kFunctionConstants:
      DEVLINK_RETURN_IF_ERROR(CheckAligned(index));
      return CheckOwner(index);
    case SectionRole::kConstantBank:
    case SectionRole::kGlobalInit:
      return CheckAligned(index);
    case SectionRole::kKernelShared:
      return CheckOwner(index);
    case SectionRole::kRelocations:
      return CheckRelocations(index);
    case SectionRole::kCallGraph:
      return CheckCallGraph(index);
    case SectionRole::kPrototype:
      return CheckPrototypes(index);
    case SectionRole::kToolNote:
      return section.data.empty() ? Bad(index, "it names no tool") : absl::OkStatus();
    case SectionRole::kCudaNote:
      return ReadCudaNote(index);
    case SectionRole::kCompat:
      return ReadCompat(index);
    default:
      return absl::OkStatus();
  }
}

absl::Status ModuleLoader::CheckAligned(std::uint32_t index) const {
  const InputSection& section = sections_[index];
  const auto offset = static_cast<std::uint64_t>(section.data.data() - module_.bytes_.data());
  return section.data.empty() || offset % section.align == 0
             ? absl::OkStatus()
             : Bad(index, "it does not lie where its alignment asks for");
}

absl::Status ModuleLoader::CheckAttributes(std::uint32_t index) const {
  const WrongSection wrong = WrongInAttributes(*view_, sections_, index, forms());
  return wrong.what.empty() ? absl::OkStatus() : Bad(wrong.section, wrong.what);
}

absl::Status ModuleLoader::CheckRelocations(std::uint32_t index) {
  // ptxas leaves a list without any where code asks for nothing but what the system keeps of shared
  // memory; where there are two views, the Mercury view's has those, and nvlink -r empties others.
  const std::string wrong = WrongInRelocations(*view_, sections_, index, forms(), [&] {
    return two_views_ ? view_->kind_ == format::ViewKind::kSass : NothingIsMissingBehind(index);
  });
  return wrong.empty() ? absl::OkStatus() : Bad(index, wrong);
}

// Sections lie one behind the other, so that one which lost its bytes leaves a hole.
bool ModuleLoader::NothingIsMissingBehind(std::uint32_t index) const {
  const auto place_of = [this](const InputSection& section) {
    return static_cast<std::uint64_t>(section.data.data() - module_.bytes().data());
  };
  const std::uint64_t end = place_of(sections_[index]);
  return std::ranges::any_of(sections_, [&](const InputSection& section) {
    return !section.data.empty() && place_of(section) == base::AlignUp(end, section.align);
  });
}

absl::Status ModuleLoader::CheckOwner(std::uint32_t index) const {
  const InputSection& section = sections_[index];
  if (section.info >= sections_.size() || sections_[section.info].role != SectionRole::kText) {
    return Bad(index, "it belongs to no function");
  }
  // Whoever reads the name and whoever reads the number come to the same function.
  const std::string_view owner = sections_[section.info].name;
  if (!format::IsNameOfCode(owner) ||
      !section.name.ends_with(owner.substr(format::section_name::kText.size()))) {
    return Bad(
        index,
        two_views_ && format::IsOverwritten(section.name, format::FunctionInNameOfCode(owner))
            ? "nvlink -r has overwritten its name, as it does where files have static "
              "functions of one name; devlink -r does not"
            : "its name is not that of the function it belongs to");
  }
  // Parameters of what does not say that it is a kernel: nobody could launch it.
  if (section.role == SectionRole::kFunctionConstants &&
      section.type == format::kShtCudaConstant0) {
    const std::uint32_t symbol = FunctionOf(*view_, sections_[section.info]);
    if (symbol < view_->symbol_count_ && (view_->SymbolAt(symbol).other & format::kStoEntry) == 0) {
      return Bad(index, "it has the parameters of a kernel and belongs to another function");
    }
    if (section.size < format::TraitsOf(module_.sm()).parameters_at) {
      return Bad(index, "it is too small for what the driver passes to a kernel");
    }
  }
  return absl::OkStatus();
}

// What every assembler says of machine code more than once, and nvlink -r copies.
absl::Status ModuleLoader::CheckMachineCode(std::uint32_t index) const {
  const InputSection& section = sections_[index];
  DEVLINK_RETURN_IF_ERROR(CheckAligned(index));
  const InputSymbol function = view_->SymbolAt(FunctionOf(*view_, sections_[index]));
  if (function.size != section.size) return Bad(index, "its function is not the whole of it");
  if (!format::IsNameOfCode(section.name) ||
      format::FunctionInNameOfCode(section.name) != function.name) {
    return Bad(index, "its name is not that of its function");
  }
  return absl::OkStatus();
}

// Mercury code is packed: relocations count in bytes of the unpacked code, whose size only its
// function's symbol tells.
absl::Status ModuleLoader::CheckCode(std::uint32_t index) {
  const std::uint32_t symbol = FunctionOf(*view_, sections_[index]);
  if (symbol >= view_->symbol_count_ || view_->SymbolSectionAt(symbol) != index ||
      view_->SymbolTypeAt(symbol) != format::kSttFunc) {
    return Bad(index, "it belongs to no function");
  }
  if (view_->kind_ != format::ViewKind::kMercury) return CheckMachineCode(index);
  // NVIDIA's finalizer crashes or runs forever where the capsule is not that of the machine code.
  const base::Bytes capsule = sections_[index].data;
  const std::uint32_t machine = format::MachineCodeOf(capsule);
  if (machine == 0 || machine >= sections_.size() ||
      sections_[machine].name != sections_[index].name) {
    return Bad(index, "it does not say whose machine code it stands for");
  }
  // devlink -r keeps the capsules of its inputs as they are.
  const bool may_be_of_first_form = module_.toolkit() < format::kCapsuleFormSince ||
                                    (format::IsCapsuleOfFirstForm(capsule) && !IsFromAssembler());
  if (may_be_of_first_form) return absl::OkStatus();
  const absl::Status sound =
      format::CheckCapsule(capsule, sections_[machine].data.size() / format::kInstructionSize,
                           module_.toolkit() > format::kCuda13);
  return sound.ok() ? sound : Bad(index, std::string(base::FromAbsl(sound.message())));
}

bool ModuleLoader::IsFromAssembler() {
  if (from_assembler_.has_value()) return *from_assembler_;
  const std::uint32_t note = IndexOf(SectionRole::kToolNote);
  const auto records =
      note == sections_.size() ? std::nullopt : format::ReadToolRecords(sections_[note].data);
  from_assembler_ =
      records && std::all_of(records->begin(), records->end(),
                             [](const auto& record) { return record.tool == "ptxas"; });
  return *from_assembler_;
}

absl::Status ModuleLoader::CheckCallGraph(std::uint32_t index) const {
  const ModuleView& view = *view_;
  const InputSection& section = sections_[index];
  if (section.size % 8 != 0) return Bad(index, "its size is not a multiple of eight");
  format::CallGraphReader pairs(section.data);
  format::CallGraphPair pair;
  while (pairs.Next(pair)) {
    if (pair.first >= view.symbol_count_) {
      return Bad(index, "a pair names a symbol that does not exist");
    }
    if (pair.list == format::CallGraphList::kNone ||
        pair.list > format::CallGraphList::kAddressTakers) {
      return Bad(index, "a pair stands in a list of an unknown kind");
    }
    const bool exists = format::HoldsSymbolPairs(pair.list) ? pair.second < view.symbol_count_
                                                            : IsPrototype(pair.second);
    if (!exists) {
      return Bad(index, "a pair names a symbol or prototype that does not exist");
    }
  }
  return absl::OkStatus();
}

bool ModuleLoader::IsPrototype(std::uint32_t offset) const {
  return offset < view_->strings_.size() && IsStartOfString(view_->strings_, offset);
}

absl::Status ModuleLoader::CheckPrototypes(std::uint32_t index) const {
  const ModuleView& view = *view_;
  const InputSection& section = sections_[index];
  if (section.size % 8 != 0) return Bad(index, "its size is not a multiple of eight");
  const base::BoundedReader pairs(section.data);
  for (std::uint64_t at = 0; at < section.size; at += 8) {
    const auto prototype = pairs.ReadOrZero<std::uint32_t>(at + 4);
    if (pairs.ReadOrZero<std::uint32_t>(at) >= view.symbol_count_ || !IsPrototype(prototype) ||
        view.strings_[prototype] == 0 ||
        (names_tool_ && view.strings_[prototype] != kPrototypeMark)) {
      return Bad(index, "a pair names a symbol or prototype that does not exist");
    }
  }
  return absl::OkStatus();
}

absl::Status ModuleLoader::ReadCudaNote(std::uint32_t index) {
  const auto info = format::ReadCudaInfo(sections_[index].data);
  if (!info) return Bad(index, "the note is cut off, or not of the form of its kind");
  if (format::HasOldAbi(module_.header_)) return absl::OkStatus();  // its header has said so
  module_.toolkit_ = info->toolkit;
  module_.virtual_arch_ = info->virtual_arch;
  return absl::OkStatus();
}

absl::Status ModuleLoader::ReadCompat(std::uint32_t index) {
  format::CompatFacts facts;
  const absl::Status status = format::ReadCompat(sections_[index].data, facts);
  if (!status.ok()) return Bad(index, base::FromAbsl(status.message()));
  if (facts.architecture_specific) module_.architecture_specific_ = true;
  return absl::OkStatus();
}

}  // namespace devlink::internal
