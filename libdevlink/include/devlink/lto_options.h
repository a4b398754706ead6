// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/lto_options.h
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "devlink/experimental/lto_compiler.h"
#include "devlink/experimental/ptxas_options.h"

namespace devlink {

// Link-time optimization; docs/lto.md tells what happens in which mode. Every option is nvlink's of
// that name. A plain value.
struct LtoOptions {
  // nvlink -lto. Without it LTO IR is an error, and nothing else here has an effect.
  bool enabled = false;

  // What compiles LTO IR.
  LtoBackendOptions backend;

  // nvlink -force-partial-lto: the result is linked, whatever libNVVM answers. nvlink
  // -force-whole-lto: it is the output, whatever libNVVM answers, unless there is other code.
  bool force_partial = false;
  bool force_whole = false;
  // nvlink -emit-ptx: LinkResult::ptx receives what libNVVM made, and nothing is assembled.
  bool emit_ptx = false;
  // nvlink -Ofc; kOff stands for `-Ofc 0`.
  std::optional<FastCompile> fast_compile;
  // nvlink -split-compile-extended: threads, 0 for all of the machine's, 1 for none. With other
  // than 1 libNVVM makes several pieces, which are assembled in parallel and linked.
  int split_compile_extended = 1;
  // nvlink -Xnvvm, each value as written.
  std::vector<std::string> xnvvm;
};

}  // namespace devlink
