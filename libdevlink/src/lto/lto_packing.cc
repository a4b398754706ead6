// SPDX-License-Identifier: Apache-2.0
#include "lto/lto_packing.h"

#include <string>
#include <utility>

#include "cache/compile_action.h"

namespace devlink::internal {

namespace {

std::uint64_t SizeOf(const LtoOutput& output) {
  std::uint64_t size = 0;
  for (const std::string& piece : output.pieces) size += piece.size();
  return size;
}

}  // namespace

std::vector<std::uint8_t> PackLtoOutput(const LtoOutput& output) {
  FieldWriter writer;
  writer.U8(output.whole_program ? 1 : 0);
  writer.Text(output.backend_name);
  writer.Texts(output.pieces);
  WriteDiagnostics(output.diagnostics, {}, writer);
  return writer.bytes();
}

std::optional<LtoOutput> UnpackLtoOutput(base::Bytes bytes, std::uint64_t max_output_bytes) {
  FieldReader reader(bytes);
  LtoOutput output;
  output.whole_program = reader.U8() != 0;
  output.backend_name = reader.Text();
  output.pieces = reader.Texts();
  output.diagnostics = ReadDiagnostics(reader, {});
  if (!reader.AtEnd() || SizeOf(output) > max_output_bytes) return std::nullopt;
  return output;
}

std::vector<std::uint8_t> PackLtoAnswer(const LtoOutput& output) {
  FieldWriter writer;
  WriteAnswer(output.status, {}, writer);
  writer.Bytes(PackLtoOutput(output));
  return writer.bytes();
}

std::optional<LtoOutput> UnpackLtoAnswer(base::Bytes bytes, std::uint64_t max_output_bytes) {
  FieldReader reader(bytes);
  absl::Status status = ReadAnswer(reader, {});
  const base::Bytes packed = reader.Bytes();
  if (!reader.AtEnd()) return std::nullopt;
  auto output = UnpackLtoOutput(packed, max_output_bytes);
  if (!output.has_value() || (status.ok() && output->pieces.empty())) return std::nullopt;
  output->status = std::move(status);
  return output;
}

void WriteLtoJob(const LtoJob& job, FieldWriter& writer) {
  writer.Text(job.target.Name());
  writer.Texts(job.arguments);
  writer.U64(job.modules.size());
  for (const LtoModule& module : job.modules) {
    writer.Text(module.name);
    writer.U8(module.is_protected ? 1 : 0);
    writer.Bytes(module.bytes);
  }
}

std::optional<LtoJob> ReadLtoJob(FieldReader& reader) {
  constexpr std::uint64_t kSmallestModule = (2 * kSmallestText) + 1;
  LtoJob job;
  const auto target = Arch::Parse(reader.Text());
  if (!target.ok()) return std::nullopt;
  job.target = *target;
  job.arguments = reader.Texts();
  job.modules.resize(reader.Count(kSmallestModule));
  for (LtoModule& module : job.modules) {
    module.name = reader.Text();
    module.is_protected = reader.U8() != 0;
    module.bytes = reader.Bytes();
  }
  if (!reader.AtEnd()) return std::nullopt;
  return job;
}

}  // namespace devlink::internal
