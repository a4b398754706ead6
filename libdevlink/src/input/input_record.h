// SPDX-License-Identifier: Apache-2.0
//
// One input as a link sees it: read once, its code chosen and parsed, immutable from then on. A
// record knows of no other input. What it holds depends on its bytes and the settings alone, so
// records can be made side by side, shared and kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "base/memory_lease.h"
#include "devlink/diagnostics.h"
#include "devlink/environment.h"
#include "devlink/experimental/code_choice.h"
#include "devlink/experimental/host_references.h"
#include "devlink/module.h"
#include "input/archive.h"
#include "input/input_settings.h"

namespace devlink::internal {

// Why a piece of code cannot take part. Rare, hence not a part of the record itself.
struct Rejection {
  Diagnostic diagnostic;
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;

  // The diagnostic's text and notes as one message.
  [[nodiscard]] absl::Status ToStatus() const;
};

// One piece of code that was chosen for the target.
struct CodeRecord {
  CodeKind kind = CodeKind::kSass;
  ModuleRef module;  // of a cubin that was not rejected
  // PTX, or LTO IR. Of protected LTO IR, which only NVIDIA's libraries open: a fat binary with that
  // member alone.
  std::vector<std::uint8_t> bytes;
  bool is_protected = false;
  bool is_ptx_file = false;            // PTX that is an input of its own
  std::optional<std::string> options;  // stored with PTX or LTO IR in a fat binary
  std::shared_ptr<const Rejection> rejection;
};

// Nearly every list of records has one.
template <typename Record>
using RecordList = absl::InlinedVector<Record, 1>;

// One place that holds code: a cubin, a text, or a section with a fat binary. Not ok where no code
// could be chosen; the last diagnostic then says why, in nvlink's words.
struct SectionRecord {
  absl::Status status;
  std::vector<Diagnostic> diagnostics;
  RecordList<CodeRecord> code;
};

// One object of the input: the input itself, or a member of an archive.
struct ObjectRecord {
  std::string name;  // `a.o`; `libb.a:b.o` for a member
  bool from_archive = false;
  bool from_host_object = false;
  bool is_device_runtime = false;
  // Has a place in the file of --register-link-binaries. Not what a caller adds as a cubin, and not
  // LTO IR that is in no host object.
  bool is_registered = true;
  std::vector<std::string> ids;            // `__nv_module_id`: its own modules,
  std::vector<std::string> prelinked_ids;  // and those that an earlier link has linked
  HostReferences references;
  RecordList<SectionRecord> sections;  // in their order; nothing behind one that ends the link
};

struct InputRecord {
  std::string name;
  std::optional<FileIdentity> archive;  // of an archive that is a file
  RecordList<ObjectRecord> objects;     // in link order

  // What stands in objects that bring no code into the link.
  std::vector<std::string> prelinked_ids;
  std::vector<std::string> whole_programs;  // objects with device code that is linked already
  std::string_view content;                 // Describe of what it holds; of a file
  bool is_missing_library = false;          // nothing but a name of -l that stands for no file
  bool has_silent_host_object = false;      // one says nothing of what its host code refers to
  std::vector<Diagnostic> diagnostics;      // of the input as a whole; said behind its objects'
  absl::Status status;                      // the first that is wrong, if anything is
  bool ends_link = false;  // what is wrong may not be passed over, as a rejected input may be
  std::shared_ptr<base::MemoryLease> memory;  // leave for what stands here
};

// A sound input that was named, and has no code that any device could link.
bool BringsNothing(const InputRecord& record);

// Whether its diagnostics say so.
bool IsToldOfNoCode(const InputRecord& record);

using InputRecordRef = std::shared_ptr<const InputRecord>;

// An input of any kind. `bytes` are not needed afterwards; `archive` as in the record. What is
// wrong with the device runtime counts only where that is linked, and does not make `status` fail.
InputRecordRef ReadInput(std::string_view name, std::vector<std::uint8_t>&& bytes,
                         const InputSettings& settings, ModulePool* pool,
                         std::optional<FileIdentity> archive = std::nullopt);

// A cubin that the caller knows to be one; it is not registered.
InputRecordRef ReadCubin(std::string_view name, std::vector<std::uint8_t>&& bytes,
                         HostReferences references, const InputSettings& settings,
                         ModulePool* pool);
InputRecordRef ReadCubin(std::string_view name, base::Bytes bytes, HostReferences references,
                         const InputSettings& settings, ModulePool* pool);

// A module that a pool holds already.
InputRecordRef RecordModule(std::string_view name, ModuleRef module, HostReferences references,
                            const InputSettings& settings);

// A file that could not be read.
InputRecordRef RecordUnreadable(const std::string& name, const absl::Status& why);

// What -l means, and no folder has. Not an error.
InputRecordRef RecordMissingLibrary(std::string_view name);

// References of host code alone.
InputRecordRef RecordReferences(HostReferences references);

// What there is to report of a record taken by itself: its diagnostics, and why code is rejected.
void AppendFindings(const InputRecord& record, std::vector<Diagnostic>& out);

}  // namespace devlink::internal
