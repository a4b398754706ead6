// SPDX-License-Identifier: Apache-2.0
//
// What a link of a cubin has lost, found without the library's own reader: functions and
// relocations that the input has and the output has not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace devlink::testing {

// Of a link with -r that keeps its references: every function that the input defines and exports,
// and every relocation with its place and the name of what it refers to. The input was linked
// alone.
std::vector<std::string> LossesOfPartialLink(std::span<const std::uint8_t> input,
                                             std::span<const std::uint8_t> output);

// Of a link to a program: every kernel of the input, and of code that is in the output every
// reference to a function or a variable in global memory, which the loader resolves.
std::vector<std::string> LossesOfLink(std::span<const std::uint8_t> input,
                                      std::span<const std::uint8_t> output);

}  // namespace devlink::testing
