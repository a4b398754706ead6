// SPDX-License-Identifier: Apache-2.0
#include "finalize/without_functions.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/align.h"
#include "base/bounded_reader.h"
#include "base/hash_table.h"
#include "base/value_bytes.h"
#include "format/call_graph_records.h"
#include "format/capsule.h"
#include "format/elf_cuda.h"
#include "format/frames.h"
#include "format/nv_info.h"
#include "format/relocations.h"
#include "format/sections.h"
#include "format/views.h"

namespace devlink::internal {

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t kGone = ~std::uint32_t{0};
constexpr std::uint64_t kWord = sizeof(std::uint32_t);
constexpr std::uint64_t kCodeAlign = 128;

// Numbers that remain when some go, from 0 on.
std::vector<std::uint32_t> Renumber(const std::vector<bool>& gone) {
  std::vector<std::uint32_t> out(gone.size(), kGone);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i]) out[i] = next++;
  }
  return out;
}

// One view, as far as it is needed.
struct View {
  const ModuleView& view;
  std::vector<InputSection> sections;
  std::vector<std::uint32_t> owners;
  std::uint32_t frames = 0;  // its `.debug_frame`
  format::KeptBytes kept_frames = {};
};

class Removal {
 public:
  Removal(const Module& module, base::Bytes file, const CodeNames& names)
      : module_(module), names_(names), file_(file) {}

  std::optional<Bytes> Run() {
    if (!ReadHeaders() || !ChooseSections() || !ChooseSymbols() || !ChooseFrames()) {
      return std::nullopt;
    }
    std::vector<bool> done(headers_.size());  // some sections are of both views
    for (const View& view : views_) {
      for (std::uint32_t i = 0; i < view.sections.size(); ++i) {
        if (sections_[i] == kGone || done[i]) continue;
        if (view.sections[i].role == SectionRole::kOtherView) continue;
        done[i] = true;
        if (!Rewrite(view, i)) return std::nullopt;
      }
    }
    if (!RewriteTables()) return std::nullopt;
    return Write();
  }

 private:
  bool ReadHeaders() {
    const base::BoundedReader reader(file_);
    if (!reader.Read(0, header_) || header_.phnum != 0 || header_.shstrndx >= header_.shnum) {
      return false;
    }
    headers_.resize(header_.shnum);
    contents_.resize(header_.shnum);
    for (std::size_t i = 0; i < headers_.size(); ++i) {
      if (!reader.Read(header_.shoff + i * sizeof(format::Shdr), headers_[i])) return false;
    }
    for (const format::ViewKind kind : {format::ViewKind::kSass, format::ViewKind::kMercury}) {
      if (!module_.HasView(kind)) continue;
      const ModuleView& view = module_.view(kind);
      std::vector<InputSection> sections = view.sections();
      if (sections.size() != headers_.size()) return false;
      std::vector<std::uint32_t> owners = CodeOwners(sections);
      views_.push_back(
          {.view = view, .sections = std::move(sections), .owners = std::move(owners)});
    }
    return true;
  }

  bool ChooseSections() {
    std::vector<bool> gone(headers_.size());
    bool any = false;
    for (const View& view : views_) {
      for (std::uint32_t i = 0; i < view.sections.size(); ++i) {
        const std::uint32_t owner = view.owners[i];
        if (owner == 0 || !names_.contains(view.sections[owner].name)) continue;
        any = gone[i] = true;
      }
    }
    sections_ = Renumber(gone);
    return any;
  }

  // Those that lie in what goes, and functions of other files that nothing names any more: their
  // files may not have them, either. Both views have the same numbers.
  bool ChooseSymbols() {
    const std::uint32_t count = views_.front().view.symbol_count();
    std::vector<bool> gone(count);
    for (const View& view : views_) {
      if (view.view.symbol_count() > count) return false;
      for (std::uint32_t i = 1; i < view.view.symbol_count(); ++i) {
        const std::uint32_t section = view.view.SymbolSectionAt(i);
        if (section < sections_.size() && sections_[section] == kGone) gone[i] = true;
      }
    }
    const std::vector<bool> named = NamedSymbols(count);
    for (const View& view : views_) {
      for (std::uint32_t i = 1; i < view.view.symbol_count(); ++i) {
        const std::uint32_t section = view.view.SymbolSectionAt(i);
        const bool is_function = view.view.SymbolTypeAt(i) == format::kSttFunc;
        if (section == 0 && is_function && !named[i]) gone[i] = true;
        if (gone[i] && section != 0 && section < sections_.size() && sections_[section] != kGone) {
          return false;
        }
      }
    }
    symbols_ = Renumber(gone);
    return true;
  }

