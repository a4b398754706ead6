// SPDX-License-Identifier: Apache-2.0
#include "support/elf_builder.h"

#include <algorithm>
#include <cstddef>

namespace devlink::testing {

namespace {

class Writer {
 public:
  explicit Writer(bool big_endian) : big_endian_(big_endian) {}

  void Number(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) {
      const int shift = 8 * (big_endian_ ? size - 1 - i : i);
      bytes.push_back(static_cast<std::uint8_t>(value >> shift));
    }
  }
  void Text(const std::string& text) { bytes.insert(bytes.end(), text.begin(), text.end()); }
  void Align() {
    while (bytes.size() % 8 != 0) bytes.push_back(0);
  }

  ByteVector bytes;

 private:
  bool big_endian_;
};

constexpr std::uint32_t kNobits = 8;
constexpr std::uint32_t kStrtab = 3;

struct Placed {
  std::uint32_t name = 0;
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

void WriteSectionHeader(Writer& out, const Placed& section, int word) {
  out.Number(section.name, 4);
  out.Number(section.type, 4);
  out.Number(0, word);
  out.Number(0, word);
  out.Number(section.offset, word);
  out.Number(section.size, word);
  out.Number(0, 4);
  out.Number(0, 4);
  out.Number(section.type == 0 ? 0 : 8, word);
  out.Number(0, word);
}

std::string Field(std::string text, std::size_t width) {
  text.resize(width, ' ');
  return text;
}

std::string MemberHeader(const std::string& name, std::size_t size) {
  return Field(name, 16) + Field("0", 12) + Field("0", 6) + Field("0", 6) + Field("644", 8) +
         Field(std::to_string(size), 10) + "`\n";
}

}  // namespace

ByteVector BuildElf(const std::vector<ElfSection>& sections, const ElfShape& shape) {
  const int word = shape.wide ? 8 : 4;
  const std::uint64_t header_size = shape.wide ? 64 : 52;
  Writer body(shape.big_endian);
  body.bytes.resize(header_size);
  std::string names(1, '\0');
  std::vector<Placed> placed(1);
  const auto place = [&](const ElfSection& section) {
    Placed out;
    out.name = static_cast<std::uint32_t>(names.size());
    out.type = section.type;
    names += section.name + '\0';
    body.Align();
    out.offset = body.bytes.size();
    out.size = section.contents.size();
    return out;
  };
  for (const ElfSection& section : sections) {
    placed.push_back(place(section));
    if (section.type != kNobits) body.Text(section.contents);
  }
  placed.push_back(place({".shstrtab", "", kStrtab}));
  placed.back().size = names.size();
  body.Text(names);
  body.Align();
  const std::uint64_t table = body.bytes.size();
  for (const Placed& section : placed) WriteSectionHeader(body, section, word);

  Writer head(shape.big_endian);
  head.Text(
      "\x7f"
      "ELF");
  head.Number(shape.wide ? 2 : 1, 1);
  head.Number(shape.big_endian ? 2 : 1, 1);
  head.Number(1, 1);
  head.bytes.resize(16);
  head.Number(shape.type, 2);
  head.Number(shape.machine, 2);
  head.Number(1, 4);
  head.Number(0, word);
  head.Number(0, word);
  head.Number(table, word);
  head.Number(0, 4);
  head.Number(header_size, 2);
  head.Number(0, 2);
  head.Number(0, 2);
  head.Number(shape.wide ? 64 : 40, 2);
  head.Number(placed.size(), 2);
  head.Number(placed.size() - 1, 2);
  std::copy(head.bytes.begin(), head.bytes.end(), body.bytes.begin());
  return body.bytes;
}

ByteVector BuildHostObject(const std::string& fatbin, const std::string& module_id,
                           const ElfShape& shape, const std::vector<ElfSection>& more) {
  std::vector<ElfSection> sections = {{".text", "\xc3"},
                                      {"__nv_relfatbin", fatbin},
                                      {".nvFatBinSegment", std::string(24, '\0')},
                                      {"__nv_module_id", module_id + '\0'}};
  sections.insert(sections.end(), more.begin(), more.end());
  return BuildElf(sections, shape);
}

ByteVector BuildArchive(const ArchiveContents& members) {
  std::string out = "!<arch>\n";
  for (const auto& [name, bytes] : members) {
    out += MemberHeader(name + "/", bytes.size()) + ToText(bytes);
    if (out.size() % 2 != 0) out += '\n';
  }
  return ToBytes(out);
}

ByteVector BuildThinArchive(const std::vector<std::pair<std::string, std::size_t>>& members) {
  std::string names;
  std::string headers;
  for (const auto& [name, size] : members) {
    headers += MemberHeader("/" + std::to_string(names.size()), size);
    names += name + "/\n";
  }
  if (names.size() % 2 != 0) names += '\n';
  return ToBytes("!<thin>\n" + MemberHeader("//", names.size()) + names + headers);
}

ByteVector ToBytes(const std::string& text) { return {text.begin(), text.end()}; }
std::string ToText(const ByteVector& bytes) { return {bytes.begin(), bytes.end()}; }

std::string EmptyFatbin() {
  return std::string("\x50\xed\x55\xba\x01\x00\x10\x00", 8) + std::string(56, '\0');
}

}  // namespace devlink::testing
