// SPDX-License-Identifier: Apache-2.0
#include "input/expand.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "base/bounded_reader.h"
#include "base/strings.h"
#include "format/driver_names.h"
#include "format/elf_cuda.h"
#include "format/make_diagnostic.h"
#include "format/nvlink_text.h"
#include "format/views.h"

namespace devlink::internal {

namespace nvlink_text = format::nvlink_text;

namespace {

// nvlink looks at this many bytes before anything else, and at no file that has fewer.
constexpr std::size_t kProbe = 56;
// Archives within archives. Every level is a part of the one around it, so this bounds the work.
constexpr int kMaxDepth = 8;

bool HasFatbinMagic(base::Bytes bytes) { return Recognise(bytes) == ContentKind::kFatbin; }

std::string_view FileName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// `.cubin` of `d/a.cubin`; empty where the file's own name has no dot.
std::string_view Extension(std::string_view path) {
  const std::string_view file = FileName(path);
  const std::size_t dot = file.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : file.substr(dot);
}

bool PromisesDeviceCode(std::string_view path) {
  const std::string_view extension = Extension(path);
  constexpr std::array<std::string_view, 6> kPromises = {".cubin", ".ptx",   ".fatbin",
                                                         ".nvvm",  ".ltoir", ".bc"};
  return std::find(kPromises.begin(), kPromises.end(), extension) != kPromises.end();
}

// nvlink goes by the whole path. A directory of that name makes no runtime of the objects in it,
// which nvlink leaves out where nothing is undefined when it meets them.
bool IsDeviceRuntime(std::string_view path, bool is_archive, Compatibility compatibility) {
  constexpr std::string_view kName = format::kDeviceRuntimeName;
  if (compatibility == Compatibility::kNvlink) return path.find(kName) != std::string_view::npos;
  return is_archive && FileName(path) == format::kDeviceRuntimeArchive;
}

class Expander {
 public:
  Expander(std::string_view path, const ExpandOptions& options, Expansion& out)
      : path_(path), options_(options), out_(out) {}

  void ExpandByContent(base::Bytes bytes);
  void ExpandByExtension(base::Bytes bytes);

 private:
  // What differs between an input and a member of it.
  struct Place {
    std::string_view name;  // borrowed
    int depth = 0;
  };

  // False all of them, so that whoever calls can leave with them.
  bool Fatal(DiagnosticCode code, std::string_view name, std::string text, std::string note = {});
  bool FatalPair(DiagnosticCode code, std::string_view name, std::string text,
                 std::string_view last, std::string note, Severity first = Severity::kFatal);
  bool CouldNotOpen(std::string_view name, std::string note);
  bool NoFatbin(std::string_view name, std::string note);
  bool NotRecognised(std::string_view name, std::string note);
  bool DamagedArchive(const Place& place, const absl::Status& why, const std::string& asked_for);

  DeviceBlob& Add(const Place& place, ContentKind kind, base::Bytes bytes);
  absl::StatusOr<std::vector<ArchiveMember>> Members(const Place& place, base::Bytes bytes,
                                                     std::string& asked_for,
                                                     bool& names_before_data);
  void KeepIds(const HostObject& object);
  void AddHostBlobs(const Place& place, HostObject object, std::size_t how_many);

  bool Member(const Place& place, base::Bytes bytes);
  bool DeviceCode(const Place& place, ContentKind kind, base::Bytes bytes);
  static bool MayHideItsCode(const HostObject& object, base::Bytes bytes);
  bool HostObjectByContent(const Place& place, base::Bytes bytes, bool& found);
  bool OtherByContent(const Place& place, ContentKind kind, base::Bytes bytes);
  bool ArchiveByContent(const Place& place, ContentKind kind, base::Bytes bytes);
  bool CheckPromise(ContentKind kind);

  bool HostObjectLikeNvlink(const Place& place, base::Bytes bytes);
  void CubinLikeNvlink(base::Bytes bytes, ContentKind kind);
  void ArchiveLikeNvlink(base::Bytes bytes);

