// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/library_search.h
//
// Finds the file that `-lNAME` means, by nvlink's rules: they differ from those of a host linker.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "devlink/diagnostics.h"

namespace devlink {

// What a library's host objects must be made for. nvlink takes `unknown`, and no -cpu-arch at all,
// as kX86_64.
enum class CpuArch { kX86, kX86_64, kArmv7, kAarch64, kPpc64le };

// The value of -cpu-arch by its name (`X86_64`, `AARCH64`, `unknown`); nothing for any other text.
std::optional<CpuArch> ParseCpuArch(std::string_view name);

// How the search looks at files. Both are called from FindLibrary only, in a fixed order.
struct LibraryProbe {
  // Whether there is anything at that path, a directory included.
  std::function<bool(const std::string& path)> exists;
  // The bytes of a file.
  std::function<absl::StatusOr<std::vector<std::uint8_t>>(const std::string& path)> read;
};

// What the -l and -L options of one link ask for.
struct LibraryQuery {
  std::vector<std::string> names;        // of -l
  std::vector<std::string> directories;  // of -L, then of LIBRARY_PATH
  CpuArch arch = CpuArch::kX86_64;       // of the host objects in the libraries
};

// What a search for one library came to. A plain value.
struct FoundLibrary {
  std::string path;  // `DIR/libNAME.a`; empty where there is none, which is no error
  // A `libNAME.so` that hides every `libNAME.a`: then there is no device code to link.
  std::string hidden_by;
  // Warnings for archives that were passed over; fatal last where the search must end the link.
  std::vector<Diagnostic> diagnostics;
};

// Looks for `lib<name>.so` in every directory of `directories`, then for `lib<name>.a` in every
// one. `directories` are those of -L in their order, then those of LIBRARY_PATH; the caller reads
// that variable. Empty ones do not count, and neither do slashes at the end of one. An archive
// counts where one of its members is an ELF object for `arch`; another one is passed over with a
// warning. Thread-safe where the probe is.
FoundLibrary FindLibrary(std::string_view name, const std::vector<std::string>& directories,
                         CpuArch arch, const LibraryProbe& probe);

}  // namespace devlink
