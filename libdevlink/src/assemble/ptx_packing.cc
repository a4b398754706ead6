// SPDX-License-Identifier: Apache-2.0
#include "assemble/ptx_packing.h"

#include <string>
#include <utility>

#include "assemble/backend.h"
#include "base/strings.h"
#include "base/text_bytes.h"
#include "cache/compile_action.h"

namespace devlink::internal {

namespace {

// With it messages begin (Backend::Assemble).
std::string Quoted(const PtxJob& job) { return base::Cat({"'", job.name, "'"}); }

}  // namespace

std::vector<std::uint8_t> PackPtxResult(const PtxJob& job, const PtxResult& result) {
  FieldWriter writer;
  writer.Bytes(result.cubin);
  WriteDiagnostics(result.diagnostics, job.name, writer);
  writer.U64(result.functions.size());
  for (const PtxFunctionUsage& function : result.functions) {
    writer.Text(function.name);
    writer.U8(function.is_entry ? 1 : 0);
    writer.U64(function.registers);
    writer.U64(function.barriers);
    writer.U64(function.stack_bytes);
    writer.U64(function.spill_store_bytes);
    writer.U64(function.spill_load_bytes);
    writer.U64(function.shared_bytes);
  }
  return writer.bytes();
}

std::optional<PtxResult> UnpackPtxResult(const PtxJob& job, base::Bytes bytes) {
  constexpr std::uint64_t kSmallestFunction = (7 * 8) + 1;
  FieldReader reader(bytes);
  PtxResult result;
  const auto cubin = reader.Bytes();
  result.diagnostics = ReadDiagnostics(reader, job.name);
  result.functions.resize(reader.Count(kSmallestFunction));
  for (PtxFunctionUsage& function : result.functions) {
    function.name = reader.Text();
    function.is_entry = reader.U8() != 0;
    function.registers = static_cast<std::uint32_t>(reader.U64());
    function.barriers = static_cast<std::uint32_t>(reader.U64());
    function.stack_bytes = reader.U64();
    function.spill_store_bytes = reader.U64();
    function.spill_load_bytes = reader.U64();
    function.shared_bytes = reader.U64();
  }
  if (!reader.AtEnd()) return std::nullopt;
  result.cubin.assign(cubin.begin(), cubin.end());
  return result;
}

std::vector<std::uint8_t> PackPtxAnswer(const PtxJob& job, const PtxResult& result) {
  FieldWriter writer;
  WriteAnswer(result.status, Quoted(job), writer);
  writer.Bytes(PackPtxResult(job, result));
  return writer.bytes();
}

std::optional<PtxResult> UnpackPtxAnswer(const PtxJob& job, base::Bytes bytes) {
  FieldReader reader(bytes);
  absl::Status status = ReadAnswer(reader, Quoted(job));
  const base::Bytes packed = reader.Bytes();
  if (!reader.AtEnd()) return std::nullopt;
  auto result = UnpackPtxResult(job, packed);
  if (!result.has_value() || (status.ok() && result->cubin.empty())) return std::nullopt;
  result->status = std::move(status);
  return result;
}

void WritePtxJob(const PtxJob& job, const ToolkitProfile& profile, FieldWriter& writer) {
  writer.Text(profile.version_text);
  writer.Text(profile.build_text);
  writer.Texts(job.arguments);
  writer.U8(job.report_usage ? 1 : 0);
  writer.Text(job.text.substr(0, job.text.find('\0')));
}

std::optional<UnpackedPtxJob> ReadPtxJob(FieldReader& reader) {
  UnpackedPtxJob out;
  out.version_text = reader.Text();
  out.build_text = reader.Text();
  out.job.name = kPtxInputName;
  out.job.arguments = reader.Texts();
  out.job.report_usage = reader.U8() != 0;
  out.job.text = base::TextOf(reader.Bytes());
  if (!reader.AtEnd()) return std::nullopt;
  return out;
}

}  // namespace devlink::internal
