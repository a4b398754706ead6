// SPDX-License-Identifier: Apache-2.0
#include "plan/selection.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/hash_table.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "format/driver_names.h"
#include "format/make_diagnostic.h"
#include "format/nvlink_text.h"
#include "format/sm_traits.h"
#include "model/redirect.h"
#include "plan/linked_before.h"
#include "plan/settings.h"
#include "plan/undefined_names.h"

namespace devlink::internal {

namespace {

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// libdevice is not a reason to compile anything. nvlink goes by the whole path, and loses the code
// of whoever works in a directory of such a name.
bool IsLibdevice(std::string_view name, Compatibility compatibility) {
  if (compatibility == Compatibility::kNvlink) {
    return Contains(name, "nvvm") && Contains(name, "libdevice");
  }
  return name.substr(name.rfind('/') + 1).starts_with("libdevice.");
}

// nvlink assembles text files for these targets as whole programs, which it then leaves out without
// a word.
bool LosesPtxFiles(const LinkOptions& options) {
  return options.compatibility == Compatibility::kNvlink &&
         format::TraitsOf(options.target).ptx_files_are_whole;
}

// Goes over the inputs in their order, once.
class Selector {
 public:
  Selector(const LinkOptions& options, const LinkContext& context, AssembledPtx& assembled)
      : options_(options),
        context_(context),
        assembled_(assembled),
        redirections_(RedirectionsOf(options)),
        undefined_(options.relocatable) {
    for (const SymbolAlias& alias : options.symbol_aliases) aliases_.insert(alias.name);
  }

  Selection Run(std::span<const InputRecordRef> records) {
    // Nearly all have one object of one module.
    out_.modules.reserve(records.size());
    out_.references.reserve(records.size());
    out_.registered.reserve(records.size());
    for (const InputRecordRef& record : records) {
      absl::Status status = TakeRecord(*record);
      // Whoever added a record that cannot be used was told; what cannot be seen in a record alone
      // ends the link.
      const bool known = !record->status.ok() && !record->ends_link && !ends_link_;
      if (status.ok() || (known && !options_.end_at_rejected_input)) continue;
      out_.status = std::move(status);
      return std::move(out_);
    }
    if (LeavesOutLinkedBefore()) DropWhatOnlyTheyNeed();
    return std::move(out_);
  }

 private:
  absl::Status Reject(const Rejection& rejection) {
    out_.diagnostics.push_back(rejection.diagnostic);
    return rejection.ToStatus();
  }

  void Report(const std::vector<Diagnostic>& diagnostics) {
    out_.diagnostics.insert(out_.diagnostics.end(), diagnostics.begin(), diagnostics.end());
  }

  absl::Status TakeRecord(const InputRecord& record) {
    object_.reset();
    // Whoever added it was told that it is left out: so is what an archive has before its fault.
    if (!record.status.ok() && !record.ends_link && !options_.end_at_rejected_input) {
      AppendFindings(record, out_.diagnostics);
      return record.status;
    }
    for (const ObjectRecord& object : record.objects) {
      DEVLINK_RETURN_IF_ERROR(TakeObject(object));
    }
    object_.reset();
    NoteLinkedBefore(record.prelinked_ids);
    if (record.has_silent_host_object) {
      out_.references.push_back({{}, object_});
      out_.lto.host_objects.emplace_back();
      out_.lto.last_host_object = record.name;
      out_.lto.object_after_runtime |= !out_.lto.runtime.empty();
    }
    Report(record.diagnostics);
    return record.status;
  }

  absl::Status TakeObject(const ObjectRecord& object) {
    NoteLinkedBefore(object.prelinked_ids);
    object_.reset();
    if (object.is_registered) {
      object_ = out_.registered.size();
      out_.registered.push_back({.object = &object});
    }
    if (IsOptional(object, options_) && LeavesOutRuntime()) return absl::OkStatus();
    const std::size_t modules_before = out_.modules.size();
    absl::Status status = TakeSections(object);
    // What brought nothing but a failure is not registered.
    if (!status.ok() && object_ && out_.modules.size() == modules_before) {
      out_.registered.pop_back();
    }
    if (!status.ok() && object.is_device_runtime) ends_link_ = true;
    return status;
  }

