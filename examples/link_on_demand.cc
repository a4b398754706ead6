// SPDX-License-Identifier: Apache-2.0
//
// Links a program with what it needs of a folder, in which F.cubin or F.ptx defines F; what is PTX
// is compiled then, for this link, and only what is needed is:
// link_on_demand sm_90 kernel.cubin FOLDER out.cubin [LIBRARY]
// LIBRARY is libdevlink_ptxcompiler.so, which is built beside this program; PTX needs it.
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "devlink/devlink.h"

namespace {

class Folder : public devlink::DefinitionProvider {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {}

  absl::StatusOr<std::vector<devlink::MemoryInput>> Provide(
      std::span<const devlink::UndefinedSymbol> undefined) override {
    std::vector<devlink::MemoryInput> found;
    for (const devlink::UndefinedSymbol& symbol : undefined) {
      for (const char* ending : {".cubin", ".ptx"}) {
        const std::string name = path_ + "/" + symbol.name + ending;
        std::ifstream in(name, std::ios::binary);
        if (!in) continue;  // what is not there stays undefined, and the link says so
        found.push_back({name, {std::istreambuf_iterator<char>(in), {}}});
        break;
      }
    }
    return found;
  }

 private:
  std::string path_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) {
    std::cerr << "usage: link_on_demand ARCH INPUT FOLDER OUTPUT [LIBRARY]\n";
    return 2;
  }
  const auto target = devlink::Arch::Parse(argv[1]);
  if (!target.ok()) {
    std::cerr << target.status() << "\n";
    return 2;
  }
  Folder folder(argv[3]);
  const auto tools = std::make_shared<devlink::Toolchain>(
      devlink::ToolchainOptions{.ptx = {.nvptxcompiler_path = argc == 6 ? argv[5] : ""}});
  auto session = devlink::LinkSession::Create({.target = *target},
                                              {.toolchain = tools, .definitions = &folder});
  if (!session.ok()) {
    std::cerr << session.status() << "\n";
    return 2;
  }
  if (const absl::Status added = session->AddFile(argv[2]); !added.ok()) {
    std::cerr << added << "\n";
    return 1;
  }
  const devlink::LinkOutcome linked = session->Link();
  for (const devlink::Diagnostic& diagnostic : linked.diagnostics) {
    std::cerr << devlink::RenderDiagnostic(diagnostic, "link_on_demand");
  }
  if (!linked.ok()) return 1;
  std::ofstream out(argv[4], std::ios::binary);
  out.write(reinterpret_cast<const char*>(linked.cubin.data()),
            static_cast<std::streamsize>(linked.cubin.size()));
  return out.good() ? 0 : 1;
}
