// SPDX-License-Identifier: Apache-2.0
#include "plan/input_reader.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <stop_token>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/guard.h"
#include "base/memory_reservation.h"
#include "base/status_macros.h"
#include "base/stop.h"
#include "plan/settings.h"

namespace devlink::internal {

namespace {

// Calls `read` if there is memory for so many bytes, which belong to its record from then on.
template <typename Read>
InputRecordRef WithMemory(std::string_view name, std::uint64_t bytes, const LinkContext& context,
                          const Read& read, Turns::Turn* turn = nullptr) {
  struct Kept {
    base::MemoryReservation memory;
    InputRecordRef record;
  };
  if (turn != nullptr) turn->Await();
  auto memory = base::MemoryReservation::Make(context.environment, bytes);
  if (turn != nullptr) turn->End();
  if (!memory.ok()) return RecordUnreadable(std::string(name), memory.status());
  auto kept = std::make_shared<Kept>(Kept{*std::move(memory), read()});
  const InputRecord* record = kept->record.get();
  return {std::move(kept), record};
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

absl::StatusOr<std::vector<std::uint8_t>> InputReader::Bytes(const std::string& path) const {
  DEVLINK_ASSIGN_OR_RETURN(FileContents file,
                           context_.environment.ReadFile(path, options_.max_input_bytes));
  return std::move(file.bytes);
}

InputRecordRef InputReader::ReadPath(const std::string& path, Turns::Turn* turn) const {
  const TimeSpan span(context_.time_trace, "read input", path);
  auto file = context_.environment.ReadFile(path, options_.max_input_bytes);
  if (!file.ok()) return RecordUnreadable(path, file.status());
  InputSettings settings = settings_;
  settings.read_file = [this](const std::string& member) { return Bytes(member); };
  const auto read = [&] {
    return ReadInput(path, std::move(file->bytes), settings, context_.pool, file->identity);
  };
  return WithMemory(path, file->bytes.size(), context_, read, turn);
}

InputRecordRef InputReader::ReadBytes(std::string_view name, std::vector<std::uint8_t>&& bytes,
                                      Turns::Turn* turn) const {
  const TimeSpan span(context_.time_trace, "read input", name);
  InputSettings settings = settings_;
  // What came from memory opens no file unless the caller wants it to.
  if (options_.read_thin_members) {
    settings.read_file = [this](const std::string& member) { return Bytes(member); };
  }
  const auto read = [&] { return ReadInput(name, std::move(bytes), settings, context_.pool); };
  return WithMemory(name, bytes.size(), context_, read, turn);
}

InputRecordRef InputReader::ReadCubin(std::string_view name, std::vector<std::uint8_t>&& bytes,
                                      HostReferences references) const {
  return WithMemory(name, bytes.size(), context_, [&] {
    return internal::ReadCubin(name, std::move(bytes), std::move(references), settings_,
                               context_.pool);
  });
}

InputRecordRef InputReader::ReadCubin(std::string_view name, base::Bytes bytes,
                                      HostReferences references) const {
  return WithMemory(name, bytes.size(), context_, [&] {
    return internal::ReadCubin(name, bytes, std::move(references), settings_, context_.pool);
  });
}

absl::StatusOr<std::vector<InputRecordRef>> ReadAll(
    std::size_t count, const LinkOptions& options, const Environment& environment,
    absl::FunctionRef<InputRecordRef(std::size_t, Turns::Turn&)> read) {
  // Starting a thread costs as much as reading a few inputs of ordinary size.
  constexpr std::size_t kWorthAThread = 4;
  const std::stop_token stop = environment.StopToken();
  std::vector<InputRecordRef> records(count);
  std::vector<absl::Status> statuses(count);
  std::atomic<std::size_t> next = 0;
  Turns turns;
  const auto work = [&](unsigned /*worker*/) {
    for (std::size_t i = next++; i < count; i = next++) {
      Turns::Turn turn(turns, i);  // also of one that is not read: others wait for it
      statuses[i] = base::Guard([&] {
        DEVLINK_RETURN_IF_ERROR(base::CheckStop(stop));
        records[i] = read(i, turn);
        return absl::OkStatus();
      });
    }
  };
  std::size_t workers = count / kWorthAThread;
  if (workers > 1) {
    const unsigned threads = options.parallel.threads;
    workers = std::min<std::size_t>(workers, threads != 0 ? threads : environment.Parallelism());
  }
  if (workers > 1) {
    environment.RunWorkers(static_cast<unsigned>(workers), work);
  } else {
    work(0);
  }
  for (const absl::Status& status : statuses) DEVLINK_RETURN_IF_ERROR(status);
  return records;
}

}  // namespace devlink::internal
