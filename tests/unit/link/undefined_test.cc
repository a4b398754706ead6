// SPDX-License-Identifier: Apache-2.0
#include "link/undefined.h"

#include <algorithm>
#include <string>

#include "support/catch.h"
#include "unit/link/linked.h"
#include "unit/relocation_numbers.h"

namespace devlink::testing {
namespace {

using Function = InputBuilder::Function;
using Variable = InputBuilder::Variable;

// Each error, and its notes below it.
std::string UndefinedOf(std::initializer_list<InputBuilder*> inputs) {
  const Linked linked(inputs);
  const internal::PassResults& passes = linked.passes;
  std::string out;
  for (const Diagnostic& diagnostic : internal::FindUndefined(
           {linked.merged.inputs, passes.program, passes.graph, passes.liveness, passes.shared,
            passes.constants, passes.resources, passes.attributes, passes.relocated})) {
    out += diagnostic.text + "\n";
    for (const std::string& note : diagnostic.notes) out += "  " + note + "\n";
  }
  return out;
}

TEST_CASE("An undefined function is explained by the way to it", "[undefined]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle f = a.Declare("f");
  a.AddCall(k, f);
  InputBuilder b;
  const SymbolHandle of_b = b.Define(Function{.name = "f"});
  b.AddCall(of_b, b.Declare("missing"));
  CHECK(UndefinedOf({&a, &b}) == R"(Undefined reference to 'missing' in 'b'
  called by k -> f in 'b'
)");
}

TEST_CASE("An undefined variable is explained by who uses it", "[undefined]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  a.Relocate(a.TextOf(k), 0, kAbs32, a.Define(Variable{.name = "used"}));
  a.Define(Variable{.name = "unused"});
  CHECK(UndefinedOf({&a}) == R"(Undefined reference to 'used' in 'a'
  used by k in 'a'
Undefined reference to 'unused' in 'a'
  declared there, but no function uses it
)");
}

TEST_CASE("Names that differ little are suggested, mangled ones by their parameters",
          "[undefined]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  a.AddCall(k, a.Declare("_Z5scalef"));
  a.Define(Function{.name = "_Z5scaled"});
  a.Define(Function{.name = "_Z5otheri"});
  CHECK(UndefinedOf({&a}) == R"(Undefined reference to '_Z5scalef' in 'a'
  '_Z5scalef' is scale(float)
  called by k in 'a'
  similar: scale(double) in 'a'
)");
}

TEST_CASE("Thousands of long names are not compared letter by letter", "[undefined]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const std::string tail(2000, 'x');
  for (int i = 0; i < 3000; ++i) a.Define(Function{.name = "f" + std::to_string(i) + tail});
  for (int i = 0; i < 20; ++i) a.AddCall(k, a.Declare("g" + std::to_string(i) + tail));
  a.AddCall(k, a.Declare("_Z5scalef"));
  const std::string text = UndefinedOf({&a});
  CHECK(text.find("similar") == std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 20 * 2 + 2);
  CHECK(text.ends_with("  21 names are undefined; notes explain the first 20\n"));
}

TEST_CASE("What the driver has, what may stay undefined and what is dead is not missing",
          "[undefined]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  a.AddCall(k, a.Declare("vprintf"));
  a.AddCall(k, a.Declare("weak", format::kStbWeak));
  a.AddCall(a.Define(Function{.name = "dead"}), a.Declare("missing"));
  a.Define(Variable{.name = "dynamic", .space = format::kStoShared, .size = 0});
  a.Define(Variable{.name = "t", .space = 0, .size = 0, .type = format::kSttCudaTexture});
  CHECK(UndefinedOf({&a}).empty());
}

TEST_CASE("Functions of the device runtime come from its library", "[undefined]") {
  InputBuilder a;
  a.AddCall(a.DefineKernel("k"), a.Declare("__cudaCDP2LaunchDeviceV2"));
  CHECK(UndefinedOf({&a}) == R"(Undefined reference to '__cudaCDP2LaunchDeviceV2' in 'a'
  called by k in 'a'
  it is part of libcudadevrt: add -lcudadevrt, which is linked last
)");
}

TEST_CASE("Names of a letter or two are alike to those of the same letters only", "[undefined]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("_Z1kPi");
  a.AddCall(k, a.Declare("_Z1gi"));
  a.AddCall(k, a.Declare("_Z1hi"));
  a.Define(Function{.name = "_Z1hf"});
  const std::string text = UndefinedOf({&a});
  CHECK(text.find("similar: h(float)") != std::string::npos);
  CHECK(text.find("similar: k") == std::string::npos);
}

TEST_CASE("Only the first callers are named", "[undefined]") {
  InputBuilder a;
  const SymbolHandle missing = a.Declare("missing");
  for (const char* name : {"k1", "k2", "k3", "k4", "k5"}) a.AddCall(a.DefineKernel(name), missing);
  CHECK(UndefinedOf({&a}) == R"(Undefined reference to 'missing' in 'a'
  called by k1 in 'a'
  called by k2 in 'a'
  called by k3 in 'a'
  and by 2 more functions
)");
}

}  // namespace
}  // namespace devlink::testing
