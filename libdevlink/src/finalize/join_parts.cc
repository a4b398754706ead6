// SPDX-License-Identifier: Apache-2.0
#include "finalize/join_parts.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>

#include "base/hash_table.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "base/value_bytes.h"
#include "finalize/agreement.h"
#include "finalize/file_index.h"
#include "finalize/join_jump_tables.h"
#include "finalize/join_lines.h"
#include "finalize/linked_file.h"
#include "finalize/own_records.h"
#include "format/elf_cuda.h"
#include "format/frames.h"
#include "format/nv_compat.h"
#include "format/sections.h"
#include "format/views.h"

namespace devlink::internal {

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes CopyOf(base::Bytes bytes) { return {bytes.begin(), bytes.end()}; }

// In an entry of `.debug_frame` (format/frames.h).
constexpr std::uint64_t kLengthInFrame = sizeof(format::kFrameEscape);
constexpr std::uint64_t kBehindLength = format::kFrameHead;
constexpr std::uint64_t kAddressInFrame = format::kFrameAddressField;
constexpr std::uint64_t kSizeOfAddress = sizeof(std::uint64_t);

// What the entry of a frame with its address there says it begins with.
std::optional<base::Bytes> FrameHead(const base::BoundedReader& frames, std::uint64_t address) {
  std::uint64_t head = 0;
  std::uint64_t length = 0;
  if (!frames.Read(address - sizeof(head), head) || head > frames.size() ||
      !frames.Read(head + kLengthInFrame, length) || length > frames.size()) {
    return std::nullopt;
  }
  return frames.Slice(head, kBehindLength + length);
}

// Takes what belongs to functions out of one part.
class Taking {
 public:
  Taking(FileIndex& own, const FileIndex& part) : own_(own), part_(part) {}

  // The part's sections that have the name of this one of ours.
  [[nodiscard]] std::vector<std::uint32_t> CounterpartsOf(std::string_view name) const {
    const auto ours = own_.sections().find(name);
    const auto theirs = part_.sections().find(name);
    if (ours == own_.sections().end() || theirs == part_.sections().end()) return {};
    return ours->second.size() == theirs->second.size() ? theirs->second
                                                        : std::vector<std::uint32_t>();
  }

  // The code section and what is attached to it. `symbols` is the file's table, to be changed.
  absl::Status Take(std::uint32_t code, std::uint32_t theirs, Bytes& symbols) {
    if (!part_.IsCode(theirs)) return Different(own_.file().NameOf(code));
    DEVLINK_RETURN_IF_ERROR(TakeSymbols(code, theirs, symbols));
    DEVLINK_RETURN_IF_ERROR(TakeAttached(code, theirs));
    own_.file().Replace(code, CopyOf(part_.file().DataOf(theirs)));
    return absl::OkStatus();
  }

  // Those of all code of that name: all but the number of its section.
  absl::Status TakeCapsules(std::string_view code) {
    const std::string name = base::Cat({format::section_name::kCapsules, code});
    const std::vector<std::uint32_t> theirs = CounterpartsOf(name);
    if (theirs.empty()) return Different(name);
    const std::vector<std::uint32_t>& ours = own_.sections().find(name)->second;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      Bytes bytes = CopyOf(part_.file().DataOf(theirs[i]));
      const base::Bytes old = own_.file().DataOf(ours[i]);
      if (bytes.size() < sizeof(std::uint32_t) || old.size() < sizeof(std::uint32_t)) {
        return Different(name);
      }
      std::copy_n(old.begin(), sizeof(std::uint32_t), bytes.begin());
      own_.file().Replace(ours[i], std::move(bytes));
    }
    return absl::OkStatus();
  }

