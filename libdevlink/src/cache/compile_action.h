// SPDX-License-Identifier: Apache-2.0
//
// Requests and results of compilations that may be done elsewhere, as bytes; and the way of a
// request to an executor and back.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/bounded_reader.h"
#include "base/slots.h"
#include "cache/serial.h"
#include "devlink/experimental/compile_executor.h"

namespace devlink::internal {

// What a request says in front of the job.
struct ActionHead {
  CompileKind kind = CompileKind::kPtx;
  std::string devlink_version;
  std::string tool_name;
  CacheKey tool_contents;
  std::vector<std::string> environment;
  std::vector<std::string> host_environment;
};

// A head of this version of devlink. The errors are those of FileContentKey.
absl::StatusOr<ActionHead> MakeActionHead(CompileKind kind, std::string_view tool_name,
                                          const std::string& tool_path);

void WriteHead(const ActionHead& head, FieldWriter& writer);
// Nothing where no request begins so.
std::optional<ActionHead> ReadHead(FieldReader& reader);

CacheKey KeyOfRequest(base::Bytes request);

// A result says what it is the result of, and whether it is whole.
std::vector<std::uint8_t> MakeResult(const CacheKey& key, base::Bytes value);
std::optional<base::Bytes> ValueOfResult(const CacheKey& key, base::Bytes result);

// Whether that is what any machine would say of a job, and not a fault of this one.
inline bool IsAnswer(const absl::Status& status) {
  return status.ok() || absl::IsInvalidArgument(status);
}

// The status of an answer: where it begins with the words `own`, others may take their place.
void WriteAnswer(const absl::Status& status, std::string_view own, FieldWriter& writer);
absl::Status ReadAnswer(FieldReader& reader, std::string_view own);

// What hands the jobs of one tool to an executor. Thread-safe.
class ActionClient {
 public:
  ActionClient(std::shared_ptr<const CompileExecutor> executor, ActionHead head,
               std::string tool_path);

  // What to do with a job, and with what came of it.
  struct Job {
    std::function<void(FieldWriter&)> write;  // behind the head of the request
    // Does it in this process: the value of its result, or why it is not an answer.
    std::function<absl::StatusOr<std::vector<std::uint8_t>>()> here;
    // Takes the value of a result; false where it is damaged.
    std::function<bool(base::Bytes)> take;
    std::stop_token stop;
  };
  // Ok where a result was taken; Cancelled where the job was to stop. Otherwise `here` has said
  // why it did not come to one.
  absl::Status Do(const Job& job) const;

  [[nodiscard]] unsigned parallelism() const { return executor_->Parallelism(); }

 private:
  std::shared_ptr<const CompileExecutor> executor_;
  ActionHead head_;
  std::string tool_path_;
  mutable base::Slots slots_;  // of what the executor leaves to this process
};

}  // namespace devlink::internal