  std::string_view path_;
  const ExpandOptions& options_;
  Expansion& out_;
};

bool Expander::Fatal(DiagnosticCode code, std::string_view name, std::string text,
                     std::string note) {
  out_.diagnostics.push_back(
      format::MakeDiagnostic(Severity::kFatal, code, name, std::move(text), std::move(note)));
  return false;
}

// nvlink says what is wrong and then which of its parts gave up.
bool Expander::FatalPair(DiagnosticCode code, std::string_view name, std::string text,
                         std::string_view last, std::string note, Severity first) {
  Fatal(code, name, std::move(text));
  out_.diagnostics.back().severity = first;
  return Fatal(code, name, std::string(last), std::move(note));
}

bool Expander::CouldNotOpen(std::string_view name, std::string note) {
  return Fatal(DiagnosticCode::kUnreadableInput, name, nvlink_text::CouldNotOpen(name),
               std::move(note));
}

bool Expander::NoFatbin(std::string_view name, std::string note) {
  return FatalPair(DiagnosticCode::kMalformedInput, name, nvlink_text::CouldNotFindFatbin(name),
                   nvlink_text::kInternalError, std::move(note));
}

bool Expander::NotRecognised(std::string_view name, std::string note) {
  return FatalPair(DiagnosticCode::kUnsupportedInput, name,
                   std::string(nvlink_text::kFormatNotRecognized), nvlink_text::kFatbinaryError,
                   std::move(note), Severity::kError);
}

bool Expander::DamagedArchive(const Place& place, const absl::Status& why,
                              const std::string& asked_for) {
  std::string note(base::FromAbsl(why.message()));
  if (absl::IsNotFound(why) || absl::IsResourceExhausted(why)) {
    return FatalPair(DiagnosticCode::kUnreadableInput, place.name,
                     nvlink_text::CouldNotOpen(FileName(asked_for)), nvlink_text::kInternalError,
                     std::move(note));
  }
  return FatalPair(DiagnosticCode::kMalformedInput, place.name,
                   std::string(nvlink_text::kUnexpectedArchive), nvlink_text::kInternalError,
                   std::move(note));
}

DeviceBlob& Expander::Add(const Place& place, ContentKind kind, base::Bytes bytes) {
  DeviceBlob blob;
  blob.name = place.name;
  blob.kind = kind;
  blob.bytes = bytes;
  blob.from_archive = place.depth > 0;
  blob.is_cudadevrt = IsDeviceRuntime(path_, blob.from_archive, options_.compatibility);
  out_.blobs.push_back(std::move(blob));
  return out_.blobs.back();
}

absl::StatusOr<std::vector<ArchiveMember>> Expander::Members(const Place& place, base::Bytes bytes,
                                                             std::string& asked_for,
                                                             bool& names_before_data) {
  FileReader read_file;
  if (options_.read_file) {
    read_file = [&](const std::string& path) {
      asked_for = path;
      return options_.read_file(path);
    };
  }
  auto archive = ReadArchive(place.name, bytes, read_file);
  if (!archive.ok()) return archive.status();
  names_before_data = archive->names_before_data;
  std::move(archive->owned.begin(), archive->owned.end(), std::back_inserter(out_.owned));
  return std::move(archive->members);
}

// An object that is left out may still say what was linked before.
void Expander::KeepIds(const HostObject& object) {
  out_.silent_host_object = true;
  const auto& ids = object.module_ids;
  out_.prelinked_ids.insert(out_.prelinked_ids.end(), ids.prelinked.begin(), ids.prelinked.end());
  out_.mixed_module_ids |= ids.mixed;
}

void Expander::AddHostBlobs(const Place& place, HostObject object, std::size_t how_many) {
  for (std::size_t i = 0; i < how_many; ++i) {
    DeviceBlob& blob = Add(place, ContentKind::kFatbin, object.fatbins[i]);
    blob.from_host_object = true;
    blob.further_section = i > 0;
    if (i > 0) continue;
    blob.references = std::move(object.references);
    blob.module_ids = std::move(object.module_ids);
  }
}

// --- By content ----------------------------------------------------------------------------------

bool Expander::DeviceCode(const Place& place, ContentKind kind, base::Bytes bytes) {
  if (kind == ContentKind::kLtoIr && !options_.lto) {
    return Fatal(DiagnosticCode::kUnsupportedInput, place.name,
                 std::string(nvlink_text::kNvvmOnlyWithLto),
                 base::Cat({"'", place.name, "' is NVVM LTO IR; link with -lto"}));
  }
  Add(place, kind, bytes);
  return true;
}

// It names what objects with device code name, has none, and some of it is as no compiler writes
// it.
bool Expander::MayHideItsCode(const HostObject& object, base::Bytes bytes) {
  return (object.names_doubtful || object.headers_doubtful) && object.fatbins.empty() &&
         MentionsDeviceCode(bytes);
}

bool Expander::HostObjectByContent(const Place& place, base::Bytes bytes, bool& found) {
  auto object = ReadHostObject(bytes, options_.memory);
  if (!object.ok()) {
    return NoFatbin(place.name,
                    base::Cat({"'", place.name, "': ", base::FromAbsl(object.status().message())}));
  }
  for (const base::Bytes fatbin : object->fatbins) {
    if (HasFatbinMagic(fatbin)) continue;
    return NoFatbin(place.name, base::Cat({"'", place.name, "': its section __nv_relfatbin of ",
                                           std::to_string(fatbin.size()),
                                           " bytes does not begin as a fatbin does"}));
  }
  if (object->nameless || LacksItsCode(*object)) {
    return NoFatbin(
        place.name,
        base::Cat({"'", place.name,
                   object->nameless ? "' is damaged: its sections have no names"
                                    : "' is damaged: it has a section .nvFatBinSegment and no "
                                      "section with device code"}));
  }
  if (NamesLostModules(*object)) {
    return NoFatbin(place.name, base::Cat({"'", place.name,
                                           "' is damaged: its section __nv_module_id names "
                                           "modules, and there is no section with device code"}));
  }
  if (MayHideItsCode(*object, bytes)) {
    return NoFatbin(place.name,
                    base::Cat({"'", place.name,
                               object->names_doubtful
                                   ? "' is damaged: the names of its sections are not where its "
                                     "header says"
                                   : "' is damaged: it names what objects with device code name, "
                                     "and a header of a section says what none can"}));
  }
  found = !object->fatbins.empty();
  if (!found) KeepIds(*object);
  // An earlier device link leaves code like that, too, with the ids of what it linked.
  if (!found && object->has_whole_program_code && object->module_ids.prelinked.empty()) {
    out_.whole_programs.emplace_back(place.name);
  }
  if (found && object->endless_list) {
    constexpr std::string_view kCutOff =
        " of what host code refers to does not end with a NUL, so its last name may be cut off; "
        "make the object again";
    out_.diagnostics.push_back(format::MakeDiagnostic(
        Severity::kInfo, DiagnosticCode::kMalformedInput, place.name, "",
        base::Cat({"'", place.name, "': its list ", *object->endless_list, kCutOff})));
  }
  const std::size_t count = object->fatbins.size();
  AddHostBlobs(place, *std::move(object), count);
  return true;
}

// What holds no code that could be linked, as it seems. Damage may be what makes it seem so.
bool Expander::OtherByContent(const Place& place, ContentKind kind, base::Bytes bytes) {
  if (IsElf(kind)) {
    const bool of_no_type = kind == ContentKind::kHostOther && MentionsDeviceCode(bytes);
    if (!of_no_type && !HasNoSegments(bytes)) return true;
    const auto object = ReadHostObject(bytes, options_.memory);
    if (!of_no_type && object.ok() && !object->nameless && !LacksItsCode(*object) &&
        !MayHideItsCode(*object, bytes) && object->fatbins.empty()) {
      return true;
    }
    return NoFatbin(place.name,
                    base::Cat({"'", place.name, "' is damaged: it is ", Describe(kind),
                               of_no_type ? ", and names what objects with device code name"
                                          : " by its header, which no program can load"}));
  }
  if (!MentionsDeviceCode(bytes)) return true;
  return Fatal(DiagnosticCode::kUnsupportedInput, place.name,
               base::Cat({"Input file '", place.name, "' holds device code that cannot be read"}),
               base::Cat({"it is ", Describe(kind),
                          ", and names what objects with relocatable device code name; give the "
                          "ELF object, or make the file again"}));
}

bool Expander::ArchiveByContent(const Place& place, ContentKind kind, base::Bytes bytes) {
  if (place.depth >= kMaxDepth || (place.depth > 0 && kind == ContentKind::kThinArchive)) {
    return FatalPair(
        DiagnosticCode::kUnsupportedInput, place.name, std::string(nvlink_text::kUnexpectedArchive),
        nvlink_text::kInternalError,
        base::Cat({"'", place.name,
                   kind == ContentKind::kThinArchive ? "' is a thin archive within an archive"
                                                     : "' lies in too many archives",
                   "; give it to the linker as an input of its own"}));
  }
  std::string asked_for;
  bool names_before_data = false;
  const auto members = Members(place, bytes, asked_for, names_before_data);
  if (!members.ok()) return DamagedArchive(place, members.status(), asked_for);
  return std::all_of(members->begin(), members->end(), [&](const ArchiveMember& member) {
    const std::string name = base::Cat({place.name, ":", member.name});
    return Member({name, place.depth + 1}, member.bytes);
  });
}

bool Expander::Member(const Place& place, base::Bytes bytes) {
  const ContentKind kind = Recognise(bytes);
  if (IsDeviceCode(kind)) return DeviceCode(place, kind, bytes);
  if (IsArchive(kind)) return ArchiveByContent(place, kind, bytes);
  bool found = false;
  return kind == ContentKind::kHostRelocatable ? HostObjectByContent(place, bytes, found)
                                               : OtherByContent(place, kind, bytes);
}

// A name that promises device code, on a file that has none.
bool Expander::CheckPromise(ContentKind kind) {
  const std::string_view extension = Extension(path_);
  std::string note = base::Cat({"'", path_, "' is ", Describe(kind)});
  constexpr auto kCode = DiagnosticCode::kUnsupportedInput;
  if (extension == ".cubin") {
    return Fatal(kCode, path_,
                 std::string(IsElf(kind) ? nvlink_text::kNotADeviceElf : nvlink_text::kNotAnElf),
                 note);
  }
  if (extension == ".ptx") return NotRecognised(path_, note);
  if (extension == ".fatbin")
    return Fatal(kCode, path_, std::string(nvlink_text::kFatbinWrongFormat), note);
  if (extension == ".nvvm" || extension == ".ltoir") {
    return Fatal(
        kCode, path_,
        std::string(options_.lto ? nvlink_text::kNvvmError : nvlink_text::kNvvmOnlyWithLto), note);
  }
  if (extension == ".bc") return Fatal(kCode, path_, std::string(nvlink_text::kNeverBitcode), note);
  return true;
}

void Expander::ExpandByContent(base::Bytes bytes) {
  const Place place{path_, 0};
  const ContentKind kind = Recognise(bytes);
  if (kind == ContentKind::kEmpty) {
    // As an object or a library it means nothing to the host's linker either; builds have such.
    if (PromisesDeviceCode(path_)) CouldNotOpen(path_, base::Cat({"'", path_, "' is empty"}));
    return;
  }
  if (bytes.size() < kProbe && kind != ContentKind::kPtx && !IsArchive(kind)) {
    const std::string_view what = kind == ContentKind::kUnknown ? Describe(kind) : "too short";
    CouldNotOpen(
        path_, base::Cat({"'", path_, "' is ", what, ": it has only ", std::to_string(bytes.size()),
                          " bytes, and no device code is that short"}));
    return;
  }
  if (IsDeviceCode(kind)) {
    DeviceCode(place, kind, bytes);
  } else if (IsArchive(kind)) {
    ArchiveByContent(place, kind, bytes);
  } else {
    bool found = false;
    const bool sound = kind == ContentKind::kHostRelocatable
                           ? HostObjectByContent(place, bytes, found)
                           : OtherByContent(place, kind, bytes);
    if (sound && !found) CheckPromise(kind);
  }
}

// --- As nvlink does ------------------------------------------------------------------------------

// False where the link ends.
bool Expander::HostObjectLikeNvlink(const Place& place, base::Bytes bytes) {
  auto object = ReadHostObject(bytes, options_.memory);
  if (!object.ok()) {
    if (place.depth > 0) return true;
    return NoFatbin(place.name, std::string(base::FromAbsl(object.status().message())));
  }
  if (object->big_endian || object->nameless) return true;
  if (LacksItsCode(*object)) return NoFatbin(place.name, {});
  if (object->fatbins.empty()) {
    KeepIds(*object);
    return true;
  }
  if (!object->has_wrapper) {
    out_.silent_host_object = true;
    return true;
  }
  if (!HasFatbinMagic(object->fatbins.front())) return NoFatbin(place.name, {});
  AddHostBlobs(place, *std::move(object), 1);
  return true;
}

// nvlink leaves a damaged cubin out, but crashes at one with two views.
void Expander::CubinLikeNvlink(base::Bytes bytes, ContentKind kind) {
  const absl::Status sound = CheckElf(bytes);
  if (sound.ok()) {
    // It links other types, such as what nvcc -ewp makes, unless an object is called so.
    const bool is_of_other_type =
        kind == ContentKind::kCudaExtensible || kind == ContentKind::kCudaOther;
    const bool is_linked =
        kind == ContentKind::kCudaRelocatable || (is_of_other_type && Extension(path_) != ".o");
    if (is_linked) Add({path_, 0}, kind, bytes);
    return;
  }
  const base::BoundedReader reader(bytes);
  format::Ehdr header = {};
  std::ranges::copy(reader.ReadOrZero<std::array<std::uint8_t, sizeof(header.ident)>>(0),
                    header.ident);
  header.flags = reader.ReadOrZero<std::uint32_t>(offsetof(format::Ehdr, flags));
  if (!format::HasTwoViews(format::SmOf(header))) return;
  Fatal(DiagnosticCode::kMalformedInput, path_, format::DamagedText(path_),
        std::string(base::FromAbsl(sound.message())));
}

void Expander::ArchiveLikeNvlink(base::Bytes bytes) {
  const Place place{path_, 0};
  std::string asked_for;
  bool names_before_data = false;
  const auto members = Members(place, bytes, asked_for, names_before_data);
  if (!members.ok()) {
    DamagedArchive(place, members.status(), asked_for);
    return;
  }
  // It takes the name for the member's first bytes, which then are not an ELF file.
  if (names_before_data) return;
  for (const ArchiveMember& member : *members) {
    const ContentKind kind = Recognise(member.bytes);
    if (!IsElf(kind)) return;
    if (kind != ContentKind::kHostRelocatable && kind != ContentKind::kCudaRelocatable) continue;
    const std::string name = base::Cat({path_, ":", member.name});
    if (!HostObjectLikeNvlink({name, 1}, member.bytes)) return;
  }
}

void Expander::ExpandByExtension(base::Bytes bytes) {
  if (bytes.empty()) return;
  const ContentKind kind = Recognise(bytes);
  if (bytes.size() < kProbe && !IsArchive(kind)) {
    CouldNotOpen(path_, {});
    return;
  }
  const std::string_view extension = Extension(path_);
  if (extension.empty()) return;
  if (extension == ".cubin") {
    if (!IsCudaElf(kind)) {
      CheckPromise(kind);
    } else {
      CubinLikeNvlink(bytes, kind);
    }
  } else if (extension == ".ptx") {
    if (kind == ContentKind::kPtx || kind == ContentKind::kFatbin) {
      Add({path_, 0}, kind, bytes);
    } else if (IsCudaElf(kind)) {
      CubinLikeNvlink(bytes, kind);
    } else {
      CheckPromise(kind);
    }
  } else if ((extension == ".fatbin" && kind == ContentKind::kFatbin) ||
             ((extension == ".nvvm" || extension == ".ltoir") && options_.lto &&
              kind == ContentKind::kLtoIr)) {
    Add({path_, 0}, kind, bytes);
  } else if (extension == ".fatbin" || extension == ".nvvm" || extension == ".ltoir" ||
             extension == ".bc") {
    CheckPromise(kind);
  } else if (IsArchive(kind)) {
    ArchiveLikeNvlink(bytes);
  } else if (extension == ".so") {
    return;
  } else if (extension == ".o" && IsCudaElf(kind)) {
    CubinLikeNvlink(bytes, kind);
  } else if (kind == ContentKind::kHostRelocatable || kind == ContentKind::kCudaRelocatable) {
    HostObjectLikeNvlink({path_, 0}, bytes);
  }
}

}  // namespace

Expansion ExpandInput(std::string_view name, base::Bytes bytes, const ExpandOptions& options) {
  Expansion out;
  Expander expander(name, options, out);
  if (options.compatibility == Compatibility::kDevlink) {
    expander.ExpandByContent(bytes);
  } else {
    expander.ExpandByExtension(bytes);
  }
  return out;
}

}  // namespace devlink::internal
