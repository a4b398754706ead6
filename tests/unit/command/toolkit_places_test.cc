// SPDX-License-Identifier: Apache-2.0
#include "command/toolkit_places.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "devlink/nvlink_command.h"
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

// Toolkits and folders with links to them.
class Toolkits {
 public:
  Toolkits() {
    for (const char* folder : {"cuda/bin", "links", "other"}) {
      std::filesystem::create_directories(directory_.path() / folder);
    }
    for (const char* program : {"cuda/bin/ptxas", "cuda/bin/nvlink", "other/devlink"}) {
      REQUIRE(WriteText(File(program), ""));
      std::filesystem::permissions(File(program), std::filesystem::perms::owner_all);
    }
    Link("cuda/bin/ptxas", "links/ptxas");
    Link("other/devlink", "links/nvlink");
  }
  [[nodiscard]] std::string File(const std::string& name) const {
    return std::filesystem::canonical(directory_.path()).string() + "/" + name;
  }
  void Link(const std::string& to, const std::string& name) const {
    std::filesystem::create_symlink(File(to), File(name));
  }
  void Remove(const std::string& name) const { std::filesystem::remove(File(name)); }
  // The nvlink that finalizes.
  [[nodiscard]] static std::string Nvlink(const CommandContext& context, const char* target,
                                          const FinalizerOptions& given = {}) {
    ToolchainOptions tools{.finalizer = given};
    internal::FindTools(context, {.target = *Arch::Parse(target)}, tools);
    return tools.finalizer.nvlink_path;
  }

 private:
  TemporaryDirectory directory_;
};

TEST_CASE("NVIDIA's nvlink is looked for where ptxas really lies", "[command]") {
  const Toolkits kits;
  const std::string nvlink = kits.File("cuda/bin/nvlink");
  CHECK(Toolkits::Nvlink({.path = kits.File("cuda/bin")}, "sm_100") == nvlink);
  CHECK(Toolkits::Nvlink({.path = kits.File("links")}, "sm_120a") == nvlink);
  CHECK(Toolkits::Nvlink({.ptxas = kits.File("links/ptxas")}, "sm_103") == nvlink);
  CHECK(Toolkits::Nvlink({.path = kits.File("links")}, "sm_90").empty());  // nothing to finalize
  CHECK(Toolkits::Nvlink({.path = kits.File("other")}, "sm_100").empty());
  CHECK(Toolkits::Nvlink({.path = kits.File("cuda/bin"), .nvlink = "/n"}, "sm_100") == "/n");
  CHECK(Toolkits::Nvlink({.path = kits.File("cuda/bin"), .nvlink = "/n"}, "sm_100",
                         {.nvlink_path = "/option"}) == "/option");
  CHECK(Toolkits::Nvlink({.path = kits.File("cuda/bin")}, "sm_100",
                         {.backend = FinalizerBackend::kNvJitLink})
            .empty());
  // devlink in its place is not it.
  kits.Remove("cuda/bin/nvlink");
  CHECK(Toolkits::Nvlink({.path = kits.File("cuda/bin")}, "sm_100").empty());
  kits.Link("other/devlink", "cuda/bin/nvlink");
  CHECK(Toolkits::Nvlink({.path = kits.File("cuda/bin")}, "sm_100").empty());
}

TEST_CASE("What the environment says of tools is taken as a whole", "[command]") {
  std::map<std::string, std::string> variables = {
      {"DEVLINK_PTXAS", "/tools/ptxas"},   {"DEVLINK_NVPTXCOMPILER", "/tools/compiler.so"},
      {"DEVLINK_NVVM", "/tools/nvvm.so"},  {"DEVLINK_NVJITLINK", "/tools/jit.so"},
      {"DEVLINK_NVLINK", "/tools/nvlink"}, {"HOME", "/home"}};
  const auto lookup = [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  std::vector<std::string> expected;
  for (const std::string_view name : ToolVariables()) {
    CHECK_FALSE(variables.contains(std::string(name)));
    variables[std::string(name)] = expected.empty() ? "" : std::string("of ").append(name);
    expected.push_back(std::string(name) + "=" + variables[std::string(name)]);
  }
  REQUIRE(expected.size() > 1);
  CommandContext context;
  context.variables = {"KEPT=1"};
  TakeTools(lookup, context);
  CHECK(context.ptxas == "/tools/ptxas");
  CHECK(context.nvptxcompiler == "/tools/compiler.so");
  CHECK(context.nvvm == "/tools/nvvm.so");
  CHECK(context.nvjitlink == "/tools/jit.so");
  CHECK(context.nvlink == "/tools/nvlink");
  CHECK(context.tool_variables == expected);
  CHECK(context.variables == std::vector<std::string>{"KEPT=1"});

  // Nothing of before stays.
  variables.clear();
  TakeTools(lookup, context);
  CHECK(context.ptxas.empty());
  CHECK(context.nvjitlink.empty());
  CHECK(context.tool_variables.empty());
}

}  // namespace
}  // namespace devlink::testing
