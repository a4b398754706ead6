// SPDX-License-Identifier: Apache-2.0
//
// The modules in the inputs, for the file of --register-link-binaries, and those among them that a
// link before this one has linked already.
#include <algorithm>
#include <iterator>
#include <utility>

#include "format/make_diagnostic.h"
#include "input/register_file.h"
#include "session/session_state.h"

namespace devlink {

using internal::DeviceBlob;

namespace {

std::vector<std::string> Owned(const std::vector<std::string_view>& texts) {
  return {texts.begin(), texts.end()};
}

std::vector<std::string_view> Views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

}  // namespace

void LinkSession::State::Register(const DeviceBlob& blob) {
  Registered& entry = registered.emplace_back();
  entry.name = blob.name;
  entry.ids = Owned(blob.module_ids.own);
  entry.prelinked = Owned(blob.module_ids.prelinked);
  entry.is_held_runtime = blob.is_cudadevrt && options.lto.enabled;
  entry.inputs_begin = entry.inputs_end = set.inputs.size();
  entry.references_begin = entry.references_end = set.references.size();
}

// What was added since belongs to the last entry. `status` is what came of it; an entry that is
// new and brought nothing but a failure goes.
absl::Status LinkSession::State::EndRegistered(absl::Status status, bool is_new) {
  if (registered.empty()) return status;
  registered.back().inputs_end = set.inputs.size();
  registered.back().references_end = set.references.size();
  if (!status.ok() && is_new && !registered.back().HasInputs()) registered.pop_back();
  return status;
}

// Takes out the inputs whose PTX did not become a module, so that the session can go on without
// them. What their host code refers to stays.
void LinkSession::State::ForgetUnassembled() {
  std::vector<std::size_t> moved_to;  // of each input, and of the end
  std::size_t kept = 0;
  for (std::size_t i = 0; i < set.inputs.size(); ++i) {
    moved_to.push_back(kept);
    if (set.inputs[i].module == nullptr) continue;
    if (kept != i) {
      set.inputs[kept] = std::move(set.inputs[i]);
      places[kept] = places[i];
    }
    ++kept;
  }
  moved_to.push_back(kept);
  set.inputs.resize(kept);
  places.resize(kept);
  std::erase_if(registered, [&moved_to](Registered& entry) {
    const bool had_inputs = entry.HasInputs();
    entry.inputs_begin = moved_to[entry.inputs_begin];
    entry.inputs_end = moved_to[entry.inputs_end];
    return had_inputs && !entry.HasInputs();
  });
}

void LinkSession::State::NotePrelinked(const std::vector<std::string_view>& ids) {
  prelinked.insert(prelinked.end(), ids.begin(), ids.end());
}

absl::Status LinkSession::State::RefuseMixedIds(const std::string& name) {
  if (!options.register_directory) return absl::OkStatus();
  Diagnostic fatal = format::MakeDiagnostic(Severity::kFatal, DiagnosticCode::kMalformedInput, name,
                                            "unexpected data in module_ids");
  fatal.notes.push_back("the section __nv_module_id of '" + name +
                        "' lists modules that were linked before, and others");
  return Refuse(std::move(fatal), absl::StatusCode::kInvalidArgument);
}

bool LinkSession::State::LeavesOutPrelinked() const {
  return options.register_directory.has_value() && !prelinked.empty() && !options.lto.enabled;
}

// One flag for each entry.
std::vector<bool> LinkSession::State::FindLeftOut() const {
  std::vector<bool> none(registered.size());
  if (!LeavesOutPrelinked()) return none;
  std::vector<internal::ModuleIds> ids(registered.size());
  std::vector<internal::PrelinkCandidate> candidates;
  for (std::size_t i = 0; i < registered.size(); ++i) {
    ids[i].own = Views(registered[i].ids);
    ids[i].prelinked = Views(registered[i].prelinked);
    candidates.push_back({registered[i].name, &ids[i]});
  }
  auto found = internal::FindPrelinked(candidates, Views(prelinked), *options.register_directory);
  return found.ok() ? *std::move(found) : none;
}

// What the first `entries` entries and whatever belongs to none bring, but for those left out.
LinkSession::State::LinkSet LinkSession::State::Remaining(const std::vector<bool>& left_out,
                                                          std::size_t entries) const {
  LinkSet out;
  std::size_t input = 0;
  std::size_t reference = 0;
  const auto copy_until = [&](std::size_t inputs_end, std::size_t references_end) {
    const auto inputs = set.inputs.begin();
    const auto references = set.references.begin();
    std::copy(inputs + static_cast<std::ptrdiff_t>(input),
              inputs + static_cast<std::ptrdiff_t>(inputs_end), std::back_inserter(out.inputs));
    std::copy(references + static_cast<std::ptrdiff_t>(reference),
              references + static_cast<std::ptrdiff_t>(references_end),
              std::back_inserter(out.references));
    input = inputs_end;
    reference = references_end;
  };
  for (std::size_t i = 0; i < registered.size(); ++i) {
    if (i < entries && !left_out[i]) continue;
    copy_until(registered[i].inputs_begin, registered[i].references_begin);
    input = registered[i].inputs_end;
    reference = registered[i].references_end;
  }
  copy_until(set.inputs.size(), set.references.size());
  return out;
}

// All inputs are known. The device runtime goes, too, where only such an input needed it.
LinkSession::State::LinkSet LinkSession::State::LeaveOutPrelinked() {
  std::vector<bool> left_out = FindLeftOut();
  for (std::size_t i = 0; i < registered.size(); ++i) {
    if (!registered[i].is_runtime || left_out[i]) continue;
    LinkSet before = Remaining(left_out, i);
    if (AnythingUndefined(before.inputs)) continue;
    left_out[i] = true;
    registered[i].is_held_runtime = true;
    dropped_cudadevrt = true;
  }
  const auto count = std::count(left_out.begin(), left_out.end(), true);
  Log("left out, as linked before: " + std::to_string(count) + " inputs");
  return Remaining(left_out, registered.size());
}

std::string LinkSession::RegisterFileText(std::string_view working_directory) const {
  std::vector<std::string> made;
  made.reserve(state_->registered.size());
  std::vector<internal::RegisteredModule> modules;
  const std::vector<bool> left_out = state_->FindLeftOut();
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    const State::Registered& entry = state_->registered[i];
    const bool runtime_left_out = state_->dropped_cudadevrt || state_->lto.runtime_left_out;
    if (entry.is_held_runtime && runtime_left_out) continue;
    if (!entry.prelinked.empty() || entry.is_ir) continue;
    internal::RegisteredModule& module = modules.emplace_back();
    module.left_out = left_out[i];
    if (entry.ids.empty()) {
      made.push_back(internal::MakeModuleId(working_directory, entry.name));
      module.ids.emplace_back(made.back());
    }
    module.ids.insert(module.ids.end(), entry.ids.begin(), entry.ids.end());
  }
  return internal::RegisterFileText(modules, state_->lto.whole_program);
}

bool LinkSession::KeepsRegisterFile(const std::string& existing) const {
  return internal::KeepRegisterFile(existing, state_->dropped_cudadevrt);
}

}  // namespace devlink
