// SPDX-License-Identifier: Apache-2.0
#include "support/cubin_rewrite.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/align.h"
#include "base/bounded_reader.h"
#include "devlink/experimental/cubin_writer.h"
#include "format/elf_cuda.h"
#include "format/views.h"

namespace devlink::testing {
namespace {

constexpr std::uint32_t kShtMercuryCode = 0x70000016;

class Rewriter {
 public:
  explicit Rewriter(std::span<const std::uint8_t> file)
      : file_(file),
        header_(file_.ReadOrZero<format::Ehdr>(0)),
        writer_({.sm = static_cast<std::uint16_t>(header_.flags >> 8 & 0xff),
                 .executable = header_.type == format::kTypeExec,
                 .unused_program_header_size = header_.phentsize,
                 .section_order = SectionOrder::kAsAdded}) {
    for (std::uint64_t i = 0; i < header_.shnum; ++i) {
      sections_.push_back(file_.ReadOrZero<format::Shdr>(header_.shoff + i * sizeof(format::Shdr)));
    }
  }

  std::vector<std::uint8_t> Run() {
    AddNames(kSectionNameTable, 1);
    AddNames(kStringTable, 2);
    AddSections();
    AddSymbols(3);
    for (std::size_t i = 4; i < sections_.size(); ++i) {
      if (sections_[i].type == format::kShtMercurySymbols) AddSymbols(i);
    }
    for (std::size_t i = 4; i < sections_.size(); ++i) AddReferences(i);
    for (std::size_t i = 4; i < sections_.size(); ++i) AddContents(i);
    AddGaps();
    AddSegments();
    auto bytes = writer_.Write();
    if (!bytes.ok()) throw std::logic_error(bytes.status().ToString());
    return *std::move(bytes);
  }

 private:
  [[nodiscard]] std::string_view NameAt(std::size_t table, std::uint32_t offset) const {
    return file_.CString(sections_[table].offset + offset).value_or("");
  }
  [[nodiscard]] base::Bytes BytesOf(const format::Shdr& section) const {
    if (format::IsNobitsType(section.type)) return {};
    return file_.Slice(section.offset, section.size).value_or(base::Bytes());
  }

  void AddNames(SectionHandle handle, std::size_t table) {
    const base::Bytes bytes = BytesOf(sections_[table]);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    // Prototypes stand before the names of the tables.
    std::size_t at = text.find(".shstrtab");
    if (at > 1) writer_.SetPrototypes(text.substr(1, at - 1));
    for (std::size_t count = 0; at < text.size(); ++count) {
      const std::size_t end = text.find('\0', at);
      std::size_t next = std::min(text.find_first_not_of('\0', end), text.size());
      writer_.AddName(handle, text.substr(at, end - at),
                      {.shared = count < 3,  // those of the tables themselves
                       .padding = static_cast<std::uint32_t>(next - end - 1)});
      at = next;
    }
  }

  void AddSections() {
    handles_ = {kNoSection, kSectionNameTable, kStringTable, kSymbolTable};
    for (std::size_t i = 4; i < sections_.size(); ++i) {
      const format::Shdr& section = sections_[i];
      const SectionSpec spec{.name = NameAt(1, section.name),
                             .type = section.type,
                             .flags = section.flags,
                             .align = std::max<std::uint64_t>(section.addralign, 1),
                             .entry_size = section.entsize,
                             .nobits_size = format::IsNobitsType(section.type) ? section.size : 0,
                             .only_section_name = true};  // the string table is known
      handles_.push_back(section.type == format::kShtMercurySymbols
                             ? writer_.AddSymbolTable(spec, SymbolOrder::kAsAdded)
                             : writer_.AddSection(spec));
    }
    writer_.SetSymbolOrder(kSymbolTable, SymbolOrder::kAsAdded);
  }

  void AddSymbols(std::size_t table) {
    std::vector<SymbolHandle>& handles = symbols_[table];
    handles.push_back(kNullSymbol);
    for (std::uint64_t at = sizeof(format::Sym); at < sections_[table].size;
         at += sizeof(format::Sym)) {
      const auto symbol = file_.ReadOrZero<format::Sym>(sections_[table].offset + at);
      handles.push_back(writer_.AddSymbol({.name = NameAt(sections_[table].link, symbol.name),
                                           .binding = static_cast<std::uint8_t>(symbol.info >> 4),
                                           .type = static_cast<std::uint8_t>(symbol.info & 0xf),
                                           .other = symbol.other,
                                           .section = handles_.at(symbol.shndx),
                                           .value = symbol.value,
                                           .size = symbol.size,
                                           .table = handles_[table]}));
    }
  }

