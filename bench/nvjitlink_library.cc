// SPDX-License-Identifier: Apache-2.0
#include "nvjitlink_library.h"

#include <dlfcn.h>

#include <fstream>
#include <type_traits>

namespace devlink::bench {

Bytes ReadBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return {};
  Bytes out(static_cast<std::size_t>(in.tellg()));
  in.seekg(0);
  in.read(out.data(), static_cast<std::streamsize>(out.size()));
  return out;
}

std::optional<NvJitLinkLibrary> NvJitLinkLibrary::Open(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  NvJitLinkLibrary out;
  const auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    return function != nullptr;
  };
  out.is_devlink_ = dlsym(library, "devlink_nvjitlink") != nullptr;
  if (find("nvJitLinkCreate", out.create_) && find("nvJitLinkAddData", out.add_) &&
      find("nvJitLinkComplete", out.complete_) && find("nvJitLinkGetLinkedCubinSize", out.size_) &&
      find("nvJitLinkGetLinkedCubin", out.get_) &&
      find("nvJitLinkGetErrorLogSize", out.log_size_) && find("nvJitLinkGetErrorLog", out.log_) &&
      find("nvJitLinkDestroy", out.destroy_)) {
    return out;
  }
  return std::nullopt;
}

std::optional<Bytes> NvJitLinkLibrary::Link(const std::vector<std::string>& options,
                                            const std::vector<NamedBytes>& inputs,
                                            std::string* log) const {
  constexpr int kAnyInput = 10;
  std::vector<const char*> words;
  words.reserve(options.size());
  for (const std::string& option : options) words.push_back(option.c_str());
  Handle handle = nullptr;
  bool ok = create_(&handle, static_cast<std::uint32_t>(words.size()), words.data()) == 0;
  for (const NamedBytes& input : inputs) {
    ok = ok &&
         add_(handle, kAnyInput, input.bytes.data(), input.bytes.size(), input.name.c_str()) == 0;
  }
  ok = ok && complete_(handle) == 0;
  std::size_t size = 0;
  Bytes cubin;
  if (ok && size_(handle, &size) == 0) {
    cubin.resize(size);
    ok = get_(handle, cubin.data()) == 0;
  }
  if (!ok && log != nullptr && log_size_(handle, &size) == 0 && size != 0) {
    log->resize(size);
    log_(handle, log->data());
  }
  destroy_(&handle);
  if (!ok) return std::nullopt;
  return cubin;
}

}  // namespace devlink::bench
