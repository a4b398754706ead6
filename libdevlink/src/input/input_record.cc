// SPDX-License-Identifier: Apache-2.0
#include "input/input_record.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/bounded_reader.h"
#include "base/strings.h"
#include "format/elf_cuda.h"
#include "format/make_diagnostic.h"
#include "format/nvlink_text.h"
#include "input/admission.h"
#include "input/choose_code.h"
#include "input/expand.h"
#include "input/recognise.h"
#include "input/register_file.h"

namespace devlink::internal {

namespace {

std::vector<std::string> Owned(const std::vector<std::string_view>& texts) {
  return {texts.begin(), texts.end()};
}

CodeKind KindOf(ContentKind content) {
  switch (content) {
    case ContentKind::kPtx:
      return CodeKind::kPtx;
    case ContentKind::kLtoIr:
      return CodeKind::kNvvm;
    default:
      return CodeKind::kSass;
  }
}

std::shared_ptr<const Rejection> Rejected(Diagnostic diagnostic, absl::StatusCode code) {
  return std::make_shared<const Rejection>(Rejection{std::move(diagnostic), code});
}

Purpose PurposeOf(const InputSettings& settings, bool is_held_runtime) {
  return settings.check_only && !is_held_runtime ? Purpose::kCheck : Purpose::kLink;
}

// What nvlink says of a cubin's header before it looks whether that matters: that it is not of a
// 64-bit program, and that code with one view runs on no target that has two.
void NoteHeader(const std::string& name, const format::Ehdr& header, const InputSettings& settings,
                std::vector<Diagnostic>& out) {
  const auto severity = settings.severities.Judge(Severity::kWarning);
  if (!severity) return;
  const auto warn = [&](DiagnosticCode code, std::string text) {
    out.push_back(format::MakeDiagnostic(*severity, code, name, std::move(text)));
  };
  if (header.type == format::kTypeRel && !format::Has64BitAddresses(header)) {
    warn(DiagnosticCode::kAbiMismatch, format::nvlink_text::Expected64BitObject(name));
  }
  if (format::HasTwoViews(settings.target.number) && !format::HasTwoViews(format::SmOf(header))) {
    warn(DiagnosticCode::kArchMismatch,
         format::nvlink_text::OutputIsLimited(name, settings.target.number));
  }
}

// Parses a cubin. `bytes` is a vector to be taken over, or a view.
template <typename Bytes>
void ParseCubin(const std::string& name, Bytes&& bytes, bool is_held_runtime,
                const InputSettings& settings, ModulePool* pool, CodeRecord& code,
                std::vector<Diagnostic>& said) {
  const std::size_t size = bytes.size();
  const ContentKind content = Recognise(bytes);
  const Purpose purpose = PurposeOf(settings, is_held_runtime);
  const auto header = base::BoundedReader(bytes).ReadOrZero<format::Ehdr>(0);
  auto module = LoadModule(pool, std::forward<Bytes>(bytes));
  if (!module.ok()) {
    if (absl::IsResourceExhausted(module.status())) {
      code.rejection = Rejected(DescribeUnreadable(name, module.status()), module.status().code());
      return;
    }
    if (IsCudaElf(content)) {
      if (auto obstacle = FindHeaderObstacle(name, header, purpose, settings)) {
        if (!is_held_runtime) NoteHeader(name, header, settings, said);
        code.rejection = Rejected(*std::move(obstacle), absl::StatusCode::kFailedPrecondition);
        return;
      }
    }
    code.rejection = Rejected(DescribeMalformed(name, content, size, module.status()),
                              absl::StatusCode::kInvalidArgument);
    return;
  }
  if (!is_held_runtime) NoteHeader(name, (*module)->header(), settings, said);
  if (auto obstacle = FindObstacle(name, **module, purpose, settings)) {
    code.rejection = Rejected(*std::move(obstacle), absl::StatusCode::kFailedPrecondition);
    return;
  }
  code.module = *std::move(module);
}

class RecordMaker {
 public:
  RecordMaker(std::string_view name, std::vector<std::uint8_t>&& bytes,
              const InputSettings& settings, ModulePool* pool)
      : bytes_(std::move(bytes)), settings_(settings), pool_(pool) {
    record_->name = name;
  }

