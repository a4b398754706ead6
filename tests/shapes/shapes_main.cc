// SPDX-License-Identifier: Apache-2.0
//
// devlink-shapes SHAPE COUNT FOLDER: writes the cubins of a program of that shape to an empty
// folder, for sm_80. Each shape is large in one respect, which COUNT counts; linking it should cost
// twice as much where COUNT is twice as large. `devlink-shapes --list` prints the shapes, one a
// line. scripts/instructions links them.
#include <charconv>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/elf_cuda.h"
#include "format/nv_info.h"
#include "format/relocations.h"
#include "model/module.h"
#include "unit/input_builder.h"

namespace devlink::testing {
namespace {

using Function = InputBuilder::Function;
using Variable = InputBuilder::Variable;

// Writes the cubins of one program.
class Program {
 public:
  explicit Program(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void Add(InputBuilder& input) {
    const ModuleRef module = input.Build();
    const base::Bytes bytes = module->bytes();
    std::ofstream file(folder_ / ("m" + std::to_string(count_++) + ".cubin"), std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) throw std::runtime_error("cannot write to " + folder_.string());
  }

 private:
  std::filesystem::path folder_;
  int count_ = 0;
};

std::string Name(const char* head, int number) { return head + std::to_string(number); }

// A kernel in each file, which calls a function of the next.
void Modules(int count, Program& program) {
  for (int i = 0; i < count; ++i) {
    InputBuilder input;
    const SymbolHandle kernel = input.DefineKernel(Name("k", i));
    input.Define(Function{.name = Name("f", i)});
    input.AddCall(kernel, input.Declare(Name("f", (i + 1) % count)));
    program.Add(input);
  }
}

void Kernels(int count, Program& program) {
  InputBuilder input;
  for (int i = 0; i < count; ++i) input.DefineKernel(Name("k", i));
  program.Add(input);
}

// All of them call the same functions, which call one another.
void KernelsOverSharedCode(int count, Program& program) {
  InputBuilder input;
  std::vector<SymbolHandle> functions;
  for (int i = 0; i < count; ++i) {
    functions.push_back(input.Define(Function{.name = Name("f", i)}));
    if (i > 0) input.AddCall(functions[i - 1], functions[i]);
  }
  for (int i = 0; i < count; ++i) input.AddCall(input.DefineKernel(Name("k", i)), functions[0]);
  program.Add(input);
}

void CallDepth(int count, Program& program) {
  InputBuilder input;
  SymbolHandle caller = input.DefineKernel("k");
  for (int i = 0; i < count; ++i) {
    const SymbolHandle function = input.Define(Function{.name = Name("f", i)});
    input.AddCall(caller, function);
    caller = function;
  }
  program.Add(input);
}

// Two ways at each step, so that there are 2^COUNT from the kernel to the last function.
void Diamonds(int count, Program& program) {
  InputBuilder input;
  SymbolHandle top = input.DefineKernel("k");
  for (int i = 0; i < count; ++i) {
    const SymbolHandle left = input.Define(Function{.name = Name("l", i)});
    const SymbolHandle right = input.Define(Function{.name = Name("r", i)});
    const SymbolHandle bottom = input.Define(Function{.name = Name("f", i)});
    for (const SymbolHandle side : {left, right}) {
      input.AddCall(top, side);
      input.AddCall(side, bottom);
    }
    top = bottom;
  }
  program.Add(input);
}

void WeakDuplicates(int count, Program& program) {
  for (int i = 0; i < count; ++i) {
    InputBuilder input;
    const SymbolHandle kernel = input.DefineKernel(Name("k", i));
    for (int j = 0; j < 4; ++j) {
      input.AddCall(kernel, input.Define(Function{.name = Name("f", j), .binding = 2}));
    }
    program.Add(input);
  }
}

void Symbols(int count, Program& program) {
  InputBuilder input;
  input.DefineKernel("k");
  const SectionHandle data = input.AddData(".nv.global.init", 4 * std::uint64_t(count));
  for (int i = 0; i < count; ++i) {
    input.Define(
        Variable{.name = Name("v", i), .section = data, .value = 4 * static_cast<unsigned>(i)});
  }
  program.Add(input);
}

void Relocations(int count, Program& program) {
  InputBuilder input;
  const SymbolHandle kernel = input.DefineKernel("k");
  const SectionHandle data = input.AddData(".nv.global.init", 8 * std::uint64_t(count));
  input.Define(Variable{.name = "table", .section = data, .size = 8 * std::uint64_t(count)});
  for (int i = 0; i < count; ++i) {
    input.Relocate(data, 8 * static_cast<unsigned>(i), format::kRelocAbs64, kernel);
  }
  program.Add(input);
}

// Records of kernels that name what these refer to.
void Attributes(int count, Program& program) {
  InputBuilder input;
  const SymbolHandle function = input.Define(Function{.name = "f"});
  for (int i = 0; i < count; ++i) {
    const SymbolHandle kernel = input.DefineKernel(Name("k", i));
    input.AddCall(kernel, function);
    input.AddExterns(kernel, {function});
    input.AddRecord(kernel, format::kInfoHalfValue, format::kAttrMaxRegCount, 40);
    input.AddRecord(kernel, format::kInfoByteValue, format::kAttrNumBarriers, 1);
    input.AddRecord(kernel, format::kInfoNoValue, format::kAttrCtaidzUsed, 0);
  }
  program.Add(input);
}

// Of one kernel, a byte each: there is room for 48 KiB.
void SharedVariables(int count, Program& program) {
  InputBuilder input;
  const SymbolHandle kernel = input.DefineKernel("k");
  const SectionHandle shared = input.AddData(".nv.shared.k", static_cast<unsigned>(count), kernel);
  for (int i = 0; i < count; ++i) {
    input.Define(Variable{.name = Name("s", i),
                          .section = shared,
                          .space = format::kStoShared,
                          .binding = format::kStbLocal,
                          .size = 1,
                          .value = 1});
  }
  program.Add(input);
}

void DebugBytes(int count, Program& program) {
  InputBuilder input;
  input.DefineKernel("k");
  input.AddData(".debug_str", std::uint64_t(count) * 1024);
  program.Add(input);
}

using Shape = std::function<void(int count, Program& program)>;

const std::map<std::string, Shape, std::less<>>& Shapes() {
  static const std::map<std::string, Shape, std::less<>> kShapes = {
      {"attributes", Attributes},
      {"call-depth", CallDepth},
      {"debug-kilobytes", DebugBytes},
      {"diamonds", Diamonds},
      {"kernels", Kernels},
      {"kernels-over-shared-code", KernelsOverSharedCode},
      {"modules", Modules},
      {"relocations", Relocations},
      {"shared-variables", SharedVariables},
      {"symbols", Symbols},
      {"weak-duplicates", WeakDuplicates}};
  return kShapes;
}

int Main(const std::vector<std::string_view>& words) {
  if (words.size() == 1 && words[0] == "--list") {
    for (const auto& [name, shape] : Shapes()) std::cout << name << "\n";
    return 0;
  }
  int count = 0;
  const auto shape = words.empty() ? Shapes().end() : Shapes().find(words[0]);
  if (words.size() == 3) {
    std::from_chars(words[1].data(), words[1].data() + words[1].size(), count);
  }
  if (shape == Shapes().end() || count < 1 || count > 1'000'000) {
    std::cerr << "devlink-shapes: usage: devlink-shapes --list | SHAPE COUNT FOLDER\n";
    return 2;
  }
  Program program{std::filesystem::path(words[2])};
  shape->second(count, program);
  return 0;
}

}  // namespace
}  // namespace devlink::testing

int main(int argc, char** argv) {
  try {
    return devlink::testing::Main({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "devlink-shapes: " << error.what() << "\n";
    return 1;
  }
}
