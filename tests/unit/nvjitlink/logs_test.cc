// SPDX-License-Identifier: Apache-2.0
#include "nvjitlink/logs.h"

#include <vector>

#include "support/catch.h"

namespace devlink::nvjitlink {
namespace {

TEST_CASE("nvJitLink: errors and the rest go to different logs, notes to none", "[nvjitlink]") {
  Logs logs;
  logs.Add(std::vector<Diagnostic>{
      {.code = DiagnosticCode::kUndefinedReference,
       .severity = Severity::kError,
       .text = "Undefined reference to 'f' in 'k'",
       .notes = {"f(int) is called by k"}},
      {.code = DiagnosticCode::kResourceUsage, .severity = Severity::kInfo, .text = "4 bytes gmem"},
      {.code = DiagnosticCode::kUsage, .severity = Severity::kInfo, .notes = {"of no use"}}});
  logs.Error("ERROR 9: finish");
  CHECK(logs.error() == "error   : Undefined reference to 'f' in 'k'\nERROR 9: finish\n");
  CHECK(logs.info() == "info    : 4 bytes gmem\n");
}

TEST_CASE("nvJitLink: the assembler's lines are those of its library", "[nvjitlink]") {
  Logs logs;
  logs.Add(std::vector<Diagnostic>{{.code = DiagnosticCode::kPtxAssembly,
                                    .severity = Severity::kInfo,
                                    .text = "ptxas info    : 4 bytes gmem",
                                    .verbatim = true},
                                   {.code = DiagnosticCode::kPtxAssembly,
                                    .severity = Severity::kInfo,
                                    .text = "    0 bytes stack frame",
                                    .verbatim = true}});
  CHECK(logs.info() == "ptxas info    : 4 bytes gmem\nptxas         .     0 bytes stack frame\n");
}

TEST_CASE("nvJitLink: a finalizer that failed is told of", "[nvjitlink]") {
  Logs logs;
  logs.Add(std::vector<Diagnostic>{{.code = DiagnosticCode::kUnsupportedFeature,
                                    .severity = Severity::kInfo,
                                    .notes = {"the finalizer failed"}}});
  CHECK(logs.info() == "devlink note    : the finalizer failed\n");
}

TEST_CASE("nvJitLink: times are milliseconds with six digits", "[nvjitlink]") {
  Logs logs;
  logs.Time("time to finish", 1234567);
  CHECK(logs.info() == "time to finish: 1.234567\n");
}

}  // namespace
}  // namespace devlink::nvjitlink