  // Of the code's entry in `.debug_frame` what lies behind its address. `frames` is the section.
  absl::Status TakeFrame(std::uint64_t field, std::uint64_t their_field, base::Bytes their_frames,
                         Bytes& frames) const {
    constexpr std::uint64_t kToLength = kAddressInFrame - kLengthInFrame;
    constexpr std::uint64_t kBehindAddress = kAddressInFrame + kSizeOfAddress - kBehindLength;
    const base::BoundedReader ours(frames);
    const base::BoundedReader theirs(their_frames);
    std::uint64_t length = 0;
    std::uint64_t their_length = 0;
    if (field < kAddressInFrame || their_field < kAddressInFrame ||
        !ours.Read(field - kToLength, length) ||
        !theirs.Read(their_field - kToLength, their_length) || length != their_length ||
        length < kBehindAddress) {
      return Different(format::section_name::kDebugFrame);
    }
    // What is said before it is the same in all parts, unless the input is damaged.
    const auto head = FrameHead(ours, field);
    const auto their_head = FrameHead(theirs, their_field);
    if (!head || !their_head || !std::ranges::equal(*head, *their_head) ||
        ours.ReadOrZero<std::uint64_t>(field) != theirs.ReadOrZero<std::uint64_t>(their_field)) {
      return Different(format::section_name::kDebugFrame);
    }
    const std::uint64_t begin = field + kSizeOfAddress;
    const std::uint64_t size = length - kBehindAddress;
    const auto from = theirs.Slice(their_field + kSizeOfAddress, size);
    if (!from || !ours.Slice(begin, size)) return Different(format::section_name::kDebugFrame);
    std::copy(from->begin(), from->end(), frames.begin() + static_cast<std::ptrdiff_t>(begin));
    return absl::OkStatus();
  }

 private:
  // The part may have a symbol earlier than we: where it has not the code that first names it.
  absl::Status TakeSymbols(std::uint32_t code, std::uint32_t theirs, Bytes& symbols) {
    const std::vector<std::uint32_t> ours = ByName(own_, code);
    const std::vector<std::uint32_t> others = ByName(part_, theirs);
    if (ours.size() != others.size()) return Different(own_.file().NameOf(code));
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const NamedSymbol& symbol = part_.symbols()[others[i]];
      if (own_.symbols()[ours[i]].name != symbol.name) return Different(own_.file().NameOf(code));
      const std::uint64_t place = std::uint64_t{ours[i]} * sizeof(format::Sym);
      base::PutValue(symbols, place + offsetof(format::Sym, value), symbol.symbol.value);
      base::PutValue(symbols, place + offsetof(format::Sym, size), symbol.symbol.size);
    }
    return absl::OkStatus();
  }

  static std::vector<std::uint32_t> ByName(const FileIndex& index, std::uint32_t section) {
    std::vector<std::uint32_t> out = index.SymbolsOf(section);
    std::ranges::stable_sort(out, {},
                             [&](std::uint32_t symbol) { return index.symbols()[symbol].name; });
    return out;
  }

  absl::Status TakeAttached(std::uint32_t section, std::uint32_t theirs) {
    const auto& ours = own_.AttachedTo(section);
    const auto& others = part_.AttachedTo(theirs);
    if (ours.size() != others.size()) return Different(own_.file().NameOf(section));
    for (const std::uint32_t attached : ours) {
      const std::string_view name = own_.file().NameOf(attached);
      const auto other = std::find_if(others.begin(), others.end(), [&](std::uint32_t candidate) {
        return part_.file().NameOf(candidate) == name;
      });
      if (other == others.end()) return Different(name);
      DEVLINK_RETURN_IF_ERROR(TakeOne(attached, *other));
    }
    return absl::OkStatus();
  }

  absl::Status TakeOne(std::uint32_t section, std::uint32_t theirs) {
    const format::Shdr& header = own_.file().header(section);
    const format::Shdr& other = part_.file().header(theirs);
    const std::string_view name = own_.file().NameOf(section);
    if (header.type != other.type) return Different(name);
    if (header.type == format::kShtCudaInfo) {
      const base::Bytes records = own_.file().DataOf(section);
      auto joined = JoinRecords(part_.file().DataOf(theirs), records);
      if (!joined.ok()) return Different(name);
      if (!std::ranges::equal(*joined, records)) own_.file().Replace(section, *std::move(joined));
      return absl::OkStatus();
    }
    if (header.type == format::kShtRela || header.type == format::kShtRel) {
      return TakeReferences(section, theirs);
    }
    if (header.size != other.size) return Different(name);
    if (format::BankOfName(name) == format::kCompilerBank) return TakeAttached(section, theirs);
    const bool is_same =
        std::ranges::equal(own_.file().DataOf(section), part_.file().DataOf(theirs));
    return is_same ? absl::OkStatus() : Different(name);
  }

  // Fields of code move, and so do the places in it that are referred to.
  absl::Status TakeReferences(std::uint32_t list, std::uint32_t theirs) {
    const std::vector<format::Rela> ours = own_.ReferencesOf(list);
    const std::vector<format::Rela> others = part_.ReferencesOf(theirs);
    const std::string_view name = own_.file().NameOf(list);
    if (ours.size() != others.size()) return Different(name);
    Bytes bytes = CopyOf(own_.file().DataOf(list));
    const bool has_addend = own_.file().header(list).type == format::kShtRela;
    const std::uint32_t relocated = own_.file().header(list).info;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const NamedSymbol* symbol = own_.SymbolAt(ours[i].symbol);
      const NamedSymbol* other = part_.SymbolAt(others[i].symbol);
      if (symbol == nullptr || other == nullptr || symbol->name != other->name ||
          ours[i].type != others[i].type) {
        return Different(name);
      }
      const std::uint64_t at = i * format::SizeOfRelocation(has_addend);
      base::PutValue(bytes, at, others[i].offset);
      // A place in this code moves with it. Of places in other code this part knows nothing.
      const std::uint32_t code = symbol->symbol.shndx;
      if (has_addend && code == relocated && own_.IsCode(relocated)) {
        base::PutValue(bytes, at + offsetof(format::Rela, addend), others[i].addend);
        continue;
      }
      const bool is_place = code < own_.file().section_count() && own_.IsCode(code);
      if (ours[i].addend != others[i].addend || (is_place && ours[i].addend != 0)) {
        return Different(name);
      }
    }
    own_.file().Replace(list, std::move(bytes));
    return absl::OkStatus();
  }

  FileIndex& own_;
  const FileIndex& part_;
};

