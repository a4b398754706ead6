// SPDX-License-Identifier: Apache-2.0
//
// The programs that are linked to measure: what modules they have, as PTX.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace devlink::bench {

// A program of several modules. The text of a module depends on its number and the target alone,
// and a module calls only modules of lower number: so programs of one family share their modules,
// and the first N modules of a large program are a whole program.
struct ProgramClass {
  std::string name;
  std::string family;  // whose modules it takes; also the name of their directory
  int modules = 0;
  bool slow_for_nvlink = false;  // more than 20 s: left out by --quick
  // Modules are linked as PTX, which nvcc made of bench/kernels.cu: this measures the assembling.
  bool is_ptx = false;
  // Empty: whatever is asked for. nvlink loses what is in .ptx files below sm_90.
  std::string only_target = {};
};

const std::vector<ProgramClass>& ProgramClasses();

// The PTX of one module, for `target` ("sm_80").
std::string ModuleText(std::string_view family, int module, std::string_view target);

}  // namespace devlink::bench
