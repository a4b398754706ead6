// SPDX-License-Identifier: Apache-2.0
//
// Numbers of the C interface, which are those of the C++ interface, and what is constant.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/guard.h"
#include "c_api/objects.h"
#include "devlink/arch.h"
#include "devlink/diagnostics.h"
#include "devlink/nvlink_command.h"
#include "devlink/sinks.h"
#include "devlink/version.h"
#include "format/sm_traits.h"

namespace devlink::c_api {
namespace {

constexpr bool Is(absl::StatusCode code, dl_status number) {
  return static_cast<dl_status>(code) == number;
}
static_assert(Is(absl::StatusCode::kOk, DL_OK));
static_assert(Is(absl::StatusCode::kCancelled, DL_CANCELLED));
static_assert(Is(absl::StatusCode::kUnknown, DL_UNKNOWN));
static_assert(Is(absl::StatusCode::kInvalidArgument, DL_INVALID_ARGUMENT));
static_assert(Is(absl::StatusCode::kDeadlineExceeded, DL_DEADLINE_EXCEEDED));
static_assert(Is(absl::StatusCode::kNotFound, DL_NOT_FOUND));
static_assert(Is(absl::StatusCode::kAlreadyExists, DL_ALREADY_EXISTS));
static_assert(Is(absl::StatusCode::kPermissionDenied, DL_PERMISSION_DENIED));
static_assert(Is(absl::StatusCode::kResourceExhausted, DL_RESOURCE_EXHAUSTED));
static_assert(Is(absl::StatusCode::kFailedPrecondition, DL_FAILED_PRECONDITION));
static_assert(Is(absl::StatusCode::kAborted, DL_ABORTED));
static_assert(Is(absl::StatusCode::kOutOfRange, DL_OUT_OF_RANGE));
static_assert(Is(absl::StatusCode::kUnimplemented, DL_UNIMPLEMENTED));
static_assert(Is(absl::StatusCode::kInternal, DL_INTERNAL));
static_assert(Is(absl::StatusCode::kUnavailable, DL_UNAVAILABLE));
static_assert(Is(absl::StatusCode::kDataLoss, DL_DATA_LOSS));
static_assert(Is(absl::StatusCode::kUnauthenticated, DL_UNAUTHENTICATED));

constexpr bool Is(Severity severity, dl_severity number) {
  return static_cast<dl_severity>(severity) == number;
}
static_assert(Is(Severity::kInfo, DL_INFO));
static_assert(Is(Severity::kWarning, DL_WARNING));
static_assert(Is(Severity::kError, DL_ERROR));
static_assert(Is(Severity::kFatal, DL_FATAL));

constexpr bool Is(DiagnosticCode code, dl_diagnostic_code number) {
  return static_cast<dl_diagnostic_code>(code) == number;
}
static_assert(Is(DiagnosticCode::kUndefinedReference, DL_UNDEFINED_REFERENCE));
static_assert(Is(DiagnosticCode::kMultipleDefinition, DL_MULTIPLE_DEFINITION));
static_assert(Is(DiagnosticCode::kSizeMismatch, DL_SIZE_MISMATCH));
static_assert(Is(DiagnosticCode::kSpaceMismatch, DL_SPACE_MISMATCH));
static_assert(Is(DiagnosticCode::kManagedMismatch, DL_MANAGED_MISMATCH));
static_assert(Is(DiagnosticCode::kArchMismatch, DL_ARCH_MISMATCH));
static_assert(Is(DiagnosticCode::kAbiMismatch, DL_ABI_MISMATCH));
static_assert(Is(DiagnosticCode::kInputNewerThanToolkit, DL_INPUT_NEWER_THAN_TOOLKIT));
static_assert(Is(DiagnosticCode::kInputTooOld, DL_INPUT_TOO_OLD));
static_assert(Is(DiagnosticCode::kUnreadableInput, DL_UNREADABLE_INPUT));
static_assert(Is(DiagnosticCode::kMalformedInput, DL_MALFORMED_INPUT));
static_assert(Is(DiagnosticCode::kUnsupportedInput, DL_UNSUPPORTED_INPUT));
static_assert(Is(DiagnosticCode::kMergeFailed, DL_MERGE_FAILED));
static_assert(Is(DiagnosticCode::kStackSizeUnknown, DL_STACK_SIZE_UNKNOWN));
static_assert(Is(DiagnosticCode::kResourceOverflow, DL_RESOURCE_OVERFLOW));
static_assert(Is(DiagnosticCode::kUnsupportedFeature, DL_UNSUPPORTED_FEATURE));
static_assert(Is(DiagnosticCode::kUsage, DL_USAGE));
static_assert(Is(DiagnosticCode::kResourceUsage, DL_RESOURCE_USAGE));
static_assert(Is(DiagnosticCode::kRelocationOverflow, DL_RELOCATION_OVERFLOW));
static_assert(Is(DiagnosticCode::kEntryMismatch, DL_ENTRY_MISMATCH));
static_assert(Is(DiagnosticCode::kPrototypeMismatch, DL_PROTOTYPE_MISMATCH));
static_assert(Is(DiagnosticCode::kUnresolvableRelocation, DL_UNRESOLVABLE_RELOCATION));
static_assert(Is(DiagnosticCode::kPtxAssembly, DL_PTX_ASSEMBLY));
static_assert(Is(DiagnosticCode::kOptionMismatch, DL_OPTION_MISMATCH));
static_assert(Is(DiagnosticCode::kLtoCompilation, DL_LTO_COMPILATION));
static_assert(Is(DiagnosticCode::kEarlyReference, DL_EARLY_REFERENCE));
static_assert(Is(DiagnosticCode::kForgottenAddress, DL_FORGOTTEN_ADDRESS));
static_assert(Is(DiagnosticCode::kNoDeviceCode, DL_NO_DEVICE_CODE));

static_assert(static_cast<dl_log_level>(LogLevel::kDebug) == DL_LOG_DEBUG);
static_assert(static_cast<dl_log_level>(LogLevel::kInfo) == DL_LOG_INFO);

constexpr bool Is(LinkPhase phase, dl_phase number) {
  return static_cast<dl_phase>(phase) == number;
}
static_assert(Is(LinkPhase::kReading, DL_PHASE_READING));
static_assert(Is(LinkPhase::kLtoCompile, DL_PHASE_LTO_COMPILE));
static_assert(Is(LinkPhase::kAssembling, DL_PHASE_ASSEMBLING));
static_assert(Is(LinkPhase::kLinking, DL_PHASE_LINKING));
static_assert(Is(LinkPhase::kWriting, DL_PHASE_WRITING));

constexpr bool Is(SymbolKind kind, dl_symbol_kind number) {
  return static_cast<dl_symbol_kind>(kind) == number;
}
static_assert(Is(SymbolKind::kUnknown, DL_SYMBOL_UNKNOWN));
static_assert(Is(SymbolKind::kFunction, DL_SYMBOL_FUNCTION));
static_assert(Is(SymbolKind::kVariable, DL_SYMBOL_VARIABLE));
static_assert(Is(SymbolKind::kTexture, DL_SYMBOL_TEXTURE));
static_assert(Is(SymbolKind::kSampler, DL_SYMBOL_SAMPLER));
static_assert(Is(SymbolKind::kSurface, DL_SYMBOL_SURFACE));

constexpr bool Is(MemorySpace space, dl_memory_space number) {
  return static_cast<dl_memory_space>(space) == number;
}
static_assert(Is(MemorySpace::kNone, DL_SPACE_NONE));
static_assert(Is(MemorySpace::kGlobal, DL_SPACE_GLOBAL));
static_assert(Is(MemorySpace::kShared, DL_SPACE_SHARED));
static_assert(Is(MemorySpace::kConstant, DL_SPACE_CONSTANT));

constexpr bool Is(SymbolBinding binding, dl_binding number) {
  return static_cast<dl_binding>(binding) == number;
}
static_assert(Is(SymbolBinding::kLocal, DL_BINDING_LOCAL));
static_assert(Is(SymbolBinding::kGlobal, DL_BINDING_GLOBAL));
static_assert(Is(SymbolBinding::kWeak, DL_BINDING_WEAK));

// Made by the first who asks; null where there is no memory.
const std::vector<std::string>* TargetNames() noexcept {
  try {
    static const std::vector<std::string> names =
        format::TargetNames(std::numeric_limits<std::uint16_t>::max());
    return &names;
  } catch (...) {
    return nullptr;
  }
}

}  // namespace
}  // namespace devlink::c_api

