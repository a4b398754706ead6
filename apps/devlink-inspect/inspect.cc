// SPDX-License-Identifier: Apache-2.0
#include "devlink-inspect/inspect.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/memory_lease.h"
#include "base/strings.h"
#include "devlink-inspect/describe_code.h"
#include "devlink/environment.h"
#include "devlink/experimental/fatbin.h"
#include "input/archive.h"
#include "input/host_elf.h"
#include "input/host_object.h"
#include "input/recognise.h"

namespace devlink::inspect {

namespace {

using base::Bytes;
using internal::ContentKind;

// Archives within archives, and what they hold.
constexpr int kDeepest = 8;
// Bytes of all items together, at each level: of real files, a few times their size.
constexpr std::uint64_t kMostBytesBeside = std::uint64_t{1} << 28;
constexpr std::uint64_t kMostBytesTimes = 64;
// Of a thin archive's members together.
constexpr std::uint64_t kMostThinBytes = std::uint64_t{1} << 32;
// Code that needs a device link, and code that does not.
constexpr std::array<std::string_view, 2> kFatbinSections = {"__nv_relfatbin", ".nv_fatbin"};

std::string_view KindKey(ContentKind kind) {
  switch (kind) {
    case ContentKind::kEmpty:
      return "empty";
    case ContentKind::kCudaRelocatable:
    case ContentKind::kCudaExtensible:
    case ContentKind::kCudaExecutable:
    case ContentKind::kCudaOther:
      return "cubin";
    case ContentKind::kHostRelocatable:
      return "host-object";
    case ContentKind::kHostExecutable:
    case ContentKind::kHostShared:
    case ContentKind::kHostOther:
      return "host-file";
    case ContentKind::kArchive:
    case ContentKind::kThinArchive:
      return "archive";
    case ContentKind::kFatbin:
      return "fatbin";
    case ContentKind::kPtx:
      return "ptx";
    case ContentKind::kLtoIr:
      return "lto-ir";
    case ContentKind::kLlvmBitcode:
      return "bitcode";
    case ContentKind::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view CompressionName(const FatbinMember& member) {
  if (member.is_unknown_compression) return "unknown";
  if (member.compression == FatbinCompression::kNone) return "none";
  return member.compression == FatbinCompression::kZstd ? "zstd" : "lz4";
}

// `sm_90`, `compute_90`, `lto_90`, and how a file with that code alone is called.
struct MemberNames {
  std::string arch;
  std::string_view extension;
  std::string_view kind;
};
MemberNames NamesOf(const FatbinMember& member) {
  const std::string virtual_name = member.arch.VirtualName();
  switch (member.kind) {
    case CodeKind::kSass:
      return {member.arch.Name(), ".cubin", "cubin"};
    case CodeKind::kPtx:
      return {virtual_name, ".ptx", "ptx"};
    case CodeKind::kNvvm:
      return {"lto_" + virtual_name.substr(virtual_name.find('_') + 1),
              member.is_obfuscated ? ".fatbin" : ".ltoir", "lto-ir"};
    case CodeKind::kOther:
      break;
  }
  return {absl::StrCat("kind", member.raw_kind), ".bin", "unknown"};
}

std::string Members(std::size_t count) {
  return absl::StrCat(count, count == 1 ? " member" : " members");
}

// Several members of a container may have one name; later ones get a number.
class MemberKeys {
 public:
  std::string Make(std::string_view name) {
    const int count = ++seen_[std::string(name)];
    return count == 1 ? std::string(name) : absl::StrCat(std::string(name), "#", count);
  }

 private:
  std::map<std::string, int> seen_;
};

class Inspector {
 public:
  Inspector(const InspectOptions& options, std::uint64_t size, Report& report)
      : options_(options), report_(report), left_(kMostBytesBeside + kMostBytesTimes * size) {}

  // `path` is where files named by the item are looked for; `address` how it is called.
  void Item(const std::string& path, std::string_view name, const std::string& address, Bytes bytes,
            bool is_within) {
    const ContentKind kind = internal::Recognise(bytes);
    report_.BeginItem(
        {.name = name, .address = address, .kind = KindKey(kind), .size = bytes.size()});
    if (Spend(bytes.size())) {
      report_.Contents(bytes, internal::IsDeviceCode(kind) && kind != ContentKind::kFatbin);
      ++depth_;
      Inside(kind, path, address, bytes, is_within);
      --depth_;
    }
    report_.EndItem();
  }

 private:
  // False, with a problem, where too much was read already.
  bool Spend(std::uint64_t bytes) {
    if (depth_ < kDeepest && bytes <= left_) {
      left_ -= bytes;
      return true;
    }
    Headline("not looked into");
    if (depth_ < kDeepest) {
      TellTooMuch();
    } else {
      report_.Problem("containers are nested too deeply");
    }
    return false;
  }

  void TellTooMuch() { report_.Problem("the file holds more than a file of its size can"); }

  void Headline(std::string_view text) { report_.Headline(text); }

  // What a cubin in a container is shown in, so that a large library stays readable.
  [[nodiscard]] Choice ChoiceFor(bool is_within) const {
    constexpr std::size_t kMostRowsWithin = 5;
    Choice out = options_.choice;
    if (is_within && out.most_rows > kMostRowsWithin) out.most_rows = kMostRowsWithin;
    return out;
  }

  void Inside(ContentKind kind, const std::string& path, const std::string& address, Bytes bytes,
              bool is_within) {
    const std::string described =
        absl::StrCat(base::ToAbsl(internal::Describe(kind)), ", ", bytes.size(), " bytes");
    if (internal::IsCudaElf(kind)) {
      if (!options_.only_contents) DescribeCubin(bytes, ChoiceFor(is_within), report_);
    } else if (internal::IsArchive(kind)) {
      Archive(path, address, bytes);
    } else if (kind == ContentKind::kFatbin) {
      FatbinFile(address, bytes);
    } else if (internal::IsElf(kind)) {
      HostFile(kind, address, bytes);
    } else if (kind == ContentKind::kPtx) {
      const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      if (!options_.only_contents) DescribePtx(text, ChoiceFor(is_within), report_);
    } else if (kind == ContentKind::kLtoIr) {
      if (!options_.only_contents) DescribeLtoIr(bytes, report_);
    } else if (kind == ContentKind::kLlvmBitcode || is_within) {
      Headline(described);
    } else {
      Headline(absl::StrCat(bytes.size(), " bytes"));
      report_.Problem(internal::Describe(kind));
    }
  }

  static std::string Below(const std::string& address, std::string_view name) {
    return address.empty() ? std::string(name) : base::Cat({address, ":", name});
  }

  void Archive(const std::string& path, const std::string& address, Bytes bytes) {
    // Members of a thin archive are files of their own, and count as such.
    std::uint64_t most = kMostThinBytes;
    const auto read = [this, &most](const std::string& file) {
      auto contents = base::ReadFile(file, most);
      if (contents.ok()) {
        most -= contents->size();
        left_ += kMostBytesTimes * contents->size();
      }
      return contents;
    };
    const auto archive = internal::ReadArchive(path, bytes, read);
    if (!archive.ok()) {
      Headline(absl::StrCat("archive, ", bytes.size(), " bytes"));
      report_.Problem(base::FromAbsl(archive.status().message()));
      return;
    }
    Headline(absl::StrCat(archive->thin ? "thin archive" : "archive", ", ", archive->members.size(),
                          " members, ", bytes.size(), " bytes"));
    report_.Field({.key = "is_thin", .shown = Shown::kInJson}, archive->thin);
    MemberKeys keys;
    for (const internal::ArchiveMember& member : archive->members) {
      // All members may have one long name.
      if (!Charge(address.size() + member.name.size())) return TellTooMuch();
      // A member's file names are its own affair: only the archive says where its members lie.
      Item(path, member.name, Below(address, keys.Make(member.name)), member.bytes, true);
    }
  }

  void FatbinFile(const std::string& address, Bytes bytes) {
    const auto fatbin = Fatbin::Parse(bytes, Limits());
    if (!fatbin.ok()) {
      Headline(absl::StrCat("fatbin, ", bytes.size(), " bytes"));
      report_.Problem(base::FromAbsl(fatbin.status().message()));
      return;
    }
    Headline(
        absl::StrCat("fatbin, ", Members(fatbin->members().size()), ", ", bytes.size(), " bytes"));
    std::size_t number = 0;
    EachMember(*fatbin, {}, address, number);
  }

  [[nodiscard]] FatbinLimits Limits() const {
    FatbinLimits out;
    out.max_uncompressed_size = std::min(left_, out.max_uncompressed_size);
    return out;
  }

  struct FatbinSection {
    std::string_view name;
    Bytes bytes;
    std::optional<Fatbin> fatbin;
  };

  // The fat binaries of any ELF file of the host; problems as text.
  std::vector<FatbinSection> FatbinSections(Bytes bytes, std::vector<std::string>& problems) {
    std::vector<FatbinSection> out;
    const auto elf = internal::HostElf::Open(bytes);
    if (!elf.ok()) {
      problems.emplace_back(base::FromAbsl(elf.status().message()));
      return out;
    }
    const base::BoundedReader file(bytes);
    const std::string_view all_names = elf->names();
    for (std::uint64_t i = 0; i < elf->section_count(); ++i) {
      const internal::HostSection section = elf->SectionAt(i);
      if (section.name >= all_names.size()) continue;
      const std::string_view rest = all_names.substr(section.name);
      for (const std::string_view wanted : kFatbinSections) {
        if (!rest.starts_with(wanted) ||
            rest.substr(wanted.size(), 1) != std::string_view("\0", 1)) {
          continue;
        }
        const auto data = file.Slice(section.offset, section.size);
        if (!data || !Charge(data->size())) {
          problems.push_back(base::Cat({wanted, data ? ": more than a file of its size can hold"
                                                     : " lies outside the file"}));
          continue;
        }
        auto fatbin = Fatbin::Parse(*data, Limits());
        if (!fatbin.ok()) {
          problems.push_back(base::Cat({wanted, ": ", base::FromAbsl(fatbin.status().message())}));
          continue;
        }
        out.push_back({wanted, *data, *std::move(fatbin)});
      }
    }
    return out;
  }

  bool Charge(std::uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }

  void HostFile(ContentKind kind, const std::string& address, Bytes bytes) {
    std::vector<std::string> problems;
    const std::vector<FatbinSection> sections = FatbinSections(bytes, problems);
    Headline(absl::StrCat(base::ToAbsl(internal::Describe(kind)), ", ", bytes.size(), " bytes",
                          sections.empty() ? ", no device code" : ""));
    for (const std::string& problem : problems) report_.Problem(problem);
    if (kind == ContentKind::kHostRelocatable && problems.empty()) HostObject(bytes);
    constexpr std::array kColumns = {Column{"section", "section"}, Column{"size", "size"},
                                     Column{"containers", "containers"},
                                     Column{"members", "members"}};
    report_.BeginTable({.key = "fatbins", .title = "fatbins", .columns = kColumns});
    for (const FatbinSection& s : sections) {
      AddRow(report_, kColumns, Text(s.name), std::uint64_t{s.bytes.size()},
             std::uint64_t{s.fatbin->container_count()}, std::uint64_t{s.fatbin->members().size()});
    }
    report_.EndTable();
    std::size_t number = 0;
    for (const FatbinSection& s : sections) EachMember(*s.fatbin, s.name, address, number);
  }

  void HostObject(Bytes bytes) {
    base::MemoryLease memory(Environment::Default(), std::make_shared<MemoryBudget>(left_));
    const auto object = internal::ReadHostObject(bytes, &memory);
    if (!object.ok()) {
      report_.Problem(base::FromAbsl(object.status().message()));
      return;
    }
    if (object->module_ids.present) {
      report_.Field({.key = "module_ids", .title = "module ids"}, object->module_ids.own);
      const bool any = !object->module_ids.prelinked.empty();
      report_.Field({.key = "linked_module_ids",
                     .title = "linked before",
                     .shown = any ? Shown::kEverywhere : Shown::kInJson},
                    object->module_ids.prelinked);
    }
    const HostReferences& r = object->references;
    const std::array<std::pair<std::string_view, const HostReferences::List*>, 6> lists = {
        {{"kernel", &r.kernels_external},
         {"static kernel", &r.kernels_internal},
         {"variable", &r.variables_external},
         {"static variable", &r.variables_internal},
         {"constant", &r.constants_external},
         {"static constant", &r.constants_internal}}};
    constexpr std::array kColumns = {Column{"kind", "kind"}, Column{"name", "name"}};
    report_.BeginTable({.key = "host_references",
                        .title = "referred to by host code",
                        .columns = kColumns,
                        .most_rows = options_.choice.most_rows});
    for (const auto& [kind, list] : lists) {
      for (const std::string& name : list->names) {
        AddRow(report_, kColumns, Text(kind), MangledName{name});
      }
    }
    report_.EndTable();
  }

  // Members are numbered from 1 through all sections of a file.
  void EachMember(const Fatbin& fatbin, std::string_view section, const std::string& address,
                  std::size_t& number) {
    for (const FatbinMember& member : fatbin.members()) {
      if (!Charge(address.size())) return TellTooMuch();
      Member(fatbin, member, section, address, ++number);
    }
  }

  void Member(const Fatbin& fatbin, const FatbinMember& member, std::string_view section,
              const std::string& address, std::size_t number) {
    const MemberNames names = NamesOf(member);
    const std::string name = base::Cat({std::to_string(number), ".", names.arch, names.extension});
    const std::string below = Below(address, name);
    // Not unpacked where that would be too much; a claim costs nothing yet.
    const bool has_room = Charge(member.uncompressed_size);
    auto code = has_room ? fatbin.Extract(member)
                         : absl::ResourceExhaustedError(
                               "the member is larger than a file of this size can hold");
    report_.BeginItem({.name = name,
                       .address = below,
                       .kind = names.kind,
                       .size = code.ok() ? code->size() : member.uncompressed_size});
    ++depth_;
    MemberFields(member, names, section);
    if (code.ok()) {
      report_.Contents(*code, member.kind != CodeKind::kOther);
      Code(member, names, *code);
    } else {
      // What only NVIDIA's libraries open can be handed on as it is.
      const bool is_protected = FatbinErrorOf(code.status()) == Fatbin::Error::kObfuscated;
      Headline(base::Cat({names.kind, " for ", names.arch,
                          is_protected ? ", in the form that only NVIDIA's libraries read" : ""}));
      if (!is_protected) report_.Problem(base::FromAbsl(code.status().message()));
      const auto alone = fatbin.Isolate(member);
      if (is_protected && alone.ok()) report_.Contents(*alone, true);
    }
    --depth_;
    report_.EndItem();
  }

  void Code(const FatbinMember& member, const MemberNames& names, Bytes code) {
    if (options_.only_contents) return;
    const Choice choice = ChoiceFor(true);
    if (member.kind == CodeKind::kSass) {
      DescribeCubin(code, choice, report_);
    } else if (member.kind == CodeKind::kPtx) {
      DescribePtx({reinterpret_cast<const char*>(code.data()), code.size()}, choice, report_);
    } else if (member.kind == CodeKind::kNvvm) {
      DescribeLtoIr(code, report_);
    } else {
      Headline(base::Cat({"code of unknown kind, ", names.arch}));
    }
  }

  void MemberFields(const FatbinMember& member, const MemberNames& names,
                    std::string_view section) {
    std::string stored = absl::StrCat(member.payload.size(), " bytes");
    if (member.compression != FatbinCompression::kNone) {
      absl::StrAppend(&stored, ", ", base::ToAbsl(CompressionName(member)));
    }
    const auto field = [&](std::string_view key, const Cell& value, std::string_view title = {}) {
      report_.Field({.key = key,
                     .title = title,
                     .shown = title.empty() ? Shown::kInJson : Shown::kEverywhere},
                    value);
    };
    report_.Field({.key = "", .title = "stored", .shown = Shown::kInText}, stored);
    field("section", TextOrNothing(section));
    field("container", std::uint64_t{member.container + 1});
    field("member_arch", names.arch);
    field("raw_kind", std::uint64_t{member.raw_kind});
    field("code_version", absl::StrCat(member.code_version_major, ".", member.code_version_minor));
    field("compression", Text(CompressionName(member)));
    field("stored_size", std::uint64_t{member.payload.size()});
    field("uncompressed_size", member.uncompressed_size);
    field("member_flags", member.raw_flags);
    field("is_64bit", member.is_64bit);
    field("is_debug", member.is_debug);
    field("is_obfuscated", member.is_obfuscated);
    field("ident", TextOrNothing(member.ident), "ident");
    field("options", TextOrNothing(member.options), "options");
  }

  const InspectOptions& options_;
  Report& report_;
  std::uint64_t left_;
  int depth_ = 0;
};

}  // namespace

void InspectBytes(const std::string& name, std::span<const std::uint8_t> bytes,
                  const InspectOptions& options, Report& report) {
  Inspector(options, bytes.size(), report).Item(name, name, {}, bytes, false);
}

}  // namespace devlink::inspect