  // Frames go with the functions that they name.
  bool ChooseFrames() {
    for (View& view : views_) {
      std::uint32_t lists = 0;
      base::HashSet<std::uint64_t> fields;
      for (std::uint32_t i = 0; i < view.sections.size(); ++i) {
        const InputSection& section = view.sections[i];
        if (section.role == SectionRole::kDebug &&
            section.name == format::section_name::kDebugFrame) {
          if (std::exchange(view.frames, i) != 0) return false;
        }
        if (section.role != SectionRole::kRelocations || section.info >= view.sections.size() ||
            view.sections[section.info].name != format::section_name::kDebugFrame) {
          continue;
        }
        if (++lists > 1) return false;
        for (const format::Rela& entry : EntriesOf(i)) {
          if (NewNumber(symbols_, entry.symbol) == kGone) fields.insert(entry.offset);
        }
      }
      if (view.frames == 0) continue;
      auto kept = format::KeepFrames(BytesOf(view.frames),
                                     [&](std::uint64_t field) { return !fields.contains(field); });
      if (!kept) return false;
      view.kept_frames = *std::move(kept);
      Replace(view.frames, view.kept_frames.bytes);
    }
    return true;
  }

  // Whom what stays names, in any view.
  std::vector<bool> NamedSymbols(std::uint32_t count) const {
    std::vector<bool> out(count);
    const auto add = [&](std::uint32_t symbol) {
      if (symbol < count) out[symbol] = true;
    };
    for (const View& view : views_) {
      for (std::uint32_t i = 0; i < view.sections.size(); ++i) {
        if (sections_[i] == kGone) continue;
        const SectionRole role = view.sections[i].role;
        if (role == SectionRole::kRelocations) {
          for (const format::Rela& entry : EntriesOf(i)) add(entry.symbol);
        } else if (role == SectionRole::kFunctionInfo || role == SectionRole::kModuleInfo) {
          format::InfoReader reader(BytesOf(i));
          for (format::InfoRecord record; reader.Next(record);) {
            const base::BoundedReader words(record.payload);
            for (std::uint64_t k = 0; k < format::SymbolsOf(record).count; ++k) {
              add(words.ReadOrZero<std::uint32_t>(k * kWord));
            }
          }
        } else if (role == SectionRole::kCallGraph) {
          AddCalls(i, out);
        }
      }
    }
    return out;
  }

  void AddCalls(std::uint32_t section, std::vector<bool>& named) const {
    format::CallGraphReader reader(BytesOf(section));
    for (format::CallGraphPair pair; reader.Next(pair);) {
      if (pair.first >= named.size() || IsInWhatGoes(pair.first)) continue;
      named[pair.first] = true;
      const bool is_symbol = format::HoldsSymbolPairs(pair.list);
      if (is_symbol && pair.second < named.size()) named[pair.second] = true;
    }
  }

  bool IsInWhatGoes(std::uint32_t symbol) const {
    const std::uint32_t section = views_.front().view.SymbolSectionAt(symbol);
    return section < sections_.size() && sections_[section] == kGone;
  }

  // As it is, or as it is to be written.
  base::Bytes BytesOf(std::uint32_t section) const {
    if (contents_[section]) return *contents_[section];
    const format::Shdr& header = headers_[section];
    if (!format::HasBytes(header.type, header.flags)) return {};
    return base::BoundedReader(file_).Slice(header.offset, header.size).value_or(base::Bytes());
  }

  bool HasAddends(std::uint32_t list) const {
    return headers_[list].type == format::kShtRela ||
           headers_[list].type == format::kShtMercuryRela;
  }

  std::vector<format::Rela> EntriesOf(std::uint32_t list) const {
    return format::ReadRelocations(BytesOf(list), HasAddends(list));
  }

  std::uint32_t NewNumber(const std::vector<std::uint32_t>& numbers, std::uint32_t old) const {
    return old < numbers.size() ? numbers[old] : kGone;
  }

  void Replace(std::uint32_t section, Bytes bytes) { contents_[section] = std::move(bytes); }

  bool Rewrite(const View& view, std::uint32_t section) {
    switch (view.sections[section].role) {
      case SectionRole::kRelocations:
        return RewriteReferences(view, section);
      case SectionRole::kModuleInfo:
      case SectionRole::kFunctionInfo:
        return RewriteRecords(section, view.sections[section].role == SectionRole::kModuleInfo);
      case SectionRole::kCallGraph:
        return RewriteCalls(section);
      case SectionRole::kPrototype:
        RewritePrototypes(section);
        return true;
      case SectionRole::kText:
        return view.view.kind() == format::ViewKind::kSass || RewriteCapsule(section);
      default:
        return true;
    }
  }

