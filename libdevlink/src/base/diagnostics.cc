// SPDX-License-Identifier: Apache-2.0
#include "devlink/diagnostics.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/visible_text.h"
#include "devlink/version.h"

namespace devlink {

namespace {

// nvlink pads the kind to eight columns.
std::string_view KindText(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info    ";
    case Severity::kWarning:
      return "warning ";
    case Severity::kError:
      return "error   ";
    case Severity::kFatal:
      return "fatal   ";
  }
  return "fatal   ";
}

constexpr std::array<std::pair<DiagnosticCode, std::string_view>, 28> kCodeNames = {{
    {DiagnosticCode::kUndefinedReference, "undefined-reference"},
    {DiagnosticCode::kMultipleDefinition, "multiple-definition"},
    {DiagnosticCode::kSizeMismatch, "size-mismatch"},
    {DiagnosticCode::kSpaceMismatch, "space-mismatch"},
    {DiagnosticCode::kManagedMismatch, "managed-mismatch"},
    {DiagnosticCode::kArchMismatch, "arch-mismatch"},
    {DiagnosticCode::kAbiMismatch, "abi-mismatch"},
    {DiagnosticCode::kInputNewerThanToolkit, "input-newer-than-toolkit"},
    {DiagnosticCode::kInputTooOld, "input-too-old"},
    {DiagnosticCode::kUnreadableInput, "unreadable-input"},
    {DiagnosticCode::kMalformedInput, "malformed-input"},
    {DiagnosticCode::kUnsupportedInput, "unsupported-input"},
    {DiagnosticCode::kMergeFailed, "merge-failed"},
    {DiagnosticCode::kStackSizeUnknown, "stack-size-unknown"},
    {DiagnosticCode::kResourceOverflow, "resource-overflow"},
    {DiagnosticCode::kUnsupportedFeature, "unsupported-feature"},
    {DiagnosticCode::kUsage, "usage"},
    {DiagnosticCode::kResourceUsage, "resource-usage"},
    {DiagnosticCode::kRelocationOverflow, "relocation-overflow"},
    {DiagnosticCode::kEntryMismatch, "entry-mismatch"},
    {DiagnosticCode::kPrototypeMismatch, "prototype-mismatch"},
    {DiagnosticCode::kUnresolvableRelocation, "unresolvable-relocation"},
    {DiagnosticCode::kPtxAssembly, "ptx-assembly"},
    {DiagnosticCode::kOptionMismatch, "option-mismatch"},
    {DiagnosticCode::kLtoCompilation, "lto-compilation"},
    {DiagnosticCode::kEarlyReference, "early-reference"},
    {DiagnosticCode::kForgottenAddress, "forgotten-address"},
    {DiagnosticCode::kNoDeviceCode, "no-device-code"},
}};

std::string_view SeverityName(Severity severity) {
  const std::string_view text = KindText(severity);
  return text.substr(0, text.find(' '));
}

// SARIF has three levels.
std::string_view LevelOf(Severity severity) {
  if (severity == Severity::kInfo) return "note";
  return severity == Severity::kWarning ? "warning" : "error";
}

// The sentence and its notes.
std::string WholeText(const Diagnostic& diagnostic) {
  std::string out = diagnostic.text;
  for (const std::string& note : diagnostic.notes) {
    if (!out.empty()) out += '\n';
    out += note;
  }
  return out;
}

// What a file may be called in a URI: everything else in percent.
std::string UriOf(std::string_view path) {
  constexpr std::string_view kPlain = "-._~/";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') || kPlain.find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      out += base::Cat({"%", kDigits.substr(byte >> 4, 1), kDigits.substr(byte & 0xf, 1)});
    }
  }
  return out;
}

}  // namespace

std::string RenderDiagnostic(const Diagnostic& diagnostic, std::string_view tool) {
  std::string out;
  if (diagnostic.verbatim) {
    out = base::Cat({base::VisibleText(diagnostic.text), "\n"});
  } else if (!diagnostic.text.empty()) {
    out = base::Cat(
        {tool, " ", KindText(diagnostic.severity), ": ", base::VisibleText(diagnostic.text), "\n"});
  }
  for (const std::string& note : diagnostic.notes) {
    out += base::Cat({tool, " note    : ", base::VisibleText(note), "\n"});
  }
  return out;
}

std::string_view CodeName(DiagnosticCode code) {
  for (const auto& [known, name] : kCodeNames) {
    if (known == code) return name;
  }
  return "unknown";
}

std::string ToJson(const Diagnostic& diagnostic) {
  std::string out =
      base::Cat({"{\"severity\": \"", SeverityName(diagnostic.severity), "\", \"code\": \"",
                 CodeName(diagnostic.code), "\", \"text\": ", base::JsonString(diagnostic.text)});
  const auto add = [&out](std::string_view key, const std::string& value) {
    if (!value.empty()) out += base::Cat({", \"", key, "\": ", base::JsonString(value)});
  };
  add("symbol", diagnostic.symbol);
  add("input", diagnostic.input);
  if (diagnostic.line != 0) absl::StrAppend(&out, ", \"line\": ", diagnostic.line);
  std::string_view separator = ", \"notes\": [";
  for (const std::string& note : diagnostic.notes) {
    out += base::Cat({separator, base::JsonString(note)});
    separator = ", ";
  }
  return out + (diagnostic.notes.empty() ? "}" : "]}");
}

std::string ToSarif(std::span<const Diagnostic> diagnostics) {
  std::string out = base::Cat(
      {"{\n  \"version\": \"2.1.0\",\n  \"$schema\": "
       "\"https://json.schemastore.org/sarif-2.1.0.json\",\n  \"runs\": [{\n    \"tool\": "
       "{\"driver\": {\"name\": \"devlink\", \"version\": \"",
       Version(), "\"}},\n    \"results\": ["});
  const char* separator = "\n      ";
  for (const Diagnostic& diagnostic : diagnostics) {
    out +=
        base::Cat({separator, "{\"ruleId\": \"", CodeName(diagnostic.code), "\", \"level\": \"",
                   LevelOf(diagnostic.severity),
                   "\", \"message\": {\"text\": ", base::JsonString(WholeText(diagnostic)), "}"});
    if (!diagnostic.input.empty()) {
      out +=
          base::Cat({", \"locations\": [{\"physicalLocation\": {\"artifactLocation\": {\"uri\": ",
                     base::JsonString(UriOf(diagnostic.input)), "}"});
      if (diagnostic.line != 0) {
        absl::StrAppend(&out, ", \"region\": {\"startLine\": ", diagnostic.line, "}");
      }
      out += "}}]";
    }
    out += '}';
    separator = ",\n      ";
  }
  return out + (diagnostics.empty() ? "]\n  }]\n}\n" : "\n    ]\n  }]\n}\n");
}

}  // namespace devlink
