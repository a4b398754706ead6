// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/toolkit_profile.h
//
// How far nvlink is followed, and which release's. What differs between the releases of CUDA 13
// for a linker that must write what that release's nvlink writes is a field of one struct; nothing
// else in the library asks for a release.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace devlink {

// What becomes of inputs that nvlink leaves out without a word (docs/inputs.md), and what is done
// where nvlink writes code that is wrong (docs/compatibility.md).
enum class Compatibility {
  kDevlink,  // device code is linked wherever it is found, or refused with the reason
  kNvlink,   // as nvlink where that page says so, and no notes
};

// A plain value; the defaults are those of release 13.0.
struct ToolkitProfile {
  // Release as 10 * major + minor: the number in `.note.nv.cuinfo`. Inputs with a larger number are
  // refused.
  std::uint16_t release = 130;

  // Lengths of nvlink's version and build texts in its own `.note.nv.tkinfo` record. devlink's
  // record takes the same room, so that all that follows keeps its offset.
  std::uint16_t version_text_length = 46;
  std::uint16_t build_text_length = 41;

  // Version and build text of that release's tools, as ptxas and nvlink leave them in the records
  // of
  // `.note.nv.tkinfo` and print them with --version. The text is static.
  std::string_view version_text = "Cuda compilation tools, release 13.0, V13.0.88";
  std::string_view build_text = "Build cuda_13.0.r13.0/compiler.36424714_0";

  // 13.4 on: weak symbols stand in the global part of the symbol table.
  bool weak_symbols_are_global = false;

  // 13.4 on: with -g the symbol of a shared variable that no single kernel's file defines becomes
  // local where it is moved to the only kernel that uses it.
  bool moved_shared_is_local = false;

  // Until 13.4: a `.rel.X` name is written although no such section exists (docs/cubin-format.md,
  // "Phantom names").
  bool writes_phantom_rel_names = true;

  // Until 13.4: where kernels are left out, constants give the null symbol a value
  // (docs/cubin-format.md, "Symbol table").
  bool constants_move_null_symbol = true;

  // 13.1 on: `extern __shared__` is placed where its alignment, which ptxas states from then on,
  // allows it, and the shared memory of its kernels is rounded up to theirs.
  bool aligns_external_shared = false;

  // 13.2 on: a relocatable link leaves references to shared variables to the next one.
  bool relocatable_keeps_shared = false;

  // Until 13.2: what the only kernel lists of undefined functions stands in reverse order.
  bool reverses_undefined_of_single_kernel = true;

  // Attributes that travel from callees to kernels in later releases only (docs/cubin-format.md,
  // "Attributes that travel"): LANGUAGE and 0x62 from 13.2 on, 0x68 from 13.3 on.
  bool languages_travel = false;
  bool mask_68_travels = false;

  // 13.1 on: architecture-specific code is refused for the plain target.
  bool accepts_specific_code_for_plain_target = true;

  // `.nv.compat` (sm_90 and later), by record; see docs/cubin-format.md, "Compatibility record".
  // 13.0: seven tags, each of a size of its own whatever form an input gives it; five of them are
  // supplied for an input that lacks them, the others are dropped.
  bool compat_has_fixed_tags = true;
  bool compat_keeps_opportunistic = true;    // tag 06; dropped from 13.1 on
  bool compat_keeps_fastpath = false;        // tag 0b; kept from 13.2 on
  bool compat_adds_isa_minimum = false;      // tag 0d where no input has it; from 13.3 on
  bool compat_adds_internal_target = false;  // tag 0c where no input has it; from 13.4 on
  // 13.1 on: tags 05 and 0e survive only where every input has them.
  bool compat_intersects_tcgen05_and_finalizer = false;

  // Until 13.2: libNVVM is told compute_90 for sm_90a.
  bool lto_drops_arch_suffix = true;
  // 13.5: with -g libNVVM is told not to optimize LTO IR, and the assembler to keep its blocks.
  bool lto_debug_is_unoptimized = false;

  // 13.0: libnvJitLink makes the same PTX of a whole program when a further module stands at its
  // end. 13.5 does not; those between were not tried.
  bool added_module_leaves_lto_ptx = true;

  // `13.0`.
  [[nodiscard]] std::string ReleaseName() const;

  // Whether a tool of that version, "13.0" or "13.0.88", is of this release; true where it is
  // empty.
  [[nodiscard]] bool IsReleaseOf(std::string_view version) const;

  // The profile of the release 10 * major + minor, or of that next to it for which there is one.
  static ToolkitProfile Nearest(int release);

  // The profile of a release named "13.0" to "13.5". NotFound for any other name.
  static absl::StatusOr<ToolkitProfile> ForRelease(std::string_view release);
};

}  // namespace devlink