  InputRecordRef Run(std::optional<FileIdentity> archive) {
    Expand(archive);
    // Of libraries that are files, many are given to a device link for the host's sake.
    if (settings_.tells_of_no_code && !record_->archive && BringsNothing(*record_)) TellOfNoCode();
    KeepOnlyLeaveForCode();
    return std::move(record_);
  }

 private:
  void Expand(std::optional<FileIdentity> archive) {
    record_->memory = settings_.memory;
    Expansion expansion = ExpandInput(record_->name, bytes_,
                                      {.compatibility = settings_.compatibility,
                                       .lto = settings_.lto,
                                       .read_file = settings_.read_file,
                                       .memory = settings_.memory.get()});
    const ContentKind kind = Recognise(bytes_);
    record_->content = Describe(kind);
    if (archive && IsArchive(kind)) record_->archive = archive;
    for (DeviceBlob& blob : expansion.blobs) {
      TakeBlob(blob);
      if (!record_->status.ok()) return;
    }
    record_->prelinked_ids = Owned(expansion.prelinked_ids);
    record_->has_silent_host_object = expansion.silent_host_object;
    record_->whole_programs = std::move(expansion.whole_programs);
    const bool fatal = expansion.fatal();
    record_->diagnostics = std::move(expansion.diagnostics);
    if (expansion.mixed_module_ids && settings_.keeps_lists_of_ids) {
      RejectMixedIds(record_->name);
    } else if (fatal) {
      record_->status = absl::InvalidArgumentError(base::ToAbsl(record_->diagnostics.back().text));
    }
  }

  // nvlink passes over it without a word; to a caller it may be the wrong file.
  void TellOfNoCode() {
    const bool is_archive = record_->content == Describe(ContentKind::kArchive) ||
                            record_->content == Describe(ContentKind::kThinArchive);
    record_->diagnostics.push_back(
        format::MakeDiagnostic(Severity::kInfo, DiagnosticCode::kNoDeviceCode, record_->name, "",
                               base::Cat({"'", record_->name, "' brings no device code: it is ",
                                          record_->content, is_archive ? " without any" : ""})));
  }

  // The input itself and the files of a thin archive are gone.
  void KeepOnlyLeaveForCode() {
    if (record_->memory == nullptr) return;
    std::uint64_t kept = 0;
    for (const ObjectRecord& object : record_->objects) {
      for (const SectionRecord& section : object.sections) {
        for (const CodeRecord& code : section.code) {
          kept += code.bytes.size();
          if (code.module != nullptr) kept += code.module->bytes().size();
        }
      }
    }
    record_->memory->ShrinkTo(kept);
  }

  void TakeBlob(DeviceBlob& blob) {
    if (settings_.keeps_lists_of_ids) {
      if (blob.module_ids.mixed) return RejectMixedIds(blob.name);
      const auto& ids = blob.module_ids.own;
      const auto strange = std::ranges::find_if_not(ids, IsModuleId);
      if (strange != ids.end()) return RejectId(blob.name, *strange);
    }
    if (!blob.further_section) BeginObject(blob);
    ObjectRecord& object = record_->objects.back();
    // Whether the device runtime takes part is seen in the link; until then nothing is wrong.
    const bool counts = !object.is_device_runtime || (settings_.check_only && !settings_.lto);
    SectionRecord& section = object.sections.emplace_back();
    Choose(object, blob, section);
    const auto is_ir = [](const CodeRecord& code) { return code.kind == CodeKind::kNvvm; };
    if (!blob.from_host_object && !section.code.empty() &&
        std::all_of(section.code.begin(), section.code.end(), is_ir)) {
      object.is_registered = false;
    }
    absl::Status status = section.status;
    for (CodeRecord& code : section.code) {
      if (status.ok()) status = Read(object, code, section.diagnostics);
    }
    if (counts) record_->status = status;
  }

