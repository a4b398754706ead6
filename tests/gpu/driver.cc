// SPDX-License-Identifier: Apache-2.0
#include "gpu/driver.h"

#include <dlfcn.h>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace devlink::testing {
namespace {

constexpr int kMajor = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr int kMinor = 76;
constexpr int kStackSize = 0;  // CU_LIMIT_STACK_SIZE

std::string WordsFor(void* library, int code) {
  using Describe = int (*)(int, const char**);
  const char* words = nullptr;
  if (auto describe = reinterpret_cast<Describe>(dlsym(library, "cuGetErrorString"))) {
    describe(code, &words);
  }
  return words != nullptr ? words : "error " + std::to_string(code);
}

}  // namespace

template <typename... T>
void Driver::Call(const char* name, T... arguments) const {
  auto* function = reinterpret_cast<int (*)(T...)>(dlsym(library_, name));
  if (function == nullptr) throw std::runtime_error(std::string("the driver has no ") + name);
  const int code = function(arguments...);
  if (code != 0) throw std::runtime_error(std::string(name) + ": " + WordsFor(library_, code));
}

Driver::Driver() : library_(dlopen("libcuda.so.1", RTLD_NOW)) {
  if (library_ == nullptr) throw NoDevice("no driver: " + std::string(dlerror()));
  int devices = 0;
  try {
    Call("cuInit", 0U);
    Call("cuDeviceGetCount", &devices);
  } catch (const std::runtime_error& error) {
    throw NoDevice(error.what());
  }
  if (devices == 0) throw NoDevice("the driver has no device");
  Call("cuDeviceGet", &device_, 0);
  int major = 0;
  int minor = 0;
  Call("cuDeviceGetAttribute", &major, kMajor, device_);
  Call("cuDeviceGetAttribute", &minor, kMinor, device_);
  target_ = 10 * major + minor;
  void* context = nullptr;
  Call("cuDevicePrimaryCtxRetain", &context, device_);
  Call("cuCtxSetCurrent", context);
}

std::string Driver::DeviceName() const {
  std::string name(256, '\0');
  Call("cuDeviceGetName", name.data(), static_cast<int>(name.size()), device_);
  return name.substr(0, name.find('\0'));
}

Driver::Module Driver::Load(const std::string& cubin) const {
  Module module = nullptr;
  Call("cuModuleLoadData", &module, static_cast<const void*>(cubin.data()));
  return module;
}

Driver::Variable Driver::VariableOf(Module module, const std::string& name) const {
  Variable found;
  Call("cuModuleGetGlobal_v2", &found.address, &found.bytes, module, name.c_str());
  return found;
}

Driver::Address Driver::Allocate(std::size_t bytes) const {
  Address address = 0;
  Call("cuMemAlloc_v2", &address, bytes);
  Call("cuMemsetD8_v2", address, static_cast<unsigned char>(0), bytes);
  return address;
}

void Driver::CopyIn(Address to, const void* from, std::size_t bytes) const {
  Call("cuMemcpyHtoD_v2", to, from, bytes);
}

void Driver::CopyOut(void* to, Address from, std::size_t bytes) const {
  Call("cuMemcpyDtoH_v2", to, from, bytes);
}

void Driver::Run(Module module, const std::string& kernel, Launch launch, Address parameter) const {
  if (launch.stack_bytes != 0) {
    Call("cuCtxSetLimit", kStackSize, static_cast<std::size_t>(launch.stack_bytes));
  }
  void* function = nullptr;
  Call("cuModuleGetFunction", &function, module, kernel.c_str());
  void* parameters[] = {&parameter};
  void* const stream = nullptr;
  void** const extra = nullptr;
  Call("cuLaunchKernel", function, 1U, 1U, 1U, launch.threads, 1U, 1U, launch.dynamic_bytes, stream,
       static_cast<void**>(parameters), extra);
  Call("cuCtxSynchronize");
}

}  // namespace devlink::testing
