// SPDX-License-Identifier: Apache-2.0
#include "plan/input_reader.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/guard.h"
#include "base/status_macros.h"
#include "base/stop.h"
#include "base/workers.h"
#include "plan/settings.h"

namespace devlink::internal {

namespace {

// Whether one input may be so large. Files are not read beyond that.
absl::Status CheckSize(std::uint64_t bytes, std::uint64_t most) {
  if (bytes <= most) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(bytes, " bytes are more than the limit of ",
                                                   most, " (the option max_input_bytes)"));
}

// Calls `read` if there is memory for so many bytes. What comes of them spends the same lease.
template <typename Read>
InputRecordRef WithMemory(std::string_view name, std::uint64_t bytes, std::uint64_t most,
                          base::MemoryLease& lease, const Read& read, Turns::Turn* turn = nullptr) {
  if (turn != nullptr) turn->Await();
  absl::Status leave = CheckSize(bytes, most);
  if (leave.ok()) leave = lease.Take(bytes);
  if (turn != nullptr) turn->End();
  return leave.ok() ? read() : RecordUnreadable(std::string(name), leave);
}

// Also where that does not fail the record, as in a device runtime that may not be needed.
bool LacksMemory(const SectionRecord& section) {
  return absl::IsResourceExhausted(section.status) ||
         std::ranges::any_of(section.code, [](const CodeRecord& code) {
           return code.rejection != nullptr &&
                  code.rejection->code == absl::StatusCode::kResourceExhausted;
         });
}

bool LacksMemory(const InputRecordRef& record) {
  if (record == nullptr) return false;
  return absl::IsResourceExhausted(record->status) ||
         std::ranges::any_of(record->objects, [](const ObjectRecord& object) {
           return std::ranges::any_of(
               object.sections, [](const SectionRecord& section) { return LacksMemory(section); });
         });
}

}  // namespace

void Turns::Turn::Await() {
  std::unique_lock lock(turns_.mutex_);
  turns_.changed_.wait(lock, [this] { return turns_.now_ == number_; });
}

void Turns::Turn::End() {
  if (std::exchange(ended_, true)) return;
  Await();
  {
    const std::lock_guard lock(turns_.mutex_);
    ++turns_.now_;
  }
  turns_.changed_.notify_all();
}

InputReader::InputReader(const LinkOptions& options, const LinkContext& context)
    : options_(options), context_(context), settings_(InputSettingsOf(options)) {}

std::shared_ptr<base::MemoryLease> InputReader::Lease() const {
  return std::make_shared<base::MemoryLease>(context_.environment, context_.memory);
}

InputSettings InputReader::Settings() const {
  InputSettings settings = settings_;
  settings.memory = Lease();
  settings.zstd = &zstd_;
  return settings;
}

absl::StatusOr<FileContents> InputReader::ReadFile(const std::string& path,
                                                   const base::MemoryLease& lease) const {
  return context_.environment.ReadFile(path, std::min(options_.max_input_bytes, lease.left()));
}

FileReader InputReader::MemberReader(base::MemoryLease& lease) const {
  return [this, &lease](const std::string& path) -> absl::StatusOr<std::vector<std::uint8_t>> {
    DEVLINK_ASSIGN_OR_RETURN(FileContents file, ReadFile(path, lease));
    DEVLINK_RETURN_IF_ERROR(lease.Take(file.bytes.size()));
    return std::move(file.bytes);
  };
}

InputRecordRef InputReader::ReadPath(const std::string& path, Turns::Turn* turn) const {
  const TimeSpan span(context_.time_trace, "read input", path);
  InputSettings settings = Settings();
  auto file = ReadFile(path, *settings.memory);
  if (!file.ok()) return RecordUnreadable(path, file.status());
  settings.read_file = MemberReader(*settings.memory);
  const auto read = [&] {
    return ReadInput(path, std::move(file->bytes), settings, context_.pool, file->identity);
  };
  return WithMemory(path, file->bytes.size(), options_.max_input_bytes, *settings.memory, read,
                    turn);
}

InputRecordRef InputReader::ReadBytes(std::string_view name, std::vector<std::uint8_t>&& bytes,
                                      Turns::Turn* turn) const {
  const TimeSpan span(context_.time_trace, "read input", name);
  InputSettings settings = Settings();
  // What came from memory opens no file unless the caller wants it to.
  if (options_.read_thin_members) {
    settings.read_file = MemberReader(*settings.memory);
  }
  const auto read = [&] { return ReadInput(name, std::move(bytes), settings, context_.pool); };
  return WithMemory(name, bytes.size(), options_.max_input_bytes, *settings.memory, read, turn);
}

InputRecordRef InputReader::ReadCopy(std::string_view name, base::Bytes bytes,
                                     Turns::Turn* turn) const {
  const TimeSpan span(context_.time_trace, "read input", name);
  InputSettings settings = Settings();
  if (options_.read_thin_members) {
    settings.read_file = MemberReader(*settings.memory);
  }
  const auto read = [&] {
    return ReadInput(name, {bytes.begin(), bytes.end()}, settings, context_.pool);
  };
  return WithMemory(name, bytes.size(), options_.max_input_bytes, *settings.memory, read, turn);
}

