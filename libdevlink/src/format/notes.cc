// SPDX-License-Identifier: Apache-2.0
#include "format/notes.h"

#include <array>
#include <cstddef>
#include <cstring>

#include "base/align.h"
#include "base/strings.h"
#include "devlink/version.h"
#include "format/elf_cuda.h"

namespace devlink::format {

namespace {

constexpr std::string_view kVendor{"NVIDIA Corp\0", 12};
constexpr std::uint32_t kRecordVersion = 2;

// The whole of `.note.nv.cuinfo`, as far as its meaning is known.
struct CudaNote {
  std::uint32_t vendor_size;
  std::uint32_t description_size;
  std::uint32_t type;
  char vendor[12];
  std::uint16_t version;
  std::uint16_t virtual_arch;
  std::uint16_t toolkit;
  std::uint16_t zero;
};
static_assert(sizeof(CudaNote) == 32);
constexpr std::uint32_t kCudaDescription = 8;
constexpr std::uint32_t kFirstCudaDescription = 12;  // of version 1

void PutWord(std::vector<std::uint8_t>& out, std::uint64_t word) {
  for (int shift = 0; shift < 32; shift += 8)
    out.push_back(static_cast<std::uint8_t>(word >> shift));
}

}  // namespace

std::vector<std::uint8_t> EncodeToolRecord(const ToolRecord& record) {
  const std::array texts = {&record.object, &record.tool, &record.version, &record.build,
                            &record.options};
  std::uint64_t description = 4 + 4 * texts.size();
  for (const std::string* text : texts) description += text->size() + 1;
  const std::uint64_t padded = base::AlignUp(description, 4);

  std::vector<std::uint8_t> out;
  out.reserve(12 + kVendor.size() + padded);
  PutWord(out, kVendor.size());
  PutWord(out, padded);
  PutWord(out, kNoteToolInfo);
  out.insert(out.end(), kVendor.begin(), kVendor.end());
  PutWord(out, kRecordVersion);
  std::uint64_t offset = 0;
  for (const std::string* text : texts) {
    PutWord(out, offset);
    offset += text->size() + 1;
  }
  for (const std::string* text : texts) {
    out.insert(out.end(), text->c_str(), text->c_str() + text->size() + 1);
  }
  out.resize(out.size() + (padded - description), 0);
  return out;
}

std::optional<std::vector<ToolRecord>> ReadToolRecords(base::Bytes note) {
  const base::BoundedReader reader(note);
  std::vector<ToolRecord> out;
  std::uint64_t at = 0;
  while (at < note.size()) {
    std::uint32_t name_size = 0;
    std::uint32_t size = 0;
    if (!reader.Read(at, name_size) || !reader.Read(at + 4, size)) return std::nullopt;
    const std::uint64_t begin = at + 12 + base::AlignUp(name_size, 4);
    const auto description = reader.Slice(begin, size);
    if (!description.has_value()) return std::nullopt;
    constexpr std::uint64_t kStrings = 24;  // behind a version and five offsets
    const base::BoundedReader words(*description);
    ToolRecord& record = out.emplace_back();
    std::uint64_t field = 4;
    for (std::string* text :
         {&record.object, &record.tool, &record.version, &record.build, &record.options}) {
      std::uint32_t offset = 0;
      if (!words.Read(field, offset)) return std::nullopt;
      const auto value = words.CString(kStrings + offset);
      if (!value.has_value()) return std::nullopt;
      *text = std::string(*value);
      field += 4;
    }
    at = begin + base::AlignUp(size, 4);
  }
  return out;
}

std::vector<std::uint8_t> EncodeOwnRecord(const ToolkitProfile& profile, std::string_view object,
                                          std::string_view options,
                                          const std::optional<std::string>& tool) {
  constexpr std::string_view kTool = "devlink";
  constexpr std::size_t kNvlinkNameLength = 6;
  ToolRecord record;
  record.object = object;
  record.tool = tool.value_or(std::string(kTool));
  record.version =
      base::Cat({"libdevlink ", Version(), ", as nvlink of CUDA ", profile.ReleaseName()});
  record.version.resize(profile.version_text_length, ' ');
  record.build = "https://github.com/libdevlink";
  const std::size_t longer = !tool ? kTool.size() - kNvlinkNameLength : 0;
  record.build.resize(profile.build_text_length - longer, ' ');
  record.options = options;
  return EncodeToolRecord(record);
}

std::vector<std::uint8_t> EncodeCudaInfo(const CudaInfo& info) {
  CudaNote note = {};
  note.vendor_size = kVendor.size();
  note.description_size = kCudaDescription;
  note.type = kNoteCudaInfo;
  std::memcpy(note.vendor, kVendor.data(), kVendor.size());
  note.version = kRecordVersion;
  note.virtual_arch = info.virtual_arch;
  note.toolkit = info.toolkit;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&note);
  return {bytes, bytes + sizeof(note)};
}

namespace {

bool HasFormOfKind(const CudaNote& note) {
  const bool is_current =
      note.version == kRecordVersion && note.description_size == kCudaDescription;
  const bool is_first =
      note.version + 1 == kRecordVersion && note.description_size == kFirstCudaDescription;
  return (is_current || is_first) && note.vendor_size == sizeof(note.vendor) &&
         note.type == kNoteCudaInfo;
}

}  // namespace

std::optional<CudaInfo> ReadCudaInfo(base::Bytes note) {
  CudaNote read = {};
  if (!base::BoundedReader(note).Read(0, read) || !HasFormOfKind(read)) return std::nullopt;
  if (read.version < kRecordVersion) {
    constexpr std::uint16_t kFirstToolkit = 128;  // whose notes have that form
    return CudaInfo{
        .virtual_arch = read.virtual_arch, .toolkit = kFirstToolkit, .is_current = false};
  }
  return CudaInfo{.virtual_arch = read.virtual_arch, .toolkit = read.toolkit};
}

void PatchCudaInfo(const CudaInfo& info, std::vector<std::uint8_t>& note) {
  if (note.size() < sizeof(CudaNote)) return;
  std::memcpy(note.data() + offsetof(CudaNote, virtual_arch), &info.virtual_arch,
              sizeof(info.virtual_arch));
  std::memcpy(note.data() + offsetof(CudaNote, toolkit), &info.toolkit, sizeof(info.toolkit));
}

}  // namespace devlink::format
