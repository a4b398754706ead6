// SPDX-License-Identifier: Apache-2.0
#include "command/toolkit_places.h"

#include <filesystem>
#include <string>

#include "support/catch.h"
#include "support/process.h"

namespace devlink::testing {
namespace {

// The release that is followed where `text` is the header of the toolkit of a ptxas.
int ReleaseFor(const std::string& text) {
  const TemporaryDirectory directory;
  for (const char* folder : {"bin", "include"}) {
    std::filesystem::create_directories(directory.path() / folder);
  }
  const std::string ptxas = directory.File("bin/ptxas");
  REQUIRE(WriteText(ptxas, ""));
  if (!text.empty()) REQUIRE(WriteText(directory.File("include/cuda_runtime_api.h"), text));
  return internal::ProfileOfToolkit(ptxas).release;
}

TEST_CASE("The release is that of the headers beside ptxas", "[command]") {
  CHECK(ReleaseFor("/* */\n#define CUDART_VERSION  13040\n") == 134);
  CHECK(ReleaseFor("#define CUDART_VERSION 12060\n") == 130);
  CHECK(ReleaseFor("#define CUDART_VERSION 14020\n") == 135);
}

TEST_CASE("Without headers that say a release it is the default one", "[command]") {
  CHECK(ReleaseFor("") == 130);
  CHECK(ReleaseFor("#define CUDART_VERSION") == 130);
  CHECK(ReleaseFor("#define CUDART_VERSION  x\n") == 130);
  CHECK(internal::ProfileOfToolkit("").release == 130);
  CHECK(internal::ProfileOfToolkit("/no/such/bin/ptxas").release == 130);
}

}  // namespace
}  // namespace devlink::testing
