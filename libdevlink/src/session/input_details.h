// SPDX-License-Identifier: Apache-2.0
//
// Where the inputs of a link came from, and which of those that were given are not linked.
#pragma once

#include <span>
#include <vector>

#include "devlink/diagnostics.h"
#include "devlink/link_options.h"
#include "devlink/link_report.h"
#include "input/input_record.h"
#include "plan/selection.h"

namespace devlink::internal {

// Completes the inputs of `details`, of which the names are known.
void DescribeInputs(std::span<const InputRecordRef> records, const Selection& selection,
                    const LinkOptions& options, LinkDetails& details);

// What to do where names are undefined or defined twice: notes behind the last of these errors.
void AdviseOnNames(std::span<const InputRecordRef> records, std::vector<Diagnostic>& diagnostics);

// Which inputs brought nothing, in a note of its own; none where all did.
void NoteUselessInputs(std::span<const InputRecordRef> records,
                       std::vector<Diagnostic>& diagnostics);

}  // namespace devlink::internal