// Where the addresses of functions stand in `.debug_frame`, by the code.
struct FrameFields {
  std::uint32_t section = 0;
  base::HashMap<std::uint32_t, std::uint64_t> by_code;
  std::string_view framed_twice;  // a function, if there is one
};

FrameFields FrameFieldsOf(const FileIndex& index) {
  FrameFields out;
  const auto found = index.sections().find(format::section_name::kDebugFrame);
  if (found == index.sections().end()) return out;
  out.section = found->second.front();
  for (const std::uint32_t list : index.AttachedTo(out.section)) {
    for (const format::Rela& reference : index.ReferencesOf(list)) {
      const NamedSymbol* symbol = index.SymbolAt(reference.symbol);
      if (symbol == nullptr || (symbol->symbol.info & 15U) != format::kSttFunc) continue;
      const bool is_new = out.by_code.try_emplace(symbol->symbol.shndx, reference.offset).second;
      if (!is_new) out.framed_twice = symbol->name;
    }
  }
  return out;
}

// Initial values and constants point to the same.
absl::Status CheckPointers(const FileIndex& own, const FileIndex& part) {
  for (const std::string_view name :
       {format::section_name::kGlobalInit, format::section_name::kVariableConstants}) {
    const auto found = own.sections().find(name);
    if (found == own.sections().end()) continue;
    const auto theirs = part.CounterpartOf(found->second.front(), own);
    if (!theirs) return Different(name);
    const auto pointers_of = [](const FileIndex& index, std::uint32_t section) {
      std::vector<std::tuple<std::uint64_t, std::string_view, std::uint32_t, std::int64_t>> out;
      for (const std::uint32_t list : index.AttachedTo(section)) {
        for (const format::Rela& reference : index.ReferencesOf(list)) {
          const NamedSymbol* symbol = index.SymbolAt(reference.symbol);
          out.emplace_back(reference.offset, symbol == nullptr ? std::string_view() : symbol->name,
                           reference.type, reference.addend);
        }
      }
      std::sort(out.begin(), out.end());
      return out;
    };
    if (pointers_of(own, found->second.front()) != pointers_of(part, *theirs)) {
      return Different(name);
    }
  }
  return absl::OkStatus();
}

