// SPDX-License-Identifier: Apache-2.0
//
// Links a cubin with what it needs of a folder, in which F.cubin defines F:
// link_on_demand sm_90 kernel.cubin FOLDER out.cubin
#include <fstream>
#include <iostream>
#include <iterator>
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
      const std::string name = path_ + "/" + symbol.name + ".cubin";
      std::ifstream in(name, std::ios::binary);
      // What is not there stays undefined, and the link says so.
      if (in) found.push_back({name, {std::istreambuf_iterator<char>(in), {}}});
    }
    return found;
  }

 private:
  std::string path_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: link_on_demand ARCH INPUT FOLDER OUTPUT\n";
    return 2;
  }
  const auto target = devlink::Arch::Parse(argv[1]);
  if (!target.ok()) {
    std::cerr << target.status() << "\n";
    return 2;
  }
  Folder folder(argv[3]);
  auto session = devlink::LinkSession::Create({.target = *target}, {.definitions = &folder});
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
  std::ofstream out(argv[4], std::ios::binary);
  out.write(reinterpret_cast<const char*>(linked.cubin.data()),
            static_cast<std::streamsize>(linked.cubin.size()));
  return linked.ok() && out.good() ? 0 : 1;
}
