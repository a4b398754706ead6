// SPDX-License-Identifier: Apache-2.0
//
// nvlink -r beyond the link cases, all of which run with it: single modules for every target, and
// the references that nvlink resolves too early.
#include <algorithm>
#include <string>
#include <vector>

#include "devlink-diff/cubin_diff.h"
#include "devlink-diff/cubin_view.h"
#include "devlink/devlink.h"
#include "random/link_pair.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

using diff::CubinView;
using diff::ExplainDifference;
using diff::ViewCubin;
using diff::ViewSection;

// Two variables of a kernel, one of all kernels, dynamic ones, constants of the user's and of the
// compiler's, a call out of the module.
constexpr char kModule[] = R"(
.extern .func (.param .b32 r) elsewhere (.param .b32 a);
.extern .shared .align 16 .b8 dynamic[];
.shared .align 8 .b8 of_all[40];
.visible .const .align 4 .b32 table[4] = {1, 2, 3, 4};
.visible .global .align 4 .u32 count = 7;
.visible .func (.param .b64 r) scale (.param .b64 a) {
  .reg .f64 %d<3>;
  ld.param.f64 %d1, [a];
  mul.f64 %d2, %d1, 0d3FF3C0C9539B8887;
  st.param.f64 [r], %d2;
  ret;
}
.visible .entry kernel (.param .u64 out) {
  .shared .align 4 .b8 first[64];
  .shared .align 4 .b8 second[64];
  .reg .b32 %r<9>;
  .reg .b64 %rd<4>;
  .reg .f64 %d<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  st.volatile.shared.u32 [first], %r1;
  st.volatile.shared.u32 [second], %r1;
  ld.volatile.shared.u32 %r2, [of_all];
  ld.volatile.shared.u32 %r3, [dynamic];
  ld.const.u32 %r4, [table + 8];
  ld.volatile.global.u32 %r5, [count];
  add.u32 %r6, %r2, %r3;
  add.u32 %r6, %r6, %r4;
  add.u32 %r6, %r6, %r5;
  { .param .b32 a; .param .b32 r;
    st.param.b32 [a], %r6;
    call (r), elsewhere, (a);
    ld.param.b32 %r7, [r]; }
  { .param .b64 a; .param .b64 r;
    cvt.rn.f64.u32 %d1, %r7;
    st.param.f64 [a], %d1;
    call (r), scale, (a);
    ld.param.f64 %d2, [r]; }
  st.global.f64 [%rd1], %d2;
  ret;
}
)";
constexpr char kElsewhere[] = R"(
.visible .const .align 4 .b32 in_front[4] = {5, 6, 7, 8};
.visible .func (.param .b32 r) elsewhere (.param .b32 a) {
  .reg .b32 %r<4>;
  ld.param.b32 %r1, [a];
  ld.const.u32 %r2, [in_front + 4];
  add.u32 %r3, %r1, %r2;
  st.param.b32 [r], %r3;
  ret;
}
)";

// `extern __shared__ x[]` (or a definition of x) and a kernel that uses it.
std::string UserOf(std::string_view declaration, std::string_view kernel) {
  return Cat(declaration, " .shared .align 4 .b8 x[", declaration == ".extern" ? "" : "16", "];\n",
             ".visible .entry ", kernel, " (.param .u64 out) {\n",
             "  .reg .b64 %rd1;\n  .reg .b32 %r1;\n  ld.param.u64 %rd1, [out];\n"
             "  st.shared.u32 [x+8], %r1;\n  st.global.u32 [%rd1], %r1;\n  ret;\n}\n");
}

class Modules {
 public:
  Modules(const Toolkit& toolkit, std::string arch) : toolkit_(toolkit), arch_(std::move(arch)) {
    options_.target = Arch::Parse("sm_" + arch_).value_or(Arch{});
  }

  // The path of the compiled module.
  std::string Compile(const std::string& name, std::string_view text) {
    const std::string source = directory_.File(name + ".ptx");
    const std::string output = directory_.File(name + ".cubin");
    WriteText(source, Cat(".version ", arch_.size() > 2 ? "9.0" : "8.0", "\n.target sm_", arch_,
                          "\n.address_size 64\n", text));
    const ProcessResult result =
        RunProcess({toolkit_.ptxas, "-c", "-arch=sm_" + arch_, source, "-o", output});
    CAPTURE(result.err);
    REQUIRE(result.ok());
    return output;
  }