  bool RewriteReferences(const View& view, std::uint32_t list) {
    const bool of_frames = view.frames != 0 && view.sections[list].info == view.frames;
    std::vector<format::Rela> kept;
    for (format::Rela entry : EntriesOf(list)) {
      if (of_frames) {
        const auto place = view.kept_frames.PlaceOf(entry.offset);
        if (!place) continue;
        entry.offset = *place;
        if (!MoveCie(view, entry)) return false;
      }
      entry.symbol = NewNumber(symbols_, entry.symbol);
      if (entry.symbol == kGone) return false;
      kept.push_back(entry);
    }
    Replace(list, format::WriteRelocations(kept, HasAddends(list)));
    return true;
  }

  // An entry names its CIE by the section: in either view by the place that it has in the last
  // one's, as ptxas writes it.
  bool MoveCie(const View& view, format::Rela& entry) const {
    if (entry.symbol >= view.view.symbol_count() ||
        view.view.SymbolTypeAt(entry.symbol) != format::kSttSection) {
      return true;
    }
    const auto place = views_.back().kept_frames.PlaceOf(static_cast<std::uint64_t>(entry.addend));
    if (place) entry.addend = static_cast<std::int64_t>(*place);
    return place.has_value();
  }

  bool RewriteRecords(std::uint32_t section, bool of_module) {
    const base::Bytes old = BytesOf(section);
    format::InfoReader reader(old);
    Bytes bytes;
    std::size_t begin = 0;
    for (format::InfoRecord record; reader.Next(record);) {
      const bool is_sized = record.format == format::kInfoSized;
      const std::size_t end = begin + kWord + (is_sized ? record.payload.size() : 0);
      const std::size_t place = bytes.size();
      bytes.insert(bytes.end(), old.begin() + static_cast<std::ptrdiff_t>(begin),
                   old.begin() + static_cast<std::ptrdiff_t>(end));
      begin = end;
      const format::InfoSymbolRun run = format::SymbolsOf(record);
      for (std::uint64_t i = 0; i < run.count; ++i) {
        const base::BoundedReader words(record.payload);
        const std::uint32_t symbol =
            NewNumber(symbols_, words.ReadOrZero<std::uint32_t>(i * kWord));
        if (symbol != kGone) {
          base::PutValue(bytes, place + (1 + i) * kWord, symbol);
          continue;
        }
        if (!of_module || run.count != 1) return false;
        bytes.resize(place);
      }
    }
    if (!reader.well_formed()) return false;
    Replace(section, bytes);
    return true;
  }

  bool RewriteCalls(std::uint32_t section) {
    const base::Bytes old = BytesOf(section);
    format::CallGraphReader reader(old);
    Bytes bytes;
    std::uint64_t begin = 0;
    const auto copy_markers = [&](std::uint64_t end) {
      bytes.insert(bytes.end(), old.begin() + static_cast<std::ptrdiff_t>(begin),
                   old.begin() + static_cast<std::ptrdiff_t>(end));
    };
    for (format::CallGraphPair pair; reader.Next(pair);) {
      copy_markers(reader.offset() - 2 * kWord);
      begin = reader.offset();
      if (IsInWhatGoes(pair.first)) continue;
      const bool is_symbol = format::HoldsSymbolPairs(pair.list);
      const std::uint32_t first = NewNumber(symbols_, pair.first);
      const std::uint32_t second = is_symbol ? NewNumber(symbols_, pair.second) : pair.second;
      if (first == kGone || second == kGone) return false;
      base::AppendValue(bytes, first);
      base::AppendValue(bytes, second);
    }
    copy_markers(old.size());
    Replace(section, bytes);
    return true;
  }

  // Pairs of a function and where its prototype stands.
  void RewritePrototypes(std::uint32_t section) {
    const base::BoundedReader reader(BytesOf(section));
    Bytes bytes;
    for (std::uint64_t at = 0; at + 2 * kWord <= reader.size(); at += 2 * kWord) {
      const std::uint32_t symbol = NewNumber(symbols_, reader.ReadOrZero<std::uint32_t>(at));
      if (symbol == kGone) continue;
      base::AppendValue(bytes, symbol);
      base::AppendValue(bytes, reader.ReadOrZero<std::uint32_t>(at + kWord));
    }
    Replace(section, bytes);
  }

  bool RewriteCapsule(std::uint32_t section) {
    const base::Bytes old = BytesOf(section);
    const std::uint32_t number = NewNumber(sections_, format::MachineCodeOf(old));
    if (old.size() < kWord || number == kGone) return false;
    Bytes bytes(old.begin(), old.end());
    base::PutValue(bytes, 0, number);
    Replace(section, bytes);
    return true;
  }

