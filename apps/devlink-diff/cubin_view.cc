// SPDX-License-Identifier: Apache-2.0
#include "devlink-diff/cubin_view.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "devlink-diff/cubin_names.h"

namespace devlink::diff {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::uint32_t kSymtab = 2;
constexpr std::uint32_t kStrtab = 3;
constexpr std::uint32_t kRela = 4;
constexpr std::uint32_t kNote = 7;
constexpr std::uint32_t kNobits = 8;
constexpr std::uint32_t kRel = 9;
constexpr std::uint32_t kResolvedRela = 0x70000003;
constexpr std::uint32_t kCapsule = 0x70000016;
constexpr std::uint32_t kMercurySymtab = 0x70000085;
constexpr std::uint8_t kSectionSymbol = 3;
// A name table of a damaged file can be as large as the file for each of its sections and symbols.
constexpr std::size_t kLongestName = 4096;

// The number at an offset; bytes outside the range count as zero.
template <typename T>
T Read(Bytes bytes, std::uint64_t offset) {
  T value{};
  if (offset < bytes.size() && bytes.size() - offset >= sizeof(T)) {
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
  }
  return value;
}

Bytes Part(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset >= bytes.size()) return {};
  return bytes.subspan(offset, std::min<std::uint64_t>(size, bytes.size() - offset));
}

std::string_view TextView(Bytes bytes, std::uint64_t offset) {
  const Bytes rest = Part(bytes, offset, kLongestName);
  const auto end = std::find(rest.begin(), rest.end(), std::uint8_t{0});
  return {reinterpret_cast<const char*>(rest.data()), static_cast<std::size_t>(end - rest.begin())};
}

std::string Text(Bytes bytes, std::uint64_t offset) { return std::string(TextView(bytes, offset)); }

// Printable characters as they are, all others as \xx.
std::string Quoted(Bytes bytes) {
  std::string out = "'";
  for (const std::uint8_t c : bytes) {
    if (c >= 0x20 && c < 0x7f) {
      out += static_cast<char>(c);
    } else {
      absl::StrAppend(&out, "\\", absl::Hex(c, absl::kZeroPad2));
    }
  }
  return out + "'";
}

std::string HexBytes(Bytes bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    absl::StrAppend(&out, i != 0 && i % 4 == 0 ? " " : "", absl::Hex(bytes[i], absl::kZeroPad2));
  }
  return out;
}

// Gives equal names a number, so that each can be told from the others.
class KeyMaker {
 public:
  std::string Make(const std::string& name) {
    const int count = ++seen_[name];
    return count == 1 ? name : absl::StrCat(name, "#", count);
  }

 private:
  std::map<std::string, int> seen_;
};

// All names of a sound file are parts of it; those of a damaged one can be one long text each.
class NameReader {
 public:
  explicit NameReader(CubinView& view)
      : view_(view), left_((std::uint64_t{1} << 24) + 4 * view.bytes.size()) {}

  std::string_view Read(Bytes strings, std::uint64_t offset) {
    return Keep(TextView(strings, offset));
  }

  // The name, or nothing where there is no room for it.
  std::string_view Keep(std::string_view name) {
    if (name.size() <= left_) {
      left_ -= name.size();
      return name;
    }
    if (left_ != 0) view_.problems.emplace_back("there are more names than the file can hold");
    left_ = 0;
    return {};
  }

 private:
  CubinView& view_;
  std::uint64_t left_;
};