  std::vector<std::uint8_t> NvlinkRelocatable(const std::string& input) {
    return NvlinkRelocatable(std::vector<std::string>{input});
  }
  std::vector<std::uint8_t> NvlinkRelocatable(const std::vector<std::string>& inputs) {
    const std::string output = directory_.File("out.cubin");
    std::vector<std::string> command = {toolkit_.nvlink, "-r", "-arch=sm_" + arch_, "-o", output};
    command.insert(command.end(), inputs.begin(), inputs.end());
    const ProcessResult result = RunProcess(command);
    CAPTURE(result.err);
    REQUIRE(result.ok());
    return ReadBytes(output).value_or(std::vector<std::uint8_t>{});
  }

  std::string Write(const std::string& name, const std::vector<std::uint8_t>& cubin) {
    const std::string path = directory_.File(name + ".cubin");
    REQUIRE(WriteBytes(path, cubin));
    return path;
  }

  // The path of what nvlink -r makes of a module of that name.
  std::string CompileRelocatable(const std::string& name, std::string_view text) {
    const std::string output = directory_.File(name + ".r.cubin");
    REQUIRE(WriteBytes(output, NvlinkRelocatable(Compile(name, text))));
    return output;
  }

  std::string NvlinkMessages(const std::vector<std::string>& inputs) {
    std::vector<std::string> command = {toolkit_.nvlink, "-arch=sm_" + arch_, "-o",
                                        directory_.File("out.cubin")};
    command.insert(command.end(), inputs.begin(), inputs.end());
    return SaidOnce(UnderDevlinksName(RunProcess(command).err));
  }

  LinkOutcome Link(const std::vector<std::string>& inputs, bool relocatable, bool like_nvlink) {
    options_.relocatable = relocatable;
    options_.keep_references.reset();
    options_.compatibility = like_nvlink ? Compatibility::kNvlink : Compatibility::kDevlink;
    return LinkWithLibrary(options_, inputs);
  }

  // `inputs` in two steps, the first of them alone in the first.
  std::vector<std::uint8_t> LinkTwice(std::vector<std::string> inputs, bool like_nvlink) {
    const LinkOutcome relocatable = Link({inputs.front()}, true, like_nvlink);
    REQUIRE(relocatable.ok);
    inputs.front() = directory_.File("relocatable.cubin");
    REQUIRE(WriteBytes(inputs.front(), relocatable.cubin));
    std::reverse(inputs.begin(), inputs.end());
    const LinkOutcome all = Link(inputs, false, false);
    CAPTURE(all.messages);
    REQUIRE(all.ok);
    return all.cubin;
  }

  bool WarnsOfEarlyReferences(const std::string& input, bool keep) {
    options_.relocatable = true;
    options_.keep_references = keep;
    options_.compatibility = Compatibility::kDevlink;
    auto session = LinkSession::Create(options_);
    REQUIRE(session.ok());
    REQUIRE(session->AddFile(input).ok());
    const devlink::LinkOutcome outcome = session->Link();
    REQUIRE(outcome.ok());
    const auto& found = outcome.diagnostics;
    return std::any_of(found.begin(), found.end(), [](const Diagnostic& diagnostic) {
      return diagnostic.code == DiagnosticCode::kEarlyReference && diagnostic.text.empty() &&
             RenderDiagnostic(diagnostic, "devlink").starts_with("devlink note    : ");
    });
  }

 private:
  const Toolkit& toolkit_;
  std::string arch_;
  LinkOptions options_;
  TemporaryDirectory directory_{"devlink-relocatable"};
};

std::vector<std::uint8_t> CodeOf(const std::vector<std::uint8_t>& cubin, const char* section) {
  const CubinView view = ViewCubin(cubin);
  const ViewSection* found = view.Find(section);
  REQUIRE(found != nullptr);
  return {found->data.begin(), found->data.end()};
}

TEST_CASE("One module through -r is what nvlink makes of it, for every target", "[relocatable]") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit; nothing was compared");
  for (const char* arch : {"75", "80", "86", "87", "89", "90", "90a"}) {
    CAPTURE(arch);
    Modules modules(*toolkit, arch);
    const std::string module = modules.Compile("module", kModule);
    const LinkOutcome actual = modules.Link({module}, true, true);
    REQUIRE(actual.ok);
    CHECK(ExplainDifference(modules.NvlinkRelocatable(module), actual.cubin).empty());
  }
}