  // Whether the device runtime, the last object that was registered, is left out: it was linked
  // before, or nothing that came before it needs it.
  bool LeavesOutRuntime() {
    const std::vector<bool> before =
        LinkedBefore(out_.registered, linked_before_, options_.register_directory);
    if (LeavesOutLinkedBefore() && before.back()) return true;
    if (!options_.keep_system_libraries) {
      if (!AnythingUndefined(before)) {
        out_.registered.pop_back();
        object_.reset();
        out_.dropped_device_runtime = true;
        return true;
      }
      out_.registered.back().is_needed_runtime = true;
    }
    assembled_.Add(*out_.registered.back().object);
    return false;
  }

  [[nodiscard]] bool LeavesOutLinkedBefore() const {
    return options_.register_directory.has_value() && !linked_before_.empty() &&
           !options_.lto.enabled;
  }

  // Among the modules so far, without those of objects that `left_out` names.
  bool AnythingUndefined(const std::vector<bool>& left_out) {
    if (!LeavesOutLinkedBefore()) {
      for (; counted_ < out_.modules.size(); ++counted_) {
        undefined_.Add(*out_.modules[counted_].input.module);
      }
      return undefined_.Any();
    }
    UndefinedNames names(options_.relocatable);
    for (const SelectedModule& module : out_.modules) {
      if (module.registered && left_out[*module.registered]) continue;
      names.Add(*module.input.module);
    }
    return names.Any();
  }

  absl::Status TakeSections(const ObjectRecord& object) {
    for (const SectionRecord& section : object.sections) {
      Report(section.diagnostics);
      DEVLINK_RETURN_IF_ERROR(section.status);
      if (section.code.empty()) AddReferences(object);
      if (options_.lto.enabled && object.from_host_object) MeetHostObject(object);
      for (const CodeRecord& code : section.code) {
        DEVLINK_RETURN_IF_ERROR(TakeCode(object, code));
      }
    }
    return absl::OkStatus();
  }

  absl::Status TakeCode(const ObjectRecord& object, const CodeRecord& code) {
    if (code.kind == CodeKind::kNvvm) {
      TakeIr(object, code);
      return absl::OkStatus();
    }
    if (object.is_device_runtime && options_.lto.enabled) return HoldRuntime(object, code);
    if (code.rejection) return Reject(*code.rejection);
    // What nvlink takes for PTX by its name alone.
    const bool passes_for_ptx = code.kind != CodeKind::kPtx && object.name.ends_with(".ptx") &&
                                !object.from_archive && !object.from_host_object;
    if (passes_for_ptx && LosesPtxFiles(options_)) return absl::OkStatus();
    ModuleRef module = code.module;
    if (code.kind == CodeKind::kPtx) {
      const AssembledText* text = assembled_.Find(code);
      if (text == nullptr) return absl::InternalError("PTX behind a text that failed");
      if (EndsAtPtx()) return RejectPtx(object.name);
      Report(text->diagnostics);
      ends_link_ = !text->status.ok();
      DEVLINK_RETURN_IF_ERROR(text->status);
      if (code.is_ptx_file && LosesPtxFiles(options_)) return absl::OkStatus();
      module = text->module;
    }
    NoteWithoutLto(object.name);
    DEVLINK_ASSIGN_OR_RETURN(module, Redirected(object.name, module));
    out_.modules.push_back({{object.name, std::move(module)}, order_++, object_});
    AddReferences(object);
    return absl::OkStatus();
  }