  // Where a register file is to be written, the lists of ids must be sound.
  void RejectMixedIds(const std::string& name) {
    RejectIds(name, base::Cat({"the section __nv_module_id of '", name,
                               "' lists modules that were linked before, and others"}));
  }

  void RejectId(const std::string& name, std::string_view id) {
    constexpr std::size_t kShown = 100;
    RejectIds(name, base::Cat({"'", name, "' calls a module '", id.substr(0, kShown),
                               "', which is not a name that may stand in a register file"}));
  }

  void RejectIds(const std::string& name, std::string why) {
    const Rejection rejection{format::MakeDiagnostic(
        Severity::kFatal, DiagnosticCode::kMalformedInput, name,
        std::string(format::nvlink_text::kUnexpectedModuleIds), std::move(why))};
    record_->diagnostics = {rejection.diagnostic};
    record_->status = rejection.ToStatus();
  }

  void BeginObject(DeviceBlob& blob) {
    ObjectRecord& object = record_->objects.emplace_back();
    object.name = std::move(blob.name);
    object.from_archive = blob.from_archive;
    object.from_host_object = blob.from_host_object;
    object.is_device_runtime = blob.is_cudadevrt;
    object.ids = Owned(blob.module_ids.own);
    object.prelinked_ids = Owned(blob.module_ids.prelinked);
    object.references = std::move(blob.references);
  }

  void Choose(const ObjectRecord& object, const DeviceBlob& blob, SectionRecord& section) {
    if (blob.kind == ContentKind::kFatbin) {
      section.status =
          ChooseCodeInFatbin(object, blob.bytes, settings_, section.code, section.diagnostics);
      if (!section.status.ok()) section.code.clear();
      return;
    }
    const bool is_all = blob.bytes.data() == bytes_.data() && blob.bytes.size() == bytes_.size();
    if (absl::Status leave = settings_.TakeMemory(is_all ? 0 : blob.bytes.size()); !leave.ok()) {
      section.diagnostics.push_back(DescribeUnreadable(object.name, leave));
      section.status = std::move(leave);
      return;
    }
    CodeRecord& code = section.code.emplace_back();
    code.kind = KindOf(blob.kind);
    code.is_ptx_file = is_all && code.kind == CodeKind::kPtx;
    if (is_all) {
      code.bytes = std::move(bytes_);  // the input is this code and nothing else
    } else {
      code.bytes.assign(blob.bytes.begin(), blob.bytes.end());
    }
  }

  absl::Status Read(const ObjectRecord& object, CodeRecord& code, std::vector<Diagnostic>& said) {
    const bool is_held_runtime = object.is_device_runtime && settings_.lto;
    if (code.kind == CodeKind::kSass) {
      ParseCubin(object.name, std::exchange(code.bytes, {}), is_held_runtime, settings_, pool_,
                 code, said);
    } else if (code.kind == CodeKind::kPtx && is_held_runtime) {
      code.rejection = Rejected(
          format::MakeDiagnostic(Severity::kFatal, DiagnosticCode::kMalformedInput, object.name,
                                 std::string(format::nvlink_text::kFatbinaryError),
                                 base::Cat({"'", object.name, "' has no cubin for this target"})),
          absl::StatusCode::kUnimplemented);
    }
    return code.rejection ? code.rejection->ToStatus() : absl::OkStatus();
  }

