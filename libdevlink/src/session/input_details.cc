// SPDX-License-Identifier: Apache-2.0
#include "session/input_details.h"

#include <algorithm>
#include <string_view>

#include "base/hash_table.h"
#include "plan/compile_lto.h"

namespace devlink::internal {

namespace {

InputOrigin OriginOf(const ObjectRecord& object) {
  if (object.is_device_runtime) return InputOrigin::kDeviceRuntime;
  return object.from_archive ? InputOrigin::kArchiveMember : InputOrigin::kFile;
}

bool HasCode(const ObjectRecord& object) {
  return std::any_of(object.sections.begin(), object.sections.end(),
                     [](const SectionRecord& section) { return !section.code.empty(); });
}

bool HasLtoIr(const ObjectRecord& object) {
  for (const SectionRecord& section : object.sections) {
    for (const CodeRecord& code : section.code) {
      if (code.kind == CodeKind::kNvvm) return true;
    }
  }
  return false;
}

}  // namespace

void DescribeInputs(std::span<const InputRecordRef> records, const Selection& selection,
                    const LinkOptions& options, LinkDetails& details) {
  base::HashMap<std::string_view, InputDetails*> linked;
  for (InputDetails& input : details.inputs) {
    input.origin = input.name == kLtoResultName ? InputOrigin::kCompiled : InputOrigin::kProvided;
    linked.emplace(input.name, &input);
  }
  base::HashSet<const ObjectRecord*> before;
  for (const RegisteredObject& object : selection.registered) {
    if (object.left_out && object.was_linked_before) before.insert(object.object);
  }
  for (const SelectedIr& module : selection.lto.modules) details.lto_inputs.push_back(module.name);
  for (const InputRecordRef& record : records) {
    if (record->objects.empty()) {
      details.left_out.push_back({record->name, "there is no device code in it"});
    }
    for (const ObjectRecord& object : record->objects) {
      if (const auto input = linked.find(object.name); input != linked.end()) {
        input->second->origin = OriginOf(object);
      } else if (options.lto.enabled && HasLtoIr(object)) {
        continue;  // it is part of what was compiled
      } else if (before.contains(&object)) {
        details.left_out.push_back({object.name, "an earlier link has linked it already"});
      } else if (object.is_device_runtime) {
        details.left_out.push_back({object.name, "nothing needs the device runtime"});
      } else {
        details.left_out.push_back({object.name, HasCode(object)
                                                     ? "none of its code is linked"
                                                     : "it has no device code for the target"});
      }
    }
  }
}

}  // namespace devlink::internal
