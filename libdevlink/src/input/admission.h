// SPDX-License-Identifier: Apache-2.0
//
// Whether an input may take part in a link, and what to say where it may not.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "base/bounded_reader.h"
#include "devlink/diagnostics.h"
#include "devlink/link_options.h"
#include "model/module.h"

namespace devlink::internal {

// A file that could not be read at all.
Diagnostic DescribeUnreadable(const std::string& name, const absl::Status& why);

// Bytes that are no well-formed cubin; `why` is what the reader found. Of the `size` bytes that
// there are only the first, `head`, are looked at.
Diagnostic DescribeMalformed(const std::string& name, base::Bytes head, std::uint64_t size,
                             const absl::Status& why);

// So many bytes at the beginning are enough for DescribeMalformed.
inline constexpr std::size_t kDescribedHead = 4096;

// What keeps a well-formed cubin out of this link: ABI, architecture, toolkit, kind; in nvlink's
// order.
std::optional<Diagnostic> FindObstacle(const std::string& name, const Module& module,
                                       const LinkOptions& options);

}  // namespace devlink::internal
