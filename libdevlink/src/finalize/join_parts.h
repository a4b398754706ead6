// SPDX-License-Identifier: Apache-2.0
//
// Code that was finalized in parts, put into the file that the same link makes without the
// finalizer. What the finalizer changes about a function depends on nothing but that function and
// on where its constants and shared memory lie (docs/mercury.md, "In parts").
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/bounded_reader.h"

namespace devlink::internal {

struct FinalizedPart {
  std::vector<std::uint8_t> cubin;         // the finalizer's, of the same inputs
  std::vector<std::string_view> sections;  // names of code of which it had the whole
};

struct JoinedParts {
  std::vector<std::uint8_t> cubin;
  std::vector<std::string> finalized;  // functions of which the code changed, in the file's order
};

// Whether parts can be put into this file: to be asked before there are any. Unimplemented, with
// the reason, where it is of a kind that is not known well enough.
absl::Status CanBeJoined(base::Bytes own);

// `own` with the code of the first part that has it, and with all that tells where something lies
// in that code. InvalidArgument, with the section, where a part is not the same program: then its
// code may not fit.
absl::StatusOr<JoinedParts> JoinParts(base::Bytes own, std::span<const FinalizedPart> parts);

}  // namespace devlink::internal
