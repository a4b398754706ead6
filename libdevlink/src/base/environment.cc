// SPDX-License-Identifier: Apache-2.0
#include "devlink/environment.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/guard.h"

namespace devlink {

namespace {

class RealWorld final : public Environment {
 public:
  [[nodiscard]] absl::StatusOr<FileContents> ReadFile(const std::string& path,
                                                      std::uint64_t max_bytes) const override {
    return base::ReadFileAndIdentity(path, max_bytes);
  }

  [[nodiscard]] bool Exists(const std::string& path) const override {
    struct stat info = {};
    return stat(path.c_str(), &info) == 0;
  }

  [[nodiscard]] unsigned Parallelism() const override {
    return std::max(1U, std::thread::hardware_concurrency());
  }

  void RunWorkers(unsigned workers, const std::function<void(unsigned)>& work) const override {
    std::vector<std::jthread> helpers;
    if (workers > 1) helpers.reserve(workers - 1);
    for (unsigned i = 1; i < workers; ++i) {
      // Where the system has no more threads, the work goes on with those there are.
      try {
        helpers.emplace_back([&work, i] { work(i); });
      } catch (const std::system_error&) {
        break;
      }
    }
    work(0);
  }

  [[nodiscard]] std::stop_token StopToken() const override { return {}; }

  [[nodiscard]] std::uint64_t NowNanoseconds() const override {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  }

  [[nodiscard]] absl::Status ReserveMemory(std::uint64_t) const override {
    return absl::OkStatus();
  }
  void ReleaseMemory(std::uint64_t) const override {}
};

}  // namespace

const Environment& Environment::Default() {
  static const RealWorld world;
  return world;
}

absl::StatusOr<FileContents> ForwardingEnvironment::ReadFile(const std::string& path,
                                                             std::uint64_t max_bytes) const {
  return base_->ReadFile(path, max_bytes);
}

bool ForwardingEnvironment::Exists(const std::string& path) const { return base_->Exists(path); }

unsigned ForwardingEnvironment::Parallelism() const { return base_->Parallelism(); }

void ForwardingEnvironment::RunWorkers(unsigned workers,
                                       const std::function<void(unsigned)>& work) const {
  base_->RunWorkers(workers, work);
}

std::stop_token ForwardingEnvironment::StopToken() const { return base_->StopToken(); }

std::uint64_t ForwardingEnvironment::NowNanoseconds() const { return base_->NowNanoseconds(); }

absl::Status ForwardingEnvironment::ReserveMemory(std::uint64_t bytes) const {
  return base_->ReserveMemory(bytes);
}

void ForwardingEnvironment::ReleaseMemory(std::uint64_t bytes) const {
  base_->ReleaseMemory(bytes);
}

absl::Status MemoryBudget::Reserve(std::uint64_t bytes) {
  return base::Guard([&]() -> absl::Status {
    std::uint64_t used = used_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit_ || used > limit_ - bytes) {
        return absl::ResourceExhaustedError(absl::StrCat(
            "no memory is left for ", bytes, " bytes: ", used, " of ", limit_, " are in use"));
      }
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    std::uint64_t peak = peak_.load(std::memory_order_relaxed);
    while (peak < used + bytes &&
           !peak_.compare_exchange_weak(peak, used + bytes, std::memory_order_relaxed)) {
    }
    return absl::OkStatus();
  });
}

void MemoryBudget::Release(std::uint64_t bytes) {
  used_.fetch_sub(bytes, std::memory_order_relaxed);
}

}  // namespace devlink
