// SPDX-License-Identifier: Apache-2.0
//
// The file of `--register-link-binaries`, which nvcc compiles into the program.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "input/host_object.h"

namespace devlink::internal {

// The id of an input that brings none: the working directory, a slash and the input's name as
// given (`a.cubin`, `libx.a:b.o`), with `_` for every byte that is not an ASCII letter or digit. A
// name that begins with a slash stands alone.
std::string MakeModuleId(std::string_view working_directory, std::string_view name);

// Whether an id that an input brings may stand in the file: it is compiled, and an input's text
// must not become code. nvcc makes no others.
bool IsModuleId(std::string_view id);

// One input of the link: its own id first, then those that `ld -r` put behind it.
struct RegisteredModule {
  std::vector<std::string_view> ids;
  // Left out, because FindPrelinked says so. Its first id is not listed; nvlink lists the others
  // nevertheless.
  bool left_out = false;
};

// The text of the file, for modules in link order. The first id of every module, the last module
// first where the output is a whole program that LTO made; then the further ids, always the last
// one of the last module first. Ids are not checked.
std::string RegisterFileText(const std::vector<RegisteredModule>& modules,
                             bool is_whole_program = false);

// One input as far as this matters.
struct PrelinkCandidate {
  std::string_view name;           // as given
  const ModuleIds* ids = nullptr;  // borrowed; of an input without any, or null
};

// Which inputs a link that writes the file leaves out, one flag for each: those that hold the
// result of a link before, and those whose first id such a result names. The place of neither
// matters. An input whose second id is named stays, and is listed with all its ids.
// `prelinked_ids` are what objects without device code name besides. InvalidArgument, in nvlink's
// words, for a list that has something else in it.
absl::StatusOr<std::vector<bool>> FindPrelinked(const std::vector<PrelinkCandidate>& inputs,
                                                const std::vector<std::string_view>& prelinked_ids,
                                                std::string_view working_directory);

// Whether the file is left as it is: nvcc runs the linker once for each architecture on the same
// file, and a later run must not forget that an earlier one needed the device runtime.
// `existing` is its text, nothing where there is no such file; `dropped_cudadevrt` says that this
// link was given libcudadevrt and had no use for it.
bool KeepRegisterFile(const std::optional<std::string>& existing, bool dropped_cudadevrt);

}  // namespace devlink::internal
