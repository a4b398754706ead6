// SPDX-License-Identifier: Apache-2.0
//
// What is read of cubins with two views only: capsules, the tables that are made anew for machine
// code, the finalizer's file; and whole links of damaged ones.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounded_reader.h"
#include "damage/losses.h"
#include "devlink/devlink.h"
#include "finalize/adopt.h"
#include "finalize/join_parts.h"
#include "finalize/linked_file.h"
#include "finalize/needed_code.h"
#include "finalize/own_records.h"
#include "finalize/reduced_input.h"
#include "finalize/stand_in_names.h"
#include "format/capsule.h"
#include "format/elf_cuda.h"
#include "format/frames.h"
#include "format/kept_bytes.h"
#include "format/line_table.h"
#include "format/notes.h"
#include "fuzz/targets.h"
#include "image/register_ranges.h"
#include "model/module.h"
#include "support/linked_file.h"
#include "support/mercury_golden.h"
#include "support/text.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

internal::Section SectionOf(FuzzBytes bytes) {
  internal::Section section;
  section.size = bytes.size();
  section.pieces.push_back({bytes, 0});
  return section;
}

const Bytes& TwoViews(bool second) {
  static const Bytes kFirst = MercuryGolden("first.cubin");
  static const Bytes kSecond = MercuryGolden("second.cubin");
  return second ? kSecond : kFirst;
}

// Changes of a file, each of seven bytes: what is changed, where in it, and to what.
class Changes {
 public:
  explicit Changes(FuzzBytes bytes) : bytes_(bytes) {}

  // Returns whether a byte is another now.
  bool Apply(Bytes& file) const {
    const Bytes before = file;
    for (std::size_t at = 0; at + kSize <= bytes_.size() && at < 8 * kSize; at += kSize) {
      const std::uint8_t* const change = bytes_.data() + at;
      const std::size_t place = PlaceOf(file, change[0], change[1] | std::size_t{change[2]} << 8);
      for (std::size_t i = 0; i < std::min<std::size_t>(4, file.size() - place); ++i) {
        if (i < 1 + change[0] % 4U) file[place + i] = change[3 + i];
      }
    }
    return file != before;
  }

 private:
  static constexpr std::size_t kSize = 7;

  // Of the section headers, of a section's bytes, or of the whole file.
  static std::size_t PlaceOf(const Bytes& file, std::uint8_t kind, std::size_t number) {
    format::Ehdr header = {};
    std::memcpy(&header, file.data(), sizeof(header));
    const std::uint64_t headers = header.shnum * sizeof(format::Shdr);
    const bool there =
        headers != 0 && header.shoff < file.size() && headers <= file.size() - header.shoff;
    if (!there || (kind & 0xc0) == 0) return number % file.size();
    if ((kind & 0x80) == 0) return header.shoff + number % headers;
    format::Shdr section = {};
    std::memcpy(&section, file.data() + header.shoff + kind / 4 % header.shnum * sizeof(section),
                sizeof(section));
    if (section.size == 0 || section.offset >= file.size()) return number % file.size();
    return (section.offset + number % section.size) % file.size();
  }

  FuzzBytes bytes_;
};

LinkOutcome LinkViews(std::span<const Bytes> inputs, bool relocatable, bool debug) {
  LinkOptions options;
  options.target = Arch{.number = 100};
  options.relocatable = relocatable;
  options.debug = debug;
  return LinkFuzzed(inputs, std::move(options));
}

}  // namespace

void FuzzCapsule(FuzzBytes bytes) {
  if (bytes.empty()) return;
  const std::size_t count = std::min<std::size_t>(bytes[0] % 16, bytes.size() - 1);
  std::vector<std::uint32_t> instructions;
  std::uint32_t last = 0;
  for (const std::uint8_t step : bytes.subspan(1, count)) {
    instructions.push_back(last += step);
    ++last;
  }
  const FuzzBytes capsule = bytes.subspan(1 + count);
  std::vector<std::uint32_t> offsets;
  if (!format::FindCapsuleConstants(capsule, instructions, offsets).ok()) return;
  Expect(offsets.size() == instructions.size(), "not a place for each instruction");
  for (const std::uint32_t offset : offsets) {
    Expect(std::uint64_t{offset} + 2 <= capsule.size(), "a place outside of the capsule");
  }
}

namespace {

void ExpectOnlyLess(const format::KeptBytes& kept, FuzzBytes bytes) {
  Expect(kept.bytes.size() <= bytes.size(), "a section that grows");
  std::uint64_t from = 0;
  for (const auto& run : kept.runs) {
    Expect(run.from >= from && run.size <= bytes.size() - run.from, "runs that share bytes");
    Expect(run.to <= kept.bytes.size() && run.size <= kept.bytes.size() - run.to,
           "a run outside of the section");
    from = run.from + run.size;
  }
}

}  // namespace

