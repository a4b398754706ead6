// SPDX-License-Identifier: Apache-2.0
//
// The few functions of NVIDIA's driver that a linked program needs to run. libcuda.so.1 comes with
// a driver and not with a toolkit, so it is opened and not linked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace devlink::testing {

// There is no driver or no device: nothing can run here.
class NoDevice : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The first device of the driver, with a context that is current for the calling thread. Every
// function throws std::runtime_error with the driver's own words where a call fails.
class Driver {
 public:
  using Address = std::uint64_t;
  using Module = void*;

  Driver();  // throws NoDevice

  // 90 for sm_90.
  [[nodiscard]] int Target() const { return target_; }
  [[nodiscard]] std::string DeviceName() const;

  [[nodiscard]] Module Load(const std::string& cubin) const;
  // Of a variable of any memory that the host may name.
  struct Variable {
    Address address = 0;
    std::size_t bytes = 0;
  };
  [[nodiscard]] Variable VariableOf(Module module, const std::string& name) const;
  // Zeros; lives as long as the process.
  [[nodiscard]] Address Allocate(std::size_t bytes) const;
  void CopyIn(Address to, const void* from, std::size_t bytes) const;
  void CopyOut(void* to, Address from, std::size_t bytes) const;

  struct Launch {
    unsigned threads = 1;
    unsigned dynamic_bytes = 0;
    unsigned stack_bytes = 0;  // of each thread; 0: what the cubin says, or the driver's default
  };
  // Runs a kernel of one parameter in one block, to its end and that of all that it launches.
  void Run(Module module, const std::string& kernel, Launch launch, Address parameter) const;

 private:
  template <typename... T>
  void Call(const char* name, T... arguments) const;

  void* library_ = nullptr;
  int device_ = 0;
  int target_ = 0;
};

}  // namespace devlink::testing