TEST_CASE("A link in two steps has the code of one step", "[relocatable]") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit; nothing was compared");
  for (const char* arch : {"75", "80", "90"}) {
    CAPTURE(arch);
    Modules modules(*toolkit, arch);
    const std::vector<std::string> inputs = {modules.Compile("module", kModule),
                                             modules.Compile("elsewhere", kElsewhere)};
    const LinkOutcome direct = modules.Link({inputs[1], inputs[0]}, false, false);
    REQUIRE(direct.ok);
    const std::vector<std::uint8_t> kept = modules.LinkTwice(inputs, false);
    for (const char* section : {".text.kernel", ".text.elsewhere", ".text.scale"}) {
      CAPTURE(section);
      CHECK(CodeOf(kept, section) == CodeOf(direct.cubin, section));
    }
    // As nvlink does it, `first` and `second` have one address, and `table` is taken to begin its
    // bank.
    CHECK(CodeOf(modules.LinkTwice(inputs, true), ".text.kernel") !=
          CodeOf(direct.cubin, ".text.kernel"));
    CHECK(modules.WarnsOfEarlyReferences(inputs[0], false));
    CHECK_FALSE(modules.WarnsOfEarlyReferences(inputs[0], true));
  }
}

TEST_CASE("What nvlink -r made of `extern x[]` does not go behind a definition", "[relocatable]") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit; nothing was compared");
  for (const char* arch : {"75", "80", "90"}) {
    CAPTURE(arch);
    Modules modules(*toolkit, arch);
    const std::string unsized = modules.CompileRelocatable("unsized", UserOf(".extern", "k1"));
    for (const char* linkage : {".visible", ".weak"}) {
      const std::string sized = modules.Compile("sized", UserOf(linkage, "k2"));
      const LinkOutcome actual = modules.Link({sized, unsized}, false, false);
      CHECK_FALSE(actual.ok);
      CHECK(actual.messages.find("Size doesn't match for 'x'") != std::string::npos);
      CHECK(actual.messages == modules.NvlinkMessages({sized, unsized}));
      CHECK(modules.Link({unsized, sized}, false, false).ok);
    }
  }
}

// Dynamic memory behind `bytes` of the kernel's own.
std::string BehindBytes(int bytes) {
  return Cat(".extern .shared .align 4 .b8 x[];\n.visible .entry kernel (.param .u64 out) {\n",
             "  .shared .align 4 .b8 own[", bytes, "];\n  .reg .b64 %rd1;\n  .reg .b32 %r1;\n",
             "  ld.param.u64 %rd1, [out];\n  st.shared.u32 [own], %r1;\n"
             "  st.shared.u32 [x+8], %r1;\n  st.global.u32 [%rd1], %r1;\n  ret;\n}\n");
}

TEST_CASE("-r twice of `extern x[]` behind static variables", "[relocatable]") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit; nothing was compared");
  for (const char* arch : {"75", "80", "90"}) {
    CAPTURE(arch);
    Modules modules(*toolkit, arch);
    // nvlink takes the place of x, 16 or 64, for the alignment of the kernel's memory.
    for (const int bytes : {4, 64}) {
      const std::string once = modules.CompileRelocatable("once", BehindBytes(bytes));
      const LinkOutcome actual = modules.Link({once}, true, true);
      REQUIRE(actual.ok);
      CHECK(ExplainDifference(modules.NvlinkRelocatable(once), actual.cubin).empty());
    }
    // Also where it is none; here the kernel keeps the one that it has.
    const std::string once = modules.CompileRelocatable("once", BehindBytes(40));
    const LinkOutcome actual = modules.Link({once}, true, true);
    REQUIRE(actual.ok);
    const auto align = [](const std::vector<std::uint8_t>& cubin) {
      const CubinView view = ViewCubin(cubin);
      const ViewSection* found = view.Find(".nv.shared.kernel");
      REQUIRE(found != nullptr);
      return found->align;
    };
    CHECK(align(modules.NvlinkRelocatable(once)) == 48);
    CHECK(align(actual.cubin) == 16);
  }
}

