// SPDX-License-Identifier: Apache-2.0
#include "assemble/ptx_log.h"

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "support/catch.h"

namespace devlink::testing {
namespace {

using internal::MergeLogs;
using internal::ReadLog;

PtxResult Read(std::string_view log, bool hide_verbose = false) {
  PtxResult result;
  ReadLog(log, "a.ptx", hide_verbose, result);
  return result;
}

TEST_CASE("A line of a log has a severity and a line number of its own", "[ptx_log]") {
  const PtxResult result = Read(
      "ptxas application ptx input, line 4; error   : Unknown symbol 'x, line 9; y'\n"
      "ptxas warning : odd : ptxas application ptx input, line 7; error   : no\n"
      "    goes on\n"
      "ptxas fatal   : Ptx assembly aborted due to errors");
  REQUIRE(result.diagnostics.size() == 4);
  CHECK(result.diagnostics[0].severity == Severity::kError);
  CHECK(result.diagnostics[0].line == 4);
  CHECK(result.diagnostics[0].input == "a.ptx");
  // What stands behind the first colon is text.
  CHECK(result.diagnostics[1].severity == Severity::kWarning);
  CHECK(result.diagnostics[1].line == 0);
  CHECK(result.diagnostics[2].severity == Severity::kWarning);
  CHECK(result.diagnostics[2].text == "    goes on");
  CHECK(result.diagnostics[3].severity == Severity::kFatal);
}

TEST_CASE("No number in a log is taken for more than it is", "[ptx_log]") {
  const PtxResult result = Read(
      "ptxas a, line 99999999999999999999; error   : x\n"
      "ptxas a, line 2147483648; error   : x\n"
      "ptxas a, line ; error   : x\n"
      "ptxas a, line -3; error   : x\n");
  REQUIRE(result.diagnostics.size() == 4);
  for (const Diagnostic& diagnostic : result.diagnostics) CHECK(diagnostic.line == 0);
  CHECK(Read("").diagnostics.empty());
  CHECK(Read("\n\n").diagnostics.size() == 2);
}

TEST_CASE("What -v says of a function is read, and left out where it was not asked for",
          "[ptx_log]") {
  constexpr std::string_view kLog =
      "ptxas info    : 12 bytes gmem\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
      "ptxas info    : Function properties for k\n"
      "ptxas         .     16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 18 registers, used 1 barriers, 64 bytes smem\n"
      "ptxas info    : Function properties for f\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas warning : stays\n";
  const PtxResult all = Read(kLog);
  CHECK(all.diagnostics.size() == 8);
  REQUIRE(all.functions.size() == 2);
  CHECK(all.functions[0].name == "k");
  CHECK(all.functions[0].is_entry);
  CHECK(all.functions[0].registers == 18);
  CHECK(all.functions[0].barriers == 1);
  CHECK(all.functions[0].shared_bytes == 64);
  CHECK(all.functions[0].stack_bytes == 16);
  CHECK(all.functions[0].spill_store_bytes == 4);
  CHECK(all.functions[0].spill_load_bytes == 8);
  CHECK_FALSE(all.functions[1].is_entry);
  const PtxResult quiet = Read(kLog, true);
  REQUIRE(quiet.diagnostics.size() == 1);
  CHECK(quiet.diagnostics[0].text == "ptxas warning : stays");
  CHECK(quiet.functions.size() == 2);
  // Properties of no function.
  CHECK(Read("ptxas info    : Used 18 registers\n").functions.empty());
}

TEST_CASE("Two logs become one by line, warnings first", "[ptx_log]") {
  CHECK(MergeLogs("ptxas a, line 2; warning : w2\nptxas a, line 5; warning : w5\n",
                  "ptxas a, line 2; error   : e2\nptxas a, line 4; error   : e4\n") ==
        "ptxas a, line 2; warning : w2\nptxas a, line 2; error   : e2\n"
        "ptxas a, line 4; error   : e4\nptxas a, line 5; warning : w5\n");
  CHECK(MergeLogs("i\n", "ptxas fatal   : end") == "i\nptxas fatal   : end\n");
  CHECK(MergeLogs("", "").empty());
}

TEST_CASE("A log ends with its NUL, whether or not its size counts it", "[ptx_log]") {
  int handle = 0;
  const auto size = [](void*, std::size_t* out) {
    *out = 3;
    return 0;
  };
  const auto fill = [](void*, char* out) {
    std::memcpy(out, "abc", 3);
    return 0;
  };
  const auto with_nul = [](void*, char* out) {
    std::memcpy(out, "ab", 3);
    return 0;
  };
  const auto fails = [](void*, char*) { return 1; };
  CHECK(internal::FetchLog(&handle, size, fill) == "abc");
  CHECK(internal::FetchLog(&handle, size, with_nul) == "ab");
  CHECK(internal::FetchLog(&handle, size, fails).empty());
  CHECK(internal::FetchLog(nullptr, size, fill).empty());
}

}  // namespace
}  // namespace devlink::testing
