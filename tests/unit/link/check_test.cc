// SPDX-License-Identifier: Apache-2.0
#include "link/check.h"

#include "format/nv_info.h"
#include "support/catch.h"
#include "unit/link/linked.h"
#include "unit/relocation_numbers.h"

namespace devlink::testing {
namespace {

using Function = InputBuilder::Function;
using Variable = InputBuilder::Variable;

struct Findings {
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string text;  // a line each, with the severity
};

// Of linked inputs, of which a test may have changed what the passes found.
Findings Check(const Linked& linked, const internal::CheckSettings& settings = {}) {
  const internal::PassResults& passes = linked.passes;
  std::vector<Diagnostic> diagnostics;
  const absl::Status status = internal::CheckProgram(
      {linked.merged.inputs, passes.program, passes.graph, passes.liveness, passes.shared,
       passes.constants, passes.resources, passes.attributes, passes.relocated},
      settings, diagnostics);
  Findings out{.code = status.code(), .text = ""};
  for (const Diagnostic& diagnostic : diagnostics) {
    const bool warning = diagnostic.severity == Severity::kWarning;
    out.text += (warning ? "warning: " : "error: ") + diagnostic.text + "\n";
  }
  return out;
}

TEST_CASE("Nothing is wrong with a sound program", "[check]") {
  InputBuilder a;
  a.DefineKernel("k");
  const Findings found = Check(Linked({&a}));
  CHECK(found.code == absl::StatusCode::kOk);
  CHECK(found.text.empty());
}

// A kernel's reference to a constant variable.
Findings CheckReference(std::uint32_t type, std::int64_t addend, bool cuts_off = false) {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SectionHandle bank = a.AddData(".nv.constant3", 64);
  const SymbolHandle x = a.Define(
      Variable{.name = "x", .section = bank, .space = format::kStoConstant, .size = 4, .value = 8});
  a.Relocate(a.TextOf(k), 0, type, x, addend);
  return Check(Linked({&a}), {.as_nvlink = cuts_off});
}

TEST_CASE("A value that its field has no room for is an error", "[check]") {
  constexpr std::uint32_t kField16 = 0x42;  // CONST_FIELD21_38
  const Findings found = CheckReference(kField16, 70000);
  CHECK(found.code == absl::StatusCode::kFailedPrecondition);
  CHECK(found.text ==
        "error: Reference to 'x' in section '.text.k' of 'a' does not fit its field\n");
  CHECK(CheckReference(kField16, 65527).text.empty());
  CHECK_FALSE(CheckReference(kField16, 65528).text.empty());
  CHECK(CheckReference(kField16, -16).text.empty());  // an index counts back
  CHECK_FALSE(CheckReference(kField16, -40000).text.empty());
  CHECK(CheckReference(kField16, 70000, /*cuts_off=*/true).text.empty());
  constexpr std::uint32_t kLow = 0x46;                              // 32_LO
  constexpr std::uint32_t kByte = 0x4c;                             // 8_0
  CHECK(CheckReference(kLow, std::int64_t{1} << 40).text.empty());  // the rest is elsewhere
  CHECK(CheckReference(kByte, 70000).text.empty());
}

// A kernel that calls a function that calls itself.
struct Recursion {
  Recursion() {
    const SymbolHandle k = input.DefineKernel("k");
    const SymbolHandle f = input.Define(Function{.name = "f"});
    input.AddCall(k, f);
    input.AddCall(f, f);
  }
  InputBuilder input;
};

TEST_CASE("Recursion is warned of", "[check]") {
  Recursion a;
  const Linked linked({&a.input});
  const Findings found = Check(linked);
  CHECK(found.code == absl::StatusCode::kOk);
  CHECK(found.text ==
        "warning: Stack size for entry function 'k' cannot be statically determined\n");
  CHECK(Check(linked, {.warn_of_unknown_stacks = false}).text.empty());
  CHECK(Check(linked, {.severities = {.suppress_warnings = true}}).text.empty());
  const Findings strict = Check(linked, {.severities = {.warnings_are_errors = true}});
  CHECK(strict.code == absl::StatusCode::kFailedPrecondition);
  CHECK(strict.text ==
        "error: Stack size for entry function 'k' cannot be statically determined\n");
}

Linked LinkShared(std::uint64_t size) {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  a.Define(Variable{.name = "s",
                    .section = a.AddData(".nv.shared.k", 0, k),
                    .space = format::kStoShared,
                    .size = size,
                    .value = 4});
  return Linked({&a});
}

TEST_CASE("A kernel's shared memory is limited", "[check]") {
  CHECK(Check(LinkShared(0xc000)).text.empty());
  const Findings found = Check(LinkShared(0xc004));
  CHECK(found.code == absl::StatusCode::kResourceExhausted);
  CHECK(found.text ==
        "error: Entry function 'k' uses too much shared data (0xc004 bytes, 0xc000 max)\n");
}

Linked LinkConstants(std::uint64_t size) {
  InputBuilder a;
  const SectionHandle bank = a.AddData(".nv.constant3", size);
  a.Define(Variable{.name = "c", .section = bank, .space = format::kStoConstant, .size = size});
  return Linked({&a});
}

TEST_CASE("Constant variables of all inputs are limited", "[check]") {
  CHECK(Check(LinkConstants(0x10000)).text.empty());
  const Findings found = Check(LinkConstants(0x10004));
  CHECK(found.code == absl::StatusCode::kResourceExhausted);
  CHECK(found.text ==
        "error: File uses too much global constant data (0x10004 bytes, 0x10000 max)\n");
}

TEST_CASE("The compiler's constants of a kernel are limited", "[check]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  for (const char* name : {"f", "g"}) {
    const SymbolHandle f = a.Define(Function{.name = name});
    a.AddConstants(f, 0x8004);
    a.AddCall(k, f);
  }
  CHECK(Check(Linked({&a})).text ==
        "error: Entry function 'k' uses too much data for compiler-generated constants; please "
        "recompile with -Xptxas --disable-optimizer-constants\n");
}

// A kernel compiled for at most 32 registers calls `f`, which calls `g`.
Linked LinkRegisters(std::uint32_t of_f, std::uint32_t of_g) {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  a.AddRecord(k, format::kInfoHalfValue, format::kAttrMaxRegCount, 32);
  const SymbolHandle f = a.Define(Function{.name = "f", .registers = of_f});
  const SymbolHandle g = a.Define(Function{.name = "g", .registers = of_g});
  a.AddCall(k, f);
  a.AddCall(f, g);
  return Linked({&a});
}

TEST_CASE("A kernel must not use tensor memory in two ways", "[check]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle f = a.Define(Function{.name = "f"});
  a.AddCall(k, f);
  a.AddRecord(f, format::kInfoNoValue, format::kAttrTcgen05TwoCta, 0);
  const auto use = [&](SymbolHandle function) {
    a.AddRecord(function, format::kInfoNoValue, format::kAttrTcgen05OneCta, 0);
  };
  constexpr std::string_view kError =
      "error: Function 'k' uses single CTA(.cta_group::1) and CTA pair "
      "granularity(.cta_group::2) and that is not allowed.\n";
  SECTION("in one") { CHECK(Check(Linked({&a})).text.empty()); }
  SECTION("itself and in what it calls") {
    use(k);
    const Findings found = Check(Linked({&a}));
    CHECK(found.code == absl::StatusCode::kFailedPrecondition);
    CHECK(found.text == kError);
  }
  SECTION("as nvlink, not where the only kernel calls both") {
    const SymbolHandle g = a.Define(Function{.name = "g"});
    a.AddCall(k, g);
    use(g);
    CHECK(Check(Linked({&a})).text.empty());
  }
  SECTION("but where one of several does") {
    const SymbolHandle g = a.Define(Function{.name = "g"});
    a.AddCall(k, g);
    use(g);
    a.DefineKernel("l");
    CHECK(Check(Linked({&a})).text == kError);
  }
}

TEST_CASE("A kernel for few registers must not reach a function that needs more", "[check]") {
  CHECK(Check(LinkRegisters(32, 32)).text.empty());
  const Findings found = Check(LinkRegisters(33, 40));
  CHECK(found.code == absl::StatusCode::kResourceExhausted);
  CHECK(found.text ==
        R"(error: entry function 'k' with max regcount of 32 calls function 'f' with regcount of 33
error: entry function 'k' with max regcount of 32 calls function 'g' with regcount of 40
)");
  // Each needs more than the ones before.
  CHECK(Check(LinkRegisters(40, 33)).text ==
        "error: entry function 'k' with max regcount of 32 calls function 'f' with regcount of "
        "40\n");
}

TEST_CASE("A relocation that nothing can be done with is an error, if there is no other",
          "[check]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SectionHandle bank = a.AddData(".nv.constant3", 8);
  a.Relocate(a.TextOf(k), 0, kTexSlot,
             a.Define(Variable{.name = "c", .section = bank, .space = format::kStoConstant}));
  const Findings found = Check(Linked({&a}));
  CHECK(found.code == absl::StatusCode::kFailedPrecondition);
  CHECK(found.text == "error: Reference to 'c' in section '.text.k' of 'a' cannot be resolved\n");

  InputBuilder b;
  const SymbolHandle l = b.DefineKernel("l");
  const SectionHandle other = b.AddData(".nv.constant3", 8);
  b.Relocate(b.TextOf(l), 0, kTexSlot,
             b.Define(Variable{.name = "c", .section = other, .space = format::kStoConstant}));
  b.Relocate(b.TextOf(l), 8, kAbs32, b.Define(Variable{.name = "missing"}));
  CHECK(Check(Linked({&b})).text == "error: Undefined reference to 'missing' in 'a'\n");
}

}  // namespace
}  // namespace devlink::testing
