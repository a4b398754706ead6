// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace devlink::base {

// Names as people read them. A short mangled name can stand for a long text, and a damaged file can
// say it a million times: beyond so many characters names stay as they are.
class ReadableNames {
 public:
  explicit ReadableNames(bool demangle = true,
                         std::uint64_t most_characters = std::uint64_t{1} << 28)
      : demangle_(demangle), left_(most_characters) {}

  // Demangled where that is wanted and possible.
  std::string Readable(std::string_view name);

 private:
  bool demangle_;
  std::uint64_t left_;
};

}  // namespace devlink::base
