// SPDX-License-Identifier: Apache-2.0
//
// The records in the sections of a cubin, as tables of a report. What cannot be read is left out,
// and said as a problem.
#pragma once

#include "devlink-diff/cubin_view.h"
#include "devlink-inspect/report.h"

namespace devlink::inspect {

void DescribeRelocations(const diff::CubinView& view, Report& report);
void DescribeAttributes(const diff::CubinView& view, Report& report);
// The call graph, and the prototypes of functions.
void DescribeCallGraph(const diff::CubinView& view, Report& report);
void DescribeCompatibility(const diff::CubinView& view, Report& report);

}  // namespace devlink::inspect
