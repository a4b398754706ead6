// SPDX-License-Identifier: Apache-2.0
//
// The headers of a file's sections, held against their kinds and against one another.
#pragma once

#include <span>

#include "base/bounded_reader.h"
#include "model/module.h"
#include "model/wrong_part.h"

namespace devlink::internal {

// A section of a view is aligned, flagged and counted in entries as its kind is, and names the
// table of symbols if its kind does; of some kinds there is no more than one.
WrongSection WrongInHeaders(std::span<const InputSection> sections, format::ViewKind view);

// Between the sections of a file lies no more than the next one's alignment asks for, behind those
// from which bytes could have been cut: relocations, attributes, code, constants, debug
// information, notes. `sections` are all of the file, of both views where there are `two_views`,
// and `headers` is their table, which lies at `headers_at`.
WrongSection WrongInGaps(std::span<const InputSection> sections, base::Bytes headers,
                         std::uint64_t headers_at, bool two_views);

}  // namespace devlink::internal
