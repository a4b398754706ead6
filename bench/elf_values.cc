// SPDX-License-Identifier: Apache-2.0
#include "elf_values.h"

#include <elf.h>

#include <cstring>
#include <string_view>

namespace devlink::bench {

std::size_t PlaceOfInitialValues(const Bytes& cubin) {
  // Its NUL is part of it.
  constexpr std::string_view kName(".nv.global.init", sizeof ".nv.global.init");
  Elf64_Ehdr header;
  if (cubin.size() < sizeof header) return 0;
  std::memcpy(&header, cubin.data(), sizeof header);
  const auto section = [&](std::size_t index) {
    Elf64_Shdr out = {};
    const std::size_t place = header.e_shoff + index * sizeof out;
    if (place + sizeof out <= cubin.size()) std::memcpy(&out, &cubin[place], sizeof out);
    return out;
  };
  const std::size_t names = section(header.e_shstrndx).sh_offset;
  for (std::size_t i = 1; i < header.e_shnum; ++i) {
    const Elf64_Shdr found = section(i);
    if (names + found.sh_name >= cubin.size()) return 0;
    const std::size_t name = names + found.sh_name;
    if (std::string_view(&cubin[name], cubin.size() - name).starts_with(kName)) {
      return found.sh_size >= sizeof(std::uint32_t) ? found.sh_offset : 0;
    }
  }
  return 0;
}

}  // namespace devlink::bench
