// SPDX-License-Identifier: Apache-2.0
#include "format/extract_member.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace devlink::format {

std::string DescribePlace(const FatbinMember& member) {
  return absl::StrCat("fat binary: container ", member.container, ", member ", member.index,
                      " (offset ", member.offset, "): ");
}

absl::StatusOr<std::vector<std::uint8_t>> ExtractMember(const FatbinMember& member,
                                                        const FatbinLimits& limits,
                                                        ZstdDecompressor& zstd) {
  if (member.is_obfuscated) {
    return absl::FailedPreconditionError(
        absl::StrCat(DescribePlace(member),
                     "its code is obfuscated and can only be compiled by libnvJitLink; compile the "
                     "source with -no-compress to have it stored plainly"));
  }
  if (member.is_unknown_compression) {
    return absl::DataLossError(absl::StrCat(
        DescribePlace(member), "it is stored in a way that is not known (flags 0x",
        absl::Hex(member.raw_flags), "); compile the source with a CUDA 12 or 13 toolkit"));
  }
  std::vector<std::uint8_t> out;
  if (member.compression == FatbinCompression::kNone) {
    out.assign(member.payload.begin(), member.payload.end());
  } else {
    const std::uint64_t size = member.uncompressed_size;
    const std::uint64_t compressed = std::max<std::uint64_t>(member.payload.size(), 1);
    if (size > limits.max_uncompressed_size || size / compressed > limits.max_expansion) {
      return absl::ResourceExhaustedError(
          absl::StrCat(DescribePlace(member), "its ", member.payload.size(),
                       " bytes claim to become ", size, "; at most ", limits.max_uncompressed_size,
                       " and ", limits.max_expansion, " times their size are allowed"));
    }
    auto data = member.compression == FatbinCompression::kZstd
                    ? zstd.Decompress(member.payload, size)
                    : DecompressLz4(member.payload, size);
    if (!data.ok()) {
      return absl::Status(data.status().code(),
                          absl::StrCat(DescribePlace(member), "its compressed code is damaged: ",
                                       data.status().message()));
    }
    out = *std::move(data);
  }
  if (member.kind == CodeKind::kPtx) out.erase(std::find(out.begin(), out.end(), 0), out.end());
  return out;
}

}  // namespace devlink::format
