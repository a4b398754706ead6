// SPDX-License-Identifier: Apache-2.0
//
// PTX and cubins to one program, as a JIT runtime does it:
// compile_and_link sm_90 LIBRARY out.cubin INPUT... [-- ASSEMBLER_OPTION...]
// LIBRARY is libdevlink_ptxcompiler.so, which is built beside this program.
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "devlink/devlink.h"
#include "devlink/experimental/compilation_provider.h"

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: compile_and_link ARCH LIBRARY OUTPUT INPUT... [-- OPTION...]\n";
    return 2;
  }
  const auto target = devlink::Arch::Parse(argv[1]);
  if (!target.ok()) {
    std::cerr << target.status() << "\n";
    return 2;
  }
  const auto tools = std::make_shared<devlink::Toolchain>(
      devlink::ToolchainOptions{.ptx = {.nvptxcompiler_path = argv[2]}});
  const auto provider = devlink::CreateCompilationProvider({.toolchain = tools});

  devlink::CompilationOptions options;
  std::vector<std::string> names;
  int next = 4;
  for (; next < argc && argv[next] != std::string_view("--"); ++next)
    names.emplace_back(argv[next]);
  options.assembler_options.assign(argv + (next < argc ? next + 1 : argc), argv + argc);

  std::vector<std::vector<std::uint8_t>> contents;
  for (const std::string& name : names) {
    // Through a stream, which bears a folder.
    std::ostringstream content;
    if (std::ifstream in(name, std::ios::binary); !in || !(content << in.rdbuf())) {
      std::cerr << "cannot read '" << name << "', or it is empty\n";
      return 1;
    }
    const std::string text = content.str();
    contents.emplace_back(text.begin(), text.end());
  }
  std::vector<devlink::CompilationInput> inputs;
  for (std::size_t i = 0; i < names.size(); ++i) inputs.push_back({names[i], contents[i]});

  const devlink::CompilationResult linked = provider->CompileAndLink(*target, inputs, options);
  for (const devlink::Diagnostic& diagnostic : linked.diagnostics) {
    std::cerr << devlink::RenderDiagnostic(diagnostic, "compile_and_link");
  }
  for (const devlink::PtxFunctionUsage& function : linked.functions) {
    std::cout << function.name << ": " << function.registers << " registers, "
              << function.spill_store_bytes << " bytes spilled\n";
  }
  if (!linked.ok()) {
    std::cerr << linked.status << "\n";
    return 1;
  }
  std::ofstream out(argv[3], std::ios::binary);
  out.write(reinterpret_cast<const char*>(linked.cubin.data()),
            static_cast<std::streamsize>(linked.cubin.size()));
  return out.good() ? 0 : 1;
}
