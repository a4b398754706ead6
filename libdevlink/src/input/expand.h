// SPDX-License-Identifier: Apache-2.0
//
// From an input file to the device code in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounded_reader.h"
#include "base/memory_lease.h"
#include "devlink/diagnostics.h"
#include "devlink/toolkit_profile.h"
#include "input/archive.h"
#include "input/host_object.h"
#include "input/recognise.h"

namespace devlink::internal {

// kDevlink: what holds device code is taken, whatever its name and place; what cannot be taken is
// an error. kNvlink: what nvlink 13.0 does, which goes by a file's extension, stops reading an
// archive at the first member that is not an ELF file and leaves out most of what it does not
// expect.
struct ExpandOptions {
  Compatibility compatibility = Compatibility::kDevlink;
  bool lto = false;                     // -lto: LTO IR is welcome
  FileReader read_file;                 // for the members of thin archives
  base::MemoryLease* memory = nullptr;  // what lists in host objects spend, if anything
};

// One piece of device code. Views are into the input's bytes or `Expansion::owned`.
struct DeviceBlob {
  std::string name;  // `a.o`; `libb.a:b.o` for a member
  // Cubin of any type (nvlink leaves executable ones out in silence; so does kNvlink here), fatbin,
  // PTX or LTO IR.
  ContentKind kind = ContentKind::kUnknown;
  base::Bytes bytes;  // of a host object: one `__nv_relfatbin` section, of one or more containers
  // The rest is empty for what came from no host object. An object with several sections of code
  // gives several blobs; ids and references stand with the first.
  bool from_host_object = false;
  bool further_section = false;  // of an object whose first blob has the ids
  ModuleIds module_ids;
  HostReferences references;
  bool from_archive = false;
  // The device runtime, linked only where something is undefined: an archive of its file name; by
  // nvlink's rules whatever has `cudadevrt` in its path, directories included.
  bool is_cudadevrt = false;
};

struct Expansion {
  std::vector<DeviceBlob> blobs;        // in the order in which they are to be linked
  std::vector<Diagnostic> diagnostics;  // the last one is fatal where the link must end
  // Ids in objects that were linked before and hold no device code of their own (`def` lists).
  std::vector<std::string_view> prelinked_ids;
  bool mixed_module_ids = false;  // one of these objects has ModuleIds::mixed
  // A host object without device code was met: it says nothing of what its code refers to.
  bool silent_host_object = false;
  // Host objects whose device code no other input can call, since it is linked already.
  std::vector<std::string> whole_programs;
  std::vector<std::vector<std::uint8_t>> owned;

  [[nodiscard]] bool fatal() const {
    return !diagnostics.empty() && diagnostics.back().severity == Severity::kFatal;
  }
};

// Finds the device code in one input. `name` is its path as given: messages, member names, in
// kNvlink the extension, and the folder of thin members come from it. `bytes` must outlive the
// result. What was found before a fatal diagnostic stays in the result, as nvlink reports it too.
// Thread-safe where `read_file` is.
Expansion ExpandInput(std::string_view name, base::Bytes bytes, const ExpandOptions& options);

}  // namespace devlink::internal
