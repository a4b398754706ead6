// SPDX-License-Identifier: Apache-2.0
//
// The vector for libNVVM. That it is nvlink's, tests/link/lto_options_test.cc shows; here stand the
// rules, and where the default leaves nvlink.
#include "devlink/experimental/cicc_option_builder.h"

#include <string>
#include <vector>

#include "lto/xnvvm.h"
#include "support/catch.h"
#include "support/text.h"

namespace devlink::testing {
namespace {

constexpr Arch kTarget{90, 0};

std::string Line(const CiccOptionBuilder& builder, std::vector<Diagnostic>* found = nullptr) {
  const auto words = builder.Build(found);
  return words.ok() ? Join(*words, " ") : Cat("refused: ", std::string(words.status().message()));
}

CiccOptionBuilder Whole(Arch target = kTarget, NvvmVectorPolicy policy = {}) {
  return CiccOptionBuilder(target, policy);
}

// What -Xnvvm adds, without what nvlink adds to it.
std::string Words(std::string_view value) {
  constexpr std::string_view kHead = "-arch=compute_90 -link-lto -has-global-host-info";
  constexpr std::string_view kTail = " -ftz=0 -prec-div=1 -prec-sqrt=1 -fma=1";
  std::string out = Line(Whole().Xnvvm(value));
  if (!out.starts_with(kHead)) return out;
  out.erase(0, kHead.size());
  if (out.ends_with(kTail)) out.resize(out.size() - kTail.size());
  return out.empty() ? out : out.substr(1);
}

HostReferences Kernels(std::vector<std::string> names) {
  HostReferences out;
  out.kernels_external = {true, std::move(names)};
  out.variables_external.present = true;
  return out;
}

TEST_CASE("All options have their places", "[lto]") {
  AgreedOptions agreed;
  agreed.ftz = 1;
  agreed.fmad = 0;
  agreed.max_registers = 32;
  agreed.split_compile = 4;
  agreed.line_info = agreed.inline_info = true;
  CiccOptionBuilder builder(Arch{80, 0});
  builder.Xnvvm("-opt=1,-fast-math")
      .Debug(true)
      .FastCompileLevel(FastCompile::kMid)
      .AddHostReferences(Kernels({"k1", "k2"}))
      .Scope(LtoScope::kWithDeviceRuntime)
      .Agreed(agreed);
  CHECK(Line(builder) ==
        "-arch=compute_80 -link-lto -split-compile=4 -Ofast-compile=mid -maxreg=32 "
        "-generate-line-info -inline-info --device-c -g -has-global-host-info -opt=1 -fast-math "
        "-ftz=1 -prec-div=1 -prec-sqrt=1 -fma=0 -host-ref-ek=k2,k1");
  builder.Scope(LtoScope::kPartial);
  CHECK(Line(builder) ==
        "-arch=compute_80 -link-lto -split-compile=4 -Ofast-compile=mid -maxreg=32 "
        "-generate-line-info -inline-info --device-c --force-device-c -g -opt=1 -fast-math "
        "-ftz=1 -prec-div=1 -prec-sqrt=1 -fma=0");
}

TEST_CASE("The scope follows from what is linked", "[lto]") {
  LtoLinkShape shape;
  CHECK(ScopeOf(shape) == LtoScope::kWhole);
  CHECK(ResultIsWholeProgram(shape, 100, 1));
  CHECK(!ResultIsWholeProgram(shape, 0, 1));
  CHECK(!ResultIsWholeProgram(shape, 100, 2));
  shape.has_device_runtime = true;
  CHECK(ScopeOf(shape) == LtoScope::kWithDeviceRuntime);
  CHECK(ResultIsWholeProgram(shape, 100, 1));
  shape.force_whole = true;
  CHECK(ResultIsWholeProgram(shape, 0, 1));
  shape.has_other_code = true;  // stronger than -force-whole-lto
  CHECK(ScopeOf(shape) == LtoScope::kPartial);
  CHECK(!ResultIsWholeProgram(shape, 100, 1));
  for (bool LtoLinkShape::* part :
       {&LtoLinkShape::relocatable_link, &LtoLinkShape::force_partial}) {
    LtoLinkShape partial;
    partial.*part = true;
    CHECK(ScopeOf(partial) == LtoScope::kPartial);
    CHECK(!ResultIsWholeProgram(partial, 100, 1));
  }
}

TEST_CASE("The suffix of a target goes, and comes back where it is needed", "[lto]") {
  const auto arch = [](const CiccOptionBuilder& builder) { return builder.Build()->front(); };
  for (const Arch target : {Arch{90, 'a'}, Arch{100, 'f'}}) {
    const std::string plain = Cat("-arch=compute_", target.number);
    const std::string full = plain + target.variant;
    CiccOptionBuilder ours(target);
    CHECK(arch(ours) == plain);
    CHECK(ours.NeedsSecondAttempt());
    ours.KeepArchSuffix(true);
    CHECK(arch(ours) == full);
    CHECK(!ours.NeedsSecondAttempt());
    CHECK(ours.AssemblerTarget() == target);
    const CiccOptionBuilder nvlinks(target, NvvmVectorPolicy::Nvlink());
    CHECK(arch(nvlinks) == plain);
    CHECK(!nvlinks.NeedsSecondAttempt());
    CHECK(arch(CiccOptionBuilder(target, NvvmVectorPolicy::Corrected())) == full);
  }
  CHECK(CiccOptionBuilder(Arch{90, 'a'}).AssemblerTarget() == Arch{90, 'a'});
  CHECK(CiccOptionBuilder(Arch{100, 'f'}).AssemblerTarget() == Arch{100, 0});
  CHECK(!CiccOptionBuilder(kTarget).NeedsSecondAttempt());
}

TEST_CASE("Words of -Xnvvm are read twice", "[lto]") {
  CHECK(Words("") == "");
  CHECK(Words(" , ,\"\"") == "");
  CHECK(Words("a,b c") == "a b c");
  CHECK(Words("\"a,b\"") == "a,b");
  CHECK(Words("a\\ b").find("a b") == 0);
  CHECK(Words("a\tb") == "a\tb");
  CHECK(Words("a\\b") == "ab");
  CHECK(Words("\"a\\\"b\"") == "a\"b");
  CHECK(Words("'a b'") == "'a b'");
  CHECK(Words("-link-lto,-compile-time") == "");
  CHECK(Words("-has-global-host-info") == "");
  CHECK(Words("-g --device-c -Ofast-compile=min") == "-g --device-c -Ofast-compile=min");

  std::vector<Diagnostic> found;
  CHECK(!internal::CheckXnvvm("\"a", &found).ok());
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == Severity::kFatal);
  CHECK(found[0].text == "Stray '\"' character");
  found.clear();
  CHECK(internal::CheckXnvvm("a\\", nullptr).ok());
  CHECK(Line(Whole().Xnvvm("a\\"), &found).starts_with("refused"));
  REQUIRE(found.size() == 1);
  CHECK(found[0].text == "Stray '' character");
}

TEST_CASE("Words that nvlink passes itself are not repeated", "[lto]") {
  CiccOptionBuilder builder(kTarget);
  builder.Scope(LtoScope::kPartial)
      .Debug(true)
      .FastCompileLevel(FastCompile::kOff)
      .Xnvvm("-g,--device-c,--force-device-c,-has-global-host-info,-Ofast-compile=max,-x");
  CHECK(Line(builder) ==
        "-arch=compute_90 -link-lto --device-c --force-device-c -g -has-global-host-info -x -ftz=0 "
        "-prec-div=1 -prec-sqrt=1 -fma=1");
}

TEST_CASE("With -g nothing is optimized where the release says so", "[lto]") {
  const NvvmVectorPolicy policy{.debug_is_unoptimized = true};
  CHECK(Line(Whole(kTarget, policy)) == "-arch=compute_90 -link-lto -has-global-host-info");
  CHECK(Line(Whole(kTarget, policy).Debug(true)) ==
        "-arch=compute_90 -link-lto -g -opt=0 -has-global-host-info");
}

TEST_CASE("Math options come with -Xnvvm only, unless corrected", "[lto]") {
  AgreedOptions agreed;
  agreed.fmad = 0;
  CHECK(Line(Whole().Agreed(agreed)) == "-arch=compute_90 -link-lto -has-global-host-info");
  CHECK(Line(Whole().Agreed(agreed).Xnvvm("-link-lto")) ==
        "-arch=compute_90 -link-lto -has-global-host-info -ftz=0 -prec-div=1 -prec-sqrt=1 -fma=0");
  CHECK(Line(Whole(kTarget, NvvmVectorPolicy::Corrected()).Agreed(agreed)) ==
        "-arch=compute_90 -link-lto -has-global-host-info -ftz=0 -prec-div=1 -prec-sqrt=1 -fma=0");
}

TEST_CASE("-prec-sqrt stands once, unless as in nvlink", "[lto]") {
  CHECK(Line(Whole().Xnvvm("-prec-sqrt=0")) ==
        "-arch=compute_90 -link-lto -has-global-host-info -prec-sqrt=0 -ftz=0 -prec-div=1 -fma=1");
  CHECK(Line(Whole(kTarget, NvvmVectorPolicy::Nvlink()).Xnvvm("-prec-sqrt=0")) ==
        "-arch=compute_90 -link-lto -has-global-host-info -prec-sqrt=0 -ftz=0 -prec-sqrt=1 -fma=1");
}

TEST_CASE("Split compilation: modules, the extended kind, PTX", "[lto]") {
  CiccOptionBuilder builder(kTarget);
  builder.SplitCompile(3).SplitCompileExtended(2);
  std::vector<Diagnostic> found;
  CHECK(Line(builder, &found) ==
        "-arch=compute_90 -link-lto -split-compile-extended=2 -has-global-host-info");
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == Severity::kInfo);
  CHECK(builder.Split().assembler == 3);

