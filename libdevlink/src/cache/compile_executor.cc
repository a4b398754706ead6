// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/compile_executor.h"

#include "base/slots.h"
#include "base/stop.h"

namespace devlink {

namespace {

class LocalExecutor final : public CompileExecutor {
 public:
  explicit LocalExecutor(unsigned jobs) : slots_(jobs) {}

  [[nodiscard]] unsigned Parallelism() const override { return 0; }

  [[nodiscard]] absl::StatusOr<std::vector<std::uint8_t>> Execute(
      const CompileAction& action, const CompileHere& here) const override {
    const base::Slots::Slot slot = slots_.Take(action.stop);
    if (!slot.taken()) return base::Stopped();
    return here();
  }

 private:
  mutable base::Slots slots_;
};

}  // namespace

void CompileExecutor::DoneByLink(const CompileAction& /*action*/,
                                 const absl::Status& /*reason*/) const {}

std::shared_ptr<const CompileExecutor> CreateLocalExecutor(unsigned jobs) {
  return std::make_shared<LocalExecutor>(jobs);
}

}  // namespace devlink
