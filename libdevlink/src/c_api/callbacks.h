// SPDX-License-Identifier: Apache-2.0
//
// Callbacks of the C interface as what the library asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "c_api/objects.h"
#include "devlink/environment.h"
#include "devlink/experimental/compile_cache.h"
#include "devlink/module.h"
#include "devlink/sinks.h"

struct dl_receiver {
  // Bound on a file or input; one that is larger is not copied.
  std::uint64_t max_bytes = ~std::uint64_t{0};
  std::optional<std::vector<std::uint8_t>> bytes;
  std::optional<devlink::FileContents> file;
  std::vector<devlink::MemoryInput> inputs;
};

struct dl_work {
  const std::function<void(unsigned worker)>* work = nullptr;
  std::uint32_t workers = 0;
};

namespace devlink::c_api {

class CallbackEnvironment final : public ForwardingEnvironment {
 public:
  // InvalidArgument where one callback of a pair is missing.
  static absl::Status Check(const dl_environment& given);

  CallbackEnvironment(const dl_environment& given, std::stop_token stop)
      : given_(given), stop_(std::move(stop)) {}

  [[nodiscard]] absl::StatusOr<FileContents> ReadFile(const std::string& path,
                                                      std::uint64_t max_bytes) const override;
  [[nodiscard]] bool Exists(const std::string& path) const override;
  [[nodiscard]] unsigned Parallelism() const override;
  void RunWorkers(unsigned workers,
                  const std::function<void(unsigned worker)>& work) const override;
  [[nodiscard]] std::stop_token StopToken() const override { return stop_; }
  [[nodiscard]] absl::Status ReserveMemory(std::uint64_t bytes) const override;
  void ReleaseMemory(std::uint64_t bytes) const override;

 private:
  dl_environment given_;
  std::stop_token stop_;
};

class CallbackLog final : public LogSink {
 public:
  CallbackLog(dl_log_callback callback, void* user, dl_log_level lowest)
      : callback_(callback), user_(user), lowest_(lowest) {}
  [[nodiscard]] bool Wants(LogLevel level) const override {
    return static_cast<dl_log_level>(level) >= lowest_;
  }
  void Write(LogLevel level, std::string_view line) override;

 private:
  dl_log_callback callback_;
  void* user_;
  dl_log_level lowest_;
};

class CallbackProgress final : public ProgressSink {
 public:
  CallbackProgress(dl_progress_callback callback, void* user) : callback_(callback), user_(user) {}
  void Report(const ProgressEvent& event) override;

 private:
  dl_progress_callback callback_;
  void* user_;
};

class CallbackDefinitions final : public DefinitionProvider {
 public:
  CallbackDefinitions(dl_undefined_callback callback, void* user, std::uint64_t max_input_bytes)
      : callback_(callback), user_(user), max_input_bytes_(max_input_bytes) {}
  absl::StatusOr<std::vector<MemoryInput>> Provide(
      std::span<const UndefinedSymbol> undefined) override;

 private:
  dl_undefined_callback callback_;
  void* user_;
  std::uint64_t max_input_bytes_;
};

class CallbackStore final : public CacheStore {
 public:
  explicit CallbackStore(const dl_cache_callbacks& given) : given_(given) {}
  CallbackStore(const CallbackStore&) = delete;
  CallbackStore& operator=(const CallbackStore&) = delete;
  ~CallbackStore() override;
  absl::StatusOr<std::optional<std::vector<std::uint8_t>>> Find(const CacheKey& key) override;
  absl::Status Store(const CacheKey& key, std::span<const std::uint8_t> value) override;

 private:
  dl_cache_callbacks given_;
};

class CallbackSink final : public OutputSink {
 public:
  explicit CallbackSink(const dl_sink& given) : given_(given) {}
  absl::Status Begin(std::uint64_t size) override;
  absl::Status Append(std::span<const std::uint8_t> bytes) override;

 private:
  dl_sink given_;
};

}  // namespace devlink::c_api
