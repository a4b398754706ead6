// SPDX-License-Identifier: Apache-2.0
//
// Links for the first GPU of this machine and runs a kernel there:
// link_and_launch KERNEL INPUT...
// KERNEL takes a pointer to 32 words, which this program prints when 32 threads have run it. Where
// there is no driver or no device the program is linked for sm_90, and that is all.
#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "devlink/devlink.h"

namespace {

// What this program needs of the driver's interface, without its header: NVIDIA documents each of
// these functions, and 0 is success.
class Driver {
 public:
  Driver() : library_(dlopen("libcuda.so.1", RTLD_NOW)) {}
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  ~Driver() {
    if (library_ != nullptr) dlclose(library_);
  }

  // Such as 90 for the first device; 0 where there is none.
  int FindDevice() {
    constexpr int kMajor = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
    constexpr int kMinor = 76;
    int major = 0;
    int minor = 0;
    const bool found = library_ != nullptr && Call("cuInit", 0U) &&
                       Call("cuDeviceGet", &device_, 0) &&
                       Call("cuDeviceGetAttribute", &major, kMajor, device_) &&
                       Call("cuDeviceGetAttribute", &minor, kMinor, device_);
    return found ? major * 10 + minor : 0;
  }

  // Runs the kernel on the device that was found; false, and said, where a call fails.
  bool Run(const std::vector<std::uint8_t>& cubin, const char* name,
           std::array<std::uint32_t, 32>& words) {
    void* context = nullptr;
    void* module = nullptr;
    void* kernel = nullptr;
    void* memory = nullptr;  // an address on the device
    if (!Call("cuDevicePrimaryCtxRetain", &context, device_)) return false;
    void* parameters[] = {&memory};
    void* const no_stream = nullptr;
    void** const nothing_else = nullptr;
    const bool ran =
        Call("cuCtxSetCurrent", context) &&
        Call("cuModuleLoadData", &module, static_cast<const void*>(cubin.data())) &&
        Call("cuModuleGetFunction", &kernel, module, name) &&
        Call("cuMemAlloc_v2", &memory, sizeof(words)) &&
        Call("cuMemcpyHtoD_v2", memory, static_cast<const void*>(words.data()), sizeof(words)) &&
        Call("cuLaunchKernel", kernel, 1U, 1U, 1U, 32U, 1U, 1U, 0U, no_stream, +parameters,
             nothing_else) &&
        Call("cuMemcpyDtoH_v2", static_cast<void*>(words.data()), memory, sizeof(words));
    if (memory != nullptr) Call("cuMemFree_v2", memory);
    if (module != nullptr) Call("cuModuleUnload", module);
    Call("cuDevicePrimaryCtxRelease_v2", device_);
    return ran;
  }

 private:
  template <typename... Arguments>
  bool Call(const char* name, Arguments... arguments) {
    void* const found = dlsym(library_, name);
    const int result =
        found == nullptr ? -1 : reinterpret_cast<int (*)(Arguments...)>(found)(arguments...);
    if (result != 0) std::cerr << name << ": " << result << "\n";
    return result == 0;
  }

  void* const library_;
  int device_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: link_and_launch KERNEL INPUT...\n";
    return 2;
  }
  Driver driver;
  const int device = driver.FindDevice();
  const auto target = devlink::Arch::Parse("sm_" + std::to_string(device == 0 ? 90 : device));
  if (!target.ok()) {
    std::cerr << target.status() << "\n";
    return 1;
  }
  auto session = devlink::LinkSession::Create({.target = *target});
  if (!session.ok()) {
    std::cerr << session.status() << "\n";
    return 1;
  }
  bool sound = true;
  for (int i = 2; i < argc; ++i) sound = session->AddFile(argv[i]).ok() && sound;
  const devlink::LinkOutcome linked = session->Link();
  for (const devlink::Diagnostic& diagnostic : linked.diagnostics) {
    std::cerr << devlink::RenderDiagnostic(diagnostic, "link_and_launch");
  }
  if (!sound || !linked.ok()) return 1;
  if (device == 0) {
    std::cout << linked.cubin.size() << " bytes linked for " << target->Name()
              << ", not run: there is no device\n";
    return 0;
  }
  std::array<std::uint32_t, 32> words = {};
  if (!driver.Run(linked.cubin, argv[1], words)) return 1;
  for (const std::uint32_t word : words) std::cout << word << " ";
  std::cout << "\n";
  return 0;
}