// Variables and constants lie where they lie in the whole: code says so in numbers.
absl::Status CheckPlaces(const FileIndex& own, const FileIndex& part) {
  FileIndex::ByName places;
  for (std::uint32_t i = 1; i < own.symbols().size(); ++i) {
    const format::Sym& symbol = own.symbols()[i].symbol;
    if ((symbol.info & 15U) != format::kSttFunc) places[own.symbols()[i].name].push_back(i);
  }
  base::HashMap<std::string_view, std::size_t> met;
  for (const NamedSymbol& theirs : part.symbols()) {
    const std::uint8_t type = theirs.symbol.info & 15U;
    if (type == format::kSttFunc || type == format::kSttSection || theirs.name.empty()) continue;
    const auto ours = places.find(theirs.name);
    const std::size_t which = met[theirs.name]++;
    if (ours == places.end() || which >= ours->second.size() ||
        own.symbols()[ours->second[which]].symbol.value != theirs.symbol.value) {
      return Different(theirs.name);
    }
  }
  const auto constants = own.sections().find(format::section_name::kVariableConstants);
  if (constants == own.sections().end()) return absl::OkStatus();
  const std::uint32_t section = constants->second.front();
  const auto theirs = part.CounterpartOf(section, own);
  const bool is_same =
      theirs && std::ranges::equal(own.file().DataOf(section), part.file().DataOf(*theirs));
  return is_same ? absl::OkStatus() : Different(format::section_name::kVariableConstants);
}

// Which relatives of the target the code may be used for: those that all of it may.
absl::Status JoinCompat(FileIndex& own, std::span<const FileIndex> parts) {
  const std::string_view name = format::section_name::kCompat;
  const auto found = own.sections().find(name);
  if (found == own.sections().end()) return absl::OkStatus();
  const std::uint32_t section = found->second.front();
  std::uint64_t mask = ~std::uint64_t{0};
  for (const FileIndex& part : parts) {
    const auto theirs = part.CounterpartOf(section, own);
    if (!theirs) return Different(name);
    mask &= format::FastPathOf(part.file().DataOf(*theirs));
  }
  const base::Bytes bytes = own.file().DataOf(section);
  Bytes record;
  format::CompatMerger::AppendFastPath(mask, record);
  if (bytes.size() < record.size()) return Different(name);
  Bytes joined(bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(record.size()));
  joined.insert(joined.end(), record.begin(), record.end());
  if (!std::equal(bytes.end() - static_cast<std::ptrdiff_t>(record.size()), bytes.end() - 8,
                  record.begin())) {
    return Different(name);
  }
  own.file().Replace(section, std::move(joined));
  return absl::OkStatus();
}

class Joining {
 public:
  Joining(FileIndex&& own, std::span<const FinalizedPart> parts)
      : own_(std::move(own)), parts_(parts) {}

