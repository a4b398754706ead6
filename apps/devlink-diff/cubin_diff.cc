// SPDX-License-Identifier: Apache-2.0
#include "devlink-diff/cubin_diff.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "devlink-diff/cubin_names.h"
#include "devlink-diff/cubin_view.h"

namespace devlink::diff {
namespace {

using Bytes = std::span<const std::uint8_t>;
using Lines = std::vector<std::string>;

// Sections of a damaged file can overlap and be as large as the file each; no more than this is
// decoded.
constexpr std::size_t kMostDecodedBytes = std::size_t{1} << 28;

bool EqualBytes(Bytes a, Bytes b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

// Findings of one category, cut off where there are too many.
class Findings {
 public:
  Findings(std::string title, int max_lines) : title_(std::move(title)), max_lines_(max_lines) {}

  void Add(const std::string& line) {
    if (count_++ < max_lines_) absl::StrAppend(&text_, "  ", line, "\n");
  }

  [[nodiscard]] std::string Render() const {
    if (count_ == 0) return {};
    std::string out = absl::StrCat(title_, ":\n", text_);
    if (count_ > max_lines_) absl::StrAppend(&out, "  and ", count_ - max_lines_, " more\n");
    return out;
  }

 private:
  std::string title_;
  std::string text_;
  int max_lines_;
  int count_ = 0;
};

// What stands only in one of two lists; or, where they hold the same things, where their order
// parts.
void CompareLists(const Lines& expected, const Lines& actual, Findings& findings) {
  if (expected == actual) return;
  std::map<std::string_view, int> surplus;
  for (const std::string& line : expected) ++surplus[line];
  for (const std::string& line : actual) --surplus[line];
  bool same_items = true;
  const auto report = [&](const Lines& lines, int sign) {
    for (const std::string& line : lines) {
      int& count = surplus[line];
      if (count * sign <= 0) continue;
      count -= sign;
      same_items = false;
      findings.Add(absl::StrCat(sign > 0 ? "- " : "+ ", line));
    }
  };
  report(expected, 1);
  report(actual, -1);
  if (!same_items) return;
  const auto [e, a] = std::mismatch(expected.begin(), expected.end(), actual.begin(), actual.end());
  findings.Add(absl::StrCat("same ", expected.size(), " items, other order from item ",
                            e - expected.begin(), " on:"));
  for (std::ptrdiff_t i = 0; i < 3 && e + i < expected.end(); ++i) {
    findings.Add(absl::StrCat("- ", e[i], "   + ", a[i]));
  }
}

Lines SectionKeys(const CubinView& view) {
  Lines out;
  for (const ViewSection& s : view.sections) out.push_back(s.key);
  return out;
}

Lines SegmentLines(const CubinView& view) {
  Lines out;
  for (const ViewSegment& s : view.segments) {
    out.push_back(absl::StrCat(
        "type=", s.type, " flags=", s.flags, " offset=0x", absl::Hex(s.offset), " vaddr=0x",
        absl::Hex(s.virtual_address), " paddr=0x", absl::Hex(s.physical_address), " filesz=0x",
        absl::Hex(s.file_size), " memsz=0x", absl::Hex(s.memory_size), " align=", s.align));
  }
  return out;
}

// The fields of a section header. Offsets are left out: one section of another size moves all
// behind.
Lines HeaderFields(const CubinView& view, const ViewSection& s) {
  return {
      "type " + SectionTypeName(s.type),          absl::StrCat("flags 0x", absl::Hex(s.flags)),
      absl::StrCat("size 0x", absl::Hex(s.size)), absl::StrCat("align ", s.align),
      absl::StrCat("entry size ", s.entry_size),  absl::StrCat("address 0x", absl::Hex(s.address)),
      "link " + SectionKey(view, s.link),         "info " + DecodeSectionInfo(view, s)};
}

class Comparison {
 public:
  Comparison(Bytes expected, Bytes actual, const DiffOptions& options)
      : expected_(ViewCubin(expected)), actual_(ViewCubin(actual)), options_(options) {}

  std::string Explain() {
    CompareCategory("damage", expected_.problems, actual_.problems);
    if (expected_.header.empty() || actual_.header.empty()) {
      return absl::StrCat(out_, "one of the files is not an ELF file: ", expected_.bytes.size(),
                          " and ", actual_.bytes.size(), " bytes\n");
    }
    CompareCategory("header", expected_.header, actual_.header);
    CompareCategory("sections", SectionKeys(expected_), SectionKeys(actual_));
    CompareSections();
    CompareCategory("segments", SegmentLines(expected_), SegmentLines(actual_));
    if (out_.empty()) CompareLayout();
    if (out_.empty()) ExplainRest();
    return std::move(out_);
  }

 private:
  void CompareCategory(std::string title, const Lines& expected, const Lines& actual) {
    Findings findings(std::move(title), options_.max_lines);
    CompareLists(expected, actual, findings);
    out_ += findings.Render();
  }

  void CompareSections() {
    std::map<std::string_view, const ViewSection*> others;
    for (const ViewSection& s : actual_.sections) others.emplace(s.key, &s);
    for (const ViewSection& s : expected_.sections) {
      const auto it = others.find(s.key);
      if (it == others.end()) continue;
      Findings findings(s.key, options_.max_lines);
      const Lines expected = HeaderFields(expected_, s);
      const Lines actual = HeaderFields(actual_, *it->second);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        if (expected[i] != actual[i]) {
          findings.Add(absl::StrCat("- ", expected[i], "   + ", actual[i]));
        }
      }
      CompareContents(s, *it->second, findings);
      out_ += findings.Render();
    }
  }

  void CompareContents(const ViewSection& a, const ViewSection& b, Findings& findings) {
    // Numbers of symbols and sections stand in these; equal bytes can mean different things and
    // different bytes the same. What they mean counts here, ExplainRest covers what is left.
    if (EqualBytes(a.data, b.data) && a.type != 2 && !a.name.starts_with(".rel")) return;
    decoded_ += a.data.size() + b.data.size();
    if (decoded_ > kMostDecodedBytes) {
      findings.Add("differs, too large to be shown");
      return;
    }
    Lines expected = DecodeSection(expected_, a);
    Lines actual = DecodeSection(actual_, b);
    if (options_.ignore_linker_record && a.name == ".note.nv.tkinfo") {
      DropLinkerRecord(expected);
      DropLinkerRecord(actual);
    }
    if (expected == actual) return;
    if (a.name.starts_with(".text.") && expected.size() == actual.size()) {
      AddInstructions(a, b, findings);
    } else {
      CompareLists(expected, actual, findings);
    }
  }

  // Keeps the head, which holds the sizes.
  static void DropLinkerRecord(Lines& notes) {
    if (!notes.empty()) notes[0].resize(std::min(notes[0].size(), notes[0].rfind(" '")));
  }

  static void AddInstructions(const ViewSection& a, const ViewSection& b, Findings& findings) {
    for (std::size_t at = 0; at + 16 <= a.data.size() && at + 16 <= b.data.size(); at += 16) {
      const Bytes x = a.data.subspan(at, 16);
      const Bytes y = b.data.subspan(at, 16);
      if (EqualBytes(x, y)) continue;
      std::string line = absl::StrCat("instruction 0x", absl::Hex(at), ", bits");
      for (int bit = 0; bit < 128; ++bit) {
        if (((x[bit / 8] ^ y[bit / 8]) >> (bit % 8) & 1) != 0) absl::StrAppend(&line, " ", bit);
      }
      for (const Bytes& w : {x, y}) {
        absl::StrAppend(&line, w.data() == x.data() ? "   - " : "   + ");
        for (int i = 15; i >= 0; --i) absl::StrAppend(&line, absl::Hex(w[i], absl::kZeroPad2));
      }
      findings.Add(line);
    }
  }

  // Only looked at where all contents agree.
  void CompareLayout() {
    Findings findings("layout", options_.max_lines);
    for (std::size_t i = 0; i < expected_.sections.size() && i < actual_.sections.size(); ++i) {
      const ViewSection& a = expected_.sections[i];
      const ViewSection& b = actual_.sections[i];
      if (a.offset != b.offset) {
        findings.Add(absl::StrCat(a.key, ": - offset 0x", absl::Hex(a.offset), "   + offset 0x",
                                  absl::Hex(b.offset)));
      }
      if (a.name_offset != b.name_offset) {
        findings.Add(absl::StrCat(a.key, ": - name at 0x", absl::Hex(a.name_offset),
                                  "   + name at 0x", absl::Hex(b.name_offset)));
      }
    }
    for (std::size_t i = 0; i < expected_.symbols.size() && i < actual_.symbols.size(); ++i) {
      const ViewSymbol& a = expected_.symbols[i];
      const ViewSymbol& b = actual_.symbols[i];
      if (a.name_offset != b.name_offset) {
        findings.Add(absl::StrCat("symbol ", i, " ", a.key, ": - name at 0x",
                                  absl::Hex(a.name_offset), "   + name at 0x",
                                  absl::Hex(b.name_offset)));
      }
    }
    out_ += findings.Render();
  }

  // All that has a meaning agrees: padding, or fields that no category shows.
  void ExplainRest() {
    const auto [e, a] = std::mismatch(expected_.bytes.begin(), expected_.bytes.end(),
                                      actual_.bytes.begin(), actual_.bytes.end());
    Findings findings("bytes", options_.max_lines);
    if (e == expected_.bytes.end() || a == actual_.bytes.end()) {
      findings.Add(absl::StrCat("sizes ", expected_.bytes.size(), " and ", actual_.bytes.size()));
    } else {
      const FileRange record = FirstToolRecord(expected_);
      for (std::size_t i = 0; i < std::min(expected_.bytes.size(), actual_.bytes.size()); ++i) {
        const bool ignored = options_.ignore_linker_record && i >= record.begin && i < record.end;
        if (ignored || expected_.bytes[i] == actual_.bytes[i]) continue;
        findings.Add(absl::StrCat("at 0x", absl::Hex(i), ": - ",
                                  absl::Hex(expected_.bytes[i], absl::kZeroPad2), "   + ",
                                  absl::Hex(actual_.bytes[i], absl::kZeroPad2)));
      }
    }
    out_ += findings.Render();
  }

  CubinView expected_;
  CubinView actual_;
  DiffOptions options_;
  std::size_t decoded_ = 0;
  std::string out_;
};

}  // namespace

bool SameCubin(std::span<const std::uint8_t> expected, std::span<const std::uint8_t> actual,
               const DiffOptions& options) {
  if (expected.size() != actual.size()) return false;
  if (EqualBytes(expected, actual)) return true;
  if (!options.ignore_linker_record) return false;
  const FileRange a = FirstToolRecord(ViewCubin(expected));
  const FileRange b = FirstToolRecord(ViewCubin(actual));
  if (a.begin != b.begin || a.end != b.end) return false;
  return EqualBytes(expected.first(a.begin), actual.first(b.begin)) &&
         EqualBytes(expected.subspan(a.end), actual.subspan(b.end));
}

std::string ExplainDifference(std::span<const std::uint8_t> expected,
                              std::span<const std::uint8_t> actual, const DiffOptions& options) {
  if (SameCubin(expected, actual, options)) return {};
  std::string text = Comparison(expected, actual, options).Explain();
  return text.empty() ? "the files differ\n" : text;
}

}  // namespace devlink::diff
