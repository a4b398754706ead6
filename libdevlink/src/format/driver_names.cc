// SPDX-License-Identifier: Apache-2.0
#include "format/driver_names.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace devlink::format {

namespace {

// Functions that the driver supplies (docs/cubin-format.md, "System calls").
constexpr std::array<std::string_view, 34> kSystemCalls = {"vprintf",
                                                           "malloc",
                                                           "free",
                                                           "vfprintf",
                                                           "__assertfail",
                                                           "__profile",
                                                           "cnpGetParameterBuffer",
                                                           "cnpLaunchDevice",
                                                           "cnpCtxSynchronize",
                                                           "cnpFuncGetAttribute",
                                                           "cnpStreamCreate",
                                                           "cnpStreamDestroy",
                                                           "cnpStreamWaitEvent",
                                                           "cnpEventCreate",
                                                           "cnpEventRecord",
                                                           "cnpEventDestroy",
                                                           "cnpDeviceGetName",
                                                           "cnpDeviceGetAttribute",
                                                           "cnpGetDeviceCount",
                                                           "cnpGetDevice",
                                                           "cnpGetLastError",
                                                           "cnpSetLastError",
                                                           "cnpGetCacheConfig",
                                                           "cnpGetSharedMemConfig",
                                                           "cnpGetLimit",
                                                           "cnpDeviceGetTotalMem",
                                                           "cnpGetParameterBufferV2",
                                                           "cnpLaunchDeviceV2",
                                                           "cudaGraphLaunch",
                                                           "cudaGraphSetConditional",
                                                           "cudaGraphKernelNodeSetParam",
                                                           "cudaGraphKernelNodeSetGridDim",
                                                           "cudaGraphKernelNodeSetEnabled",
                                                           "cudaGraphKernelNodeUpdatesApply"};

constexpr std::string_view kTableName = "__UFT";  // or __UDT, of data

bool BeginsAsTable(std::string_view name) {
  return name.starts_with(kTableName) || name.starts_with("__UDT");
}

}  // namespace

std::string AdviceOnDeviceRuntime() {
  return base::Cat({"it is part of lib", kDeviceRuntimeName, ": add -l", kDeviceRuntimeName,
                    ", which is linked last"});
}

bool IsSystemCall(std::string_view name) {
  return name.starts_with("__cuda_syscall") ||
         std::find(kSystemCalls.begin(), kSystemCalls.end(), name) != kSystemCalls.end();
}

bool IsUnifiedTable(std::string_view name) {
  constexpr std::array<std::string_view, 4> kEnds = {"", "_END", "_OFFSET", "_CANONICAL"};
  return BeginsAsTable(name) &&
         std::find(kEnds.begin(), kEnds.end(), name.substr(kTableName.size())) != kEnds.end();
}

bool IsKnownToDriver(std::string_view name) {
  return IsSystemCall(name) || name.starts_with(".nv.reservedSmem") || BeginsAsTable(name);
}

}  // namespace devlink::format