  AgreedOptions agreed;
  agreed.split_compile = 1;
  builder.Agreed(agreed);
  found.clear();
  CHECK(Line(builder, &found) ==
        "-arch=compute_90 -link-lto -split-compile-extended=2 -has-global-host-info");
  CHECK(found.empty());
  CHECK(builder.Split().assembler == 1);

  builder.EmitPtx(true);
  builder.CheckCommandLine(found);
  REQUIRE(found.size() == 1);
  CHECK(found[0].text ==
        "Incompatible options '-emit-ptx' and '-split-compile-extended', using '-split-compile'");
  CHECK(Line(builder) == "-arch=compute_90 -link-lto -split-compile=2 -has-global-host-info");
}

TEST_CASE("Host references: order, voids, libcudadevrt", "[lto]") {
  const std::string head = "-arch=compute_90 -link-lto -has-global-host-info";
  CHECK(Line(Whole().AddHostReferences(Kernels({"a", "b", "a"}))) == head + " -host-ref-ek=a,b");
  CHECK(Line(Whole()
                 .AddHostReferences(Kernels({"a", "b", "c", "d"}))
                 .AddHostReferences(Kernels({"b", "d"}))) == head + " -host-ref-ek=d,b,c,a");
  CHECK(Line(Whole().AddHostReferences(Kernels({"x", "", "y"}))) == head + " -host-ref-ek=y,,x");
  CHECK(Line(Whole().AddHostReferences(Kernels({"", ""}))) == head + " -host-ref-ek=");
  CHECK(Line(Whole().AddHostReferences(Kernels({"a"})).AddHostReferences({})) == head);
  CHECK(Line(Whole().AddHostReferences(Kernels({"a"})).IgnoreHostInfo(true)) ==
        "-arch=compute_90 -link-lto");

  HostReferences without_variables = Kernels({"a"});
  without_variables.variables_external.present = false;
  CHECK(Line(Whole().AddHostReferences(without_variables)) ==
        "-arch=compute_90 -link-lto -host-ref-ek=a");
  CHECK(Line(Whole().AddHostReferences(without_variables).AddHostReferences({})) == head);

  HostReferences variables = Kernels({});
  variables.variables_external.names = {"v"};
  CHECK(Line(Whole().AddHostReferences(variables)) == head);
  CHECK(Line(Whole().AddHostReferences(Kernels({"r"}), true)) == head);
  CHECK(Line(Whole().AddHostReferences(Kernels({"a"})).AddHostReferences(Kernels({"r"}), true)) ==
        head + " -host-ref-ek=r,a");

  CHECK(Line(Whole()
                 .AddHostReferences({})
                 .IgnoreHostInfo(true)
                 .KernelsUsed({"k", "", "j*", "k*"})
                 .VariablesUsed({"*"})) == head +
                                               " -host-ref-ek=*k*,*j* -host-ref-ik=*k*,*j* "
                                               "-host-ref-ec=* -host-ref-ic=* -host-ref-eg=* "
                                               "-host-ref-ig=*");
}

