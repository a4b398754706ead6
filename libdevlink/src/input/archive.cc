// SPDX-License-Identifier: Apache-2.0
#include "input/archive.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "base/text_bytes.h"
#include "format/magics.h"

namespace devlink::internal {

namespace {

// A member's header: text in fields of fixed width, filled up with spaces.
struct Header {
  char name[16];
  char date[12];
  char user[6];
  char group[6];
  char mode[8];
  char size[10];
  char end[2];
};
static_assert(sizeof(Header) == 60);

// Members begin at even offsets.
constexpr std::uint64_t kAlign = 2;
// Longer than any path that this system opens. Thousands of members may share one long name.
constexpr std::uint64_t kMaxName = 4096;

std::string_view WithoutPadding(std::string_view field) {
  return field.substr(0, field.find_last_not_of(' ') + 1);
}

std::optional<std::uint64_t> Number(std::string_view text) {
  std::uint64_t value = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// Where a thin archive's member lies. Spellings of one path with `./` and `//` become one.
std::string MemberPath(std::string_view archive, std::string_view member) {
  const std::size_t slash = archive.rfind('/');
  std::string path;
  if (!member.starts_with('/') && slash != std::string_view::npos) {
    path = archive.substr(0, slash + 1);
  } else if (member.starts_with('/')) {
    path = "/";
  }
  bool first = true;
  while (!member.empty()) {
    const std::size_t end = std::min(member.find('/'), member.size());
    const std::string_view step = member.substr(0, end);
    member.remove_prefix(std::min(end + 1, member.size()));
    if (step.empty() || step == ".") continue;
    if (!std::exchange(first, false)) path += '/';
    path += step;
  }
  return path;
}

class ArchiveReader {
 public:
  ArchiveReader(std::string_view name, base::Bytes bytes, const FileReader& read_file)
      : name_(name), bytes_(bytes), read_file_(read_file) {}

  absl::StatusOr<Archive> Read() {
    const std::string_view magic = base::TextOf(bytes_).substr(0, kMagicSize);
    out_.thin = magic == format::kThinArchiveMagic;
    if (!out_.thin && magic != format::kArchiveMagic) return Bad("it is not an archive");
    at_ = kMagicSize;
    while (at_ < bytes_.size()) DEVLINK_RETURN_IF_ERROR(ReadMember());
    return std::move(out_);
  }

 private:
  static constexpr std::uint64_t kMagicSize = format::kArchiveMagic.size();

  [[nodiscard]] absl::Status Bad(std::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", base::ToAbsl(name_), "' is damaged: ", base::ToAbsl(what), " (offset ", at_, ")"));
  }
  [[nodiscard]] absl::Status Foreign(std::string_view form) const {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", base::ToAbsl(name_), "' is an archive in the form of ", base::ToAbsl(form),
        " (offset ", at_, "); make it again with ar of GNU binutils or llvm-ar --format=gnu"));
  }

  // The member at `at_`, which moves on to the next.
  absl::Status ReadMember() {
    const base::BoundedReader reader(bytes_);
    Header header;
    if (!reader.Read(at_, header)) return Bad("the header of a member is cut off");
    if (header.end[0] != '`' || header.end[1] != '\n') return Bad("no member begins here");
    const auto size = Number(WithoutPadding({header.size, sizeof(header.size)}));
    if (!size) return Bad("the size of a member is not a number");
    // From the archive, not from the copy: the member's name is a view.
    const std::string_view name =
        WithoutPadding(base::TextOf(bytes_.subspan(at_, sizeof(header.name))));
    const bool is_table = name == "/" || name == "//" || name == "/SYM64/";
    const std::uint64_t begin = at_ + sizeof(header);
    base::Bytes data;
    if (!out_.thin || is_table) {
      const auto slice = reader.Slice(begin, *size);
      if (!slice) {
        return Bad(absl::StrCat("a member has ", *size, " bytes and ends behind the file of ",
                                bytes_.size(), " bytes"));
      }
      data = *slice;
    }
    DEVLINK_RETURN_IF_ERROR(is_table ? TakeTable(name, data) : TakeMember(name, data));
    is_first_ = false;
    // The last one need not be filled up.
    at_ = begin + data.size();
    at_ += at_ % kAlign;
    return absl::OkStatus();
  }

  // Names, or symbols, which a device linker does not look for.
  absl::Status TakeTable(std::string_view name, base::Bytes data) {
    if (name == "//") {
      if (std::exchange(has_names_, true)) return Bad("there is a second table of names");
      names_ = base::TextOf(data);
      return absl::OkStatus();
    }
    // The linker member of COFF comes twice.
    return std::exchange(has_symbols_, true) ? Foreign("COFF") : absl::OkStatus();
  }

