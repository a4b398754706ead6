// SPDX-License-Identifier: Apache-2.0
//
// The code of a fat binary's member, by whom it may be taken out many times.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "devlink/experimental/fatbin.h"
#include "format/compression.h"

namespace devlink::format {

// Where the member stands, as messages begin.
std::string DescribePlace(const FatbinMember& member);

// As Fatbin::Extract, with a decompressor that others use, too. Throws where memory ends.
absl::StatusOr<std::vector<std::uint8_t>> ExtractMember(const FatbinMember& member,
                                                        const FatbinLimits& limits,
                                                        ZstdDecompressor& zstd);

}  // namespace devlink::format