TEST_CASE("Results of -r may use the same `extern x[]`", "[relocatable]") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit; nothing was compared");
  for (const char* arch : {"75", "80", "90"}) {
    CAPTURE(arch);
    Modules modules(*toolkit, arch);
    const std::vector<std::string> relocatable = {
        modules.CompileRelocatable("one", UserOf(".extern", "k1")),
        modules.CompileRelocatable("two", UserOf(".extern", "k2"))};
    const LinkOutcome direct = modules.Link({modules.Compile("one", UserOf(".extern", "k1")),
                                             modules.Compile("two", UserOf(".extern", "k2"))},
                                            false, false);
    const LinkOutcome again = modules.Link(relocatable, false, false);
    REQUIRE(direct.ok);
    REQUIRE(again.ok);
    for (const char* section : {".text.k1", ".text.k2"}) {
      CHECK(CodeOf(again.cubin, section) == CodeOf(direct.cubin, section));
    }
    CHECK(modules.NvlinkMessages(relocatable).find("Multiple definition of 'x'") !=
          std::string::npos);
  }
}

TEST_CASE("-r twice of one module", "[relocatable][mercury]") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit; nothing was compared");
  for (const char* arch : {"75", "90", "100", "120"}) {
    CAPTURE(arch);
    Modules modules(*toolkit, arch);
    // For sm_90 and later ptxas refers to tables of functions that nobody defines.
    const std::string once = modules.CompileRelocatable("once", kModule);
    const LinkOutcome actual = modules.Link({once}, true, true);
    CAPTURE(actual.messages);
    REQUIRE(actual.ok);
    CHECK(ExplainDifference(modules.NvlinkRelocatable(once), actual.cubin).empty());
  }
}

// A static function with a jump table, and a kernel that calls it.
std::string CallerOfTable(std::string_view function, std::string_view kernel, int entries) {
  std::string out = Cat(".func ", function,
                        " (.param .u64 a) {\n  .reg .b32 %r<3>;\n  .reg .b64 %rd1;\n"
                        "  ld.param.u64 %rd1, [a];\n  ld.volatile.global.u32 %r1, [%rd1];\n"
                        "  ld.volatile.global.u32 %r2, [%rd1+4];\nT: .branchtargets C0");
  for (int i = 1; i < entries; ++i) Append(out, ", C", i);
  out += ";\n  brx.idx %r2, T;\n";
  for (int i = 0; i < entries; ++i)
    Append(out, "C", i, ": mul.lo.s32 %r1, %r1, ", 7 * i + 3, "; bra E;\n");
  Append(out, "E: st.volatile.global.u32 [%rd1], %r1;\n  ret;\n}\n.visible .entry ", kernel,
         " (.param .u64 a) {\n  .reg .b64 %rd1;\n  ld.param.u64 %rd1, [a];\n"
         "  { .param .b64 p; st.param.b64 [p], %rd1; call ",
         function, ", (p); }\n  ret;\n}\n");
  return out;
}

TEST_CASE("-r of static functions of one name that have constants", "[relocatable][mercury]") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit; nothing was compared");
  for (const char* arch : {"100", "120"}) {
    for (const std::string_view name : {"f2", "nine_long", "of_twenty_letters_or"}) {
      for (const int files : {2, 3, 4}) {
        CAPTURE(arch, name, files);
        Modules modules(*toolkit, arch);
        std::vector<std::string> inputs = {
            modules.Compile("other", CallerOfTable("other", "k", 5))};
        for (int i = 0; i < files; ++i) {
          const std::string kernel = Cat("k", i);
          inputs.push_back(modules.Compile(kernel, CallerOfTable(name, kernel, 5 + i)));
        }
        // nvlink overwrites the name of their constants.
        const std::vector<std::uint8_t> spoilt = modules.NvlinkRelocatable(inputs);
        const LinkOutcome alike = modules.Link(inputs, true, true);
        REQUIRE(alike.ok);
        CHECK(ExplainDifference(spoilt, alike.cubin).empty());
        const LinkOutcome refused = modules.Link({modules.Write("spoilt", spoilt)}, false, false);
        CHECK_FALSE(refused.ok);

        const LinkOutcome first = modules.Link(inputs, true, false);
        REQUIRE(first.ok);
        const LinkOutcome again = modules.Link({modules.Write("first", first.cubin)}, false, false);
        const LinkOutcome direct = modules.Link(inputs, false, false);
        CAPTURE(again.messages, direct.messages);
        REQUIRE(again.ok);
        REQUIRE(direct.ok);
        CHECK(CodeOf(again.cubin, ".nv.constant2.k1") == CodeOf(direct.cubin, ".nv.constant2.k1"));
      }
    }
  }
}

}  // namespace
}  // namespace devlink::testing
