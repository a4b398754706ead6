// SPDX-License-Identifier: Apache-2.0
#include "command/network_cache_module.h"

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/dynamic_library.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "command/toolkit_places.h"
#include "network/module_abi.h"

namespace devlink::internal {

namespace {

constexpr std::string_view kModule = "libdevlink_network_cache.so";

struct Functions {
  decltype(&devlink_network_cache_open_1) open = nullptr;
  decltype(&devlink_network_cache_find_1) find = nullptr;
  decltype(&devlink_network_cache_store_1) store = nullptr;
  decltype(&devlink_network_cache_close_1) close = nullptr;
};

// What the module says. Nothing may be thrown through it.
struct Answer {
  absl::Status status;
  std::optional<std::vector<std::uint8_t>> bytes;
};

void Receive(void* user, int code, const void* data, std::size_t size) {
  auto& answer = *static_cast<Answer*>(user);
  try {
    if (code == 0) {
      const auto* bytes = static_cast<const std::uint8_t*>(data);
      answer.bytes.emplace(bytes, bytes + size);
    } else {
      answer.status = absl::Status(static_cast<absl::StatusCode>(code),
                                   absl::string_view(static_cast<const char*>(data), size));
    }
  } catch (...) {
    answer.status = absl::ResourceExhaustedError("no memory for what the cache holds");
  }
}

class ModuleCache final : public CacheStore {
 public:
  ModuleCache(DynamicLibrary library, const Functions& functions, void* cache)
      : library_(std::move(library)), functions_(functions), cache_(cache) {}
  ModuleCache(const ModuleCache&) = delete;
  ModuleCache& operator=(const ModuleCache&) = delete;
  ~ModuleCache() override { functions_.close(cache_); }

  absl::StatusOr<std::optional<std::vector<std::uint8_t>>> Find(const CacheKey& key) override {
    Answer answer;
    functions_.find(cache_, key.bytes.data(), &Receive, &answer);
    if (!answer.status.ok()) return answer.status;
    return std::move(answer.bytes);
  }

  absl::Status Store(const CacheKey& key, std::span<const std::uint8_t> value) override {
    Answer answer;
    functions_.store(cache_, key.bytes.data(), value.data(), value.size(), &Receive, &answer);
    return answer.status;
  }

  CacheStore* OfThisMachine() override { return nullptr; }

 private:
  const DynamicLibrary library_;
  const Functions functions_;
  void* const cache_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<CacheStore>> OpenNetworkCache(const CommandContext& context,
                                                             const std::string& url) {
  const std::string path = BesideProgram(context, kModule);
  if (path.empty()) {
    return absl::NotFoundError(
        base::Cat({"--remote-cache needs ", kModule,
                   " beside the program or in ../lib, which is made where libcurl and hiredis "
                   "are installed"}));
  }
  DEVLINK_ASSIGN_OR_RETURN(DynamicLibrary library, DynamicLibrary::Load(path));
  Functions functions;
  DEVLINK_RETURN_IF_ERROR(library.Find("devlink_network_cache_open_1", functions.open));
  DEVLINK_RETURN_IF_ERROR(library.Find("devlink_network_cache_find_1", functions.find));
  DEVLINK_RETURN_IF_ERROR(library.Find("devlink_network_cache_store_1", functions.store));
  DEVLINK_RETURN_IF_ERROR(library.Find("devlink_network_cache_close_1", functions.close));
  Answer answer;
  void* cache = functions.open(url.c_str(), &Receive, &answer);
  if (cache == nullptr) {
    return answer.status.ok() ? absl::InternalError("the cache was not opened") : answer.status;
  }
  return std::make_shared<ModuleCache>(std::move(library), functions, cache);
}

}  // namespace devlink::internal
