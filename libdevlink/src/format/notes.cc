// SPDX-License-Identifier: Apache-2.0
#include "format/notes.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <tuple>
#include <type_traits>

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

bool HasFormOfNote(const CudaNote& note) {
  const bool is_current =
      note.version == kRecordVersion && note.description_size == kCudaDescription;
  const bool is_first =
      note.version + 1 == kRecordVersion && note.description_size == kFirstCudaDescription;
  return (is_current || is_first) && note.vendor_size == sizeof(note.vendor) &&
         std::memcmp(note.vendor, kVendor.data(), kVendor.size()) == 0 &&
         note.type == kNoteCudaInfo;
}

// The texts of a ToolRecord, in its order, as EncodeToolRecord has them.
std::vector<std::uint8_t> EncodeTexts(const std::array<std::string_view, 5>& texts) {
  constexpr std::size_t kHead = 12 + kVendor.size();
  constexpr std::size_t kWords = 4 + 4 * std::tuple_size_v<std::decay_t<decltype(texts)>>;
  std::size_t description = kWords;
  for (const std::string_view text : texts) description += text.size() + 1;
  const std::size_t padded = base::AlignUp(description, 4);

  std::vector<std::uint8_t> out(kHead + padded);
  std::uint8_t* at = out.data();
  const auto put = [&at](const void* bytes, std::size_t size) {
    if (size != 0) std::memcpy(at, bytes, size);
    at += size;
  };
  const auto put_word = [&put](std::size_t value) {
    const auto word = static_cast<std::uint32_t>(value);
    put(&word, sizeof(word));
  };
  put_word(kVendor.size());
  put_word(padded);
  put_word(kNoteToolInfo);
  put(kVendor.data(), kVendor.size());
  put_word(kRecordVersion);
  std::size_t offset = 0;
  for (const std::string_view text : texts) {
    put_word(offset);
    offset += text.size() + 1;
  }
  for (const std::string_view text : texts) {
    put(text.data(), text.size());
    ++at;  // its NUL
  }
  return out;
}

}  // namespace

std::vector<std::uint8_t> EncodeToolRecord(const ToolRecord& record) {
  return EncodeTexts({record.object, record.tool, record.version, record.build, record.options});
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
  std::string version =
      base::Cat({"libdevlink ", Version(), ", as nvlink of CUDA ", profile.ReleaseName()});
  version.resize(profile.version_text_length, ' ');
  std::string build = "https://github.com/libdevlink";
  const std::size_t longer = !tool ? kTool.size() - kNvlinkNameLength : 0;
  build.resize(profile.build_text_length - longer, ' ');
  return EncodeTexts({object, tool ? *tool : kTool, version, build, options});
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

std::optional<CudaInfo> ReadCudaInfo(base::Bytes note) {
  CudaNote read = {};
  if (!base::BoundedReader(note).Read(0, read) || !HasFormOfNote(read)) return std::nullopt;
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
