// SPDX-License-Identifier: Apache-2.0
#include "model/debug_check.h"

#include <algorithm>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "base/bounded_reader.h"
#include "format/elf_cuda.h"
#include "format/sections.h"

namespace devlink::internal {

namespace {

using Places = absl::InlinedVector<std::uint64_t, 16>;

// The length of a record in 32 bits, or a mark behind which it stands in 64 (DWARF 2 to 5, "Data
// Representation"). ptxas writes the latter.
constexpr std::uint32_t kLengthIs64 = 0xffffffff;

// Where the records of functions say where the functions begin. False where what is there is not
// records from the beginning to the end.
bool ReadFrames(base::Bytes bytes, Places& functions) {
  const base::BoundedReader reader(bytes);
  std::uint64_t at = 0;
  while (at < bytes.size()) {
    std::uint32_t length = 0;
    std::uint64_t size = 0;
    std::uint64_t id = 0;
    if (!reader.Read(at, length)) return false;
    at += sizeof(length);
    if (length != kLengthIs64) {
      std::uint32_t short_id = 0;
      if (!reader.Read(at, short_id)) return false;
      size = length;
      id = short_id == kLengthIs64 ? ~std::uint64_t{0} : short_id;
    } else {
      if (!reader.Read(at, size)) return false;
      at += sizeof(size);
      if (!reader.Read(at, id)) return false;
    }
    const std::uint64_t id_size = length != kLengthIs64 ? 4 : 8;
    if (size < id_size || size > bytes.size() - at) return false;
    const bool is_common = id == ~std::uint64_t{0};  // of several functions
    if (!is_common) functions.push_back(at + id_size);
    at += size;
  }
  return true;
}

// The places that relocations of a section are of, in order.
Places RelocatedIn(std::span<const InputSection> sections, std::uint32_t index) {
  Places out;
  for (const InputSection& list : sections) {
    if (list.role != SectionRole::kRelocations || list.info != index) continue;
    const base::BoundedReader entries(list.data);
    for (std::uint64_t at = 0; at < list.data.size(); at += list.entry_size) {
      out.push_back(entries.ReadOrZero<std::uint64_t>(at));
    }
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace

WrongSection WrongInFrames(std::span<const InputSection> sections,
                           absl::FunctionRef<bool()> from_assembler) {
  const auto frames = std::ranges::find_if(sections, [](const InputSection& section) {
    return section.role == SectionRole::kDebug && section.name == format::section_name::kDebugFrame;
  });
  if (frames == sections.end()) return {};
  const auto index = static_cast<std::uint32_t>(frames - sections.begin());
  Places functions;
  if (!ReadFrames(frames->data, functions)) return {index, "its records do not fill it"};
  const bool are_relocated =
      std::ranges::includes(RelocatedIn(sections, index), functions) || !from_assembler();
  return {index, are_relocated ? "" : "a record of a function does not say of which"};
}

}  // namespace devlink::internal
