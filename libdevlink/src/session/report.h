// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "devlink/diagnostics.h"
#include "devlink/link_options.h"
#include "devlink/link_report.h"
#include "write/emit.h"

namespace devlink::internal {

// What came out, as data.
LinkReport MakeReport(const LinkedProgram& linked, std::span<const LinkInput> inputs);

// The same as nvlink -v says it: one info per line.
std::vector<Diagnostic> DescribeUsage(const LinkedProgram& linked, const LinkReport& report);

}  // namespace devlink::internal