extern "C" {

const char* dl_status_name(dl_status status) {
  static constexpr std::array<const char*, DL_UNAUTHENTICATED + 1> kNames = {"OK",
                                                                             "CANCELLED",
                                                                             "UNKNOWN",
                                                                             "INVALID_ARGUMENT",
                                                                             "DEADLINE_EXCEEDED",
                                                                             "NOT_FOUND",
                                                                             "ALREADY_EXISTS",
                                                                             "PERMISSION_DENIED",
                                                                             "RESOURCE_EXHAUSTED",
                                                                             "FAILED_PRECONDITION",
                                                                             "ABORTED",
                                                                             "OUT_OF_RANGE",
                                                                             "UNIMPLEMENTED",
                                                                             "INTERNAL",
                                                                             "UNAVAILABLE",
                                                                             "DATA_LOSS",
                                                                             "UNAUTHENTICATED"};
  const bool is_known = status >= DL_OK && status <= DL_UNAUTHENTICATED;
  return kNames[static_cast<std::size_t>(is_known ? status : DL_UNKNOWN)];
}

// Of a literal, which a NUL ends.
const char* dl_version() { return devlink::Version().data(); }

size_t dl_target_count() {
  const auto* names = devlink::c_api::TargetNames();
  return names == nullptr ? 0 : names->size();
}

const char* dl_target_name(size_t index) {
  const auto* names = devlink::c_api::TargetNames();
  return names == nullptr || index >= names->size() ? nullptr : (*names)[index].c_str();
}

// Of literals, too.
const char* dl_tool_variable(size_t index) {
  const auto variables = devlink::ToolVariables();
  return index < variables.size() ? variables[index].data() : nullptr;
}

}  // extern "C"
