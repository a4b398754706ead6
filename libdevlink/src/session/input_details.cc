// SPDX-License-Identifier: Apache-2.0
#include "session/input_details.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/hash_table.h"
#include "base/strings.h"
#include "format/driver_names.h"
#include "input/recognise.h"
#include "plan/lto_parts.h"

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

// What an input that brings nothing is.
std::string_view WhatItIs(const InputRecord& record) {
  constexpr std::string_view kNothing = "no device code";
  const bool is_object = record.content == Describe(ContentKind::kHostRelocatable);
  return is_object || record.content.empty() ? kNothing : record.content;
}

std::string WhyLeftOut(const ObjectRecord& object, bool was_linked_before) {
  if (was_linked_before) return "an earlier link has linked it already";
  if (object.is_device_runtime) return "nothing needs the device runtime";
  return HasCode(object) ? "none of its code is linked" : "it has no device code for the target";
}

}  // namespace

void DescribeInputs(std::span<const InputRecordRef> records, const Selection& selection,
                    const LinkOptions& options, LinkDetails& details) {
  base::HashMap<std::string_view, const ObjectRecord*> given;
  for (const InputRecordRef& record : records) {
    for (const ObjectRecord& object : record->objects) given.emplace(object.name, &object);
  }
  base::HashSet<std::string_view> linked;
  for (InputDetails& input : details.inputs) {
    linked.insert(input.name);
    if (const auto object = given.find(input.name); object != given.end()) {
      input.origin = OriginOf(*object->second);
    } else {
      input.origin = IsLtoResult(input.name) ? InputOrigin::kCompiled : InputOrigin::kProvided;
    }
  }
  base::HashSet<const ObjectRecord*> before;
  for (const RegisteredObject& object : selection.registered) {
    if (object.left_out && object.was_linked_before) before.insert(object.object);
  }
  for (const SelectedIr& module : selection.lto.modules) details.lto_inputs.push_back(module.name);
  for (const InputRecordRef& record : records) {
    for (const std::string& object : record->whole_programs) {
      details.left_out.push_back({object, "its device code is linked already"});
    }
    if (BringsNothing(*record)) {
      details.left_out.push_back({record->name, record->is_missing_library
                                                    ? "there is no such library"
                                                    : "there is no device code in it"});
    }
    for (const ObjectRecord& object : record->objects) {
      if (linked.contains(object.name)) continue;
      if (options.lto.enabled && HasLtoIr(object)) continue;  // it is part of what was compiled
      details.left_out.push_back({object.name, WhyLeftOut(object, before.contains(&object))});
    }
  }
}

namespace {

Diagnostic* LastOf(DiagnosticCode code, std::vector<Diagnostic>& diagnostics) {
  const auto last = std::find_if(diagnostics.rbegin(), diagnostics.rend(),
                                 [code](const Diagnostic& d) { return d.code == code; });
  return last == diagnostics.rend() ? nullptr : &*last;
}

constexpr std::size_t kMostNamed = 3;

// What can be done about inputs that could have been meant to define something.
void NameWholePrograms(std::span<const InputRecordRef> records, std::vector<std::string>& notes) {
  std::size_t named = 0;
  for (const InputRecordRef& record : records) {
    for (const std::string& object : record->whole_programs) {
      if (++named > kMostNamed) continue;
      notes.push_back(base::Cat(
          {"no input can call the device code in '", object, "': compile it with nvcc -rdc=true"}));
    }
  }
  if (named > kMostNamed) {
    notes.push_back(absl::StrCat("the same of ", named - kMostNamed, " more inputs"));
  }
}

// Of libraries for the host's link, which are given to many device links, only those are useless
// that are not there.
std::optional<std::string> NameUseless(std::span<const InputRecordRef> records) {
  constexpr std::size_t kMost = 6;
  std::size_t count = 0;
  std::string named;
  const auto add = [&](std::string_view name, std::string_view quote, std::string_view why) {
    if (++count > kMost) return;
    named += base::Cat({count == 1 ? "" : ", ", quote, name, quote, " (", why, ")"});
  };
  for (const InputRecordRef& record : records) {
    for (const std::string& object : record->whole_programs) {
      add(object, "'", "code that no input can call");
    }
    if (record->archive || !BringsNothing(*record) || IsToldOfNoCode(*record)) continue;
    record->is_missing_library ? add(record->name, "", "no such library")
                               : add(record->name, "'", WhatItIs(*record));
  }
  if (count == 0) return std::nullopt;
  if (count > kMost) named += absl::StrCat(" and ", count - kMost, " more");
  return absl::StrCat(count, count == 1 ? " input" : " inputs", " brought nothing: ", named);
}

void NameRepeated(std::span<const InputRecordRef> records, std::vector<std::string>& notes) {
  base::HashMap<std::string_view, std::size_t> times;
  std::size_t named = 0;
  for (const InputRecordRef& record : records) {
    if (++times[record->name] != 2 || record->objects.empty() || ++named > kMostNamed) continue;
    notes.push_back(base::Cat({"'", record->name, "' is given twice"}));
  }
}

}  // namespace

void AdviseOnNames(std::span<const InputRecordRef> records, std::vector<Diagnostic>& diagnostics) {
  if (Diagnostic* last = LastOf(DiagnosticCode::kMultipleDefinition, diagnostics)) {
    NameRepeated(records, last->notes);
  }
  Diagnostic* last = LastOf(DiagnosticCode::kUndefinedReference, diagnostics);
  if (last == nullptr) return;
  NameWholePrograms(records, last->notes);
  // Of the device runtime the notes have said where it is.
  const bool any_other =
      std::any_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& d) {
        return d.code == DiagnosticCode::kUndefinedReference && !format::IsDeviceRuntime(d.symbol);
      });
  if (any_other) {
    last->notes.emplace_back("add the object or library that defines what is undefined");
  }
}

void NoteUselessInputs(std::span<const InputRecordRef> records,
                       std::vector<Diagnostic>& diagnostics) {
  auto note = NameUseless(records);
  if (!note) return;
  diagnostics.push_back({.severity = Severity::kInfo, .text = {}, .notes = {*std::move(note)}});
}

}  // namespace devlink::internal
