// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/arch.h
//
// GPU architecture names such as `sm_90a`, and which code links for which target.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace devlink {

// A real architecture: an SM number and, for architecture- and family-specific code, a variant.
// A plain value: copy it freely, compare it, use it from any thread.
struct Arch {
  std::uint16_t number = 0;  // 90 for sm_90 and sm_90a
  char variant = 0;          // 0 (plain), 'a' (architecture-specific) or 'f' (family-specific)

  // Parses `sm_NN`, `sm_NNa` or `sm_NNf`. InvalidArgument for anything else, also for names that no
  // 13.x toolkit knows.
  static absl::StatusOr<Arch> Parse(std::string_view name);

  // Parses `compute_NN`, `compute_NNa` or `compute_NNf` into the architecture of that number and
  // variant. InvalidArgument as Parse.
  static absl::StatusOr<Arch> ParseVirtual(std::string_view name);

  // Parses `lto_NN`, as nvcc calls LTO IR for that virtual architecture. InvalidArgument as Parse.
  static absl::StatusOr<Arch> ParseLto(std::string_view name);

  // `sm_90a`.
  [[nodiscard]] std::string Name() const;

  // `compute_90a`: the virtual architecture of the same number and variant.
  [[nodiscard]] std::string VirtualName() const;

  friend bool operator==(const Arch&, const Arch&) = default;
};

// True where SASS built for `member` may be linked into code for `target`. Measured with
// nvlink 13.0 for every pair of architectures; the table stands in docs/cubin-format.md.
bool SassLinksFor(Arch member, Arch target);

// True where PTX or LTO IR for the virtual architecture of `member`'s number and variant
// (compute_90a for sm_90a) may be compiled for `target`. Measured like SassLinksFor.
bool PtxCompilesFor(Arch member, Arch target);

// True where this release of libdevlink links for `target`: those of the 13.x toolkits, sm_75 to
// sm_121f. From sm_100 on NVIDIA's finalizer makes the code better where it is there
// (devlink/experimental/mercury_finalizer.h).
bool IsLinkTarget(Arch target);

}  // namespace devlink
