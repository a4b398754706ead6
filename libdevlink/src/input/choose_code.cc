// SPDX-License-Identifier: Apache-2.0
#include "input/choose_code.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/guard.h"
#include "base/strings.h"
#include "devlink/experimental/code_choice.h"
#include "devlink/experimental/fatbin.h"
#include "format/extract_member.h"
#include "format/make_diagnostic.h"
#include "format/nvlink_text.h"

namespace devlink::internal {

namespace nvlink_text = format::nvlink_text;
using format::MakeDiagnostic;

namespace {

// nvlink's words for a fat binary that it cannot read, and what is wrong with it.
absl::Status Unreadable(const std::string& name, const absl::Status& why,
                        std::vector<Diagnostic>& out) {
  constexpr auto kCode = DiagnosticCode::kMalformedInput;
  switch (FatbinErrorOf(why)) {
    case Fatbin::Error::kNotFatbin:
    case Fatbin::Error::kVersion:
      out.push_back(MakeDiagnostic(Severity::kError, kCode, name,
                                   std::string(nvlink_text::kFormatNotRecognized)));
      break;
    case Fatbin::Error::kUncompress:
    case Fatbin::Error::kTooLarge:
      out.push_back(MakeDiagnostic(Severity::kError, kCode, name,
                                   std::string(nvlink_text::kUncompressFailed)));
      out.push_back(MakeDiagnostic(Severity::kError, kCode, name,
                                   std::string(nvlink_text::kUncompressFailed)));
      break;
    default:
      break;
  }
  std::string note = base::Cat({"'", name, "': ", base::FromAbsl(why.message())});
  absl::Status status(
      absl::IsResourceExhausted(why) ? why.code() : absl::StatusCode::kInvalidArgument, note);
  out.push_back(MakeDiagnostic(Severity::kFatal, kCode, name,
                               std::string(nvlink_text::kFatbinaryError), std::move(note)));
  return status;
}

// Every candidate and why it was passed over.
std::vector<std::string> Explain(std::span<const CodeCandidate> candidates,
                                 const CodeChoice& choice, Arch target) {
  constexpr std::size_t kMost = 16;
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < candidates.size() && i < kMost; ++i) {
    notes.push_back(ExplainVerdict(candidates, choice, i, target));
  }
  return notes;
}

// nvlink warns of a missing architecture; with -Werror that is an error.
absl::Status Missing(const ObjectRecord& object, const InputSettings& settings,
                     std::vector<std::string> notes, std::vector<Diagnostic>& out) {
  const auto severity = settings.severities.Judge(Severity::kWarning);
  if (object.from_archive || settings.suppress_arch_warning || !severity) return absl::OkStatus();
  const std::string text = nvlink_text::ArchNotFound(settings.target_name, object.name);
  Diagnostic& warning =
      out.emplace_back(MakeDiagnostic(*severity, DiagnosticCode::kArchMismatch, object.name, text));
  warning.notes = std::move(notes);
  return *severity == Severity::kError ? absl::FailedPreconditionError(text) : absl::OkStatus();
}

absl::StatusOr<std::vector<std::uint8_t>> Take(const Fatbin& fatbin, const FatbinMember& member,
                                               const FatbinLimits& limits,
                                               format::ZstdDecompressor* zstd) {
  if (member.is_obfuscated) return fatbin.Isolate(member);
  if (zstd == nullptr) return fatbin.Extract(member);
  return base::Guard([&] { return format::ExtractMember(member, limits, *zstd); });
}

}  // namespace

absl::Status ChooseCodeInFatbin(const ObjectRecord& object, base::Bytes bytes,
                                const InputSettings& settings, RecordList<CodeRecord>& chosen,
                                std::vector<Diagnostic>& diagnostics) {
  FatbinLimits limits;
  limits.only_first_container = settings.compatibility == Compatibility::kNvlink;
  const auto fatbin = Fatbin::Parse(bytes, limits);
  if (!fatbin.ok()) return Unreadable(object.name, fatbin.status(), diagnostics);
  const std::vector<CodeCandidate> all = fatbin->Candidates();
  const std::vector<FatbinMember>& members = fatbin->members();
  for (std::size_t begin = 0; begin < members.size();) {
    std::size_t end = begin;
    while (end < members.size() && members[end].container == members[begin].container) ++end;
    const std::span<const CodeCandidate> candidates(all.data() + begin, end - begin);
    const CodeChoice choice = ChooseCode(
        candidates, settings.target, {.lto = settings.lto, .virtual_target = settings.check_only});
    if (choice.needs_lto) {
      diagnostics.push_back(MakeDiagnostic(Severity::kFatal, DiagnosticCode::kUnsupportedInput,
                                           object.name,
                                           std::string(nvlink_text::kLtoObjectsFound)));
      diagnostics.back().notes = Explain(candidates, choice, settings.target);
      return absl::FailedPreconditionError(
          absl::StrCat("'", object.name, "' has only LTO IR for this target; link with -lto"));
    }
    if (!choice.index) {
      const absl::Status missing =
          Missing(object, settings, Explain(candidates, choice, settings.target), diagnostics);
      if (!missing.ok()) return missing;
    } else {
      const FatbinMember& member = members[begin + *choice.index];
      // What claims to be larger than a limit is refused without being made.
      const std::uint64_t size =
          member.is_obfuscated ? member.whole.size() : member.uncompressed_size;
      if (size <= limits.max_uncompressed_size) {
        absl::Status leave = settings.TakeMemory(size);
        if (!leave.ok()) return Unreadable(object.name, leave, diagnostics);
      }
      auto extracted = Take(*fatbin, member, limits, settings.zstd);
      if (!extracted.ok()) return Unreadable(object.name, extracted.status(), diagnostics);
      CodeRecord& code = chosen.emplace_back();
      code.kind = member.kind;
      code.bytes = *std::move(extracted);
      code.is_protected = member.is_obfuscated;
      if (code.kind != CodeKind::kSass) code.options = std::string(member.options);
    }
    begin = end;
  }
  return absl::OkStatus();
}

}  // namespace devlink::internal
