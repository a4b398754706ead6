// SPDX-License-Identifier: Apache-2.0
//
// The programs that are linked to measure: what modules they have, as PTX.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace devlink::bench {

// What the modules of a program are.
enum class ModuleKind {
  kCubin,
  kPtx,        // linking measures the assembler
  kObject,     // host objects with cubins in them
  kArchive,    // the same objects, in one archive
  kDebug,      // cubins with all debug information (-G)
  kLtoObject,  // host objects with LTO IR in NVIDIA's protected form
  kLtoIr,      // LTO IR as it is
};

// A program of several modules. The text of a module depends on its number and the target alone,
// and a module calls only modules of lower number: so programs of one family share their modules,
// and the first N modules of a large program are a whole program.
struct ProgramClass {
  std::string name;
  std::string family;  // whose modules it takes; also the name of their directory
  int modules = 0;
  bool slow_for_nvlink = false;  // and for its library; more than 20 s: left out by --quick
  ModuleKind kind = ModuleKind::kCubin;
  // In this folder, compiled by nvcc for each module; empty: ModuleText, assembled by ptxas.
  std::string source = {};
  // Empty: whatever is asked for. nvlink loses what is in .ptx files below sm_90.
  std::string only_target = {};
  std::vector<std::string> options = {};  // of the link, beside its target
  // Words of devlink alone. Its output is other code, which nothing is compared with.
  std::vector<std::string> own_options = {};

  bool varies = false;            // nvlink's output is not the same every time
  bool slow_for_library = false;  // for NVIDIA's libnvJitLink alone

  [[nodiscard]] bool IsLto() const {
    return kind == ModuleKind::kLtoObject || kind == ModuleKind::kLtoIr;
  }

  // Tools of NVIDIA's run within the link, and the memory is theirs.
  [[nodiscard]] bool UsesTools() const {
    return kind == ModuleKind::kPtx || IsLto() || only_target == "sm_100";
  }
};

const std::vector<ProgramClass>& ProgramClasses();

// The PTX of one module, for `target` ("sm_80").
std::string ModuleText(std::string_view family, int module, std::string_view target);

}  // namespace devlink::bench
