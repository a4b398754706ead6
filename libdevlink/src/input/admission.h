// SPDX-License-Identifier: Apache-2.0
//
// Whether an input may take part in a link, and what to say where it may not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "devlink/diagnostics.h"
#include "format/elf_cuda.h"
#include "input/input_settings.h"
#include "input/recognise.h"
#include "model/module.h"

namespace devlink::internal {

// What a cubin is wanted for: to be linked, or to be looked at (-arch=compute_NN).
enum class Purpose : std::uint8_t { kLink, kCheck };

// A file that could not be read at all.
Diagnostic DescribeUnreadable(const std::string& name, const absl::Status& why);

// `size` bytes that are not a well-formed cubin: `content` is what they claim to be, `why` what the
// reader found.
Diagnostic DescribeMalformed(const std::string& name, ContentKind content, std::uint64_t size,
                             const absl::Status& why);

// What keeps a cubin out of this link that the reader could not take, and that its header alone
// tells: another ABI or architecture may be why.
std::optional<Diagnostic> FindHeaderObstacle(const std::string& name, const format::Ehdr& header,
                                             Purpose purpose, const InputSettings& settings);

// What keeps a well-formed cubin out of this link: ABI, architecture, toolkit, kind; in nvlink's
// order.
std::optional<Diagnostic> FindObstacle(const std::string& name, const Module& module,
                                       Purpose purpose, const InputSettings& settings);

}  // namespace devlink::internal