  absl::Status TakeMember(std::string_view field, base::Bytes data) {
    ArchiveMember member;
    member.offset = at_;
    bool is_bsd = false;
    if (field.starts_with("#1/")) {
      is_bsd = true;
      DEVLINK_ASSIGN_OR_RETURN(member.name, BsdName(field.substr(3), data));
    } else if (field.starts_with("/<")) {
      return Foreign("COFF");
    } else if (field.starts_with('/')) {
      DEVLINK_ASSIGN_OR_RETURN(member.name, LongName(field.substr(1)));
    } else {
      member.name = field.substr(0, field.find('/'));
    }
    if (member.name.starts_with("__.SYMDEF_64")) return Foreign("Darwin");
    const bool is_symbols = member.name == "__.SYMDEF" || member.name == "__.SYMDEF SORTED";
    if (is_first_) out_.names_before_data = is_bsd || is_symbols;
    if (is_symbols) return absl::OkStatus();
    member.bytes = data;
    if (out_.thin) DEVLINK_RETURN_IF_ERROR(FillThin(member));
    out_.members.push_back(member);
    return absl::OkStatus();
  }

  // `#1/20`: the name stands before the member's own bytes, filled up with NULs.
  [[nodiscard]] absl::StatusOr<std::string_view> BsdName(std::string_view length,
                                                         base::Bytes& data) const {
    const auto size = Number(length);
    if (!size || *size > data.size() || out_.thin) {
      return Bad("the name of a member does not lie within the member");
    }
    if (*size > kMaxName) return TooLong();
    const std::string_view name = base::TextOf(data.first(*size));
    data = data.subspan(*size);
    return name.substr(0, name.find('\0'));
  }

  // `/18`: the name stands in the table of names, and `/` with a newline behind it.
  [[nodiscard]] absl::StatusOr<std::string_view> LongName(std::string_view offset) const {
    const auto begin = Number(offset);
    if (!begin || *begin >= names_.size()) {
      return Bad("the name of a member does not lie within the table of names");
    }
    const std::string_view rest = names_.substr(*begin, kMaxName + 2);
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos && rest.size() > kMaxName) return TooLong();
    if (end == std::string_view::npos || end == 0 || rest[end - 1] != '/') {
      return Bad("the name of a member has no end in the table of names");
    }
    return rest.substr(0, end - 1);
  }

  [[nodiscard]] absl::Status TooLong() const {
    return Bad(absl::StrCat("the name of a member is longer than ", kMaxName, " bytes"));
  }

  absl::Status FillThin(ArchiveMember& member) {
    const std::string path = MemberPath(name_, member.name);
    if (const auto known = files_.find(path); known != files_.end()) {
      member.bytes = known->second;
      return absl::OkStatus();
    }
    if (read_file_ == nullptr) {
      return absl::NotFoundError(absl::StrCat(
          "'", base::ToAbsl(name_), "' is a thin archive: its member '", path, "' at offset ",
          member.offset,
          " is a file of its own, and an input from memory opens no files. Add the "
          "archive as a file, or as a regular archive, or set the option read_thin_members"));
    }
    auto bytes = read_file_(path);
    if (!bytes.ok()) {
      const std::string what =
          absl::StrCat("'", path, "', a member of the thin archive '", base::ToAbsl(name_),
                       "' at offset ", member.offset, ": ", bytes.status().message());
      return absl::IsResourceExhausted(bytes.status()) ? absl::ResourceExhaustedError(what)
                                                       : absl::NotFoundError(what);
    }
    out_.owned.push_back(*std::move(bytes));
    member.bytes = out_.owned.back();
    files_.emplace(path, member.bytes);
    return absl::OkStatus();
  }

  const std::string_view name_;
  const base::Bytes bytes_;
  const FileReader& read_file_;
  Archive out_;
  std::uint64_t at_ = 0;
  std::string_view names_;
  bool has_names_ = false;
  bool has_symbols_ = false;
  bool is_first_ = true;
  // An archive that names one file a thousand times holds it in memory once.
  std::map<std::string, base::Bytes> files_;
};

}  // namespace

absl::StatusOr<Archive> ReadArchive(std::string_view name, base::Bytes bytes,
                                    const FileReader& read_file) {
  return ArchiveReader(name, bytes, read_file).Read();
}

}  // namespace devlink::internal