TEST_CASE("Many names take no more than linear time", "[lto]") {
  std::vector<std::string> names;
  for (int i = 0; i < 200000; ++i) names.push_back(Cat("kernel", i % 100000));
  const auto words = Whole().AddHostReferences(Kernels(names)).Build();
  REQUIRE(words.ok());
  CHECK(words->back().starts_with("-host-ref-ek=kernel99999,kernel99998,"));
  CHECK(words->back().ends_with(",kernel1,kernel0"));
}

TEST_CASE("Levels of -Ofc", "[lto]") {
  CHECK(*ParseFastCompile("0") == FastCompile::kOff);
  CHECK(*ParseFastCompile("max") == FastCompile::kMax);
  std::vector<Diagnostic> found;
  CHECK(!ParseFastCompile("1", &found).ok());
  CHECK(!ParseFastCompile("", &found).ok());
  REQUIRE(found.size() == 2);
  CHECK(found[0].text == "Invalid argument for option '--Ofast-compile'");
}

TEST_CASE("A negative limit silences the modules' one", "[lto]") {
  AgreedOptions agreed;
  agreed.max_registers = 32;
  CHECK(Whole().Agreed(agreed).MaxRegistersInForce() == 32);
  CHECK(Whole().Agreed(agreed).MaxRegisters(64).MaxRegistersInForce() == 64);
  CHECK(Whole().Agreed(agreed).MaxRegisters(-1).MaxRegistersInForce() == 0);
  CHECK(Line(Whole().Agreed(agreed).MaxRegisters(-1)) ==
        "-arch=compute_90 -link-lto -has-global-host-info");
}

}  // namespace
}  // namespace devlink::testing
