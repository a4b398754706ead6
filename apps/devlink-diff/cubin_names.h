// SPDX-License-Identifier: Apache-2.0
//
// Names for the numbers in a cubin.
#pragma once

#include <cstdint>
#include <string>

namespace devlink::diff {

// `REGCOUNT` for 0x2f; hexadecimal for an unknown number.
std::string AttributeName(std::uint8_t id);

// `R_CUDA_32`, `R_MERCURY_G64`; hexadecimal for an unknown number.
std::string RelocationName(std::uint32_t type);

// `PROGBITS`, `CUDA_INFO`; hexadecimal for an unknown number.
std::string SectionTypeName(std::uint32_t type);

}  // namespace devlink::diff
