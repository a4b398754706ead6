// SPDX-License-Identifier: Apache-2.0
//
// A link, from records of inputs to the bytes of the output: one function of its arguments.
#pragma once

#include <span>

#include "devlink/link_session.h"
#include "input/input_record.h"
#include "plan/link_context.h"

namespace devlink::internal {

// Where `output` is null, the cubin is in the outcome.
LinkOutcome RunLink(std::span<const InputRecordRef> records, const LinkOptions& options,
                    const LinkContext& context, OutputSink* output);

// Unimplemented, in our words, where code for the target cannot be linked.
absl::Status CheckTarget(Arch target);

// nvlink has no notes; with -report-arch the target stands behind every line of it.
void PutInWords(const LinkOptions& options, std::vector<Diagnostic>& diagnostics);

}  // namespace devlink::internal
