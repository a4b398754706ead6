// SPDX-License-Identifier: Apache-2.0
//
// What people ask of a link, collected from what its passes found: LinkReport::details.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounded_reader.h"
#include "devlink/link_options.h"
#include "devlink/link_report.h"
#include "link/pass_results.h"
#include "model/kernel_selection.h"

namespace devlink::internal {

// Inputs, functions, calls and variables. The sections are those of the output (OutputSections).
LinkDetails DescribeLink(const PassResults& linked, std::span<const LinkInput> inputs,
                         const KernelSelection& kernels, const LinkOptions& options);

// Functions of these names are those of which the finalizer changed the code.
void MarkFinalized(std::span<const std::string> names, LinkDetails& details);

// Of any cubin; nothing of what cannot be read.
std::vector<SectionDetails> OutputSections(base::Bytes cubin);

// What a finished cubin says of itself: of a whole program that a compiler made, which `name` is.
LinkDetails DescribeWholeProgram(base::Bytes cubin, std::string_view name);

}  // namespace devlink::internal
