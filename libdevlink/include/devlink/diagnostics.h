// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/diagnostics.h
//
// What a link has to say, as data. nvlink's own text is one field of a diagnostic; the code, the
// symbol and the inputs are others, so that a caller never has to parse a message.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace devlink {

// How grave a diagnostic is, as nvlink's lines say it; docs/diagnostics.md has what each means for
// the output and the exit status.
enum class Severity { kInfo, kWarning, kError, kFatal };

// Stable identities; values are never reused.
enum class DiagnosticCode {
  // docs/diagnostics.md says when each is said.
  kUndefinedReference = 1,
  kMultipleDefinition = 2,
  kSizeMismatch = 3,
  kSpaceMismatch = 4,
  kManagedMismatch = 5,
  kArchMismatch = 6,
  kAbiMismatch = 7,
  kInputNewerThanToolkit = 8,
  kInputTooOld = 9,
  kUnreadableInput = 10,
  kMalformedInput = 11,
  kUnsupportedInput = 12,
  kMergeFailed = 13,
  kStackSizeUnknown = 14,
  kResourceOverflow = 15,
  kUnsupportedFeature = 16,
  kUsage = 17,
  kResourceUsage = 18,
  kRelocationOverflow = 19,
  kEntryMismatch = 20,
  kPrototypeMismatch = 21,
  kUnresolvableRelocation = 22,
  kPtxAssembly = 40,
  kOptionMismatch = 50,  // modules of a link with LTO want other options than each other
  kLtoCompilation = 51,  // LTO IR, or the library that compiles it
  kEarlyReference = 60,
  kForgottenAddress = 61,  // a note: what nvlink forgets or overwrites, devlink not
  kNoDeviceCode = 62,      // a note: an input is no device code and has none in it
};

// One finding. Plain data, owned by the receiver.
struct Diagnostic {
  DiagnosticCode code = DiagnosticCode::kUsage;  // what it is about
  Severity severity = Severity::kError;          // kError and kFatal: the link failed
  std::string text;                // nvlink's wording, without tool name and severity; empty: none
  std::string symbol;              // mangled name, empty where none is meant
  std::string input;               // display name of the input, empty where none is meant
  std::vector<std::string> notes;  // what a person needs besides; one line each
  int line = 0;                    // line of the input that is meant, from 1; 0 for none
  // `text` is a whole line and is printed as it stands: one of the assembler, or of the call graph
  // that LinkOptions::dump_call_graph asks for.
  bool verbatim = false;
};

// The lines that nvlink would print, under `tool`'s name, each note on a line of its own behind it:
//   devlink error   : Undefined reference to '_Z3fooi' in 'a.cubin'
//   devlink note    : foo(int) is called by _Z1kPi in 'a.cubin'
// Every line ends with a newline.
std::string RenderDiagnostic(const Diagnostic& diagnostic, std::string_view tool);

// What a code is called in JSON and SARIF: `undefined-reference`. As stable as its value.
std::string_view CodeName(DiagnosticCode code);

// One JSON object on one line, without its end: `severity` (`info`, `warning`, `error`, `fatal`),
// `code`, `text`, and what is there of `symbol`, `input`, `line` and `notes`.
std::string ToJson(const Diagnostic& diagnostic);

// A SARIF 2.1.0 document with one run.
std::string ToSarif(std::span<const Diagnostic> diagnostics);

}  // namespace devlink
