// SPDX-License-Identifier: Apache-2.0
//
// Inputs for the finalizer, without the code that the link leaves out: libnvJitLink takes as long
// to read it as what stays.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bounded_reader.h"
#include "finalize/needed_code.h"
#include "model/module.h"

namespace devlink::internal {

// Takes those out whose code leaves a trace in the output even where it goes: what it says of
// shared memory counts for kernels, and of a weak function there may be other bodies, of which
// nvlink takes a part each. To be asked of every input before the first one is reduced.
void KeepTraces(const Module& module, CodeNames& names);

// A cubin of two views that is the module's but for those sections: in their place is one
// instruction that does nothing, without relocations and attributes. Names, symbols and all else
// stay, for they leave traces in the output. Nothing where the module has none of those sections.
std::optional<std::vector<std::uint8_t>> WithoutCode(const Module& module, const CodeNames& names);

// The same for who wants nothing of the finalizer's file but the code that stays and its lines:
// without the lines of all other code, and without the text of PTX, which may be the most of it.
// Of the others, `gone` are not there at all where that can be.
std::optional<std::vector<std::uint8_t>> CodeAlone(const Module& module, const CodeNames& others,
                                                   const CodeNames& gone);

// Whether each sequence of its line tables is of one function, by one relocation of its address,
// and no other row is relocated: CodeAlone would else take out what is not lines of other
// code, and the finalizer makes of such tables what it does of nothing else.
bool HasPlainLines(const Module& module);

// Whether a linked cubin has one of these sections; also where it is none.
bool HasCode(base::Bytes cubin, const CodeNames& names);

}  // namespace devlink::internal
