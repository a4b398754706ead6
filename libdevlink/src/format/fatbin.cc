// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/fatbin.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/align.h"
#include "base/bounded_reader.h"
#include "base/guard.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "base/text_bytes.h"
#include "format/compression.h"
#include "format/extract_member.h"
#include "format/fatbin_format.h"
#include "format/nv_compat.h"

namespace devlink {

namespace {

using base::BoundedReader;
using base::Bytes;
using format::DescribePlace;
using format::FatbinHeader;
using format::FatbinMemberHeader;

absl::Status Damaged(const FatbinMember& member, std::string_view what) {
  return absl::OutOfRangeError(absl::StrCat(DescribePlace(member), base::ToAbsl(what)));
}

CodeKind KindOf(std::uint16_t raw) {
  switch (raw) {
    case format::kFatbinPtx:
      return CodeKind::kPtx;
    case format::kFatbinElf:
      return CodeKind::kSass;
    case format::kFatbinNvvm:
      return CodeKind::kNvvm;
    default:
      return CodeKind::kOther;
  }
}

Arch ArchOf(const FatbinMemberHeader& header) {
  Arch arch;
  if (header.arch <= std::numeric_limits<std::uint16_t>::max()) {
    arch.number = static_cast<std::uint16_t>(header.arch);
  }
  if ((header.flags & format::kFatbinArchSpecific) != 0) {
    arch.variant = 'a';
  } else if ((header.flags & format::kFatbinFamilySpecific) != 0) {
    arch.variant = 'f';
  }
  return arch;
}

// Whether a compatibility record, behind the zero byte that begins it, says with its tag 09 that
// the code runs on its own number only.
bool IsArchSpecific(Bytes record) {
  constexpr std::uint64_t kEntrySize = 4;  // u8 format, u8 tag, u16 value
  constexpr auto kTag = static_cast<std::uint8_t>(format::CompatTag::kAcceleratorTarget);
  const BoundedReader reader(record);
  for (std::uint64_t at = 1; at + kEntrySize <= record.size(); at += kEntrySize) {
    if (record[at] == format::kInfoByteValue && record[at + 1] == kTag) {
      return reader.ReadOrZero<std::uint16_t>(at + 2) != 0;
    }
  }
  return false;
}

// Texts that stand behind the fixed part of a member's header.
absl::Status ReadTail(const FatbinMemberHeader& header, Bytes head, FatbinMember& member) {
  const BoundedReader reader(head);
  if (header.ident_offset != 0) {
    const auto ident = reader.Slice(header.ident_offset, header.ident_length);
    if (!ident) return Damaged(member, "its identifier lies outside its header");
    member.ident = base::TextOf(*ident);
  }
  if (header.extension != 0) {
    format::FatbinExtension extension = {};
    if (!reader.Read(header.extension, extension)) {
      return Damaged(member, "its extension record lies outside its header");
    }
    const auto data = reader.Slice(extension.offset, extension.length);
    if (!data) return Damaged(member, "the data of its extension record lie outside its header");
    if (member.kind == CodeKind::kSass) {
      member.extension = *data;
    } else {
      member.options = base::TextOf(*data);
    }
  }
  return absl::OkStatus();
}

absl::Status ReadCompression(const FatbinMemberHeader& header, FatbinMember& member) {
  member.is_unknown_compression = (header.flags & format::kFatbinOtherCompressions) != 0;
  const bool zstd = (header.flags & format::kFatbinZstd) != 0;
  const bool lz4 = (header.flags & format::kFatbinLz4) != 0;
  if (zstd && lz4) return Damaged(member, "its flags name two compressions");
  if (!zstd && !lz4) {
    member.uncompressed_size = member.payload.size();
    return absl::OkStatus();
  }
  member.compression = zstd ? FatbinCompression::kZstd : FatbinCompression::kLz4;
  if (header.compressed_size == 0 || header.compressed_size > member.payload.size()) {
    return Damaged(member, absl::StrCat("its compressed size is ", header.compressed_size,
                                        ", its payload has ", member.payload.size(), " bytes"));
  }
  member.payload = member.payload.first(header.compressed_size);
  member.uncompressed_size = header.uncompressed_size;
  return absl::OkStatus();
}

// Reads the member at the beginning of `bytes`, all that is left of its container; `size` becomes
// the size of the whole member. Container, index and offset of `member` are set already.
absl::Status ReadMember(Bytes bytes, FatbinMember& member, std::uint64_t& size) {
  const BoundedReader reader(bytes);
  FatbinMemberHeader header = {};
  if (!reader.Read(0, header)) {
    return Damaged(member,
                   absl::StrCat("its header is cut off: ", bytes.size(), " bytes are left"));
  }
  if (header.header_size < sizeof(header)) {
    return Damaged(member, absl::StrCat("its header cannot have ", header.header_size, " bytes"));
  }
  const auto head = reader.Slice(0, header.header_size);
  const auto payload = reader.Slice(header.header_size, header.size);
  if (!head || !payload) {
    return Damaged(member, absl::StrCat("it is cut off: its header has ", header.header_size,
                                        " bytes and its payload ", header.size, ", but only ",
                                        bytes.size(), " bytes are left of the container"));
  }
  size = std::uint64_t{header.header_size} + header.size;
  member.whole = bytes.first(size);
  member.raw_kind = header.kind;
  member.kind = KindOf(header.kind);
  member.arch = ArchOf(header);
  if (member.kind != CodeKind::kOther && member.arch.number == 0) {
    return Damaged(member, absl::StrCat(header.arch, " is not an architecture number"));
  }
  member.raw_flags = header.flags;
  member.is_64bit = (header.flags & format::kFatbin64Bit) != 0;
  member.is_debug = (header.flags & format::kFatbinDebug) != 0;
  member.is_linux_host = (header.flags & format::kFatbinLinux) != 0;
  member.is_obfuscated = (header.flags & format::kFatbinObfuscated) != 0;
  member.has_compat_record = (header.flags & format::kFatbinCompat) != 0;
  member.code_version_major = header.code_version_major;
  member.code_version_minor = header.code_version_minor;
  member.obfuscation_key = header.key;
  member.payload = *payload;
  // What a kind that is not known keeps behind its header, or does to its payload, is not known.
  if (member.kind == CodeKind::kOther) {
    member.uncompressed_size = member.payload.size();
    return absl::OkStatus();
  }
  DEVLINK_RETURN_IF_ERROR(ReadTail(header, *head, member));
  return ReadCompression(header, member);
}

// The container at `offset`, which must be there.
absl::StatusOr<FatbinHeader> ReadContainer(const BoundedReader& reader, std::uint64_t offset,
                                           std::size_t number) {
  const std::string where =
      absl::StrCat("fat binary: container ", number, " (offset ", offset, "): ");
  FatbinHeader header = {};
  if (!reader.Read(offset, header)) {
    return absl::OutOfRangeError(absl::StrCat(where, "its header is cut off"));
  }
  if (header.version != format::kFatbinVersion) {
    return absl::UnimplementedError(
        absl::StrCat(where, "version ", header.version, "; only version 1 is known"));
  }
  if (header.header_size < sizeof(header)) {
    return absl::OutOfRangeError(
        absl::StrCat(where, "its header cannot have ", header.header_size, " bytes"));
  }
  const std::uint64_t left = reader.size() - offset;
  if (header.header_size > left || header.size > left - header.header_size) {
    return absl::OutOfRangeError(absl::StrCat(where, "it is cut off: it should have ",
                                              header.header_size, " + ", header.size,
                                              " bytes, but only ", left, " are left"));
  }
  return header;
}

}  // namespace

absl::StatusOr<Fatbin> Fatbin::Parse(Bytes bytes, const FatbinLimits& limits) {
  return base::Guard([&]() -> absl::StatusOr<Fatbin> {
    const BoundedReader reader(bytes);
    if (reader.ReadOrZero<std::uint32_t>(0) != format::kFatbinMagic) {
      return absl::InvalidArgumentError("not a fat binary: it does not begin with 50 ed 55 ba");
    }
    Fatbin out;
    out.limits_ = limits;
    std::uint64_t at = 0;
    while (at < bytes.size()) {
      const Bytes rest = bytes.subspan(at);
      if (reader.ReadOrZero<std::uint32_t>(at) != format::kFatbinMagic) {
        const Bytes word = rest.first(std::min<std::size_t>(rest.size(), format::kFatbinAlign));
        if (std::any_of(word.begin(), word.end(), [](std::uint8_t b) { return b != 0; })) {
          return absl::OutOfRangeError(absl::StrCat("fat binary: behind container ",
                                                    out.container_count_ - 1, " (offset ", at,
                                                    ") there is neither another one nor padding"));
        }
        at += word.size();
        continue;
      }
      const std::size_t number = out.container_count_++;
      DEVLINK_ASSIGN_OR_RETURN(const FatbinHeader header, ReadContainer(reader, at, number));
      const Bytes content = rest.subspan(header.header_size, header.size);
      std::uint64_t done = 0;
      for (std::size_t index = 0; done < content.size(); ++index) {
        if (out.members_.size() >= limits.max_members) {
          return absl::ResourceExhaustedError(
              absl::StrCat("fat binary: more than ", limits.max_members, " members"));
        }
        FatbinMember member;
        member.container = number;
        member.index = index;
        member.offset = at + header.header_size + done;
        std::uint64_t size = 0;
        DEVLINK_RETURN_IF_ERROR(ReadMember(content.subspan(done), member, size));
        done += size;
        out.members_.push_back(member);
      }
      if (limits.only_first_container) break;
      at = std::min<std::uint64_t>(
          base::AlignUp(at + header.header_size + header.size, format::kFatbinAlign), bytes.size());
    }
    return out;
  });
}

std::vector<CodeCandidate> Fatbin::Candidates() const {
  std::vector<CodeCandidate> out;
  out.reserve(members_.size());
  for (const FatbinMember& member : members_) {
    out.push_back({member.kind, member.arch, member.is_64bit, member.has_compat_record,
                   member.has_compat_record && IsArchSpecific(member.extension)});
  }
  return out;
}

absl::StatusOr<std::vector<std::uint8_t>> Fatbin::Extract(const FatbinMember& member) const {
  return base::Guard([&] {
    format::ZstdDecompressor zstd;
    return format::ExtractMember(member, limits_, zstd);
  });
}

absl::StatusOr<std::vector<std::uint8_t>> Fatbin::Isolate(const FatbinMember& member) const {
  return base::Guard([&]() -> absl::StatusOr<std::vector<std::uint8_t>> {
    // In their order; a view of another fat binary's bytes is equal to none.
    const auto own = std::lower_bound(
        members_.begin(), members_.end(), member.offset,
        [](const FatbinMember& left, std::uint64_t offset) { return left.offset < offset; });
    if (own == members_.end() || own->whole.data() != member.whole.data() ||
        own->whole.size() != member.whole.size()) {
      return absl::OutOfRangeError(
          absl::StrCat(DescribePlace(member), "it belongs to another fat binary"));
    }
    const FatbinHeader header = {format::kFatbinMagic, format::kFatbinVersion, sizeof(FatbinHeader),
                                 member.whole.size()};
    std::vector<std::uint8_t> out(sizeof(header) + member.whole.size());
    std::memcpy(out.data(), &header, sizeof(header));
    std::copy(member.whole.begin(), member.whole.end(), out.begin() + sizeof(header));
    return out;
  });
}

Fatbin::Error FatbinErrorOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return Fatbin::Error::kNone;
    case absl::StatusCode::kInvalidArgument:
      return Fatbin::Error::kNotFatbin;
    case absl::StatusCode::kUnimplemented:
      return Fatbin::Error::kVersion;
    case absl::StatusCode::kDataLoss:
      return Fatbin::Error::kUncompress;
    case absl::StatusCode::kResourceExhausted:
      return Fatbin::Error::kTooLarge;
    case absl::StatusCode::kFailedPrecondition:
      return Fatbin::Error::kObfuscated;
    default:
      return Fatbin::Error::kDamaged;
  }
}

}  // namespace devlink
