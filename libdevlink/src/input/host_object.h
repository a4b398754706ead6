// SPDX-License-Identifier: Apache-2.0
//
// What an ELF object of the host carries for the device linker.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/bounded_reader.h"
#include "base/memory_lease.h"
#include "devlink/experimental/host_references.h"

namespace devlink::internal {

// `__nv_module_id`: the ids of the modules that an object holds, or, each behind `def `, of those
// that a link before this one has linked already.
struct ModuleIds {
  bool present = false;
  std::vector<std::string_view> own;        // in their order; one empty id for an empty section
  std::vector<std::string_view> prelinked;  // without `def `
  // A list that begins with `def ` and goes on with something else, which nvlink refuses with
  // `unexpected data in module_ids` where it is to write a register file.
  bool mixed = false;
};

// Everything is borrowed from the bytes of the file.
struct HostObject {
  // The contents of every `__nv_relfatbin` section, in the order of their headers. An object of a
  // compiler has one; nvlink reads the first.
  std::vector<base::Bytes> fatbins;
  bool has_wrapper = false;  // `.nvFatBinSegment` is there; nvlink reads no fatbin without it
  // `.nv_fatbin` is there: code that needs no device link, for which there are wrappers, too.
  bool has_whole_program_code = false;
  // Its sections have no names, so none can be told from another. What nvlink passes over.
  bool nameless = false;
  // The section of names is not called what it is always called: perhaps these are not the names.
  bool names_doubtful = true;
  // A header of a section says what no compiler writes.
  bool headers_doubtful = false;
  bool big_endian = false;  // nvlink takes no device code from such objects
  ModuleIds module_ids;
  HostReferences references;
  // A list of host references that does not end with a NUL, as nvcc's do; what is missing cannot be
  // told.
  std::optional<std::string_view> endless_list;
};

// Whether there are wrappers and no section that holds the code that they stand for.
bool LacksItsCode(const HostObject& object);

// Whether there are ids of modules that no link before this one has linked, and no sections with
// them or for them.
bool NamesLostModules(const HostObject& object);

// Reads a relocatable ELF object of any machine, class and byte order. InvalidArgument where its
// headers or one of these sections do not lie within `bytes`; the message begins with what is wrong
// and names no file. Reads of the bytes only; thread-safe.
// ResourceExhausted where `memory`, if there is any, gives no leave for the lists.
absl::StatusOr<HostObject> ReadHostObject(base::Bytes bytes, base::MemoryLease* memory = nullptr);

// Whether header and section table of an ELF file can be read at all, whatever its machine.
absl::Status CheckElf(base::Bytes bytes);

// Whether an ELF header counts no segments. Nothing could load such a file, so one that calls
// itself an executable or a shared library is an object with a damaged type.
bool HasNoSegments(base::Bytes bytes);

// The machine number of an ELF header; nothing where there is none.
std::optional<std::uint16_t> ElfMachine(base::Bytes bytes);

}  // namespace devlink::internal