void ViewHeader(CubinView& view) {
  const Bytes b = view.bytes;
  const auto add = [&view](const char* name, std::uint64_t value) {
    view.header.push_back(absl::StrCat(name, " = 0x", absl::Hex(value)));
  };
  view.header.push_back("e_ident = " + HexBytes(Part(b, 0, 16)));
  add("e_type", Read<std::uint16_t>(b, 16));
  add("e_machine", Read<std::uint16_t>(b, 18));
  add("e_version", Read<std::uint32_t>(b, 20));
  add("e_entry", Read<std::uint64_t>(b, 24));
  add("e_phoff", Read<std::uint64_t>(b, 32));
  add("e_shoff", Read<std::uint64_t>(b, 40));
  add("e_flags", Read<std::uint32_t>(b, 48));
  add("e_ehsize", Read<std::uint16_t>(b, 52));
  add("e_phentsize", Read<std::uint16_t>(b, 54));
  add("e_phnum", Read<std::uint16_t>(b, 56));
  add("e_shentsize", Read<std::uint16_t>(b, 58));
  add("e_shnum", Read<std::uint16_t>(b, 60));
  add("e_shstrndx", Read<std::uint16_t>(b, 62));
  add("file size", b.size());
}

bool HasNoBytes(std::uint32_t type) {
  // NOBITS, CUDA_GLOBAL, CUDA_LOCAL, CUDA_SHARED
  return type == 0 || type == kNobits || type == 0x70000007 || type == 0x70000009 ||
         type == 0x7000000a;
}

void ViewSections(CubinView& view) {
  const Bytes b = view.bytes;
  const auto table = Read<std::uint64_t>(b, 40);
  std::uint64_t count = Read<std::uint16_t>(b, 60);
  // With 0xff00 sections and more the number stands in the null section's size.
  if (count == 0 && table != 0) count = Read<std::uint64_t>(Part(b, table, 64), 32);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Bytes h = Part(b, table + i * 64, 64);
    if (table > b.size() || h.size() < 64) {
      view.problems.push_back(absl::StrCat("section header ", i, " lies outside the file"));
      break;
    }
    ViewSection s;
    s.name_offset = Read<std::uint32_t>(h, 0);
    s.type = Read<std::uint32_t>(h, 4);
    s.flags = Read<std::uint64_t>(h, 8);
    s.address = Read<std::uint64_t>(h, 16);
    s.offset = Read<std::uint64_t>(h, 24);
    s.size = Read<std::uint64_t>(h, 32);
    s.link = Read<std::uint32_t>(h, 40);
    s.info = Read<std::uint32_t>(h, 44);
    s.align = Read<std::uint64_t>(h, 48);
    s.entry_size = Read<std::uint64_t>(h, 56);
    if (!HasNoBytes(s.type)) {
      s.data = Part(b, s.offset, s.size);
      if (s.data.size() != s.size) {
        view.problems.push_back(absl::StrCat("section ", i, " lies outside the file"));
      }
    }
    view.sections.push_back(std::move(s));
  }
  const auto names = Read<std::uint16_t>(b, 62);
  const Bytes strings = names < view.sections.size() ? view.sections[names].data : Bytes{};
  KeyMaker keys;
  NameReader reader(view);
  for (ViewSection& s : view.sections) {
    s.name = reader.Read(strings, s.name_offset);
    s.key = keys.Make(s.name);
  }
}

// The first table of that type, or null.
const ViewSection* SymbolTable(const CubinView& view, std::uint32_t type) {
  for (const ViewSection& s : view.sections) {
    const bool is_null = &s == &view.sections.front();  // whatever its type says
    if (s.type == type && !is_null) return &s;
  }
  return nullptr;
}

std::vector<ViewSymbol> ReadSymbols(const CubinView& view, const ViewSection& table,
                                    NameReader& names) {
  const Bytes strings =
      table.link < view.sections.size() ? view.sections[table.link].data : Bytes{};
  std::vector<ViewSymbol> out;
  KeyMaker keys;
  for (std::uint64_t at = 0; at + 24 <= table.data.size(); at += 24) {
    const Bytes e = table.data.subspan(at, 24);
    ViewSymbol y;
    y.name_offset = Read<std::uint32_t>(e, 0);
    y.info = e[4];
    y.other = e[5];
    y.section = Read<std::uint16_t>(e, 6);
    y.value = Read<std::uint64_t>(e, 8);
    y.size = Read<std::uint64_t>(e, 16);
    y.name = names.Read(strings, y.name_offset);
    if ((y.info & 15) == kSectionSymbol) {
      const std::string section = SectionKey(view, y.section);
      y.key = keys.Make(absl::StrCat("<", std::string(names.Keep(section)), ">"));
    } else {
      y.key = keys.Make(std::string(y.name));
    }
    out.push_back(std::move(y));
  }
  return out;
}