void FuzzLines(FuzzBytes bytes) {
  if (bytes.empty()) return;
  const std::uint32_t salt = bytes[0];
  const FuzzBytes table = bytes.subspan(1);
  const auto kept =
      format::KeepLines(table, [salt](std::uint64_t offset) -> std::optional<std::uint32_t> {
        const auto number = static_cast<std::uint32_t>(offset * 2654435761U >> 8) ^ salt;
        return number % 4 == 0 ? std::nullopt : std::optional(number % 16);
      });
  if (kept) ExpectOnlyLess(*kept, table);
}

void FuzzFrames(FuzzBytes bytes) {
  if (bytes.empty()) return;
  const std::uint32_t salt = bytes[0];
  const FuzzBytes section = bytes.subspan(1);
  const auto kept = format::KeepFrames(section, [salt](std::uint64_t field) {
    return ((static_cast<std::uint32_t>(field * 2654435761U >> 8) ^ salt) & 1) != 0;
  });
  if (!kept) return;
  ExpectOnlyLess(*kept, section);
  Expect(format::SplitFrames(kept->bytes).has_value(), "what stays are not frames");
}

void FuzzRegisterRanges(FuzzBytes bytes) {
  const auto kept = internal::KeepRegisterRanges(
      SectionOf(bytes),
      [](std::string_view name, std::uint64_t offset) { return (name.size() + offset) % 2 == 0; });
  Expect(!kept || kept->size() == bytes.size(), "lists of another size");
}

namespace {

// What lies between sections is not kept.
void ExpectSame(const internal::LinkedFile& file, FuzzBytes written) {
  const auto again = internal::LinkedFile::Read(written);
  Expect(again.ok(), "what was written is not read");
  Expect(again->section_count() == file.section_count(), "another number of sections");
  for (std::uint32_t i = 0; i < file.section_count(); ++i) {
    const FuzzBytes before = file.DataOf(i);
    const FuzzBytes after = again->DataOf(i);
    Expect(std::equal(before.begin(), before.end(), after.begin(), after.end()),
           "a section that was not changed is another");
  }
}

}  // namespace

void FuzzLinkedFile(FuzzBytes bytes) {
  const auto file = internal::LinkedFile::Read(bytes);
  if (file.ok()) {
    if (const auto again = file->Write(); again.ok()) ExpectSame(*file, *again);
  }
  const Bytes record = format::EncodeToolRecord({.tool = "a longer name", .version = "1"});
  const auto adopted = internal::Adopt(bytes, record);
  if (adopted.ok()) {
    Expect(internal::LinkedFile::Read(*adopted).ok(), "what was written is not read");
  } else {
    Expect(!adopted.status().message().empty(), "refused without a word");
  }
  // Both ways, since either file may be the damaged one.
  static const Bytes kOwn = WriteLinkedFile({.with_names = true, .records = RecordsOfOne()});
  for (const auto& joined :
       {internal::WithOwnRecords(bytes, kOwn), internal::WithOwnRecords(kOwn, bytes)}) {
    if (!joined.ok()) continue;
    Expect(internal::LinkedFile::Read(*joined).ok(), "what was joined is not read");
  }
  static const auto kStandIns = internal::StandInNames::For({"k", "a"});
  const auto hidden = kStandIns->Hide(bytes);
  if (!hidden.ok()) return;
  const auto restored = kStandIns->Restore(*hidden);
  Expect(
      restored.ok() && std::equal(bytes.begin(), bytes.end(), restored->begin(), restored->end()),
      "names do not come back");
}

void FuzzViews(FuzzBytes bytes) {
  if (bytes.empty() || TwoViews(false).empty()) return;
  const std::uint8_t shape = bytes[0];
  std::vector<Bytes> inputs = {TwoViews((shape & 1) != 0)};
  const bool damaged = Changes(bytes.subspan(1)).Apply(inputs.front());
  inputs.front().shrink_to_fit();  // so that a sanitizer sees a read past the end
  const bool relocatable = (shape & 2) != 0;
  const LinkOutcome alone = LinkViews(inputs, relocatable, (shape & 4) != 0);
  if (alone.ok() && !relocatable) {
    const auto lost = LossesOfLink(inputs.front(), alone.cubin);
    if (!lost.empty()) Expect(false, Cat("lost: ", lost.front()));
  }
  inputs.push_back(TwoViews((shape & 1) == 0));
  const LinkOutcome both = LinkViews(inputs, relocatable, (shape & 4) != 0);
  if (!damaged) Expect(both.ok(), "the goldens do not link");
  if (!both.ok() || !relocatable) return;
  const LinkOutcome next = LinkViews({&both.cubin, 1}, false, (shape & 4) != 0);
  Expect(next.ok() || damaged, "the output of -r does not link");
}

