// SPDX-License-Identifier: Apache-2.0
#include "merge/file_merge.h"

#include <algorithm>
#include <utility>

#include "format/elf_cuda.h"
#include "format/notes.h"
#include "format/sm_traits.h"

namespace devlink::internal {

bool FileMerge::Add(const ModuleView& input, bool is_of_target) {
  has_input_ = true;
  if (two_views_) parts_.fast_paths.push_back(0);
  bool limits = false;
  for (std::uint32_t i = 0; i < input.section_count(); ++i) {
    switch (input.RoleAt(i)) {
      case SectionRole::kToolNote:
        if (const InputSection note = input.SectionAt(i); !note.data.empty()) {
          parts_.tool_records.push_back({note.data, 0});
        }
        break;
      case SectionRole::kCudaNote:
        AddCudaNote(input.SectionAt(i));
        break;
      case SectionRole::kCompat:
        limits |= compat_.Add(input.SectionAt(i).data);
        if (two_views_) AddFastPath(format::FastPathOf(input.SectionAt(i).data), is_of_target);
        break;
      default:
        break;
    }
  }
  return limits;
}

void FileMerge::AddFastPath(std::uint64_t mask, bool is_of_target) {
  if (is_of_target) {
    parts_.fast_paths.back() = mask;
  } else if (mask == format::kFastPathOwnTarget && parts_.needs_finalizer == kNone) {
    parts_.needs_finalizer = static_cast<std::uint32_t>(parts_.fast_paths.size() - 1);
  }
}

FileParts FileMerge::Finish() && {
  // What nvlink writes of itself where no input has any device code.
  if (!has_input_) AddVirtualArch(static_cast<std::uint16_t>(options_.sm));
  if (format::TraitsOf(options_.sm).has_compat) {
    parts_.compat = compat_.Finish(options_.architecture_specific);
    if (parts_.compat.empty() && (has_old_abi_ || !has_input_)) {
      parts_.compat = format::CompatMerger::OfTarget(options_.architecture_specific);
    }
  }
  return std::move(parts_);
}

// One note: the first one, with the lowest virtual architecture of all.
void FileMerge::AddCudaNote(const InputSection& section) {
  auto& note = parts_.cuda_note;
  format::CudaInfo info = format::ReadCudaInfo(section.data).value_or(format::CudaInfo());
  if (!info.is_current) return AddVirtualArch(info.virtual_arch);
  info.toolkit = options_.profile.release;
  if (note.empty()) {
    note.assign(section.data.begin(), section.data.end());
    parts_.cuda_note_flags = section.flags;
    format::PatchCudaInfo(info, note);
  } else {
    LowerVirtualArch(info.virtual_arch);
  }
}

void FileMerge::LowerVirtualArch(std::uint16_t virtual_arch) {
  format::CudaInfo info = format::ReadCudaInfo(parts_.cuda_note).value_or(format::CudaInfo());
  info.virtual_arch = std::min(info.virtual_arch, virtual_arch);
  info.toolkit = options_.profile.release;
  format::PatchCudaInfo(info, parts_.cuda_note);
}

void FileMerge::AddOldAbi(std::uint16_t virtual_arch) {
  has_old_abi_ = true;
  AddVirtualArch(virtual_arch);
}

void FileMerge::AddVirtualArch(std::uint16_t virtual_arch) {
  if (!parts_.cuda_note.empty()) return LowerVirtualArch(virtual_arch);
  parts_.cuda_note =
      format::EncodeCudaInfo({.virtual_arch = virtual_arch, .toolkit = options_.profile.release});
  if (format::TraitsOf(options_.sm).has_compat) parts_.cuda_note_flags |= format::kShfInfoLink;
}

}  // namespace devlink::internal
