// SPDX-License-Identifier: Apache-2.0
//
// A library with nvJitLink's interface: NVIDIA's, or the one that stands in its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace devlink::bench {

using Bytes = std::vector<char>;

// What is linked. Texts have a NUL behind them, beyond which NVIDIA's library reads otherwise.
struct NamedBytes {
  std::string name;
  Bytes bytes;
};

// All of a file; empty where it cannot be read.
Bytes ReadBytes(const std::string& path);

class NvJitLinkLibrary {
 public:
  // Nothing where the library cannot be loaded or lacks a function. It stays loaded.
  static std::optional<NvJitLinkLibrary> Open(const std::string& path);

  // One link, from a handle that is made to its end. Nothing where it fails; then `log` has what
  // the library said, if it is given. On any thread.
  std::optional<Bytes> Link(const std::vector<std::string>& options,
                            const std::vector<NamedBytes>& inputs,
                            std::string* log = nullptr) const;

  [[nodiscard]] bool is_devlink() const { return is_devlink_; }

 private:
  using Handle = void*;

  NvJitLinkLibrary() = default;

  int (*create_)(Handle*, std::uint32_t, const char* const*) = nullptr;
  int (*add_)(Handle, int, const void*, std::size_t, const char*) = nullptr;
  int (*complete_)(Handle) = nullptr;
  int (*size_)(Handle, std::size_t*) = nullptr;
  int (*get_)(Handle, void*) = nullptr;
  int (*log_size_)(Handle, std::size_t*) = nullptr;
  int (*log_)(Handle, char*) = nullptr;
  int (*destroy_)(Handle*) = nullptr;
  bool is_devlink_ = false;
};

}  // namespace devlink::bench