InputRecordRef InputReader::ReadCubin(std::string_view name, std::vector<std::uint8_t>&& bytes,
                                      HostReferences references) const {
  const InputSettings settings = Settings();
  return WithMemory(name, bytes.size(), options_.max_input_bytes, *settings.memory, [&] {
    return internal::ReadCubin(name, std::move(bytes), std::move(references), settings,
                               context_.pool);
  });
}

InputRecordRef InputReader::ReadCubin(std::string_view name, base::Bytes bytes,
                                      HostReferences references) const {
  const InputSettings settings = Settings();
  return WithMemory(name, bytes.size(), options_.max_input_bytes, *settings.memory, [&] {
    return internal::ReadCubin(name, bytes, std::move(references), settings, context_.pool);
  });
}

namespace {

// Records of some inputs, and what kept one of them from being made.
struct Block {
  std::vector<InputRecordRef> records;
  std::vector<absl::Status> statuses;

  // Leaves out what follows the first that failed.
  void EndAtFailure() {
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (!statuses[i].ok() || !records[i]->status.ok()) return records.resize(i + 1);
    }
  }

  [[nodiscard]] bool LacksMemory() const {
    return std::ranges::any_of(
        records, [](const InputRecordRef& record) { return internal::LacksMemory(record); });
  }
};

Block ReadBlock(std::size_t begin, std::size_t count, unsigned workers, bool in_turns,
                const Environment& environment, const std::stop_token& stop, RecordReader read) {
  Block out{.records = std::vector<InputRecordRef>(count),
            .statuses = std::vector<absl::Status>(count)};
  std::atomic<std::size_t> next = 0;
  Turns turns;
  const auto work = [&](unsigned /*worker*/) {
    for (std::size_t i = next++; i < count; i = next++) {
      std::optional<Turns::Turn> turn;
      if (in_turns) turn.emplace(turns, i);  // also of one that is not read: others wait for it
      out.statuses[i] = base::Guard([&] {
        DEVLINK_RETURN_IF_ERROR(base::CheckStop(stop));
        out.records[i] = read(begin + i, turn.has_value() ? &*turn : nullptr);
        return absl::OkStatus();
      });
    }
  };
  base::RunWorkers(environment, workers, work);
  return out;
}

// So many inputs are read before it is asked whether threads would pay.
constexpr std::size_t kFirst = 1;
// And so many more before it is asked again, where they would not.
constexpr std::size_t kNext = 8;

// How many threads pay for what is still to be read, judged by what the inputs so far took. To
// start one costs as much as reading some tens of small inputs, or a few of ordinary size.
std::size_t WorthwhileThreads(const std::vector<InputRecordRef>& records, std::size_t count) {
  constexpr std::size_t kInputs = 32;
  constexpr std::uint64_t kBytes = 128 << 10;
  if (records.size() < kFirst) return 1;
  std::uint64_t taken = 0;
  for (const InputRecordRef& record : records) {
    if (record->memory != nullptr) taken += record->memory->taken();
  }
  const std::size_t left = count - records.size();
  const std::uint64_t each = taken / records.size();
  const std::uint64_t by_size = each > kBytes ? left : each * left / kBytes;
  return std::max<std::size_t>({1, left / kInputs, static_cast<std::size_t>(by_size)});
}

}  // namespace

absl::StatusOr<std::vector<InputRecordRef>> ReadAll(std::size_t count, const LinkOptions& options,
                                                    const Environment& environment,
                                                    bool may_read_again, RecordReader read) {
  // Where the first that fails ends the link, others are read with it that are behind it: which
  // ones must not depend on threads.
  constexpr std::size_t kReadTogether = 256;
  const bool ends = options.end_at_rejected_input;
  const std::stop_token stop = environment.StopToken();
  std::vector<InputRecordRef> records;
  records.reserve(count);
  while (records.size() < count) {
    const std::size_t begin = records.size();
    const std::size_t worth = WorthwhileThreads(records, count);
    const unsigned workers =
        worth == 1 ? 1 : base::WorkersFor(worth, options.parallel.threads, environment);
    const std::size_t few = ends ? 1 : begin < kFirst ? kFirst : kNext;
    const std::size_t together = worth == 1 ? few : ends ? kReadTogether : count;
    const auto read_block = [&](unsigned threads) {
      // To wait for each other costs what the threads gain. Where nobody is refused, nobody would
      // be in turns; where somebody is, all are asked again.
      Block out = ReadBlock(begin, std::min(together, count - begin), threads,
                            threads > 1 && !may_read_again, environment, stop, read);
      if (ends) out.EndAtFailure();
      return out;
    };
    Block block = read_block(workers);
    if (workers > 1 && may_read_again && block.LacksMemory()) {
      // Who gets what is left must not depend on threads.
      block = Block();
      block = read_block(1);
    }
    for (std::size_t i = 0; i < block.records.size(); ++i) {
      DEVLINK_RETURN_IF_ERROR(block.statuses[i]);
      records.push_back(std::move(block.records[i]));
    }
    if (ends && !records.back()->status.ok()) break;
  }
  return records;
}

}  // namespace devlink::internal
