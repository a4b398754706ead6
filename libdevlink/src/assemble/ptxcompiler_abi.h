// SPDX-License-Identifier: Apache-2.0
//
// What libdevlink_ptxcompiler.so offers: one exported name that returns a table of functions. They
// are those of nvPTXCompiler.h, with plain types, so that the library needs that header nowhere.
#pragma once

#include <stddef.h>

extern "C" {

struct DevlinkPtxCompilerV1 {
  int (*get_version)(unsigned* major, unsigned* minor);
  int (*create)(void** compiler, size_t size, const char* text);
  int (*destroy)(void** compiler);
  int (*compile)(void* compiler, int count, const char* const* options);
  int (*get_cubin_size)(void* compiler, size_t* size);
  int (*get_cubin)(void* compiler, void* cubin);
  int (*get_error_log_size)(void* compiler, size_t* size);
  int (*get_error_log)(void* compiler, char* log);
  int (*get_info_log_size)(void* compiler, size_t* size);
  int (*get_info_log)(void* compiler, char* log);
};

// The table lives as long as the library is loaded.
using DevlinkPtxCompilerTableV1 = const DevlinkPtxCompilerV1* (*)();
}

#define DEVLINK_PTXCOMPILER_SYMBOL "devlink_ptxcompiler_v1"
