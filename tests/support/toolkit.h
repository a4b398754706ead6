// SPDX-License-Identifier: Apache-2.0
//
// Finds NVIDIA's tools. Tests that need them are skipped where they are missing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace devlink::testing {

// Paths of the CUDA tools. All are absolute.
struct Toolkit {
  std::string nvcc;
  std::string ptxas;
  std::string nvlink;
  std::string nvdisasm;   // empty where there is none
  std::string nvjitlink;  // libnvJitLink.so.13 of the same toolkit; empty where there is none
  std::string release;    // what nvlink calls itself, for instance "13.0"
};

// Looks in $CUDA_HOME/bin, then on $PATH; nvdisasm also in $NVDISASM. Empty unless nvcc, ptxas and
// nvlink are all there. Asks nvlink for its release once per process.
std::optional<Toolkit> FindToolkit();

// The path of a program on $PATH, empty where there is none.
std::string FindOnPath(std::string_view program);

}  // namespace devlink::testing
