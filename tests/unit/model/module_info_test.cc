// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "devlink/link_session.h"
#include "devlink/module.h"
#include "support/catch.h"
#include "support/process.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

Cubin InfoSample() {
  return BuildCubin({.functions = {{.name = "kernel",
                                    .calls = {"helper", "elsewhere"},
                                    .kernel = true,
                                    .registers = 40,
                                    .static_shared = 64},
                                   {.name = "helper", .weak = true, .registers = 12, .frame = 16}},
                     .global_bytes = 24});
}

template <typename Item>
const Item* Named(const std::vector<Item>& items, std::string_view name) {
  const auto found =
      std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

TEST_CASE("A module tells what it is", "[inspect]") {
  ModulePool pool;
  const Cubin bytes = InfoSample();
  const ModuleInfo info = InspectModule(*pool.AddCubin(bytes));
  CHECK(info.arch == Arch{.number = 80});
  CHECK(info.toolkit == 130);
  CHECK(info.is_relocatable);
  CHECK(info.bytes == bytes.size());
}

TEST_CASE("A module tells what its functions need", "[inspect]") {
  ModulePool pool;
  const ModuleInfo info = InspectModule(*pool.AddCubin(InfoSample()));
  REQUIRE(info.functions.size() == 2);
  const ModuleFunction* kernel = Named(info.functions, "kernel");
  REQUIRE(kernel != nullptr);
  CHECK(kernel->is_kernel);
  CHECK(kernel->code_bytes > 0);
  CHECK(kernel->registers == 40);
  CHECK(kernel->frame_bytes == 0);
  CHECK_FALSE(kernel->stack_bytes.has_value());  // the link finds it out
  CHECK_FALSE(kernel->barriers.has_value());
  CHECK(kernel->shared_bytes == 64);
  CHECK(kernel->constant_bytes == 0x160);
  const ModuleFunction* helper = Named(info.functions, "helper");
  REQUIRE(helper != nullptr);
  CHECK_FALSE(helper->is_kernel);
  CHECK(helper->registers == 12);
  CHECK(helper->frame_bytes == 16);
  CHECK(helper->shared_bytes == 0);
  CHECK(helper->constant_bytes == 0);
}

TEST_CASE("A module tells its symbols", "[inspect]") {
  ModulePool pool;
  const ModuleInfo info = InspectModule(*pool.AddCubin(InfoSample()));
  const ModuleSymbol* kernel = Named(info.symbols, "kernel");
  REQUIRE(kernel != nullptr);
  CHECK(kernel->kind == SymbolKind::kFunction);
  CHECK(kernel->binding == SymbolBinding::kGlobal);
  CHECK(kernel->space == MemorySpace::kNone);
  CHECK(kernel->is_defined);
  CHECK(kernel->is_kernel);
  const ModuleSymbol* helper = Named(info.symbols, "helper");
  REQUIRE(helper != nullptr);
  CHECK(helper->binding == SymbolBinding::kWeak);
  CHECK_FALSE(helper->is_kernel);
  const ModuleSymbol* elsewhere = Named(info.symbols, "elsewhere");
  REQUIRE(elsewhere != nullptr);
  CHECK_FALSE(elsewhere->is_defined);
  const ModuleSymbol* variable = Named(info.symbols, "variable");
  REQUIRE(variable != nullptr);
  CHECK(variable->kind == SymbolKind::kVariable);
  CHECK(variable->space == MemorySpace::kGlobal);
  CHECK(variable->is_defined);
  CHECK(variable->size == 24);
  CHECK(info.symbols.size() == 4);  // none of sections
}

TEST_CASE("The output of a link can be looked into", "[inspect]") {
  const auto input =
      ReadBytes(std::filesystem::path(DEVLINK_TEST_SOURCE) / "golden/extern_shared.sm_80.1.cubin");
  REQUIRE(input.has_value());
  auto session = LinkSession::Create({.target = {.number = 80}});
  REQUIRE(session.ok());
  REQUIRE(session->AddCubin("a", *input).ok());
  const auto linked = session->Link();
  REQUIRE(linked.ok());

  ModulePool pool;
  const auto module = pool.AddCubin(linked.cubin);
  REQUIRE(module.ok());
  const ModuleInfo info = InspectModule(*module);
  CHECK_FALSE(info.is_relocatable);
  CHECK(info.arch == Arch{.number = 80});
  // As readelf shows them.
  const ModuleFunction* kernel = Named(info.functions, "_Z5LargePi");
  REQUIRE(kernel != nullptr);
  CHECK(kernel->is_kernel);
  CHECK(kernel->code_bytes == 0x200);
  CHECK(kernel->registers == 24);
  CHECK(kernel->stack_bytes == 0);
  CHECK(kernel->shared_bytes == 0xf0);
  CHECK(kernel->constant_bytes == 0x168);
  const ModuleFunction* function = Named(info.functions, "_Z4Peeki");
  REQUIRE(function != nullptr);
  CHECK_FALSE(function->is_kernel);
  CHECK(function->constant_bytes == 0);
  for (const ModuleSymbol& symbol : info.symbols) CHECK(symbol.is_defined);
}

TEST_CASE("Looking into a damaged executable cubin reads nothing that is not there", "[inspect]") {
  Cubin original = InfoSample();
  const std::uint16_t executable = 2;
  std::memcpy(original.data() + 16, &executable, 2);
  for (std::size_t at = 64; at < original.size(); at += 4) {
    for (const std::uint32_t value : {0U, 0xffffffffU, 0x7fffffffU, 0xfff1U}) {
      Cubin bytes = original;
      std::memcpy(bytes.data() + at, &value, std::min<std::size_t>(4, bytes.size() - at));
      bytes.shrink_to_fit();  // so that a sanitizer sees a read past the end
      ModulePool pool;
      const auto module = pool.AddCubin(std::move(bytes));
      if (!module.ok()) continue;
      const ModuleInfo info = InspectModule(*module);
      if (info.bytes != original.size()) FAIL_CHECK("wrong size");
    }
  }
}

}  // namespace
}  // namespace devlink::testing