  // Symbols, and their sections where numbers are too wide for them.
  bool RewriteTables() {
    for (std::uint32_t i = 1; i < headers_.size(); ++i) {
      if (headers_[i].type == format::kShtSymtabShndx) {
        RewriteWideIndices(i);
      } else if (format::IsSymbolTable(headers_[i].type)) {
        RewriteSymbols(i);
      } else if (!RewriteInfo(i)) {
        return false;
      }
    }
    // No section that stays names one that goes, nor the first, which may name one as others do.
    for (std::uint32_t i = 0; i < headers_.size(); ++i) {
      const bool is_kept = sections_[i] != kGone;
      if (is_kept && NewNumber(sections_, headers_[i].link) == kGone) return false;
    }
    return sections_[header_.shstrndx] != kGone;
  }

  void RewriteSymbols(std::uint32_t table) {
    const base::BoundedReader reader(BytesOf(table));
    Bytes bytes;
    std::uint32_t locals = 0;
    for (std::uint32_t i = 0; i < symbols_.size(); ++i) {
      format::Sym symbol = {};
      if (!reader.Read(i * sizeof(symbol), symbol)) break;
      if (symbols_[i] == kGone) continue;
      if (symbol.shndx < sections_.size()) {
        symbol.shndx = static_cast<std::uint16_t>(sections_[symbol.shndx]);
      }
      base::AppendValue(bytes, symbol);
      if (i < headers_[table].info) ++locals;
    }
    headers_[table].info = locals;
    Replace(table, bytes);
  }

  void RewriteWideIndices(std::uint32_t table) {
    const base::BoundedReader reader(BytesOf(table));
    Bytes bytes;
    for (std::uint32_t i = 0; i < symbols_.size(); ++i) {
      std::uint32_t section = 0;
      if (!reader.Read(i * kWord, section)) break;
      if (symbols_[i] != kGone) base::AppendValue(bytes, NewNumber(sections_, section));
    }
    Replace(table, bytes);
  }

  // What sh_info says: of code its function, of what belongs to a section that one.
  bool RewriteInfo(std::uint32_t section) {
    format::Shdr& header = headers_[section];
    if (sections_[section] == kGone || header.info == 0) return true;
    for (const View& view : views_) {
      const SectionRole role = view.sections[section].role;
      if (role == SectionRole::kOtherView || role == SectionRole::kTable) continue;
      const bool is_code = role == SectionRole::kText;
      const std::uint32_t number = NewNumber(is_code ? symbols_ : sections_, header.info);
      if (number == kGone) return false;
      header.info = number;
      return true;
    }
    return true;
  }

  // Sections stand one behind the other, as an assembler has them, in the order in which they did.
  Bytes Write() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 1; i < headers_.size(); ++i) {
      if (sections_[i] != kGone) order.push_back(i);
    }
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return PlaceInModule(i); });
    Bytes out;
    out.reserve(file_.size());  // the most that it comes to
    out.resize(sizeof(header_));
    for (const std::uint32_t i : order) {
      format::Shdr& header = headers_[i];
      if (!format::HasBytes(header.type, header.flags)) {
        header.offset = out.size();
        continue;
      }
      const base::Bytes bytes = BytesOf(i);
      // No assembler asks for more: what is damaged must not make the file large.
      const std::uint64_t align = std::clamp<std::uint64_t>(header.addralign, 1, kCodeAlign);
      out.resize(base::AlignUp(out.size(), align));
      header.offset = out.size();
      header.size = bytes.size();
      out.insert(out.end(), bytes.begin(), bytes.end());
    }
    header_.shoff = base::AlignUp(out.size(), std::uint64_t{8});
    out.resize(header_.shoff);
    header_.shnum = 0;
    for (std::size_t i = 0; i < headers_.size(); ++i) {
      if (sections_[i] == kGone) continue;
      format::Shdr header = headers_[i];
      header.link = sections_[header.link];
      base::AppendValue(out, header);
      ++header_.shnum;
    }
    header_.shstrndx = static_cast<std::uint16_t>(sections_[header_.shstrndx]);
    base::PutValue(out, 0, header_);
    return out;
  }

  std::uint64_t PlaceInModule(std::uint32_t section) const {
    const std::uint64_t header = module_.header().shoff + section * sizeof(format::Shdr);
    return base::BoundedReader(module_.bytes()).ReadOrZero<format::Shdr>(header).offset;
  }

  const Module& module_;
  const CodeNames& names_;
  base::Bytes file_;
  format::Ehdr header_ = {};
  std::vector<format::Shdr> headers_;
  std::vector<std::optional<Bytes>> contents_;  // by section, of those that change
  std::vector<View> views_;
  std::vector<std::uint32_t> sections_;  // new numbers
  std::vector<std::uint32_t> symbols_;   // new numbers
};

}  // namespace

std::optional<std::vector<std::uint8_t>> WithoutFunctions(const Module& module, base::Bytes file,
                                                          const CodeNames& names) {
  return Removal(module, file, names).Run();
}

}  // namespace devlink::internal
