// SPDX-License-Identifier: Apache-2.0
#include "format/notes.h"

#include <cstring>

#include "base/align.h"
#include "format/elf_cuda.h"

namespace devlink::format {

namespace {

constexpr std::string_view kVendor{"NVIDIA Corp\0", 12};
constexpr std::uint32_t kRecordVersion = 2;

void PutWord(std::vector<std::uint8_t>& out, std::uint64_t word) {
  for (int shift = 0; shift < 32; shift += 8)
    out.push_back(static_cast<std::uint8_t>(word >> shift));
}

}  // namespace

std::vector<std::uint8_t> EncodeToolRecord(const ToolRecord& record) {
  std::string strings;
  std::vector<std::uint64_t> offsets;
  for (const std::string* text :
       {&record.object, &record.tool, &record.version, &record.build, &record.options}) {
    offsets.push_back(strings.size());
    strings.append(*text).push_back('\0');
  }
  const std::uint64_t description = 4 + 4 * offsets.size() + strings.size();
  const std::uint64_t padded = base::AlignUp(description, 4);

  std::vector<std::uint8_t> out;
  PutWord(out, kVendor.size());
  PutWord(out, padded);
  PutWord(out, kNoteToolInfo);
  out.insert(out.end(), kVendor.begin(), kVendor.end());
  PutWord(out, kRecordVersion);
  for (const std::uint64_t offset : offsets) PutWord(out, offset);
  out.insert(out.end(), strings.begin(), strings.end());
  out.resize(out.size() + (padded - description), 0);
  return out;
}

std::vector<std::uint8_t> EncodeCudaInfo(std::uint16_t virtual_arch, std::uint16_t toolkit) {
  constexpr std::uint32_t kVersion = 2;
  constexpr std::uint32_t kDescription = 8;
  std::vector<std::uint8_t> out;
  PutWord(out, kVendor.size());
  PutWord(out, kDescription);
  PutWord(out, kNoteCudaInfo);
  out.insert(out.end(), kVendor.begin(), kVendor.end());
  PutWord(out, kVersion | std::uint32_t{virtual_arch} << 16);
  PutWord(out, toolkit);
  return out;
}

}  // namespace devlink::format
