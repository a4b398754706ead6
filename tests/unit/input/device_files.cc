// SPDX-License-Identifier: Apache-2.0
#include "unit/input/device_files.h"

namespace devlink::testing {

std::optional<ByteVector> CompileToFatbin(const Toolkit& toolkit,
                                          const TemporaryDirectory& directory,
                                          const std::string& kernel) {
  const std::string ptx = directory.File(kernel + ".ptx");
  const std::string cubin = directory.File(kernel + ".cubin");
  const std::string fatbin = directory.File(kernel + ".fatbin");
  const std::string bin = toolkit.nvlink.substr(0, toolkit.nvlink.rfind('/'));
  const bool made =
      WriteText(ptx, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry " + kernel +
                         "() { ret; }\n") &&
      RunProcess({toolkit.ptxas, "-arch=sm_90", "-c", ptx, "-o", cubin}).ok() &&
      RunProcess({bin + "/fatbinary", "-64", "--create=" + fatbin,
                  "--image3=kind=elf,sm=90,file=" + cubin})
          .ok();
  return made ? ReadBytes(fatbin) : std::nullopt;
}

}  // namespace devlink::testing