  std::vector<std::uint8_t> bytes_;
  const InputSettings& settings_;
  ModulePool* pool_;
  std::shared_ptr<InputRecord> record_ = std::make_shared<InputRecord>();
};

// A record of one cubin that the caller added as such.
template <typename Bytes>
InputRecordRef RecordOfCubin(std::string_view name, Bytes&& bytes, HostReferences references,
                             const InputSettings& settings, ModulePool* pool) {
  auto record = std::make_shared<InputRecord>();
  record->name = name;
  record->memory = settings.memory;
  ObjectRecord& object = record->objects.emplace_back();
  object.name = name;
  object.is_registered = false;
  object.references = std::move(references);
  SectionRecord& section = object.sections.emplace_back();
  section.code.emplace_back();
  ParseCubin(object.name, std::forward<Bytes>(bytes), /*is_held_runtime=*/false, settings, pool,
             section.code.back(), section.diagnostics);
  if (section.code.back().rejection) record->status = section.code.back().rejection->ToStatus();
  return record;
}

}  // namespace

absl::Status Rejection::ToStatus() const {
  std::string message = diagnostic.text;
  for (const std::string& note : diagnostic.notes) absl::StrAppend(&message, "; ", note);
  return {code, message};
}

bool BringsNothing(const InputRecord& record) {
  return record.status.ok() && record.objects.empty() && record.whole_programs.empty() &&
         record.prelinked_ids.empty() && !record.name.empty();
}

bool IsToldOfNoCode(const InputRecord& record) {
  return std::ranges::any_of(record.diagnostics, [](const Diagnostic& said) {
    return said.code == DiagnosticCode::kNoDeviceCode;
  });
}

InputRecordRef ReadInput(std::string_view name, std::vector<std::uint8_t>&& bytes,
                         const InputSettings& settings, ModulePool* pool,
                         std::optional<FileIdentity> archive) {
  return RecordMaker(name, std::move(bytes), settings, pool).Run(archive);
}

InputRecordRef ReadCubin(std::string_view name, std::vector<std::uint8_t>&& bytes,
                         HostReferences references, const InputSettings& settings,
                         ModulePool* pool) {
  return RecordOfCubin(name, std::move(bytes), std::move(references), settings, pool);
}

InputRecordRef ReadCubin(std::string_view name, base::Bytes bytes, HostReferences references,
                         const InputSettings& settings, ModulePool* pool) {
  return RecordOfCubin(name, bytes, std::move(references), settings, pool);
}

InputRecordRef RecordModule(std::string_view name, ModuleRef module, HostReferences references,
                            const InputSettings& settings) {
  auto record = std::make_shared<InputRecord>();
  record->name = name;
  ObjectRecord& object = record->objects.emplace_back();
  object.name = name;
  object.is_registered = false;
  object.references = std::move(references);
  SectionRecord& section = object.sections.emplace_back();
  CodeRecord& code = section.code.emplace_back();
  NoteHeader(object.name, module->header(), settings, section.diagnostics);
  auto obstacle =
      FindObstacle(object.name, *module, PurposeOf(settings, /*is_held_runtime=*/false), settings);
  if (obstacle) {
    code.rejection = Rejected(*std::move(obstacle), absl::StatusCode::kFailedPrecondition);
    record->status = code.rejection->ToStatus();
  } else {
    code.module = std::move(module);
  }
  return record;
}

InputRecordRef RecordUnreadable(const std::string& name, const absl::Status& why) {
  auto record = std::make_shared<InputRecord>();
  record->name = name;
  const Rejection rejection{DescribeUnreadable(name, why), why.code()};
  record->diagnostics.push_back(rejection.diagnostic);
  record->status = rejection.ToStatus();
  return record;
}

InputRecordRef RecordMissingLibrary(std::string_view name) {
  auto record = std::make_shared<InputRecord>();
  record->name = base::Cat({"-l", name});
  record->is_missing_library = true;
  return record;
}

InputRecordRef RecordReferences(HostReferences references) {
  auto record = std::make_shared<InputRecord>();
  ObjectRecord& object = record->objects.emplace_back();
  object.is_registered = false;
  object.references = std::move(references);
  object.sections.emplace_back();
  return record;
}

void AppendFindings(const InputRecord& record, std::vector<Diagnostic>& out) {
  for (const ObjectRecord& object : record.objects) {
    for (const SectionRecord& section : object.sections) {
      out.insert(out.end(), section.diagnostics.begin(), section.diagnostics.end());
      for (const CodeRecord& code : section.code) {
        if (code.rejection) out.push_back(code.rejection->diagnostic);
      }
    }
  }
  out.insert(out.end(), record.diagnostics.begin(), record.diagnostics.end());
}

}  // namespace devlink::internal