void ViewSymbols(CubinView& view) {
  NameReader names(view);
  if (const ViewSection* table = SymbolTable(view, kSymtab); table != nullptr) {
    view.symbols = ReadSymbols(view, *table, names);
  } else {
    view.problems.emplace_back("there is no symbol table");
  }
  if (const ViewSection* table = SymbolTable(view, kMercurySymtab); table != nullptr) {
    view.mercury_symbols = ReadSymbols(view, *table, names);
  }
}

void ViewSegments(CubinView& view) {
  const Bytes b = view.bytes;
  const auto table = Read<std::uint64_t>(b, 32);
  const auto count = Read<std::uint16_t>(b, 56);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Bytes h = table > b.size() ? Bytes{} : Part(b, table + i * 56, 56);
    if (h.size() < 56) {
      view.problems.push_back(absl::StrCat("program header ", i, " lies outside the file"));
      break;
    }
    view.segments.push_back({.type = Read<std::uint32_t>(h, 0),
                             .flags = Read<std::uint32_t>(h, 4),
                             .offset = Read<std::uint64_t>(h, 8),
                             .virtual_address = Read<std::uint64_t>(h, 16),
                             .physical_address = Read<std::uint64_t>(h, 24),
                             .file_size = Read<std::uint64_t>(h, 32),
                             .memory_size = Read<std::uint64_t>(h, 40),
                             .align = Read<std::uint64_t>(h, 48)});
  }
}

std::string SymbolKey(const CubinView& view, std::uint64_t index) {
  if (index == 0) return "(no symbol)";
  return index < view.symbols.size() ? view.symbols[index].key : absl::StrCat("?", index);
}

// Prototypes stand in `.strtab`; call-graph records refer to them by offset.
std::string Prototype(const CubinView& view, std::uint64_t offset) {
  const ViewSection* strings = view.Find(".strtab");
  return strings == nullptr ? absl::StrCat("?", offset) : Text(strings->data, offset);
}

std::vector<std::string> DecodeStrings(Bytes data, std::size_t max_lines) {
  std::vector<std::string> out;
  std::size_t at = 0;
  while (at < data.size() && out.size() < max_lines) {
    std::string text = Text(data, at);
    at += text.size() + 1;
    out.push_back(std::move(text));
  }
  return out;
}

std::vector<std::string> DecodeSymbols(const CubinView& view, std::size_t max_lines) {
  std::vector<std::string> out;
  for (const ViewSymbol& y : view.symbols) {
    if (out.size() == max_lines) break;
    out.push_back(absl::StrCat(y.key, ": bind=", y.info >> 4, " type=", y.info & 15,
                               " other=", absl::Hex(y.other, absl::kZeroPad2),
                               " section=", SectionKey(view, y.section), " value=0x",
                               absl::Hex(y.value), " size=0x", absl::Hex(y.size)));
  }
  return out;
}

std::vector<std::string> DecodeRelocations(const CubinView& view, const ViewSection& section,
                                           std::size_t max_lines) {
  const bool has_addend = section.type != kRel;
  const std::uint64_t step = has_addend ? 24 : 16;
  std::vector<std::string> out;
  for (std::uint64_t at = 0; at + step <= section.data.size() && out.size() < max_lines;
       at += step) {
    const Bytes e = section.data.subspan(at, step);
    const auto info = Read<std::uint64_t>(e, 8);
    std::string line = absl::StrCat("0x", absl::Hex(Read<std::uint64_t>(e, 0)), " ",
                                    RelocationName(static_cast<std::uint32_t>(info)), " ",
                                    SymbolKey(view, info >> 32));
    if (has_addend) absl::StrAppend(&line, " + ", Read<std::int64_t>(e, 16));
    out.push_back(std::move(line));
  }
  return out;
}

