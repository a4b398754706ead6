// SPDX-License-Identifier: Apache-2.0
#include "nvjitlink/linker.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/strings.h"
#include "base/text_bytes.h"
#include "command/toolkit_places.h"
#include "devlink/experimental/lto_ir.h"
#include "format/nvlink_text.h"
#include "format/views.h"
#include "input/admission.h"
#include "input/recognise.h"
#include "model/module.h"
#include "plan/settings.h"

namespace devlink::nvjitlink {

namespace {

using internal::ContentKind;

// What NVIDIA's library leaves in `.note.nv.tkinfo`: where another linker has the name of its
// output and its options, the same texts whatever is linked. devlink's own record takes the same
// room.
constexpr std::string_view kRecordedObject = "in-memory-ELF-image";
constexpr std::string_view kRecordedOptions = "JIT API Command Line Options";
// The library's name is three characters longer than nvlink's, and so is the room.
constexpr std::string_view kLibraryBuild = "Build system must define TOOLS_VERSION_EXTENDED";
constexpr std::size_t kLongerName = 3;

ToolkitProfile ProfileOfLibrary() {
  ToolkitProfile out;
  // The assembler inside the library is the library, too.
  out.build_text = kLibraryBuild;
  out.build_text_length = static_cast<std::uint16_t>(kLibraryBuild.size() + kLongerName);
  return out;
}

LinkOptions LinkOptionsOf(const Options& options) {
  LinkOptions out;
  out.target = options.target;
  out.profile = ProfileOfLibrary();
  out.debug = options.debug;
  out.relocatable = options.relocatable;
  out.verbose = options.verbose;
  out.pass_over_silently = true;  // as NVIDIA's library
  out.kernels_used = options.kernels_used;
  out.variables_used = options.variables_used;
  out.recorded_object = kRecordedObject;
  out.recorded_options = kRecordedOptions;
  return out;
}

// What bytes are as an input of this interface; nothing where they are none.
std::optional<InputType> TypeOf(ContentKind kind) {
  switch (kind) {
    case ContentKind::kCudaRelocatable:
    case ContentKind::kCudaExtensible:
    case ContentKind::kCudaExecutable:
    case ContentKind::kCudaOther:
      return InputType::kCubin;
    case ContentKind::kPtx:
      return InputType::kPtx;
    case ContentKind::kLtoIr:
      return InputType::kLtoIr;
    case ContentKind::kFatbin:
      return InputType::kFatbin;
    case ContentKind::kArchive:
    case ContentKind::kThinArchive:
      return InputType::kLibrary;
    case ContentKind::kHostRelocatable:
    case ContentKind::kHostExecutable:
    case ContentKind::kHostShared:
    case ContentKind::kHostOther:
      return InputType::kObject;
    default:
      return std::nullopt;
  }
}

// The NUL that ends a string belongs to it. An empty log has none: its size is 0.
Output LogOutput(const std::string& log) {
  if (log.empty()) return {};
  return {Result::kSuccess, {log.c_str(), log.size() + 1}};
}

// Whether the only code for the target is LTO IR, and that is not welcome.
bool NeedsLto(const internal::SectionRecord& section) {
  return !section.status.ok() && !section.diagnostics.empty() &&
         section.diagnostics.back().text == format::nvlink_text::kLtoObjectsFound;
}

// A host object may be any ELF file.
bool MayBeObject(InputType type) { return type == InputType::kObject || type == InputType::kCubin; }

}  // namespace

std::string_view NameOf(InputType type) {
  switch (type) {
    case InputType::kCubin:
      return "NVJITLINK_INPUT_CUBIN";
    case InputType::kPtx:
      return "NVJITLINK_INPUT_PTX";
    case InputType::kLtoIr:
      return "NVJITLINK_INPUT_LTOIR";
    case InputType::kFatbin:
      return "NVJITLINK_INPUT_FATBIN";
    case InputType::kObject:
      return "NVJITLINK_INPUT_OBJECT";
    case InputType::kLibrary:
      return "NVJITLINK_INPUT_LIBRARY";
    case InputType::kIndex:
      return "NVJITLINK_INPUT_INDEX";
    case InputType::kAny:
      return "NVJITLINK_INPUT_ANY";
  }
  return "";
}

Linker::Linker(const Environment& environment, Surroundings surroundings)
    : environment_(environment),
      surroundings_(std::move(surroundings)),
      created_at_(environment.NowNanoseconds()) {}

Linker::~Linker() = default;

Result Linker::Create(std::span<const std::string_view> options) {
  OptionReading reading = ReadOptions(options);
  logs_.ErrorText(reading.log);
  options_ = std::move(reading.options);
  if (reading.result != Result::kSuccess) return reading.result;
  if (options_.ptx && options_.split_compile_extended != 1) {
    logs_.Info(
        "'-ptx' is not compatible with '-split-compile-extended', using '-split-compile' instead");
  }
  link_options_ = LinkOptionsOf(options_);
  memory_ = std::make_shared<MemoryBudget>(link_options_.max_memory_bytes);
  // PTX and LTO IR become cubins before the session has them; what is left for it is to finalize.
  const bool finalizes = format::HasTwoViews(options_.target.number);
  auto session =
      LinkSession::Create(link_options_, {.environment = &environment_,
                                          .pool = pool_,
                                          .toolchain = finalizes ? FoundToolchain() : nullptr});
  if (!session.ok()) {
    logs_.Error(base::FromAbsl(session.status().message()));
    return Result::kUnsupportedArch;
  }
  session_.emplace(*std::move(session));
  return Result::kSuccess;
}

const std::shared_ptr<Toolchain>& Linker::FoundToolchain() {
  if (toolchain_ != nullptr) return toolchain_;
  ToolchainOptions places;
  LinkOptions any_link;  // libraries that compile LTO IR are looked for as well
  any_link.lto.enabled = true;
  internal::FindTools(surroundings_(), any_link, places);
  internal::AdviseOnTools(places);
  toolchain_ = std::make_shared<Toolchain>(std::move(places));
  return toolchain_;
}

Tools Linker::ToolsNow() { return {environment_, *FoundToolchain(), link_options_.profile}; }

Result Linker::Refuse(Result result, std::string_view before, std::string_view name) {
  logs_.Error(base::Cat({before, name}));
  return result;
}

Result Linker::AddData(int type, std::span<const std::uint8_t> bytes, std::string_view name) {
  if (!session_) return Result::kInternal;
  if (bytes.empty()) return Result::kInvalidInput;
  return AddRead(type, bytes, std::string(name));
}

Result Linker::AddFile(int type, const std::string& path) {
  if (!session_) return Result::kInternal;
  const auto file = environment_.ReadFile(path, link_options_.max_input_bytes);
  if (!file.ok()) return Refuse(Result::kInvalidInput, "no such file: ", path);
  if (file->bytes.empty()) return Refuse(Result::kInvalidInput, "bad input: ", path);
  return AddRead(type, file->bytes, path);
}

Result Linker::AddRead(int type, std::span<const std::uint8_t> bytes, const std::string& name) {
  const auto asked = static_cast<InputType>(type);
  if (NameOf(asked).empty()) {
    return Refuse(Result::kIncorrectInputType, "unsupported input type: ", name);
  }
  const std::optional<InputType> found = TypeOf(internal::Recognise(bytes));
  if (asked == InputType::kAny && !found) {
    return Refuse(Result::kUnrecognizedInput, "unrecognized input type: ", name);
  }
  const bool fits = asked == InputType::kAny || found == asked ||
                    (asked == InputType::kObject && found && MayBeObject(*found));
  if (!fits) {
    return Refuse(Result::kIncorrectInputType,
                  base::Cat({"ERROR 1: bad input: does not match type ", NameOf(asked)}), name);
  }
  // A cubin that is said to be an object of the host has no device code.
  if (asked == InputType::kObject && *found != InputType::kObject) return Result::kSuccess;
  auto lease = std::make_shared<base::MemoryLease>(environment_, memory_);
  if (const absl::Status leave = lease->Take(bytes.size()); !leave.ok()) return LacksMemory(leave);
  leases_.push_back(std::move(lease));
  const Result added = AddAs(*found, bytes, name);
  if (added != Result::kSuccess) leases_.pop_back();
  return added;
}

Result Linker::AddAs(InputType type, std::span<const std::uint8_t> bytes, const std::string& name) {
  switch (type) {
    case InputType::kCubin:
      return AddCubin(bytes, name);
    case InputType::kPtx:
      return AddPtx(base::TextOf(bytes), name);
    case InputType::kLtoIr:
      return AddLtoIr(bytes, name);
    default:
      return AddContainer(bytes, name);
  }
}

Result Linker::LacksMemory(const absl::Status& why) {
  return Refuse(Result::kInternal, base::FromAbsl(why.message()), "");
}

Result Linker::AddCubin(std::span<const std::uint8_t> bytes, const std::string& name) {
  // One that is linked already has nothing that another input could use.
  if (internal::Recognise(bytes) == ContentKind::kCudaExecutable) return Result::kSuccess;
  const auto module = internal::LoadModule(pool_.get(), bytes);
  if (!module.ok()) return Refuse(Result::kInvalidInput, "ERROR 4: bad input:", name);
  return AddModule(*module, name, /*is_device_runtime=*/false);
}

Result Linker::AddModule(const ModuleRef& module, const std::string& name, bool is_device_runtime) {
  if (is_complete_) {
    return Refuse(Result::kInternal, "ERROR 1: empty elfw when adding cubin", name);
  }
  const bool two_views = format::HasTwoViews(options_.target.number);
  if (two_views && !format::HasTwoViews(module->sm())) {
    logs_.Error(base::Cat(
        {"Mercury or Capmerc target was requested, but SASS input ", name, " was found."}));
    return Result::kInvalidInput;
  }
  // nvlink takes this code for a related device; this interface does not.
  constexpr unsigned kRefused = 100;
  constexpr unsigned kRefusingTarget = 103;
  if (module->sm() == kRefused && options_.target.number == kRefusingTarget) {
    return Refuse(Result::kInvalidInput, "ERROR 4: bad input:", name);
  }
  const auto settings = internal::InputSettingsOf(link_options_);
  if (internal::FindObstacle(name, *module, internal::Purpose::kLink, settings)) {
    return Refuse(Result::kInvalidInput, "ERROR 4: bad input:", name);
  }
  // The same file once more defines nothing new; the pool gives one module for it.
  if (!linked_.insert(module.get()).second) return Result::kSuccess;
  if (const absl::Status added = session_->AddModule(name, module); !added.ok()) {
    logs_.Error(base::FromAbsl(added.message()));
    return Result::kInternal;
  }
  (is_device_runtime ? has_device_runtime_ : has_other_code_) = true;
  return Result::kSuccess;
}

Result Linker::AddPtx(std::string_view text, const std::string& name) {
  std::vector<std::uint8_t> cubin;
  const Result made =
      AssemblePtx(name, text, /*is_whole=*/false, options_, ToolsNow(), cubin, logs_);
  return made == Result::kSuccess ? AddCubin(cubin, name) : made;
}

Result Linker::RefuseLtoIr() {
  return Refuse(Result::kLtoNotEnabled,
                "ERROR 1: LTO-IR input cannot be used without LTO enabled (-lto)", "");
}

Result Linker::AddLtoIr(std::span<const std::uint8_t> bytes, const std::string& name) {
  if (!options_.lto) return RefuseLtoIr();
  const auto ir = LtoIr::Parse(bytes);
  if (ir.ok() && ir->arch.number > options_.target.number) {
    logs_.Error(base::Cat(
        {"ERROR ", std::to_string(ir->arch.number), " in LTOIR arch newer than target arch"}));
    return Result::kArchMismatch;
  }
  lto_inputs_.push_back({.name = name, .bytes = {bytes.begin(), bytes.end()}});
  return Result::kSuccess;
}

// Of fat binaries, host objects and archives all code is linked, under the name of the input.
Result Linker::AddContainer(std::span<const std::uint8_t> bytes, const std::string& name) {
  internal::InputSettings settings = internal::InputSettingsOf(link_options_);
  settings.lto = options_.lto;
  settings.memory = leases_.back();
  const internal::InputRecordRef record =
      internal::ReadInput(name, {bytes.begin(), bytes.end()}, settings, pool_.get());
  if (absl::IsResourceExhausted(record->status)) return LacksMemory(record->status);
  std::size_t found = 0;
  bool is_unfit = !record->status.ok();
  for (const internal::ObjectRecord& object : record->objects) {
    for (const internal::SectionRecord& section : object.sections) {
      if (NeedsLto(section)) return RefuseLtoIr();
      is_unfit = is_unfit || !section.status.ok() || section.code.empty();
      found += section.code.size();
    }
  }
  if (is_unfit) {
    const bool is_cut = internal::Recognise(bytes) == ContentKind::kFatbin && found == 0 &&
                        absl::IsInvalidArgument(record->status);
    return Refuse(Result::kInvalidInput,
                  is_cut ? "ERROR 5: bad input:" : "ERROR 3: bad input: ", name);
  }
  for (const internal::ObjectRecord& object : record->objects) {
    for (const internal::SectionRecord& section : object.sections) {
      for (const internal::CodeRecord& code : section.code) {
        if (const Result added = AddCode(code, name, object.is_device_runtime);
            added != Result::kSuccess)
          return added;
      }
    }
  }
  return Result::kSuccess;
}

Result Linker::AddCode(const internal::CodeRecord& code, const std::string& name,
                       bool is_device_runtime) {
  if (code.module != nullptr) return AddModule(code.module, name, is_device_runtime);
  if (code.kind == CodeKind::kPtx) return AddPtx(base::TextOf(code.bytes), name);
  if (code.kind == CodeKind::kNvvm && options_.lto) {
    lto_inputs_.push_back({name, code.bytes, code.is_protected});
    return Result::kSuccess;
  }
  return Refuse(Result::kInvalidInput, "ERROR 4: bad input:", name);
}

Result Linker::Complete() {
  if (!session_) return Result::kInternal;
  if (is_complete_) return Result::kInternal;
  const std::uint64_t begin = environment_.NowNanoseconds();
  if (options_.time) logs_.Time("nvJitLink time until Complete", begin - created_at_);
  const Result result = options_.ptx ? CompletePtx() : LinkAll();
  if (options_.time) {
    logs_.Time("nvJitLinkComplete time to finish", environment_.NowNanoseconds() - begin);
  }
  return result;
}

Result Linker::CompletePtx() {
  if (has_other_code_ || has_device_runtime_) {
    logs_.Error("ERROR: -ptx requires that all inputs have LTOIR");
    return Result::kIncorrectInputType;
  }
  LtoMade made = CompileLto(lto_inputs_, LtoScope::kWhole, options_, ToolsNow(), logs_);
  has_linked_lto_ = made.has_ptx;
  ltoir_.clear();
  if (made.result != Result::kSuccess) return made.result;
  // More may be added, and all be compiled once more.
  ptx_ = std::move(made.ptx);
  return Result::kSuccess;
}

Result Linker::CompleteLto(LinkSession& session) {
  // 13.0 knows no -r here and makes an executable, which the next link passes over; 13.2 does not.
  const LtoScope scope = ScopeOf({.relocatable_link = options_.relocatable,
                                  .has_other_code = has_other_code_,
                                  .has_device_runtime = has_device_runtime_});
  LtoMade made = CompileLto(lto_inputs_, scope, options_, ToolsNow(), logs_);
  has_linked_lto_ = made.has_ptx;
  ltoir_.clear();
  if (made.result != Result::kSuccess) return made.result;
  if (made.is_whole) {
    cubin_.assign(made.cubins.front().begin(), made.cubins.front().end());
    is_complete_ = true;
    return Result::kSuccess;
  }
  // Behind everything else.
  for (std::vector<std::uint8_t>& cubin : made.cubins) {
    const absl::Status added = session.AddCubin(kLtoPtxName, std::move(cubin));
    if (!added.ok()) {
      logs_.Error(base::FromAbsl(added.message()));
      return Result::kInternal;
    }
  }
  return Result::kSuccess;
}

Result Linker::LinkAll() {
  LinkSession session = *session_;
  if (options_.lto) {
    const Result made = CompleteLto(session);
    if (made != Result::kSuccess || is_complete_) return made;
  }
  is_complete_ = true;
  const LinkOutcome outcome = session.Link();
  logs_.Add(outcome.diagnostics);
  if (!outcome.ok()) {
    logs_.Error("ERROR 9: finish");
    return Result::kInternal;
  }
  cubin_.assign(outcome.cubin.begin(), outcome.cubin.end());
  return Result::kSuccess;
}

Output Linker::Cubin() const {
  if (cubin_.empty()) return {Result::kInternal, {}};
  return {Result::kSuccess, cubin_};
}

Output Linker::Ptx() const {
  if (!options_.ptx) return {Result::kInvalidInput, {}};
  if (ptx_.empty()) return {Result::kInternal, {}};
  return {Result::kSuccess, {ptx_.c_str(), ptx_.size() + 1}};
}

Output Linker::ErrorLog() const { return LogOutput(logs_.error()); }

Output Linker::InfoLog() const { return LogOutput(logs_.info()); }

Output Linker::LtoIr() {
  if (!options_.lto) return {Result::kInvalidInput, {}};
  if (!has_linked_lto_) return {Result::kInternal, {}};
  if (ltoir_.empty()) {
    const Result made = LinkLtoIr(lto_inputs_, options_, ToolsNow(), ltoir_, logs_);
    if (made != Result::kSuccess) return {made, {}};
  }
  return {Result::kSuccess, ltoir_};
}

}  // namespace devlink::nvjitlink
