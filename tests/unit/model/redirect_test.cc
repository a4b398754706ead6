// SPDX-License-Identifier: Apache-2.0
#include "model/redirect.h"

#include <initializer_list>
#include <set>
#include <string>
#include <utility>

#include "format/elf_cuda.h"
#include "support/catch.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

internal::Redirections To(std::initializer_list<std::pair<std::string, std::string>> names) {
  internal::Redirections out;
  for (const auto& [name, other] : names) out.try_emplace(name, other);
  return out;
}

// Names of functions, those that are defined with a star.
std::set<std::string> NamesIn(const internal::ModuleView& view) {
  std::set<std::string> out;
  for (std::uint32_t i = 1; i < view.symbol_count(); ++i) {
    const internal::InputSymbol symbol = view.SymbolAt(i);
    if (symbol.type != format::kSttFunc) continue;
    out.insert(std::string(symbol.name) + (symbol.section != 0 ? "*" : ""));
  }
  return out;
}

TEST_CASE("References get other names, definitions do not", "[redirect]") {
  const ModuleRef module = *internal::Module::Load(BuildCubin(
      {.functions = {{.name = "k", .calls = {"f", "g"}, .kernel = true}, {.name = "h"}}}));
  const auto redirected = internal::RedirectReferences(
      module, To({{"f", "a_name_that_is_longer"}, {"h", "not_this"}, {"k", "nor_this"}}));
  REQUIRE(redirected.ok());
  CHECK(NamesIn((*redirected)->sass()) ==
        std::set<std::string>{"k*", "h*", "a_name_that_is_longer", "g"});
  // What others have of the module is as it was.
  CHECK(NamesIn(module->sass()) == std::set<std::string>{"k*", "h*", "f", "g"});
}

TEST_CASE("A module without such references is the same one", "[redirect]") {
  const ModuleRef module = *internal::Module::Load(BuildCubin({.functions = {{.name = "f"}}}));
  CHECK(internal::RedirectReferences(module, To({{"f", "g"}, {"x", "y"}})).value() == module);
  CHECK(internal::RedirectReferences(module, To({})).value() == module);
}

}  // namespace
}  // namespace devlink::testing
