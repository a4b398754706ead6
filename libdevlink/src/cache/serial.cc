// SPDX-License-Identifier: Apache-2.0
#include "cache/serial.h"

namespace devlink::internal {

namespace {

constexpr std::uint64_t kSmallestDiagnostic = (4 * 8) + 3;  // numbers, lengths and marks at least
constexpr std::uint8_t kVerbatim = 1;
constexpr std::uint8_t kOwnInput = 2;

}  // namespace

void WriteDiagnostics(const std::vector<Diagnostic>& diagnostics, std::string_view own_input,
                      FieldWriter& writer) {
  writer.U64(diagnostics.size());
  for (const Diagnostic& diagnostic : diagnostics) {
    const bool own = !own_input.empty() && diagnostic.input == own_input;
    writer.U64(static_cast<std::uint64_t>(diagnostic.code));
    writer.U8(static_cast<std::uint8_t>(diagnostic.severity));
    writer.U8(
        static_cast<std::uint8_t>((diagnostic.verbatim ? kVerbatim : 0) | (own ? kOwnInput : 0)));
    writer.Text(diagnostic.text);
    writer.Text(diagnostic.symbol);
    writer.Text(own ? std::string_view() : diagnostic.input);
    writer.U64(static_cast<std::uint64_t>(diagnostic.line));
    writer.Texts(diagnostic.notes);
  }
}

std::vector<Diagnostic> ReadDiagnostics(FieldReader& reader, std::string_view own_input) {
  std::vector<Diagnostic> out(reader.Count(kSmallestDiagnostic));
  for (Diagnostic& diagnostic : out) {
    diagnostic.code = static_cast<DiagnosticCode>(reader.U64());
    diagnostic.severity = static_cast<Severity>(reader.U8() & 3);
    const std::uint8_t marks = reader.U8();
    diagnostic.verbatim = (marks & kVerbatim) != 0;
    diagnostic.text = reader.Text();
    diagnostic.symbol = reader.Text();
    diagnostic.input = reader.Text();
    if ((marks & kOwnInput) != 0) diagnostic.input = own_input;
    diagnostic.line = static_cast<int>(reader.U64());
    diagnostic.notes = reader.Texts();
    if (!reader.ok()) return {};
  }
  return out;
}

}  // namespace devlink::internal
