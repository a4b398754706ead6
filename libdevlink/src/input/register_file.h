// SPDX-License-Identifier: Apache-2.0
//
// The file of `--register-link-binaries`, which nvcc compiles into the program.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace devlink::internal {

// The id of an input that brings none: the working directory, a slash and the input's name as
// given (`a.cubin`, `libx.a:b.o`), with `_` for every byte that is no ASCII letter or digit.
std::string MakeModuleId(std::string_view working_directory, std::string_view name);

// One module of the link: its own id first, then those that `ld -r` put behind it.
struct RegisteredModule {
  std::vector<std::string_view> ids;
};

// The text of the file, for modules in link order (whole-program LTO: in reverse). The first id of
// every module, then, again in order, the further ones. Ids are not checked.
std::string RegisterFileText(const std::vector<RegisteredModule>& modules);

// Whether the file is left as it is: nvcc runs the linker once for each architecture on the same
// file, and a later run must not forget that an earlier one needed the device runtime.
// `existing` is its text, nothing where there is no such file; `dropped_cudadevrt` says that this
// link was given libcudadevrt and had no use for it.
bool KeepRegisterFile(const std::optional<std::string>& existing, bool dropped_cudadevrt);

}  // namespace devlink::internal
