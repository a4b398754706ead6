// SPDX-License-Identifier: Apache-2.0
//
// A kernel and a device library that ships as LTO IR, as libraries of mathematical functions do:
// the library's code is compiled with the kernel, into it, and what the kernel does not use is
// gone:
// link_with_math_library sm_90 out.cubin NVJITLINK ASSEMBLER KERNEL LIBRARY...
// NVJITLINK is libnvJitLink.so.13 of the CUDA toolkit, ASSEMBLER libdevlink_ptxcompiler.so, which
// is built beside this program; inputs are what `nvcc -dlto` makes: objects, fat binaries,
// archives.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include "devlink/devlink.h"

int main(int argc, char** argv) {
  if (argc < 6) {
    std::cerr
        << "usage: link_with_math_library ARCH OUTPUT NVJITLINK ASSEMBLER KERNEL LIBRARY...\n";
    return 2;
  }
  const auto target = devlink::Arch::Parse(argv[1]);
  if (!target.ok()) {
    std::cerr << target.status() << "\n";
    return 2;
  }
  // A run-time compiler makes these two once, for all its links: the library is loaded when a link
  // first needs it, and a kernel that comes again is not compiled again.
  devlink::ToolchainOptions places;
  places.lto.nvjitlink_path = argv[3];
  places.ptx.nvptxcompiler_path = argv[4];
  places.cache = devlink::CreateMemoryCache(std::uint64_t{64} << 20);
  const auto tools = std::make_shared<devlink::Toolchain>(std::move(places));

  devlink::LinkOptions options{.target = *target};
  options.lto.enabled = true;
  auto session = devlink::LinkSession::Create(options, {.toolchain = tools});
  if (!session.ok()) {
    std::cerr << session.status() << "\n";
    return 2;
  }
  bool sound = true;
  for (int i = 5; i < argc; ++i) sound = session->AddFile(argv[i]).ok() && sound;
  const devlink::LinkOutcome linked = session->Link();
  for (const devlink::Diagnostic& diagnostic : linked.diagnostics) {
    std::cerr << devlink::RenderDiagnostic(diagnostic, "link_with_math_library");
  }
  if (!sound || !linked.ok()) return 1;
  for (const devlink::KernelReport& kernel : linked.report.kernels) {
    std::cout << kernel.name << ": " << kernel.registers << " registers\n";
  }
  std::ofstream out(argv[2], std::ios::binary);
  out.write(reinterpret_cast<const char*>(linked.cubin.data()),
            static_cast<std::streamsize>(linked.cubin.size()));
  return out.good() ? 0 : 1;
}
