// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/lto_ir.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/bounded_reader.h"
#include "base/guard.h"
#include "base/strings.h"
#include "format/magics.h"
#include "format/sm_traits.h"

namespace devlink {

namespace {

using base::BoundedReader;
using base::Bytes;

constexpr std::string_view kMagicText = format::kLtoIrMagicText;
constexpr std::uint32_t kMagic = format::MagicWord(kMagicText);

// Everything before the tags.
struct FixedHeader {
  std::uint32_t magic;
  LtoIrVersions versions;
  std::uint16_t size;  // of this struct: where the tags begin
  std::uint16_t unknown;
  std::uint32_t key_offset;
  std::uint32_t payload_offset;
};
static_assert(sizeof(FixedHeader) == 24 && sizeof(LtoIrVersions) == 8);

constexpr std::size_t kTagSize = 4;

// In every container that NVIDIA's tools make; what they mean is not known.
constexpr LtoIrTag kTag2 = {2, 2};
constexpr std::uint16_t kUnknown = 1;

constexpr LtoIrVersion kOldLlvm = {7, 0};

std::string Text(LtoIrVersion version) { return absl::StrCat(version.major, ".", version.minor); }

bool BeginsWith(Bytes bytes, std::string_view text) {
  return bytes.size() >= text.size() &&
         std::equal(text.begin(), text.end(), bytes.begin(),
                    [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

bool Contains(Bytes bytes, std::string_view text) {
  return std::search(bytes.begin(), bytes.end(), text.begin(), text.end(),
                     [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); }) !=
         bytes.end();
}

bool IsText(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t b) {
    return b >= 0x20 || b == '\n' || b == '\r' || b == '\t';
  });
}

bool IsBitcode(Bytes bytes) {
  return BeginsWith(bytes, format::kBitcodeMagic) ||
         BeginsWith(bytes, format::kBitcodeWrapperMagic);
}

// What bytes that are not LTO IR look like, as the end of "not LTO IR: ".
std::string_view LooksLike(Bytes bytes) {
  if (bytes.empty()) return "it is empty";
  if (IsBitcode(bytes)) {
    return "it is LLVM bitcode without the container; have libNVVM compile it with -gen-lto";
  }
  if (BeginsWith(bytes, format::kElfMagic)) return "it is an ELF file, an object or a cubin";
  if (BeginsWith(bytes, format::kFatbinMagicText)) return "it is a fat binary; name it .fatbin";
  if (BeginsWith(bytes, format::kArchiveMagic)) return "it is an archive; name it .a";
  const Bytes head = bytes.first(std::min<std::size_t>(bytes.size(), 4096));
  if (IsText(head)) {
    if (Contains(head, ".version") && Contains(head, ".target")) {
      return "it is PTX; name it .ptx";
    }
    if (Contains(head, "target triple") || Contains(head, "define ") ||
        Contains(head, "source_filename")) {
      return "it is LLVM IR as text; have libNVVM compile it with -gen-lto";
    }
    return "it is text";
  }
  return "it does not begin with ed 43 4e 7f";
}

absl::Status CutOff(std::string_view what, std::size_t size) {
  return absl::OutOfRangeError(absl::StrCat("LTO IR: ", base::ToAbsl(what), "; the file has ", size,
                                            " bytes and was probably cut off"));
}

// Up to the pair of zeros that ends them, which must come before the area with the key.
absl::Status ReadTags(Bytes bytes, const FixedHeader& header, LtoIr& out) {
  const BoundedReader reader(bytes);
  for (std::uint64_t at = header.size; at + kTagSize <= header.key_offset; at += kTagSize) {
    LtoIrTag tag;
    if (!reader.Read(at, tag.tag) || !reader.Read(at + 2, tag.value)) {
      return CutOff("the tags of its header are incomplete", bytes.size());
    }
    if (tag == LtoIrTag{}) return absl::OkStatus();
    if (tag.tag == LtoIrTag::kArch) out.arch.number = tag.value / 10;
    if (tag.tag == LtoIrTag::kArchSpecific && tag.value != 0) out.arch.variant = 'a';
    out.tags.push_back(tag);
  }
  return absl::OutOfRangeError(
      "LTO IR: the tags of its header run into what follows them: the file is damaged");
}

// Where a tag says that there is one.
absl::Status ReadKey(Bytes bytes, const FixedHeader& header, LtoIr& out) {
  for (const LtoIrTag& tag : out.tags) {
    if (tag.tag != LtoIrTag::kKey) continue;
    const std::uint64_t at = std::uint64_t{header.key_offset} + tag.value;
    if (!BoundedReader(bytes).Read(at, out.key)) {
      return CutOff(absl::StrCat("its key should stand at offset ", at), bytes.size());
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LtoIr> LtoIr::Parse(Bytes bytes) {
  return base::Guard([&]() -> absl::StatusOr<LtoIr> {
    const BoundedReader reader(bytes);
    if (!bytes.empty() && bytes.size() < kMagicText.size() &&
        BeginsWith(bytes, kMagicText.substr(0, bytes.size()))) {
      return CutOff("its header is incomplete", bytes.size());
    }
    if (reader.ReadOrZero<std::uint32_t>(0) != kMagic) {
      return absl::InvalidArgumentError(
          absl::StrCat("not LTO IR: ", base::ToAbsl(LooksLike(bytes))));
    }
    FixedHeader header = {};
    if (!reader.Read(0, header)) return CutOff("its header is incomplete", bytes.size());
    LtoIr out;
    out.versions = header.versions;
    out.tags_offset = header.size;
    if (header.size < sizeof(header) || header.key_offset < header.size ||
        header.payload_offset < header.size) {
      return absl::OutOfRangeError(absl::StrCat(
          "LTO IR: its header says that tags, key and payload begin at ", header.size, ", ",
          header.key_offset, " and ", header.payload_offset, ": the file is damaged"));
    }
    if (header.key_offset >= bytes.size()) {
      return CutOff(absl::StrCat("its key should stand at offset ", header.key_offset),
                    bytes.size());
    }
    auto status = ReadTags(bytes, header, out);
    if (status.ok()) status = ReadKey(bytes, header, out);
    if (!status.ok()) return status;
    if (header.payload_offset >= bytes.size()) {
      return CutOff(absl::StrCat("its payload should begin at offset ", header.payload_offset),
                    bytes.size());
    }
    out.payload = bytes.subspan(header.payload_offset);
    return out;
  });
}

absl::Status LtoIr::Check(Arch target, const LtoIrVersions& newest) const {
  return base::Guard([&]() -> absl::Status {
    const auto unreadable = [](std::string_view what, LtoIrVersion has, LtoIrVersion reads) {
      return absl::FailedPreconditionError(
          absl::StrCat("LTO IR: its ", base::ToAbsl(what), " version is ", Text(has),
                       ", and this libNVVM reads ", Text(reads),
                       has > reads ? "; link with the toolkit that compiled it, or a later one"
                                   : "; compile the source again with a toolkit of CUDA 12 or 13"));
    };
    const auto differs = [](LtoIrVersion has, LtoIrVersion reads) {
      return has.major != reads.major || has.minor > reads.minor;
    };
    if (differs(versions.container, newest.container)) {
      return unreadable("container", versions.container, newest.container);
    }
    if (differs(versions.ir, newest.ir)) return unreadable("NVVM IR", versions.ir, newest.ir);
    if (differs(versions.debug, newest.debug)) {
      return unreadable("debug information", versions.debug, newest.debug);
    }
    if (!format::TraitsOf(target).has_later_nvvm && versions.llvm > kOldLlvm) {
      return absl::FailedPreconditionError(absl::StrCat(
          "LTO IR: it was compiled for ", arch.number == 0 ? "?" : arch.Name(), " with LLVM ",
          Text(versions.llvm), ", which cannot be compiled for ", target.Name(),
          ": targets below sm_100 take code of LLVM 7.0; compile the source for ", target.Name()));
    }
    if (versions.llvm.major > newest.llvm.major || versions.llvm.minor > newest.llvm.minor) {
      return unreadable("LLVM", versions.llvm, newest.llvm);
    }
    if (arch.number == 0) {
      return absl::InvalidArgumentError(
          "LTO IR: its header tells no architecture, so libNVVM refuses it: the file is damaged");
    }
    if (!is_protected() && !IsBitcode(payload)) {
      return absl::InvalidArgumentError(
          "LTO IR: its payload is neither protected nor LLVM bitcode: the file is damaged");
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<std::uint8_t>> WriteLtoIr(Bytes bitcode, Arch arch,
                                                     const LtoIrVersions& versions) {
  return base::Guard([&]() -> absl::StatusOr<std::vector<std::uint8_t>> {
    if (!IsBitcode(bitcode)) {
      return absl::InvalidArgumentError("the payload for LTO IR is not LLVM bitcode");
    }
    if (arch.number == 0 || arch.number > 6553) {
      return absl::InvalidArgumentError(absl::StrCat("LTO IR cannot be for sm_", arch.number));
    }
    std::vector<LtoIrTag> tags = {{LtoIrTag::kArch, static_cast<std::uint16_t>(arch.number * 10)},
                                  kTag2};
    if (arch.variant == 'a') tags.push_back({LtoIrTag::kArchSpecific, 1});
    tags.push_back({LtoIrTag::kKey, 0});
    tags.push_back({});
    FixedHeader header = {kMagic, versions, sizeof(FixedHeader), kUnknown, 0, 0};
    header.key_offset = static_cast<std::uint32_t>(sizeof(header) + (tags.size() * kTagSize));
    header.payload_offset = header.key_offset + sizeof(std::uint32_t);

    std::vector<std::uint8_t> out(header.payload_offset + bitcode.size());
    std::memcpy(out.data(), &header, sizeof(header));
    std::memcpy(out.data() + sizeof(header), tags.data(), tags.size() * kTagSize);
    std::copy(bitcode.begin(), bitcode.end(), out.begin() + header.payload_offset);
    return out;
  });
}

}  // namespace devlink
