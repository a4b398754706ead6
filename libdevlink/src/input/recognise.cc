// SPDX-License-Identifier: Apache-2.0
#include "input/recognise.h"

#include <cstddef>
#include <cstdint>

#include "base/text_bytes.h"
#include "format/elf_cuda.h"
#include "format/magics.h"
#include "format/ptx_text.h"

namespace devlink::internal {

namespace {

using namespace std::string_view_literals;

// The first fields of an ELF header stand where they stand in a cubin's in files of either class.
constexpr std::uint64_t kFileTypeOffset = offsetof(format::Ehdr, type);
constexpr std::uint64_t kMachineOffset = offsetof(format::Ehdr, machine);

ContentKind RecogniseElf(base::Bytes bytes) {
  const base::BoundedReader reader(bytes);
  std::uint8_t data = 0;
  std::uint16_t type = 0;
  std::uint16_t machine = 0;
  if (!reader.Read(format::kIdentData, data) || !reader.Read(kFileTypeOffset, type) ||
      !reader.Read(kMachineOffset, machine)) {
    return ContentKind::kHostOther;
  }
  if (data == format::kDataBig) {
    const auto swap = [](std::uint16_t v) { return static_cast<std::uint16_t>(v << 8 | v >> 8); };
    type = swap(type);
    machine = swap(machine);
  }
  if (machine == format::kMachineCuda) {
    if (type == format::kTypeRel) return ContentKind::kCudaRelocatable;
    if (type == format::kTypeEwp) return ContentKind::kCudaExtensible;
    return type == format::kTypeExec ? ContentKind::kCudaExecutable : ContentKind::kCudaOther;
  }
  switch (type) {
    case format::kTypeRel:
      return ContentKind::kHostRelocatable;
    case format::kTypeExec:
      return ContentKind::kHostExecutable;
    case format::kTypeDyn:
      return ContentKind::kHostShared;
    default:
      return ContentKind::kHostOther;
  }
}

}  // namespace

ContentKind Recognise(base::Bytes bytes) {
  const std::string_view text = base::TextOf(bytes);
  if (text.empty()) return ContentKind::kEmpty;
  if (text.starts_with(format::kElfMagic)) return RecogniseElf(bytes);
  if (text.starts_with(format::kArchiveMagic)) return ContentKind::kArchive;
  if (text.starts_with(format::kThinArchiveMagic)) return ContentKind::kThinArchive;
  if (text.starts_with(format::kFatbinMagicText)) return ContentKind::kFatbin;
  if (text.starts_with(format::kLtoIrMagicText)) return ContentKind::kLtoIr;
  if (text.starts_with(format::kBitcodeMagic) || text.starts_with(format::kBitcodeWrapperMagic)) {
    return ContentKind::kLlvmBitcode;
  }
  return format::BeginsAsPtx(text) ? ContentKind::kPtx : ContentKind::kUnknown;
}

std::string_view Describe(ContentKind kind) {
  switch (kind) {
    case ContentKind::kEmpty:
      return "empty";
    case ContentKind::kCudaRelocatable:
      return "a cubin";
    case ContentKind::kCudaExtensible:
      return "a cubin of an extensible whole program";
    case ContentKind::kCudaExecutable:
      return "a cubin that is linked already";
    case ContentKind::kCudaOther:
      return "a CUDA ELF file that is neither relocatable nor executable";
    case ContentKind::kHostRelocatable:
      return "an ELF object for the host";
    case ContentKind::kHostExecutable:
      return "an executable for the host";
    case ContentKind::kHostShared:
      return "a shared library or executable for the host";
    case ContentKind::kHostOther:
      return "an ELF file of no known type";
    case ContentKind::kArchive:
      return "an archive";
    case ContentKind::kThinArchive:
      return "a thin archive";
    case ContentKind::kFatbin:
      return "a fatbin";
    case ContentKind::kPtx:
      return "PTX text";
    case ContentKind::kLtoIr:
      return "NVVM LTO IR";
    case ContentKind::kLlvmBitcode:
      return "LLVM bitcode";
    case ContentKind::kUnknown:
      break;
  }
  return "not an ELF, PTX or archive file";
}

bool MentionsDeviceCode(base::Bytes bytes) {
  const std::string_view text = base::TextOf(bytes);
  // A cubin, in what was an archive before its first bytes were lost.
  const bool is_unknown = Recognise(bytes) == ContentKind::kUnknown;
  constexpr std::size_t kNowhere = std::string_view::npos;
  for (std::size_t at = 0; is_unknown && (at = text.find(format::kElfMagic, at)) != kNowhere;
       ++at) {
    const ContentKind kind = RecogniseElf(bytes.subspan(at));
    if (kind == ContentKind::kCudaRelocatable || kind == ContentKind::kCudaExtensible) return true;
  }
  return text.find("__nv_relfatbin"sv) != kNowhere ||
         text.find("__cudaRegisterLinkedBinary"sv) != kNowhere;
}

bool IsElf(ContentKind kind) {
  return kind >= ContentKind::kCudaRelocatable && kind <= ContentKind::kHostOther;
}

bool IsCudaElf(ContentKind kind) {
  return kind >= ContentKind::kCudaRelocatable && kind <= ContentKind::kCudaOther;
}

bool IsArchive(ContentKind kind) {
  return kind == ContentKind::kArchive || kind == ContentKind::kThinArchive;
}

bool IsDeviceCode(ContentKind kind) {
  return IsCudaElf(kind) || kind == ContentKind::kFatbin || kind == ContentKind::kPtx ||
         kind == ContentKind::kLtoIr;
}

}  // namespace devlink::internal