  absl::StatusOr<ModuleRef> Redirected(const std::string& name, const ModuleRef& module) {
    if (redirections_.empty()) return module;
    DEVLINK_RETURN_IF_ERROR(CheckAliases(name, *module));
    auto redirected = RedirectReferences(module, redirections_);
    ends_link_ = !redirected.ok();
    return redirected;
  }

  // What --defsym says is all that there is of a name.
  absl::Status CheckAliases(const std::string& input, const Module& module) {
    if (aliases_.empty()) return absl::OkStatus();
    const ModuleView& view = module.sass();
    for (std::uint32_t i = 1; i < view.symbol_count(); ++i) {
      const InputSymbol symbol = view.SymbolAt(i);
      if (!IsOffered(symbol) || !aliases_.contains(symbol.name)) continue;
      ends_link_ = true;
      return Reject({.diagnostic = format::MakeDiagnostic(
                         Severity::kFatal, DiagnosticCode::kMultipleDefinition, input,
                         base::Cat({"--defsym says what '", symbol.name, "' means, and '", input,
                                    "' defines it"}),
                         "to replace what an input defines, use --wrap"),
                     .code = absl::StatusCode::kAlreadyExists});
    }
    return absl::OkStatus();
  }

  // As nvlink does.
  [[nodiscard]] bool EndsAtPtx() const {
    return options_.check_only && options_.compatibility == Compatibility::kNvlink &&
           format::IsTooLongForCheck(options_.target.number) && !options_.lto.enabled;
  }

  absl::Status RejectPtx(const std::string& input) {
    ends_link_ = true;
    return Reject({.diagnostic = format::MakeDiagnostic(
                       Severity::kFatal, DiagnosticCode::kArchMismatch, input,
                       std::string(format::nvlink_text::kArchTooLong))});
  }

  // `ld -r` joins the lists of objects, and those of objects that launch nothing, one NUL each,
  // become empty names, for which nvlink leaves every kernel out. Beside others they do no harm.
  [[nodiscard]] HostReferences ReferencesOf(const ObjectRecord& object) const {
    HostReferences out = object.references;
    if (options_.compatibility == Compatibility::kNvlink) return out;
    const auto names_nothing = [](const HostReferences::List& list) {
      return std::ranges::all_of(list.names, [](const std::string& name) { return name.empty(); });
    };
    if (names_nothing(out.kernels_external) && names_nothing(out.kernels_internal)) {
      out.kernels_external.names.clear();
      out.kernels_internal.names.clear();
    }
    return out;
  }

  void AddReferences(const ObjectRecord& object) {
    out_.references.push_back({ReferencesOf(object), object_, object.is_device_runtime});
  }

  void NoteLinkedBefore(const std::vector<std::string>& ids) {
    linked_before_.insert(linked_before_.end(), ids.begin(), ids.end());
  }

  // --- With LTO ----------------------------------------------------------------------------------

  // nvlink opens an archive of the device runtime only if a host object came before it.
  [[nodiscard]] bool SeesRuntime(const ObjectRecord& object) const {
    return !object.from_archive || !out_.lto.last_host_object.empty();
  }

  void MeetHostObject(const ObjectRecord& object) {
    LtoSelection& lto = out_.lto;
    const bool seen = !object.is_device_runtime || SeesRuntime(object);
    lto.host_objects.push_back({ReferencesOf(object), object.is_device_runtime, seen});
    if (!seen) return;
    lto.last_host_object = object.name;
    lto.object_after_runtime |= !lto.runtime.empty() && !object.is_device_runtime;
  }

  void TakeIr(const ObjectRecord& object, const CodeRecord& code) {
    const std::string runtime = base::Cat({"lib", format::kDeviceRuntimeName});
    LtoSelection& lto = out_.lto;
    if (object.is_device_runtime && object.from_archive && Contains(object.name, runtime)) {
      lto.runtime_modules.push_back({runtime, &code});
      return;
    }
    lto.last_order = order_++;
    if (object.from_host_object) {
      lto.order = lto.last_order;
      AddReferences(object);
    }
    lto.worth_compiling |= !IsLibdevice(object.name, options_.compatibility);
    lto.modules.push_back({object.name, &code});
  }

