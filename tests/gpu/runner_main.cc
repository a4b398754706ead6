// SPDX-License-Identifier: Apache-2.0
//
// Loads a linked cubin, runs its kernel `run` in one block, and prints what it leaves.
//
//   devlink-gpu-runner                 prints the device: its target and name
//   devlink-gpu-runner CUBIN [--threads N] [--dynamic BYTES] [--stack BYTES] [--out WORDS]
//                      [--set NAME VALUE]... [--get NAME]...
//
// --stack is for programs whose recursion the linker cannot measure. --set writes a variable of
// four bytes before the kernel, --get prints one after it. What the kernel prints comes first, then
// `out:` and `got:` lines. Ends with status 77 where there is no driver or no device.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gpu/driver.h"

namespace {

using devlink::testing::Driver;
using devlink::testing::NoDevice;

struct Task {
  std::string cubin;
  Driver::Launch launch;
  unsigned words = 0;
  std::vector<std::pair<std::string, std::uint32_t>> set;
  std::vector<std::string> get;
};

unsigned NumberOf(const std::string& text) { return static_cast<unsigned>(std::stoul(text)); }

Task TaskOf(std::vector<std::string> arguments) {
  Task task;
  auto next = arguments.begin();
  const auto take = [&]() -> std::string {
    if (next == arguments.end()) throw std::runtime_error("a word is missing at the end");
    return *next++;
  };
  task.cubin = take();
  while (next != arguments.end()) {
    const std::string option = take();
    if (option == "--threads") {
      task.launch.threads = NumberOf(take());
    } else if (option == "--dynamic") {
      task.launch.dynamic_bytes = NumberOf(take());
    } else if (option == "--stack") {
      task.launch.stack_bytes = NumberOf(take());
    } else if (option == "--out") {
      task.words = NumberOf(take());
    } else if (option == "--set") {
      const std::string name = take();
      task.set.emplace_back(name, NumberOf(take()));
    } else if (option == "--get") {
      task.get.push_back(take());
    } else {
      throw std::runtime_error("no option of this program: " + option);
    }
  }
  return task;
}

std::string BytesOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (bytes.empty()) throw std::runtime_error("cannot read " + path);
  return bytes;
}

Driver::Address WordNamed(const Driver& driver, Driver::Module module, const std::string& name) {
  const Driver::Variable variable = driver.VariableOf(module, name);
  if (variable.bytes != sizeof(std::uint32_t)) {
    throw std::runtime_error(name + " has " + std::to_string(variable.bytes) + " bytes, not 4");
  }
  return variable.address;
}

void RunTask(const Driver& driver, const Task& task) {
  const Driver::Module module = driver.Load(BytesOf(task.cubin));
  for (const auto& [name, value] : task.set) {
    driver.CopyIn(WordNamed(driver, module, name), &value, sizeof(value));
  }
  std::vector<std::uint32_t> out(task.words);
  const std::size_t bytes = out.size() * sizeof(std::uint32_t);
  const Driver::Address place = driver.Allocate(bytes + sizeof(std::uint32_t));
  driver.Run(module, "run", task.launch, place);
  driver.CopyOut(out.data(), place, bytes);
  std::printf("out:");
  for (const std::uint32_t word : out) std::printf(" %u", word);
  std::printf("\n");
  for (const std::string& name : task.get) {
    std::uint32_t value = 0;
    driver.CopyOut(&value, WordNamed(driver, module, name), sizeof(value));
    std::printf("got: %s %u\n", name.c_str(), value);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 1) {
      const Driver driver;
      std::printf("sm_%d %s\n", driver.Target(), driver.DeviceName().c_str());
      return 0;
    }
    const Task task = TaskOf({argv + 1, argv + argc});
    RunTask(Driver(), task);
    return 0;
  } catch (const NoDevice& none) {
    std::fprintf(stderr, "%s\n", none.what());
    return 77;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "devlink-gpu-runner: %s\n", error.what());
    return 1;
  }
}