std::string DecodePayload(const CubinView& view, std::uint8_t id, Bytes payload) {
  std::vector<std::uint32_t> words;
  for (std::size_t at = 0; at + 4 <= payload.size(); at += 4) {
    words.push_back(Read<std::uint32_t>(payload, at));
  }
  constexpr std::uint8_t kParamCbank = 0x0a;
  constexpr std::uint8_t kExterns = 0x0f;
  // FRAME_SIZE, MIN_STACK_SIZE, MAX_STACK_SIZE, REGCOUNT: a symbol and a number
  const bool has_symbol = id == 0x11 || id == 0x12 || id == 0x23 || id == 0x2f || id == kParamCbank;
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (id == kExterns || (has_symbol && i == 0)) {
      absl::StrAppend(&out, " ", SymbolKey(view, words[i]));
    } else {
      absl::StrAppend(&out, " ", absl::Hex(words[i]));
    }
  }
  if (payload.size() % 4 != 0) {
    absl::StrAppend(&out, " | ", HexBytes(payload.subspan(payload.size() / 4 * 4)));
  }
  return out;
}

std::vector<std::string> DecodeAttributes(const CubinView& view, const ViewSection& section,
                                          std::size_t max_lines) {
  const bool is_compat = section.name == ".nv.compat";
  std::vector<std::string> out;
  std::uint64_t at = 0;
  while (at + 4 <= section.data.size() && out.size() < max_lines) {
    const std::uint8_t format = section.data[at];
    const std::uint8_t id = section.data[at + 1];
    const auto value = Read<std::uint16_t>(section.data, at + 2);
    const std::string name =
        is_compat ? absl::StrCat("tag ", absl::Hex(id, absl::kZeroPad2)) : AttributeName(id);
    at += 4;
    if (format == 4) {
      const Bytes payload = Part(section.data, at, value);
      out.push_back(
          absl::StrCat(name, " (", value, " bytes)",
                       is_compat ? " " + HexBytes(payload) : DecodePayload(view, id, payload)));
      at += value;
    } else {
      out.push_back(absl::StrCat(name, " = 0x", absl::Hex(value), " (format ", format, ")"));
    }
  }
  return out;
}

std::vector<std::string> DecodeCallGraph(const CubinView& view, const ViewSection& section,
                                         std::size_t max_lines) {
  std::vector<std::string> out;
  std::int32_t list = -1;
  for (std::uint64_t at = 0; at + 8 <= section.data.size() && out.size() < max_lines; at += 8) {
    const auto from = Read<std::uint32_t>(section.data, at);
    const auto to = Read<std::uint32_t>(section.data, at + 4);
    if (from == 0 && static_cast<std::int32_t>(to) < 0) {
      list = static_cast<std::int32_t>(to);
      out.push_back(absl::StrCat("list ", -list));
      continue;
    }
    // Lists: 1 calls, 2 address-taken functions, 3 indirect callers, 4 who takes whose address.
    const bool has_prototype = list == -2 || list == -3;
    out.push_back(absl::StrCat("list ", -list, ": ", SymbolKey(view, from), " -> ",
                               has_prototype ? Prototype(view, to) : SymbolKey(view, to)));
  }
  return out;
}

std::vector<std::string> DecodePrototypes(const CubinView& view, const ViewSection& section,
                                          std::size_t max_lines) {
  std::vector<std::string> out;
  for (std::uint64_t at = 0; at + 8 <= section.data.size() && out.size() < max_lines; at += 8) {
    out.push_back(absl::StrCat(SymbolKey(view, Read<std::uint32_t>(section.data, at)), " -> ",
                               Prototype(view, Read<std::uint32_t>(section.data, at + 4))));
  }
  return out;
}

