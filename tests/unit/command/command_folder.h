// SPDX-License-Identifier: Apache-2.0
//
// A folder in which the whole command runs: inputs, an assembler, places for what it writes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "devlink/nvlink_command.h"
#include "support/catch.h"
#include "support/process.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {

// An assembler for which every text is one cubin.
inline std::string MakeAssembler(const TemporaryDirectory& directory, const std::string& cubin) {
  namespace fs = std::filesystem;
  fs::create_directory(directory.File("tools"));
  std::string program = directory.File("tools/ptxas");
  REQUIRE(WriteText(program,
                    "#!/bin/sh\n"
                    "if [ \"$1\" = --version ]; then echo 'release 13.0, V13.0.88'; exit 0; fi\n"
                    "exec /bin/cp '" +
                        cubin + "' \"$3\"\n"));
  fs::permissions(program, fs::perms::owner_all);
  return program;
}

class CommandFolder {
 public:
  CommandFolder() {
    namespace fs = std::filesystem;
    REQUIRE(WriteBytes(
        At("caller.cubin"),
        BuildCubin({.functions = {{.name = "kernel", .calls = {"helper"}, .kernel = true}}})));
    // Weak: every text that is assembled becomes it.
    REQUIRE(WriteBytes(At("helper.cubin"),
                       BuildCubin({.functions = {{.name = "helper", .weak = true}}})));
    REQUIRE(WriteText(At("helper.ptx"), ".version 8.0\n.target sm_80\n.address_size 64\n"));
    fs::create_directory(At("out"));
    fs::create_directory(At("temporary"));
    MakeAssembler(directory_, At("helper.cubin"));
  }

  [[nodiscard]] std::string At(const std::string& name) const { return directory_.File(name); }

  // The command's status; `said` is what it said. It writes x.cubin, r.json and ids.h to `out`.
  int Run(const Environment& environment, const std::vector<std::string>& more = {}) {
    CommandContext context;
    context.path = At("tools");
    context.working_directory = "/work";
    context.temporary_directory = At("temporary");
    context.environment = &environment;
    std::vector<std::string> words = {"-arch=sm_80",
                                      "--ptx-backend=ptxas",
                                      "--cache=" + At("cache"),
                                      "--report=" + At("out/r.json"),
                                      "--register-link-binaries=" + At("out/ids.h"),
                                      "-o",
                                      At("out/x.cubin"),
                                      At("caller.cubin"),
                                      At("helper.ptx")};
    words.insert(words.end(), more.begin(), more.end());
    const auto command = ParseNvlinkCommand(words, context);
    REQUIRE(command.ok());
    said.clear();
    const auto say = [this](const Diagnostic& d) { said += RenderDiagnostic(d, "tool"); };
    return RunNvlinkCommand(*command, context, {.out = {}, .say = say});
  }

  std::string said;

 private:
  TemporaryDirectory directory_;
};

}  // namespace devlink::testing