namespace {

std::vector<std::string_view> CodeOf(const internal::LinkedFile& file) {
  std::vector<std::string_view> out;
  for (std::uint32_t i = 1; i < file.section_count(); ++i) {
    if (file.NameOf(i).starts_with(".text.")) out.push_back(file.NameOf(i));
  }
  return out;
}

std::vector<std::string_view> CodeOf(const internal::Module& module) {
  std::vector<std::string_view> out;
  for (const auto& section : module.sass().sections()) {
    if (section.role == internal::SectionRole::kText) out.push_back(section.name);
  }
  return out;
}

// By name, of a file that has gaps, and lists that became empty, which no input has.
std::map<std::string, FuzzBytes> SectionsOf(FuzzBytes file) {
  const base::BoundedReader reader(file);
  const auto header = reader.ReadOrZero<format::Ehdr>(0);
  const auto at = [&](std::uint64_t section) {
    return reader.ReadOrZero<format::Shdr>(header.shoff + section * sizeof(format::Shdr));
  };
  const auto bytes_of = [&](const format::Shdr& section) {
    const auto bytes = section.type == format::kShtNobits
                           ? std::optional(FuzzBytes())
                           : reader.Slice(section.offset, section.size);
    Expect(bytes.has_value(), "a section outside of the file");
    return *bytes;
  };
  const base::BoundedReader names(bytes_of(at(header.shstrndx)));
  std::map<std::string, FuzzBytes> out;
  for (std::uint64_t i = 1; i < header.shnum; ++i) {
    const auto name = names.CString(at(i).name);
    Expect(name.has_value(), "a section without a name");
    out.emplace(*name, bytes_of(at(i)));
  }
  return out;
}

// All code but that of the others is as it was.
void ExpectSameCode(const internal::Module& file, FuzzBytes written,
                    const internal::CodeNames& others) {
  const std::map<std::string, FuzzBytes> sections = SectionsOf(written);
  for (const auto& section : file.sass().sections()) {
    if (section.role != internal::SectionRole::kText || others.contains(section.name)) continue;
    const auto found = sections.find(std::string(section.name));
    Expect(found != sections.end(), "code that stays is not there");
    Expect(std::equal(found->second.begin(), found->second.end(), section.data.begin(),
                      section.data.end()),
           "code that stays is another");
  }
}

}  // namespace

// The first byte says which file it is, the second which of its code is the part.
void FuzzPartInput(FuzzBytes bytes) {
  if (bytes.size() < 2 || TwoViews(false).empty()) return;
  static const Bytes kLines = MercuryGolden("lines.cubin");
  Bytes file = (bytes[0] & 2) != 0 ? kLines : TwoViews((bytes[0] & 1) != 0);
  const bool damaged = Changes(bytes.subspan(2)).Apply(file);
  file.shrink_to_fit();
  const auto module = internal::Module::Load(file);
  if (!module.ok()) return;
  const std::vector<std::string_view> code = CodeOf(**module);
  std::vector<std::string_view> part;
  internal::CodeNames stays;
  internal::CodeNames others;
  for (std::size_t i = 0; i < code.size(); ++i) {
    stays.insert(code[i]);
    if ((bytes[1] >> i % 8 & 1) != 0) {
      part.push_back(code[i]);
    } else {
      others.insert(code[i]);
    }
  }
  const internal::Module* const modules[] = {module->get()};
  const auto needed = internal::NeededCode(modules, stays).Of(part);
  internal::CodeNames gone;
  for (const std::string_view name : others) {
    if (needed && !needed->contains(name)) gone.insert(name);
  }
  const auto check = [&](const std::optional<Bytes>& reduced, const internal::CodeNames& names) {
    if (!reduced) return;
    Expect(reduced->size() <= 2 * file.size(), "a file that grows");
    if (!damaged) ExpectSameCode(**module, *reduced, names);
  };
  check(internal::CodeAlone(**module, others, gone), others);
  internal::KeepTraces(**module, others);
  check(internal::WithoutCode(**module, others), others);
}

// The first byte says which of the two files is the damaged one.
void FuzzJoined(FuzzBytes bytes) {
  if (bytes.empty() || TwoViews(false).empty()) return;
  static const Bytes kLinked =
      LinkViews(std::vector<Bytes>{TwoViews(false), TwoViews(true), MercuryGolden("lines.cubin")},
                false, false)
          .cubin;
  static const auto kFile = internal::LinkedFile::Read(kLinked);
  Expect(kFile.ok(), "what the goldens make is not read");
  Bytes changed = kLinked;
  const bool damaged = Changes(bytes.subspan(1)).Apply(changed);
  changed.shrink_to_fit();
  const bool is_own = (bytes[0] & 1) != 0;
  const std::vector<internal::FinalizedPart> parts = {
      {.cubin = is_own ? kLinked : changed, .sections = CodeOf(*kFile)}};
  const auto joined = internal::JoinParts(is_own ? changed : kLinked, parts);
  Expect(joined.ok() || damaged, "a file does not fit itself");
  if (!joined.ok()) return;
  Expect(internal::LinkedFile::Read(joined->cubin).ok(), "what was joined is not read");
  Expect(damaged || joined->cubin == kLinked, "a file is another where nothing changed");
}

}  // namespace devlink::testing