std::vector<std::string> DecodeNotes(const ViewSection& section, std::size_t max_lines) {
  std::vector<std::string> out;
  std::uint64_t at = 0;
  while (at + 12 <= section.data.size() && out.size() < max_lines) {
    const std::uint64_t name_size = Read<std::uint32_t>(section.data, at);
    const std::uint64_t size = Read<std::uint32_t>(section.data, at + 4);
    const auto type = Read<std::uint32_t>(section.data, at + 8);
    const std::uint64_t begin = at + 12 + (name_size + 3) / 4 * 4;
    out.push_back(absl::StrCat("note type=0x", absl::Hex(type), " ",
                               Quoted(Part(section.data, at + 12, name_size)), " size=", size, " ",
                               Quoted(Part(section.data, begin, size))));
    at = begin + (size + 3) / 4 * 4;
  }
  return out;
}

std::vector<std::string> DecodePlain(const ViewSection& section, std::size_t max_lines) {
  std::vector<std::string> out;
  for (std::uint64_t at = 0; at < section.data.size() && out.size() < max_lines; at += 16) {
    out.push_back(absl::StrCat("0x", absl::Hex(at), ": ", HexBytes(Part(section.data, at, 16))));
  }
  return out;
}

}  // namespace

const ViewSection* CubinView::Find(std::string_view name) const {
  const auto it = std::find_if(sections.begin(), sections.end(),
                               [name](const ViewSection& s) { return s.name == name; });
  return it == sections.end() ? nullptr : &*it;
}

CubinView ViewCubin(std::span<const std::uint8_t> bytes) {
  CubinView view;
  view.bytes = bytes;
  if (bytes.size() < 64 || Read<std::uint32_t>(bytes, 0) != 0x464c457f) {
    view.problems.emplace_back("not an ELF file");
    return view;
  }
  ViewHeader(view);
  ViewSections(view);
  ViewSymbols(view);
  ViewSegments(view);
  return view;
}

std::string SectionKey(const CubinView& view, std::uint32_t index) {
  if (index == 0) return "(none)";
  if (index >= view.sections.size()) return absl::StrCat("0x", absl::Hex(index));
  return view.sections[index].key;
}

std::string DecodeSectionInfo(const CubinView& view, const ViewSection& section) {
  constexpr std::uint64_t kInfoLink = 0x40;
  if (section.name.starts_with(".text.")) {
    return absl::StrCat("registers ", section.info >> 24, ", ",
                        SymbolKey(view, section.info & 0xffffff));
  }
  if (section.type == kCapsule) return SymbolKey(view, section.info);
  if (section.type == kRel || section.type == kRela || (section.flags & kInfoLink) != 0) {
    return SectionKey(view, section.info);
  }
  return absl::StrCat(section.info);
}

std::vector<std::string> DecodeSection(const CubinView& view, const ViewSection& section,
                                       std::size_t max_lines) {
  if (section.type == kStrtab) return DecodeStrings(section.data, max_lines);
  if (section.type == kSymtab) return DecodeSymbols(view, max_lines);
  if (section.type == kRel || section.type == kRela || section.type == kResolvedRela) {
    return DecodeRelocations(view, section, max_lines);
  }
  if (section.type == kNote) return DecodeNotes(section, max_lines);
  if (section.name == ".nv.callgraph") return DecodeCallGraph(view, section, max_lines);
  if (section.name == ".nv.prototype") return DecodePrototypes(view, section, max_lines);
  if (section.name == ".nv.info" || section.name.starts_with(".nv.info.") ||
      section.name == ".nv.compat") {
    return DecodeAttributes(view, section, max_lines);
  }
  return DecodePlain(section, max_lines);
}

FileRange FirstToolRecord(const CubinView& view) {
  const ViewSection* notes = view.Find(".note.nv.tkinfo");
  if (notes == nullptr || notes->data.size() < 12) return {};
  const std::uint64_t name_size = Read<std::uint32_t>(notes->data, 0);
  const std::uint64_t size = Read<std::uint32_t>(notes->data, 4);
  const std::uint64_t begin = 12 + (name_size + 3) / 4 * 4;
  if (begin > notes->data.size() || size > notes->data.size() - begin) return {};
  return {notes->offset + begin, notes->offset + begin + size};
}

}  // namespace devlink::diff
