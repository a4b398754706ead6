// SPDX-License-Identifier: Apache-2.0
#include "plan/option_conflicts.h"

#include <string>

#include "support/catch.h"

namespace devlink::internal {
namespace {

std::string Conflict(const LinkOptions& options) {
  const absl::Status status = CheckOptions(options);
  CHECK((status.ok() || status.code() == absl::StatusCode::kInvalidArgument));
  return std::string(status.message());
}

TEST_CASE("Plain options do not contradict each other", "[plan]") {
  CHECK(Conflict({}).empty());
  CHECK(Conflict({.debug = true, .suppress_debug_info = true}).empty());
  CHECK(Conflict({.relocatable = true, .lto = {.enabled = true, .force_partial = true}}).empty());
  CHECK(Conflict({.lto = {.enabled = true, .force_whole = true, .emit_ptx = true}}).empty());
}

TEST_CASE("What -g alone gives a meaning is wrong without it", "[plan]") {
  CHECK(Conflict({.suppress_debug_info = true}) ==
        "Conflicting options '-suppress-debug-info' and 'no -g'");
}

TEST_CASE("What -lto alone gives a meaning is wrong without it", "[plan]") {
  CHECK(Conflict({.lto = {.force_partial = true, .force_whole = true}}) ==
        "Conflicting options '-force-partial-lto' and 'no -dlto'");
  CHECK(Conflict({.lto = {.force_whole = true, .emit_ptx = true}}) ==
        "Conflicting options '-force-whole-lto' and 'no -dlto'");
  CHECK(Conflict({.lto = {.emit_ptx = true, .fast_compile = FastCompile::kMin}}) ==
        "Conflicting options '-emit-ptx' and 'no -dlto'");
  CHECK(Conflict({.lto = {.fast_compile = FastCompile::kOff}}) ==
        "Conflicting options '--Ofast-compile' and 'no -dlto'");
}

TEST_CASE("Parts are for LTO IR, and are joined as cubins", "[plan]") {
  for (const int most : {0, 1}) {
    CHECK(Conflict({.lto = {.partitions = most}}).empty());
    CHECK(Conflict({.lto = {.enabled = true, .emit_ptx = true, .partitions = most}}).empty());
  }
  CHECK(Conflict({.lto = {.enabled = true, .partitions = 1'000'000}}).empty());
  CHECK(Conflict({.relocatable = true, .lto = {.enabled = true, .partitions = 4}}).empty());
  CHECK(Conflict({.lto = {.partitions = -1}}) ==
        "--lto-partitions wants a number of parts, not -1");
  CHECK(Conflict({.finalizer_parts = -2}) == "--finalizer-parts wants a number of parts, not -2");
  CHECK(Conflict({.lto = {.partitions = 2}}) ==
        "Conflicting options '--lto-partitions' and 'no -dlto'");
  CHECK(Conflict({.lto = {.enabled = true, .force_whole = true, .partitions = 2}}) ==
        "--lto-partitions cannot be used with -force-whole-lto: a part is not the whole program");
  CHECK(Conflict({.lto = {.enabled = true, .emit_ptx = true, .partitions = 2}}) ==
        "--lto-partitions cannot be used with -emit-ptx: each part becomes a text of its own, and "
        "only cubins are joined");
  for (const int threads : {0, 2}) {
    CHECK(
        Conflict({.lto = {.enabled = true, .split_compile_extended = threads, .partitions = 2}}) ==
        "--lto-partitions cannot be used with -split-compile-extended: either of them cuts the "
        "program");
  }
}

TEST_CASE("A whole program is neither a part nor linked again", "[plan]") {
  const std::string text = "Conflicting options '-force-partial-lto' and '-force-whole-lto'";
  CHECK(Conflict({.lto = {.enabled = true, .force_partial = true, .force_whole = true}}) == text);
  CHECK(Conflict({.relocatable = true, .lto = {.enabled = true, .force_whole = true}}) == text);
}

TEST_CASE("A name means one thing, and is one", "[plan]") {
  CHECK(Conflict({.wrapped_symbols = {"f"}, .symbol_aliases = {{"g", "h"}}}).empty());
  CHECK(Conflict({.wrapped_symbols = {"f"}, .symbol_aliases = {{"f", "h"}}}) ==
        "--defsym and --wrap, or two of them, say what 'f' means");
  CHECK(Conflict({.symbol_aliases = {{"f", "g"}, {"f", "h"}}}) ==
        "--defsym and --wrap, or two of them, say what 'f' means");
  CHECK(Conflict({.wrapped_symbols = {""}}) == "--wrap wants the name of a symbol");
  CHECK(Conflict({.symbol_aliases = {{"f", ""}}}) == "--defsym wants the name of a symbol");
  CHECK(Conflict({.kept_functions = {std::string(1, '\0')}}) ==
        "--undefined wants the name of a symbol");
}

TEST_CASE("Names of symbols are for code, and what is left out for executables", "[plan]") {
  const LtoOptions lto = {.enabled = true};
  CHECK(Conflict({.wrapped_symbols = {"f"}, .lto = lto}).starts_with("--wrap cannot be used"));
  CHECK(Conflict({.symbol_aliases = {{"f", "g"}}, .lto = lto}).starts_with("--defsym cannot"));
  CHECK(Conflict({.kept_functions = {"f"}, .lto = lto}).starts_with("--undefined cannot"));
  CHECK(Conflict({.relocatable = true, .fold_identical_functions = true}) ==
        "--icf is for executables: -r keeps all");
  CHECK(Conflict({.relocatable = true, .retained_symbols = {{"f"}}}) ==
        "--retain-symbols-file is for executables: -r keeps all");
}

TEST_CASE("nvlink names the debugger's options first", "[plan]") {
  CHECK(Conflict({.suppress_debug_info = true, .lto = {.emit_ptx = true}}) ==
        "Conflicting options '-suppress-debug-info' and 'no -g'");
}

}  // namespace
}  // namespace devlink::internal
