// SPDX-License-Identifier: Apache-2.0
#include "session/judged_file.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "finalize/agreement.h"
#include "finalize/own_records.h"
#include "format/make_diagnostic.h"
#include "session/refusals.h"

namespace devlink::internal {

namespace {

using Bytes = std::vector<std::uint8_t>;

absl::StatusOr<JudgedFile> TakeOwn(const Bytes& own, const absl::Status& why,
                                   const LinkOptions& options,
                                   std::vector<Diagnostic>& diagnostics) {
  DEVLINK_RETURN_IF_ERROR(
      GoWithoutFinalizer("the finalizer made another program", why, options, diagnostics));
  return JudgedFile{.cubin = own, .is_own = true};
}

}  // namespace

absl::Status FailFinalizing(const absl::Status& status, std::string_view what,
                            std::vector<Diagnostic>& diagnostics) {
  diagnostics.push_back(
      format::MakeDiagnostic(Severity::kFatal, DiagnosticCode::kUnsupportedFeature, "",
                             std::string(what), std::string(base::FromAbsl(status.message()))));
  return status;
}

absl::Status GoWithoutFinalizer(std::string_view what, const absl::Status& why,
                                const LinkOptions& options, std::vector<Diagnostic>& diagnostics) {
  if (options.finalize == FinalizeMode::kAlways) return FailFinalizing(why, what, diagnostics);
  Diagnostic& note = diagnostics.emplace_back();
  note.severity = Severity::kInfo;
  note.code = DiagnosticCode::kUnsupportedFeature;
  note.notes.push_back(base::Cat(
      {what, ", so the code is as the assembler made it: ", base::FromAbsl(why.message())}));
  return absl::OkStatus();
}

absl::StatusOr<JudgedFile> JudgeFinalized(FileToJudge files, const LinkOptions& options,
                                          const LinkContext& context,
                                          std::vector<Diagnostic>& diagnostics) {
  JudgedFile out{.cubin = std::move(files.finalized)};
  // Want of memory and a stop must not decide which file is written, and of damage none is made;
  // what cannot be composed cannot be compared.
  if (absl::IsCancelled(files.own.status())) return files.own.status();
  if (absl::IsInvalidArgument(files.own.status()) &&
      options.compatibility != Compatibility::kNvlink) {
    return ReportUnwritable(files.own.status(), options.target, diagnostics);
  }
  if (absl::IsResourceExhausted(files.own.status())) {
    return FailFinalizing(files.own.status(), "what the finalizer made cannot be compared",
                          diagnostics);
  }
  const absl::Status unfit = absl::UnimplementedError("the code is for another architecture");
  // What nvlink does with -suppress-debug-info the finalizer could not be told.
  const bool told_less = options.suppress_debug_info;
  auto agreement = !files.own.ok()    ? files.own.status()
                   : files.own_is_fit ? CompareWithOwn(out.cubin, *files.own)
                                      : unfit;
  if (!agreement.ok()) {
    context.Log([&] {
      return absl::StrCat("the finalizer's file was compared with none: ",
                          agreement.status().message());
    });
    if (!files.own.ok()) return out;
  } else if (agreement->difference.empty()) {
    out.finalized = std::move(agreement->finalized);
  } else if (told_less || options.compatibility != Compatibility::kNvlink) {
    return TakeOwn(*files.own,
                   absl::InternalError(base::ToAbsl(
                       base::Cat({agreement->difference, " is not as this link has it"}))),
                   options, diagnostics);
  }
  if (!files.told_others) return out;
  auto joined = WithOwnRecords(out.cubin, *files.own);
  if (joined.ok()) {
    out.cubin = *std::move(joined);
  } else if (told_less && files.own_is_fit) {
    return TakeOwn(*files.own, joined.status(), options, diagnostics);
  } else {
    // What does not come of the inputs must not decide what the file is.
    context.Log([&] {
      return absl::StrCat("attributes stay as the finalizer has them: ", joined.status().message());
    });
  }
  return out;
}

}  // namespace devlink::internal
