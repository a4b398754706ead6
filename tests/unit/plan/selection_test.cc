// SPDX-License-Identifier: Apache-2.0
#include "plan/selection.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "format/elf_cuda.h"
#include "model/module.h"
#include "plan/link_order.h"
#include "plan/settings.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "unit/cubin_builder.h"
#include "unit/input_builder.h"

namespace devlink::internal {
namespace {

using testing::BuildArchive;
using testing::BuildCubin;
using testing::Cubin;

// Records that are read with one set of options, and what is selected of them.
class Inputs {
 public:
  explicit Inputs(LinkOptions given = {}) : options(std::move(given)) {
    options.target = *Arch::Parse("sm_80");
  }

  void Add(const std::string& name, Cubin bytes) {
    records.push_back(ReadInput(name, std::move(bytes), InputSettingsOf(options), &pool_));
  }

  Selection Choose() {
    AssembledPtx assembled(records, options, context);
    return Select(records, options, context, assembled);
  }

  LinkOptions options;
  std::vector<InputRecordRef> records;

 private:
  ModulePool pool_;
  Toolchain toolchain_;

 public:
  LinkContext context{
      .environment = Environment::Default(), .pool = &pool_, .toolchain = toolchain_};
};

Cubin Defines(const std::string& name) { return BuildCubin({.functions = {{.name = name}}}); }
Cubin Calls(const std::string& kernel, const std::string& callee) {
  return BuildCubin({.functions = {{.name = kernel, .calls = {callee}, .kernel = true}}});
}

std::vector<std::string> Names(const Selection& selection) {
  std::vector<std::string> out;
  for (const SelectedModule& module : selection.modules) out.push_back(module.input.name);
  return out;
}

using Strings = std::vector<std::string>;

TEST_CASE("Modules are selected in the order of the inputs", "[plan]") {
  Inputs inputs;
  inputs.Add("b", Defines("b"));
  inputs.Add("a", Defines("a"));
  inputs.Add("lib.a", BuildArchive({{"d.cubin", Defines("d")}, {"c.cubin", Defines("c")}}));
  const Selection selection = inputs.Choose();
  REQUIRE(selection.status.ok());
  CHECK(Names(selection) == Strings{"b", "a", "lib.a:d.cubin", "lib.a:c.cubin"});
  CHECK(selection.registered.size() == 4);
}

TEST_CASE("The device runtime takes part where an input before it needs it", "[plan]") {
  const Cubin runtime = BuildArchive({{"r.cubin", Defines("runtime")}});
  Inputs behind;
  behind.Add("k", Calls("k", "runtime"));
  behind.Add("libcudadevrt.a", runtime);
  CHECK(Names(behind.Choose()) == Strings{"k", "libcudadevrt.a:r.cubin"});

  Inputs before;
  before.Add("libcudadevrt.a", runtime);
  before.Add("k", Calls("k", "runtime"));
  const Selection selection = before.Choose();
  CHECK(Names(selection) == Strings{"k"});
  CHECK(selection.dropped_device_runtime);
  CHECK(selection.registered.size() == 1);

  Inputs kept({.keep_system_libraries = true});
  kept.Add("libcudadevrt.a", runtime);
  CHECK(Names(kept.Choose()) == Strings{"libcudadevrt.a:r.cubin"});
}

TEST_CASE("A second device runtime is judged with the first one in place", "[plan]") {
  Inputs inputs;
  inputs.Add("k", Calls("k", "runtime"));
  inputs.Add("libcudadevrt.a", BuildArchive({{"r.cubin", Defines("runtime")}}));
  inputs.Add("other/libcudadevrt.a", BuildArchive({{"r.cubin", Defines("runtime")}}));
  CHECK(Names(inputs.Choose()) == Strings{"k", "libcudadevrt.a:r.cubin"});
}

TEST_CASE("What names the driver knows asks for no device runtime", "[plan]") {
  Inputs inputs;
  inputs.Add("k", Calls("k", "vprintf"));
  inputs.Add("libcudadevrt.a", BuildArchive({{"r.cubin", Defines("vprintf")}}));
  CHECK(Names(inputs.Choose()) == Strings{"k"});
}

TEST_CASE("Memory that a launch gives its size asks for no device runtime", "[plan]") {
  testing::InputBuilder dynamic;
  dynamic.DefineKernel("k");
  dynamic.Define(testing::InputBuilder::Variable{
      .name = "x", .space = format::kStoShared, .size = 0, .type = format::kSttCudaObject});
  Inputs inputs;
  const ModuleRef module = dynamic.Build();
  inputs.Add("k", Cubin(module->bytes().begin(), module->bytes().end()));
  inputs.Add("libcudadevrt.a", BuildArchive({{"r.cubin", Defines("runtime")}}));
  CHECK(Names(inputs.Choose()) == Strings{"k"});
}

TEST_CASE("A rejected input is left out, or ends the selection where that is wanted", "[plan]") {
  for (const bool ends : {false, true}) {
    CAPTURE(ends);
    Inputs inputs({.end_at_rejected_input = ends});
    inputs.Add("a", Defines("a"));
    inputs.Add("lib.a",
               BuildArchive({{"b.cubin", Defines("b")},
                             {"c.cubin", BuildCubin({.sm = 75, .functions = {{.name = "c"}}})},
                             {"d.cubin", Defines("d")}}));
    inputs.Add("e", Defines("e"));
    REQUIRE_FALSE(inputs.records[1]->status.ok());
    const Selection selection = inputs.Choose();
    REQUIRE(selection.diagnostics.size() <= 1);
    if (ends) {
      CHECK(selection.status == inputs.records[1]->status);
    } else {
      CHECK(selection.status.ok());
      CHECK(Names(selection).front() == "a");
      CHECK(Names(selection).back() == "e");
    }
  }
}

TEST_CASE("The same records can be selected again, with the same result", "[plan]") {
  Inputs inputs;
  inputs.Add("k", Calls("k", "runtime"));
  inputs.Add("libcudadevrt.a", BuildArchive({{"r.cubin", Defines("runtime")}}));
  const Selection first = inputs.Choose();
  const Selection second = inputs.Choose();
  CHECK(Names(first) == Names(second));
  CHECK(first.registered.size() == second.registered.size());
}

TEST_CASE("Archives count once, whatever stands between", "[plan]") {
  LinkOptions options;
  options.target = *Arch::Parse("sm_80");
  ModulePool pool;
  const auto archive = [&](std::uint64_t inode) {
    return ReadInput("lib.a", BuildArchive({{"a.cubin", Defines("a")}}), InputSettingsOf(options),
                     &pool, FileIdentity{1, inode});
  };
  const std::vector<InputRecordRef> records = {archive(1), archive(2), archive(1)};
  const auto left = WithoutRepeatedArchives(records);
  REQUIRE(left.size() == 2);
  CHECK(left[0] == records[0]);
  CHECK(left[1] == records[1]);
}

TEST_CASE("Empty names of host code, as ld -r makes them, count with nvlink only", "[plan]") {
  const Strings empty = {"", ""};
  const Strings mixed = {"", "k*", ""};
  for (const Compatibility compatibility : {Compatibility::kDevlink, Compatibility::kNvlink}) {
    for (const Strings& external : {empty, mixed}) {
      LinkOptions options;
      options.compatibility = compatibility;
      Inputs inputs(options);
      HostReferences references;
      references.kernels_external = {.present = true, .names = external};
      references.kernels_internal = {.present = true, .names = {""}};
      inputs.records.push_back(RecordReferences(references));
      const Selection selection = inputs.Choose();
      REQUIRE(selection.references.size() == 1);
      const HostReferences& taken = selection.references[0].references;
      CHECK(taken.kernels_external.present);
      CHECK(taken.kernels_internal.present);
      const bool count = compatibility == Compatibility::kNvlink || external == mixed;
      CHECK(taken.kernels_external.names == (count ? external : Strings{}));
      CHECK(taken.kernels_internal.names == (count ? Strings{""} : Strings{}));
    }
  }
}

TEST_CASE("Pieces of LTO come first, others where their last host object stood", "[plan]") {
  Inputs inputs;
  inputs.Add("a", Defines("a"));
  inputs.Add("b", Defines("b"));
  struct Case {
    std::size_t pieces;
    int partitions;
    Strings names;
  };
  const SelectedIr ir = {.name = "ir.o", .code = nullptr};
  for (const auto& [pieces, partitions, expected] :
       {Case{1, 0, {"a", "lto0", "b"}}, Case{2, 0, {"lto0", "lto1", "a", "b"}},
        Case{2, 2, {"a", "lto0", "lto1", "b"}}}) {
    CAPTURE(pieces, partitions);
    inputs.options.lto.partitions = partitions;
    Selection selection = inputs.Choose();
    selection.lto.modules = {ir, ir};
    REQUIRE(selection.modules.size() == 2);
    selection.modules[1].order = 3;
    selection.lto.order = 2;  // between the two
    std::vector<LtoPiece> made;
    for (const std::string name : {"lto0", "lto1"}) {
      made.push_back({.name = name, .ptx = {}, .cubin = Defines(name)});
    }
    made.resize(pieces);
    const LinkSet set = InLinkOrder(std::move(selection.modules), std::move(selection.references),
                                    selection.lto, std::move(made), inputs.options, inputs.context);
    REQUIRE(set.status.ok());
    Strings names;
    for (const LinkInput& input : set.inputs) names.push_back(input.name);
    CHECK(names == expected);
  }
}

}  // namespace
}  // namespace devlink::internal
