// SPDX-License-Identifier: Apache-2.0
//
// Host objects as nvcc makes them, as far as device linkers look: made for tests, and taken apart.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/elf_builder.h"

namespace devlink::testing {

// An x86-64 object with one cubin, uncompressed, for one target, and `sections` besides.
std::vector<std::uint8_t> MakeHostObject(std::span<const std::uint8_t> cubin, int sm,
                                         const std::vector<ElfSection>& sections);

// The same with a whole fat binary.
std::vector<std::uint8_t> MakeHostObjectWithFatbin(std::span<const std::uint8_t> fatbin,
                                                   const std::vector<ElfSection>& sections);

// The bytes of a list: each text with its NUL, one NUL where there is none.
std::string ListBytes(const std::vector<std::string>& texts);

// The cubin for a target in an object whose fatbin is not compressed; empty where there is none.
std::vector<std::uint8_t> CubinOf(std::span<const std::uint8_t> object, int sm);

// The sections whose names begin with `.nvHR`.
std::vector<ElfSection> HostReferenceSectionsOf(std::span<const std::uint8_t> object);

}  // namespace devlink::testing
