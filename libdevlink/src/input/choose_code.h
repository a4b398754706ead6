// SPDX-License-Identifier: Apache-2.0
//
// From a piece of device code in an input to the one code in it that suits the target.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "base/bounded_reader.h"
#include "devlink/diagnostics.h"
#include "input/input_record.h"
#include "input/input_settings.h"

namespace devlink::internal {

// Chooses one member of every container in a fat binary of an object, as nvlink does of the first.
// A container without code for the target gives a warning, except in an archive. Appends what it
// finds, and what there is to report; fails, the last diagnostic being fatal, where the link must
// end.
absl::Status ChooseCodeInFatbin(const ObjectRecord& object, base::Bytes bytes,
                                const InputSettings& settings, RecordList<CodeRecord>& chosen,
                                std::vector<Diagnostic>& diagnostics);

}  // namespace devlink::internal
