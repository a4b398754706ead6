// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/link_report.h
//
// What came out of a link, as data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace devlink {

// Resources of one kernel, everything it calls included.
struct KernelReport {
  std::string name;             // mangled
  std::uint32_t registers = 0;  // per thread
  std::uint32_t barriers = 0;
  std::optional<std::uint64_t> stack_bytes;  // per thread; empty where recursion leaves it open
  std::uint64_t shared_bytes = 0;            // static, per block
  std::uint64_t parameter_bytes = 0;         // constant bank 0
};

// What is in the output of a link, and what is not. Names are as the inputs have them.
struct LinkReport {
  std::vector<KernelReport> kernels;        // in the order of the inputs
  std::vector<std::string> dead_functions;  // mangled names of functions that no kernel reaches
  std::uint64_t global_bytes = 0;           // .nv.global and .nv.global.init
  std::uint64_t constant_bytes = 0;         // .nv.constant3
  std::uint64_t input_bytes = 0;
  std::uint64_t output_bytes = 0;
  std::uint32_t inputs = 0;
};

// One JSON object, UTF-8, keys as the fields above. The layout is only ever extended.
std::string ToJson(const LinkReport& report);

}  // namespace devlink
