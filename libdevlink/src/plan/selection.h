// SPDX-License-Identifier: Apache-2.0
//
// Who takes part in a link: the modules in link order, what goes to link-time optimization, and
// what an earlier link has linked already. All that depends on more than one input is decided here,
// in the order of the inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "devlink/diagnostics.h"
#include "devlink/experimental/host_references.h"
#include "devlink/link_options.h"
#include "input/input_record.h"
#include "model/program.h"
#include "plan/assembled_ptx.h"

namespace devlink::internal {

// An object with a place in the register file, and what became of it.
struct RegisteredObject {
  const ObjectRecord* object = nullptr;  // borrowed from its record
  bool is_needed_runtime = false;        // taken because something was undefined
  bool was_linked_before = false;        // its first id is one that an earlier link has linked
  bool left_out = false;                 // for that reason, or since only such an object needed it
};

// A module that takes part.
struct SelectedModule {
  LinkInput input;
  std::size_t order = 0;                  // its place among all that was selected
  std::optional<std::size_t> registered;  // the object that brought it
};

// What the host code of an input refers to.
struct SelectedReferences {
  HostReferences references;
  std::optional<std::size_t> registered;
  bool of_device_runtime = false;
};

// LTO IR that takes part; borrowed from its record.
struct SelectedIr {
  std::string name;
  const CodeRecord* code = nullptr;
};

// The device runtime in a link with LTO: whether it is needed shows when the IR is compiled.
struct HeldRuntime {
  std::size_t order = 0;
  std::string name;
  const CodeRecord* code = nullptr;
  HostReferences references;
  bool seen_by_nvlink = false;  // not from an archive, or a host object came before it
};

// What a host object tells link-time optimization of its host code.
struct LtoHostObject {
  HostReferences references;
  bool is_device_runtime = false;
  bool seen_by_nvlink = true;  // as in HeldRuntime
};

struct LtoSelection {
  std::vector<SelectedIr> modules;
  std::vector<SelectedIr> runtime_modules;  // IR of a device runtime, which goes last
  std::vector<HeldRuntime> runtime;         // code of one
  std::vector<LtoHostObject> host_objects;
  std::optional<std::size_t> order;   // of the last host object with LTO IR
  std::size_t last_order = 0;         // of the last LTO IR of any kind
  bool worth_compiling = false;       // there is IR other than libdevice
  bool partial = false;               // there is code that is not LTO IR
  std::string last_host_object;       // with code for the device or without
  bool object_after_runtime = false;  // a host object came behind one of `runtime`
};

struct Selection {
  // Not ok where the link ends with an input: an input that cannot be used, if that ends the link
  // (LinkOptions::end_at_rejected_input), or PTX that cannot be assembled.
  absl::Status status;
  std::vector<Diagnostic> diagnostics;  // in the order of the inputs
  std::vector<SelectedModule> modules;
  std::vector<SelectedReferences> references;
  std::vector<RegisteredObject> registered;
  LtoSelection lto;
  bool dropped_device_runtime = false;  // it was given, and nothing needs it
};

// `assembled` has the modules of the records' PTX; that of the device runtime is added.
Selection Select(std::span<const InputRecordRef> records, const LinkOptions& options,
                 const LinkContext& context, AssembledPtx& assembled);

// The records that count: nvlink reads an archive once, however often it is given.
std::vector<InputRecordRef> WithoutRepeatedArchives(std::span<const InputRecordRef> records);

}  // namespace devlink::internal