  absl::Status HoldRuntime(const ObjectRecord& object, const CodeRecord& code) {
    // One that was not read is refused when it is needed; PTX always is.
    if (code.kind == CodeKind::kPtx) return Reject(*code.rejection);
    const bool seen =
        object.from_host_object ? out_.lto.host_objects.back().seen_by_nvlink : SeesRuntime(object);
    if (!seen && options_.compatibility == Compatibility::kNvlink) return absl::OkStatus();
    out_.lto.runtime.push_back({.order = order_++,
                                .name = object.name,
                                .code = &code,
                                .references = ReferencesOf(object),
                                .seen_by_nvlink = seen});
    return absl::OkStatus();
  }

  void NoteWithoutLto(const std::string& name) {
    if (!options_.lto.enabled) return;
    out_.lto.partial = true;
    if (last_without_lto_ == name) return;  // several sections of one object
    last_without_lto_ = name;
    out_.diagnostics.push_back(format::MakeDiagnostic(Severity::kInfo, DiagnosticCode::kUsage, name,
                                                      format::nvlink_text::PartialLto(name)));
  }

  // --- Where an earlier link has linked some already ---------------------------------------------

  // All inputs are known. The device runtime goes, too, where only such an object needed it.
  void DropWhatOnlyTheyNeed() {
    std::vector<bool> left_out =
        LinkedBefore(out_.registered, linked_before_, options_.register_directory);
    for (std::size_t i = 0; i < left_out.size(); ++i) {
      out_.registered[i].was_linked_before = left_out[i];
    }
    for (std::size_t i = 0; i < left_out.size(); ++i) {
      if (!out_.registered[i].is_needed_runtime || left_out[i]) continue;
      UndefinedNames names(options_.relocatable);  // of what stands before it
      for (const SelectedModule& module : out_.modules) {
        if (module.registered && (*module.registered >= i || left_out[*module.registered]))
          continue;
        names.Add(*module.input.module);
      }
      if (names.Any()) continue;
      left_out[i] = true;
      out_.dropped_device_runtime = true;
    }
    std::size_t count = 0;
    for (std::size_t i = 0; i < left_out.size(); ++i) {
      out_.registered[i].left_out = left_out[i];
      if (left_out[i]) ++count;
    }
    context_.Log([&] { return absl::StrCat("left out, as linked before: ", count, " inputs"); });
    const auto goes = [&left_out](const auto& selected) {
      return selected.registered && left_out[*selected.registered];
    };
    std::erase_if(out_.modules, goes);
    std::erase_if(out_.references, goes);
  }

  const LinkOptions& options_;
  const LinkContext& context_;
  AssembledPtx& assembled_;
  const Redirections redirections_;
  base::HashSet<std::string_view> aliases_;
  Selection out_;
  std::optional<std::size_t> object_;  // the registered object whose code is being taken
  std::size_t order_ = 1;
  bool ends_link_ = false;  // PTX or the device runtime failed, which no record tells alone
  std::vector<std::string> linked_before_;  // ids, from all inputs so far
  std::string last_without_lto_;            // the last input that made the link a partial one
  UndefinedNames undefined_;                // of the first `counted_` modules
  std::size_t counted_ = 0;
};

}  // namespace

Selection Select(std::span<const InputRecordRef> records, const LinkOptions& options,
                 const LinkContext& context, AssembledPtx& assembled) {
  return Selector(options, context, assembled).Run(records);
}

std::vector<InputRecordRef> WithoutRepeatedArchives(std::span<const InputRecordRef> records) {
  std::vector<InputRecordRef> out;
  out.reserve(records.size());
  std::set<FileIdentity> archives;
  for (const InputRecordRef& record : records) {
    if (!record->archive || archives.insert(*record->archive).second) out.push_back(record);
  }
  return out;
}

}  // namespace devlink::internal
