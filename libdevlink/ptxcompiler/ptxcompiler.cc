// SPDX-License-Identifier: Apache-2.0
//
// libdevlink_ptxcompiler.so: NVIDIA's static PTX compiler behind one exported name.
#include <nvPTXCompiler.h>

#include "assemble/ptxcompiler_abi.h"

namespace {

nvPTXCompilerHandle Handle(void* compiler) { return static_cast<nvPTXCompilerHandle>(compiler); }

int GetVersion(unsigned* major, unsigned* minor) { return nvPTXCompilerGetVersion(major, minor); }

int Create(void** compiler, size_t size, const char* text) {
  nvPTXCompilerHandle handle = nullptr;
  const int result = nvPTXCompilerCreate(&handle, size, text);
  *compiler = handle;
  return result;
}

int Destroy(void** compiler) {
  nvPTXCompilerHandle handle = Handle(*compiler);
  *compiler = nullptr;
  return nvPTXCompilerDestroy(&handle);
}

int Compile(void* compiler, int count, const char* const* options) {
  return nvPTXCompilerCompile(Handle(compiler), count, options);
}

int GetCubinSize(void* compiler, size_t* size) {
  return nvPTXCompilerGetCompiledProgramSize(Handle(compiler), size);
}

int GetCubin(void* compiler, void* cubin) {
  return nvPTXCompilerGetCompiledProgram(Handle(compiler), cubin);
}

int GetErrorLogSize(void* compiler, size_t* size) {
  return nvPTXCompilerGetErrorLogSize(Handle(compiler), size);
}

int GetErrorLog(void* compiler, char* log) {
  return nvPTXCompilerGetErrorLog(Handle(compiler), log);
}

int GetInfoLogSize(void* compiler, size_t* size) {
  return nvPTXCompilerGetInfoLogSize(Handle(compiler), size);
}

int GetInfoLog(void* compiler, char* log) { return nvPTXCompilerGetInfoLog(Handle(compiler), log); }

constexpr DevlinkPtxCompilerV1 kTable = {GetVersion,     Create,    Destroy,         Compile,
                                         GetCubinSize,   GetCubin,  GetErrorLogSize, GetErrorLog,
                                         GetInfoLogSize, GetInfoLog};

}  // namespace

extern "C" __attribute__((visibility("default"))) const DevlinkPtxCompilerV1*
devlink_ptxcompiler_v1() {
  return &kTable;
}
