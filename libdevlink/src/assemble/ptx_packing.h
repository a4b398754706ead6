// SPDX-License-Identifier: Apache-2.0
//
// Jobs of the assembler and what came of them, as bytes that caches keep and executors carry.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bounded_reader.h"
#include "cache/serial.h"
#include "devlink/experimental/ptx_assembler.h"

namespace devlink::internal {

// All but the status and the time.
std::vector<std::uint8_t> PackPtxResult(const PtxJob& job, const PtxResult& result);
// Nothing where the bytes are not what PackPtxResult makes.
std::optional<PtxResult> UnpackPtxResult(const PtxJob& job, base::Bytes bytes);

// The same of an answer (cache/compile_action.h), with its status.
std::vector<std::uint8_t> PackPtxAnswer(const PtxJob& job, const PtxResult& result);
std::optional<PtxResult> UnpackPtxAnswer(const PtxJob& job, base::Bytes bytes);

// A job that is to be done elsewhere, for an assembler that follows `profile`.
void WritePtxJob(const PtxJob& job, const ToolkitProfile& profile, FieldWriter& writer);
struct UnpackedPtxJob {
  PtxJob job;  // its text is borrowed from what it was read from
  std::string version_text;
  std::string build_text;
};
std::optional<UnpackedPtxJob> ReadPtxJob(FieldReader& reader);

}  // namespace devlink::internal