  void AddReferences(std::size_t i) {
    const format::Shdr& section = sections_[i];
    if (section.link != 0) writer_.SetLinkSection(handles_[i], handles_.at(section.link));
    if (section.info == 0 || section.type == format::kShtMercurySymbols) return;
    if ((section.flags & format::kShfInfoLink) != 0) {
      writer_.SetInfoSection(handles_[i], handles_.at(section.info));
    } else {
      writer_.SetInfoSymbol(handles_[i], symbols_.at(section.link).at(section.info & 0xffffff),
                            static_cast<std::uint8_t>(section.info >> 24));
    }
  }

  void AddContents(std::size_t i) {
    const format::Shdr& section = sections_[i];
    if (section.type == format::kShtMercurySymbols) return;
    const auto owner =
        std::find_if(sections_.begin() + 1, sections_.begin() + static_cast<std::ptrdiff_t>(i),
                     [&](const format::Shdr& other) {
                       return other.offset == section.offset && !BytesOf(other).empty();
                     });
    const bool is_shared = owner != sections_.begin() + static_cast<std::ptrdiff_t>(i);
    if (is_shared && format::IsMercurySection(static_cast<std::uint32_t>(section.flags))) {
      shares_[i] = true;
      const auto from = static_cast<std::size_t>(owner - sections_.begin());
      return writer_.ShareBytes(handles_[i], handles_[from], section.size);
    }
    const base::Bytes bytes = BytesOf(section);
    if (section.type == format::kShtRela || section.type == format::kShtMercuryRela) {
      for (std::uint64_t at = 0; at < bytes.size(); at += sizeof(format::Rela)) {
        const auto entry = base::BoundedReader(bytes).ReadOrZero<format::Rela>(at);
        writer_.AddRelocation(handles_[i], entry.offset, entry.type,
                              symbols_.at(section.link).at(entry.symbol), entry.addend);
      }
    } else if (section.type == kShtMercuryCode) {
      const auto code = base::BoundedReader(bytes).ReadOrZero<std::uint32_t>(0);
      writer_.AppendSectionIndex(handles_[i], handles_.at(code));
      writer_.Append(handles_[i], bytes.subspan(4));
    } else {
      writer_.Append(handles_[i], bytes);
    }
  }

  void AddGaps() {
    std::uint64_t end = sizeof(format::Ehdr);
    for (std::size_t i = 1; i < sections_.size(); ++i) {
      const format::Shdr& section = sections_[i];
      if (shares_[i]) continue;
      if (section.offset > base::AlignUp(end, section.addralign)) {
        writer_.SetGap(handles_[i], section.offset - end);
      }
      end = section.offset + BytesOf(section).size();
    }
  }

  void AddSegments() {
    for (std::uint64_t i = 0; i < header_.phnum; ++i) {
      const auto segment = file_.ReadOrZero<format::Phdr>(header_.phoff + i * sizeof(format::Phdr));
      SegmentSpec spec{.type = segment.type, .flags = segment.flags, .align = segment.align};
      const bool writable = (segment.flags & 2U) != 0;
      for (std::size_t s = 1; s < sections_.size() && segment.offset != header_.phoff; ++s) {
        const format::Shdr& section = sections_[s];
        const bool covers =
            section.offset >= segment.offset &&
            section.offset + BytesOf(section).size() <= segment.offset + segment.filesz &&
            (section.flags & format::kShfAlloc) != 0 && !shares_[s] &&
            ((section.flags & format::kShfWrite) != 0) == writable;
        if (!covers) continue;
        if (spec.first == kNoSection) spec.first = handles_[s];
        spec.last = handles_[s];
      }
      writer_.AddSegment(spec);
    }
  }

  base::BoundedReader file_;
  format::Ehdr header_;
  std::vector<format::Shdr> sections_;
  std::vector<SectionHandle> handles_;                        // by index
  std::map<std::size_t, std::vector<SymbolHandle>> symbols_;  // by the table's index
  std::map<std::size_t, bool> shares_;
  CubinWriter writer_;
};

}  // namespace

std::vector<std::uint8_t> RewriteCubin(std::span<const std::uint8_t> file) {
  return Rewriter(file).Run();
}

}  // namespace devlink::testing
