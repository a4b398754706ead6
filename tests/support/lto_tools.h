// SPDX-License-Identifier: Apache-2.0
//
// What compiles LTO IR, and small modules for it that no nvcc is needed for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace devlink::testing {

// The folder of the toolkit, to be searched by NvvmLibraryFiles; empty where there is no toolkit.
std::string NvvmPlace();

// The path of libnvJitLink.so.13, empty where there is none.
std::string NvJitLinkPath();

// NVVM IR, as text, of a kernel `name` that calls `callee`, where it is not empty, and of a
// function `defines`, where that is not empty. Pointers are typed or not, as the LLVM wants that
// compiles for the target.
std::vector<std::uint8_t> NvvmModule(int sm, std::string_view kernel, std::string_view callee,
                                     std::string_view defines);

}  // namespace devlink::testing
