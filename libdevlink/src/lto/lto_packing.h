// SPDX-License-Identifier: Apache-2.0
//
// Jobs of the compilers of LTO IR and what came of them, as bytes that caches keep and executors
// carry.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bounded_reader.h"
#include "cache/serial.h"
#include "devlink/experimental/lto_compiler.h"

namespace devlink::internal {

// All but the status.
std::vector<std::uint8_t> PackLtoOutput(const LtoOutput& output);
// Nothing where the bytes are not what PackLtoOutput makes, or the PTX is larger than that.
std::optional<LtoOutput> UnpackLtoOutput(base::Bytes bytes, std::uint64_t max_output_bytes);

// The same of an answer (cache/compile_action.h), with its status.
std::vector<std::uint8_t> PackLtoAnswer(const LtoOutput& output);
std::optional<LtoOutput> UnpackLtoAnswer(base::Bytes bytes, std::uint64_t max_output_bytes);

// A job that is to be done elsewhere. What is read borrows the modules' bytes.
void WriteLtoJob(const LtoJob& job, FieldWriter& writer);
std::optional<LtoJob> ReadLtoJob(FieldReader& reader);

}  // namespace devlink::internal
