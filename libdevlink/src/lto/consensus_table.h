// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "devlink/experimental/option_consensus.h"

namespace devlink::internal {

// What one module says, compared with what those before it said.
enum class ConsensusEvent : std::uint8_t {
  kAbsent,      // it has no such option
  kFirstValue,  // it has one, and no module before it had
  kSameValue,
  kOtherValue,
};

// The table of transitions. `is_first` is true for the first module that takes part: its value is
// everybody's, where that of a later one meets modules without.
ConsensusState NextState(ConsensusState state, ConsensusEvent event, bool is_first);

}  // namespace devlink::internal