  absl::StatusOr<JoinedParts> Run() {
    std::vector<FileIndex> indices;
    for (const FinalizedPart& part : parts_) {
      DEVLINK_ASSIGN_OR_RETURN(LinkedFile file, LinkedFile::Read(part.cubin));
      indices.emplace_back(std::move(file));
      DEVLINK_RETURN_IF_ERROR(CheckPlaces(own_, indices.back()));
      DEVLINK_RETURN_IF_ERROR(CheckPointers(own_, indices.back()));
    }
    symbols_ = CopyOf(own_.file().DataOf(FileIndex::kSymbolTable));
    const FrameFields fields = FrameFieldsOf(own_);
    if (fields.section != 0) frames_ = CopyOf(own_.file().DataOf(fields.section));
    CodeTaken taken;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      DEVLINK_RETURN_IF_ERROR(TakePart(parts_[i], indices[i], fields, taken));
    }
    for (std::uint32_t i = 1; i < own_.file().section_count(); ++i) {
      if (own_.IsCode(i) && !taken.contains(i)) return Different(own_.file().NameOf(i));
    }
    DEVLINK_RETURN_IF_ERROR(JoinJumpTables(own_, taken, indices));
    DEVLINK_RETURN_IF_ERROR(JoinLines(own_, taken));
    own_.file().Replace(FileIndex::kSymbolTable, std::move(symbols_));
    if (fields.section != 0) own_.file().Replace(fields.section, std::move(frames_));
    DEVLINK_RETURN_IF_ERROR(JoinCompat(own_, indices));
    JoinedParts out{.cubin = {}, .finalized = ChangedFunctions()};
    DEVLINK_ASSIGN_OR_RETURN(out.cubin, own_.file().Write());
    return out;
  }

 private:
  absl::Status TakePart(const FinalizedPart& part, const FileIndex& theirs,
                        const FrameFields& fields, CodeTaken& taken) {
    const FrameFields their_fields = FrameFieldsOf(theirs);
    Taking taking(own_, theirs);
    for (const std::string_view name : part.sections) {
      const auto found = own_.sections().find(name);
      if (found == own_.sections().end()) return Different(name);
      const std::vector<std::uint32_t>& ours = found->second;
      if (taken.contains(ours.front())) continue;  // and with it all of that name
      const std::vector<std::uint32_t> others = taking.CounterpartsOf(name);
      if (others.empty()) return Different(name);
      DEVLINK_RETURN_IF_ERROR(taking.TakeCapsules(name));
      for (std::size_t i = 0; i < ours.size(); ++i) {
        DEVLINK_RETURN_IF_ERROR(taking.Take(ours[i], others[i], symbols_));
        DEVLINK_RETURN_IF_ERROR(TakeFrame(taking, {ours[i], fields}, {others[i], their_fields},
                                          theirs.file().DataOf(their_fields.section)));
        taken[ours[i]] = {&theirs, others[i]};
        const base::Bytes old = own_.file().DataOf(ours[i]);
        const base::Bytes made = theirs.file().DataOf(others[i]);
        if (!std::ranges::equal(old, made)) changed_.push_back(ours[i]);
      }
    }
    return absl::OkStatus();
  }

  // Code, and where its file's frames name code.
  struct FramedCode {
    std::uint32_t section = 0;
    const FrameFields& fields;
  };
  absl::Status TakeFrame(Taking& taking, const FramedCode& own, const FramedCode& theirs,
                         base::Bytes their_frames) {
    const auto field = own.fields.by_code.find(own.section);
    const auto their_field = theirs.fields.by_code.find(theirs.section);
    const bool has_frame = field != own.fields.by_code.end();
    if (has_frame != (their_field != theirs.fields.by_code.end())) {
      return Different(own_.file().NameOf(own.section));
    }
    if (!has_frame) return absl::OkStatus();
    return taking.TakeFrame(field->second, their_field->second, their_frames, frames_);
  }

  std::vector<std::string> ChangedFunctions() {
    std::sort(changed_.begin(), changed_.end());
    std::vector<std::string> out;
    out.reserve(changed_.size());
    for (const std::uint32_t code : changed_) {
      out.emplace_back(FunctionOfCode(own_.file().NameOf(code)));
    }
    return out;
  }

  FileIndex own_;
  std::span<const FinalizedPart> parts_;
  Bytes symbols_;
  Bytes frames_;
  std::vector<std::uint32_t> changed_;  // code sections
};

absl::StatusOr<FileIndex> ReadOwn(base::Bytes own) {
  DEVLINK_ASSIGN_OR_RETURN(LinkedFile file, LinkedFile::Read(own));
  if (file.section_count() >= format::kShnLoReserve) {
    return absl::UnimplementedError("symbols do not name their sections");
  }
  FileIndex out(std::move(file));
  // Of a replaced body and of that in its place: the finalizer changes more of them than the one.
  if (const std::string_view twice = FrameFieldsOf(out).framed_twice; !twice.empty()) {
    return absl::UnimplementedError(base::ToAbsl(base::Cat({"'", twice, "' has two frames"})));
  }
  return out;
}

}  // namespace

absl::Status CanBeJoined(base::Bytes own) { return ReadOwn(own).status(); }

absl::StatusOr<JoinedParts> JoinParts(base::Bytes own, std::span<const FinalizedPart> parts) {
  DEVLINK_ASSIGN_OR_RETURN(FileIndex index, ReadOwn(own));
  return Joining(std::move(index), parts).Run();
}

}  // namespace devlink::internal
