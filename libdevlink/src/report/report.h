// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "devlink/diagnostics.h"
#include "devlink/link_options.h"
#include "devlink/link_report.h"
#include "link/pass_results.h"
#include "link/relocate.h"

namespace devlink::internal {

// What went in; the rest is not known yet.
LinkReport ReportInputs(std::span<const LinkInput> inputs);

// Of a whole program that a compiler linked: what the finished cubin says of itself. Of one that
// cannot be read, its size alone.
LinkReport ReportWholeProgram(std::span<const std::uint8_t> cubin);

// What came out, as data.
LinkReport MakeReport(const PassResults& linked, std::span<const LinkInput> inputs);

// The same as nvlink -v says it: one info per line.
// `two_views`: for a target of sm_100 or later.
std::vector<Diagnostic> DescribeUsage(const PassResults& linked, const LinkReport& report,
                                      bool two_views = false);

// What nvlink -r loses without a word, if anything: a diagnostic that has notes only.
std::optional<Diagnostic> WarnOfEarlyReferences(const Relocated& relocated);

}  // namespace devlink::internal
