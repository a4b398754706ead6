// SPDX-License-Identifier: Apache-2.0
//
// Names that need no definition in a link (docs/cubin-format.md, "System calls").
#pragma once

#include <string>
#include <string_view>

namespace devlink::format {

// CUDA's device runtime comes as libcudadevrt.a; nvlink goes by this part of a file's name.
inline constexpr std::string_view kDeviceRuntimeName = "cudadevrt";
inline constexpr std::string_view kDeviceRuntimeArchive = "libcudadevrt.a";

// Functions that libcudadevrt defines, under the names that compilers give them.
constexpr bool IsDeviceRuntime(std::string_view name) { return name.starts_with("__cudaCDP"); }

// What to do about an undefined name that IsDeviceRuntime.
std::string AdviceOnDeviceRuntime();

// Functions that the driver supplies.
bool IsSystemCall(std::string_view name);

// The eight names of the tables of functions and data that several programs share, of their ends
// and of what the loader adds.
bool IsUnifiedTable(std::string_view name);
// What code calls through such a table adds to an address; the linker knows of no table.
inline constexpr std::string_view kUnifiedFunctionOffset = "__UFT_OFFSET";

// Names that the driver knows, and those that begin as its tables' names do: the linker does not
// look for them.
bool IsKnownToDriver(std::string_view name);

}  // namespace devlink::format
