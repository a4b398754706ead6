// SPDX-License-Identifier: Apache-2.0
//
// Links with LTO whose only question is what libNVVM is asked: inputs and options as values, from
// which come both files and a command line, and the vector that the library's parts give for them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "devlink/arch.h"
#include "devlink/diagnostics.h"
#include "devlink/experimental/cicc_option_builder.h"

namespace devlink::testing {

enum class LtoInputKind {
  kLtoir,           // a container in a file of its own, .ltoir
  kFatbin,          // LTO IR in a .fatbin
  kObject,          // LTO IR in a host object
  kSassObject,      // a cubin in a host object
  kSassFatbin,      // a cubin in a .fatbin
  kCubin,           // a .cubin
  kPtx,             // a .ptx
  kRuntime,         // a host object with a cubin, by the name of libcudadevrt
  kRuntimeLtoIr,    // LTO IR in such an object
  kRuntimeArchive,  // such an object with a cubin, in libcudadevrt.a
};

struct LtoInput {
  LtoInputKind kind = LtoInputKind::kLtoir;
  std::string options;  // of cicc, in the fat binary
  // Sections of a host object, by the end of their names (`KE` for .nvHRKE). Empty: none.
  std::optional<std::map<std::string, std::vector<std::string>>> lists = EmptyLists();

  static std::map<std::string, std::vector<std::string>> EmptyLists();
};

struct LtoCase {
  Arch arch{90, 0};
  std::vector<LtoInput> inputs;
  bool debug = false;
  bool suppress_debug_info = false;
  bool relocatable = false;
  bool force_partial = false;
  bool force_whole = false;
  bool emit_ptx = false;
  bool use_host_info = false;
  bool ignore_host_info = false;
  std::optional<int> max_registers;
  std::optional<int> split_compile;
  std::optional<int> split_compile_extended;
  std::string fast_compile;  // empty: not given
  std::vector<std::string> xnvvm;
  std::vector<std::string> kernels_used;
  std::vector<std::string> variables_used;
  std::vector<std::string> environment;  // `RECORDING_NVVM_RC=0`

  // What follows the program's name on the command line, in front of the inputs.
  [[nodiscard]] std::vector<std::string> Options() const;
  // The name of an input's file.
  [[nodiscard]] std::string FileName(std::size_t input) const;
  // The stand-in makes libNVVM fail before it compiles.
  [[nodiscard]] bool Fails() const;
  // All of it in one line.
  [[nodiscard]] std::string Describe() const;
};

struct LtoPrediction {
  // Empty where libNVVM is not to be called.
  std::vector<std::string> options;
  std::vector<Diagnostic> diagnostics;
};

// What OptionConsensus and CiccOptionBuilder make of a case.
LtoPrediction Predict(const LtoCase& link, NvvmVectorPolicy policy);

// Every row of the tables in docs/lto-options.md.
std::vector<LtoCase> TableOfLtoCases();

// Arbitrary combinations; the same for a seed everywhere.
std::vector<LtoCase> RandomLtoCases(std::uint64_t seed, std::size_t count);

}  // namespace devlink::testing
