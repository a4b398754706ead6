// SPDX-License-Identifier: Apache-2.0
//
// Links cubins in process and tells what came out: link_two_cubins sm_90 a.cubin b.cubin out.cubin
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>

#include "devlink/devlink.h"

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: link_two_cubins ARCH INPUT... OUTPUT\n";
    return 2;
  }
  const auto target = devlink::Arch::Parse(argv[1]);
  if (!target.ok()) {
    std::cerr << target.status() << "\n";
    return 2;
  }
  auto session = devlink::LinkSession::Create({.target = *target, .end_at_rejected_input = true});
  if (!session.ok()) {
    std::cerr << session.status() << "\n";
    return 2;
  }
  // A file that cannot be used ends the link; what is wrong with it is among the diagnostics.
  for (int i = 2; i + 1 < argc; ++i) session->AddFile(argv[i]).IgnoreError();
  const devlink::LinkOutcome linked = session->Link();
  for (const devlink::Diagnostic& diagnostic : linked.diagnostics) {
    std::cerr << devlink::RenderDiagnostic(diagnostic, "link_two_cubins");
  }
  if (!linked.ok()) return 1;
  for (const devlink::KernelReport& kernel : linked.report.kernels) {
    std::cout << kernel.name << ": " << kernel.registers << " registers, " << kernel.shared_bytes
              << " bytes of shared memory\n";
  }
  std::ofstream out(argv[argc - 1], std::ios::binary);
  out.write(reinterpret_cast<const char*>(linked.cubin.data()),
            static_cast<std::streamsize>(linked.cubin.size()));
  return out.good() ? 0 : 1;
}
