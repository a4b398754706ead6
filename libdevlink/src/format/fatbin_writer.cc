// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/fatbin_writer.h"

#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/align.h"
#include "base/bounded_reader.h"
#include "base/guard.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "base/value_bytes.h"
#include "format/compression.h"
#include "format/elf_cuda.h"
#include "format/fatbin_format.h"
#include "format/ptx_text.h"
#include "format/sm_traits.h"

namespace devlink {

namespace {

using base::BoundedReader;
using base::Bytes;

// LTO IR: where fatbinary looks for its version and its key. A code with a key is obfuscated by
// fatbinary.
constexpr std::uint64_t kLtoIrMajor = 4;
constexpr std::uint64_t kLtoIrMinor = 5;
constexpr std::uint64_t kLtoIrKey = 0x28;

// A zero byte and what of `.nv.compat` fits behind it.
constexpr std::size_t kCompatRecordSize = 36;

// A larger cubin is compressed in every mode but kNone.
constexpr std::size_t kMostPlainCubin = 10'000'000;

void AppendBytes(Bytes bytes, std::vector<std::uint8_t>& out) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void AppendText(std::string_view text, std::vector<std::uint8_t>& out) {
  AppendBytes({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, out);
}

// The record for fat binaries of a cubin's `.nv.compat`; nothing where it has none.
std::optional<std::string> CompatRecord(const BoundedReader& reader, const format::Ehdr& header) {
  const std::uint64_t count =
      format::SectionCountOf(header, reader.ReadOrZero<format::Shdr>(header.shoff));
  for (std::uint64_t i = 0; i < count; ++i) {
    format::Shdr section = {};
    if (!reader.Read(header.shoff + i * sizeof(section), section)) return std::nullopt;
    if (section.type != format::kShtCudaCompat) continue;
    const auto content = reader.Slice(section.offset, section.size);
    if (!content) return std::nullopt;
    std::string out(1, '\0');
    out.append(reinterpret_cast<const char*>(content->data()), content->size());
    out.resize(kCompatRecordSize);
    return out;
  }
  return std::nullopt;
}

absl::StatusOr<std::vector<std::uint8_t>> Compress(Bytes bytes, FatbinCompressMode mode) {
  switch (mode) {
    case FatbinCompressMode::kSpeed:
      return format::CompressLz4(bytes);
    case FatbinCompressMode::kSize:
      return format::CompressZstd(bytes, format::kZstdLevelSize);
    default:
      return format::CompressZstd(bytes, format::kZstdLevelDefault);
  }
}

std::uint16_t RawKind(CodeKind kind) {
  if (kind == CodeKind::kPtx) return format::kFatbinPtx;
  return kind == CodeKind::kSass ? format::kFatbinElf : format::kFatbinNvvm;
}

std::uint64_t ArchFlags(Arch arch) {
  if (arch.variant == 'a') return format::kFatbinArchSpecific;
  return arch.variant == 'f' ? format::kFatbinFamilySpecific : 0;
}

// What stands behind the fixed part of a member's header.
std::vector<std::uint8_t> Tail(std::string_view ident, std::string_view extension,
                               bool has_extension, format::FatbinMemberHeader& header) {
  std::vector<std::uint8_t> out;
  const auto pad = [&] { out.resize(base::AlignUp(out.size(), format::kFatbinAlign)); };
  if (!ident.empty()) {
    header.ident_offset = sizeof(header);
    header.ident_length = static_cast<std::uint32_t>(ident.size());
    AppendText(ident, out);
    out.push_back(0);
    pad();
  }
  if (has_extension) {
    header.extension = static_cast<std::uint32_t>(sizeof(header) + out.size());
    base::AppendValue(
        out, format::FatbinExtension{
                 static_cast<std::uint32_t>(header.extension + sizeof(format::FatbinExtension)),
                 static_cast<std::uint32_t>(extension.size())});
    AppendText(extension, out);
    out.push_back(0);
    pad();
  }
  return out;
}

}  // namespace

FatbinWriter::FatbinWriter(FatbinWriterOptions options) : options_(std::move(options)) {}

absl::Status FatbinWriter::AddCubin(Bytes cubin, Arch arch) {
  return base::Guard([&]() -> absl::Status {
    const BoundedReader reader(cubin);
    format::Ehdr header = {};
    if (!reader.Read(0, header) || !format::HasElfMagic(header) ||
        header.ident[format::kIdentClass] != format::kClass64 ||
        header.machine != format::kMachineCuda) {
      return absl::InvalidArgumentError("fat binary writer: not a 64-bit cubin");
    }
    const std::uint32_t number = format::SmOf(header);
    if (number != arch.number) {
      return absl::InvalidArgumentError(absl::StrCat("fat binary writer: the cubin is for sm_",
                                                     number, ", not for ",
                                                     base::ToAbsl(arch.Name())));
    }
    Code code;
    code.kind = CodeKind::kSass;
    code.arch = arch;
    code.version_major = 1;
    code.version_minor = header.ident[8];
    code.bytes.assign(cubin.begin(), cubin.end());
    if (format::TraitsOf(arch).has_fatbin_record) {
      auto record = CompatRecord(reader, header);
      code.has_compat_record = record.has_value();
      if (record) code.extension = *std::move(record);
    }
    codes_.push_back(std::move(code));
    return absl::OkStatus();
  });
}

absl::Status FatbinWriter::AddPtx(std::string_view text, Arch arch,
                                  std::string_view ptxas_options) {
  return base::Guard([&]() -> absl::Status {
    const auto version = format::FindPtxVersion(text);
    if (!version) {
      return absl::InvalidArgumentError(
          "fat binary writer: no .version directive is found in the PTX");
    }
    Code code;
    code.kind = CodeKind::kPtx;
    code.arch = arch;
    code.version_major = version->major;
    code.version_minor = version->minor;
    code.extension = ptxas_options;
    const std::string compact = format::CompactPtx(text);
    code.bytes.assign(compact.begin(), compact.end());
    code.bytes.push_back(0);
    codes_.push_back(std::move(code));
    return absl::OkStatus();
  });
}

absl::Status FatbinWriter::AddLtoIr(Bytes bytes, Arch arch, std::string_view cicc_options) {
  return base::Guard([&]() -> absl::Status {
    const BoundedReader reader(bytes);
    std::uint32_t key = 0;
    if (!reader.Read(kLtoIrKey, key) ||
        reader.ReadOrZero<std::uint32_t>(0) != format::MagicWord(format::kLtoIrMagicText)) {
      return absl::InvalidArgumentError("fat binary writer: not LTO IR");
    }
    Code code;
    code.kind = CodeKind::kNvvm;
    code.arch = arch;
    code.version_major = bytes[kLtoIrMajor];
    code.version_minor = bytes[kLtoIrMinor];
    code.extension = cicc_options;
    code.bytes.assign(bytes.begin(), bytes.end());
    codes_.push_back(std::move(code));
    return absl::OkStatus();
  });
}

absl::Status FatbinWriter::Append(const Code& code, std::vector<std::uint8_t>& out) const {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  // Leaves room for the fixed parts and the padding.
  if (options_.ident.size() + code.extension.size() > kMost / 2) {
    return absl::ResourceExhaustedError(
        "fat binary writer: identifier and options are too long for a member");
  }
  format::FatbinMemberHeader header = {};
  header.kind = RawKind(code.kind);
  header.version = format::kFatbinMemberVersion;
  header.code_version_major = code.version_major;
  header.code_version_minor = code.version_minor;
  header.arch = code.arch.number;
  header.flags = format::kFatbin64Bit | format::kFatbinLinux | ArchFlags(code.arch);
  if (options_.is_debug) header.flags |= format::kFatbinDebug;
  if (code.has_compat_record) header.flags |= format::kFatbinCompat;
  const auto tail = Tail(options_.ident, code.extension,
                         code.kind != CodeKind::kSass || code.has_compat_record, header);
  header.header_size = static_cast<std::uint32_t>(sizeof(header) + tail.size());

  const FatbinCompressMode mode = options_.mode;
  bool compress = mode != FatbinCompressMode::kNone;
  if (code.kind == CodeKind::kSass) {
    compress = compress && (mode == FatbinCompressMode::kSize || options_.compress_all ||
                            options_.is_debug || code.bytes.size() > kMostPlainCubin);
  } else if (code.kind == CodeKind::kNvvm) {
    const BoundedReader reader(code.bytes);
    compress = compress && reader.ReadOrZero<std::uint32_t>(kLtoIrKey) == 0;
  }
  std::vector<std::uint8_t> compressed;
  Bytes payload = code.bytes;
  if (compress) {
    DEVLINK_ASSIGN_OR_RETURN(compressed, Compress(code.bytes, mode));
    if (compressed.size() > kMost) {
      return absl::ResourceExhaustedError("fat binary writer: a member compresses to over 4 GiB");
    }
    payload = compressed;
    header.flags |= mode == FatbinCompressMode::kSpeed ? format::kFatbinLz4 : format::kFatbinZstd;
    header.compressed_size = static_cast<std::uint32_t>(compressed.size());
    header.uncompressed_size = code.bytes.size();
  }
  header.size = base::AlignUp(payload.size(), format::kFatbinAlign);
  base::AppendValue(out, header);
  AppendBytes(tail, out);
  AppendBytes(payload, out);
  out.resize(base::AlignUp(out.size(), format::kFatbinAlign));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::uint8_t>> FatbinWriter::Write() const {
  return base::Guard([&]() -> absl::StatusOr<std::vector<std::uint8_t>> {
    if (codes_.empty()) {
      return absl::FailedPreconditionError("fat binary writer: no code was added");
    }
    std::vector<std::uint8_t> out(sizeof(format::FatbinHeader));
    for (const Code& code : codes_) DEVLINK_RETURN_IF_ERROR(Append(code, out));
    const format::FatbinHeader header = {format::kFatbinMagic, format::kFatbinVersion,
                                         sizeof(format::FatbinHeader), out.size() - sizeof(header)};
    std::memcpy(out.data(), &header, sizeof(header));
    return out;
  });
}

}  // namespace devlink
