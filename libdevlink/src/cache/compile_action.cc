// SPDX-License-Identifier: Apache-2.0
#include "cache/compile_action.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/guard.h"
#include "base/status_macros.h"
#include "base/stop.h"
#include "base/strings.h"
#include "cache/entry.h"
#include "cache/file_identity.h"
#include "devlink/environment.h"
#include "devlink/version.h"

namespace devlink::internal {

namespace {

constexpr std::string_view kMark = "devlink compile action 1";

// What an executor is handed to do an action here. It may keep a copy that outlives the action, or
// call it on several threads: what it refers to is used once, and not after End.
class OnceHere {
 public:
  explicit OnceHere(const CompileHere& work) : work_(&work) {}

  absl::StatusOr<std::vector<std::uint8_t>> Call() {
    const std::lock_guard lock(mutex_);
    if (work_ == nullptr) {
      return absl::FailedPreconditionError("an action is done here once, while Execute runs");
    }
    return base::Guard(*std::exchange(work_, nullptr));  // whose thread may be anybody's
  }

  // Waits for a call that is under way.
  void End() {
    const std::lock_guard lock(mutex_);
    work_ = nullptr;
  }

 private:
  std::mutex mutex_;
  const CompileHere* work_;
};

}  // namespace

absl::StatusOr<ActionHead> MakeActionHead(CompileKind kind, std::string_view tool_name,
                                          const std::string& tool_path) {
  absl::Status ignored;  // there is no store that could fail
  DEVLINK_ASSIGN_OR_RETURN(const CacheKey contents, FileContentKey(tool_path, nullptr, ignored));
  ActionHead head;
  head.kind = kind;
  head.devlink_version = Version();
  head.tool_name = tool_name;
  head.tool_contents = contents;
  return head;
}

void WriteHead(const ActionHead& head, FieldWriter& writer) {
  writer.Text(kMark);
  writer.Text(head.devlink_version);
  writer.U8(static_cast<std::uint8_t>(head.kind));
  writer.Text(head.tool_name);
  writer.Bytes(head.tool_contents.bytes);
  writer.Texts(head.environment);
  writer.Texts(head.host_environment);
}

std::optional<ActionHead> ReadHead(FieldReader& reader) {
  if (reader.Text() != kMark) return std::nullopt;
  ActionHead head;
  head.devlink_version = reader.Text();
  const std::uint8_t kind = reader.U8();
  if (kind > static_cast<std::uint8_t>(CompileKind::kLto)) return std::nullopt;
  head.kind = static_cast<CompileKind>(kind);
  head.tool_name = reader.Text();
  const base::Bytes contents = reader.Bytes();
  head.environment = reader.Texts();
  head.host_environment = reader.Texts();
  if (!reader.ok() || contents.size() != head.tool_contents.bytes.size()) return std::nullopt;
  std::copy(contents.begin(), contents.end(), head.tool_contents.bytes.begin());
  return head;
}

CacheKey KeyOfRequest(base::Bytes request) {
  return CacheKeyBuilder("compile action").Bytes("request", request).Build();
}

std::vector<std::uint8_t> MakeResult(const CacheKey& key, base::Bytes value) {
  const EntryHeader header = HeaderOfEntry(key, value);
  std::vector<std::uint8_t> out(sizeof(header) + value.size());
  std::memcpy(out.data(), &header, sizeof(header));
  std::copy(value.begin(), value.end(), out.begin() + sizeof(header));
  return out;
}

std::optional<base::Bytes> ValueOfResult(const CacheKey& key, base::Bytes result) {
  EntryHeader header;
  if (!base::BoundedReader(result).Read(0, header)) return std::nullopt;
  const base::Bytes value = result.subspan(sizeof(header));
  if (!IsWholeEntry(header, key, value)) return std::nullopt;
  return value;
}

void WriteAnswer(const absl::Status& status, std::string_view own, FieldWriter& writer) {
  std::string_view message(status.message().data(), status.message().size());
  const bool begins_with_own = !own.empty() && message.starts_with(own);
  if (begins_with_own) message.remove_prefix(own.size());
  writer.U8(status.ok() ? 1 : 0);
  writer.U8(begins_with_own ? 1 : 0);
  writer.Text(message);
}

absl::Status ReadAnswer(FieldReader& reader, std::string_view own) {
  const bool ok = reader.U8() != 0;
  const bool begins_with_own = reader.U8() != 0;
  const std::string message = reader.Text();
  if (ok) return absl::OkStatus();
  return absl::InvalidArgumentError(base::Cat({begins_with_own ? own : "", message}));
}

ActionClient::ActionClient(std::shared_ptr<const CompileExecutor> executor, ActionHead head,
                           std::string tool_path)
    : executor_(std::move(executor)),
      head_(std::move(head)),
      tool_path_(std::move(tool_path)),
      slots_(Environment::Default().Parallelism()) {}

absl::Status ActionClient::Do(const Job& job) const {
  FieldWriter request;
  WriteHead(head_, request);
  job.write(request);
  const CompileAction action = {.kind = head_.kind,
                                .key = KeyOfRequest(request.bytes()),
                                .request = request.bytes(),
                                .tool_name = head_.tool_name,
                                .tool_path = tool_path_,
                                .environment = head_.environment,
                                .host_environment = head_.host_environment,
                                .stop = job.stop};
  absl::Status failed_here;
  const CompileHere work = [&]() -> absl::StatusOr<std::vector<std::uint8_t>> {
    auto value = job.here();
    if (value.ok()) return MakeResult(action.key, *value);
    failed_here = value.status();
    return failed_here;
  };
  const auto once = std::make_shared<OnceHere>(work);
  const CompileHere here = [once] { return once->Call(); };
  const auto result = base::Guard([&] { return executor_->Execute(action, here); });
  once->End();
  absl::Status reason = result.status();
  if (result.ok()) {
    const auto value = ValueOfResult(action.key, *result);
    if (value.has_value() && job.take(*value)) return absl::OkStatus();
    reason = absl::DataLossError("the executor's result is damaged, or that of another action");
  }
  if (!failed_here.ok()) return failed_here;  // which is not tried twice
  if (job.stop.stop_requested()) return base::Stopped();
  base::Guard([&] {
    executor_->DoneByLink(action, reason);
    return absl::OkStatus();
  }).IgnoreError();
  // Many threads may have waited for other machines.
  const base::Slots::Slot slot = slots_.Take(job.stop);
  if (job.stop.stop_requested()) return base::Stopped();
  DEVLINK_ASSIGN_OR_RETURN(const auto value, job.here());
  if (!job.take(value)) return absl::InternalError("a result could not be read back");
  return absl::OkStatus();
}

}  // namespace devlink::internal
