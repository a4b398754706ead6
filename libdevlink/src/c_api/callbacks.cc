// SPDX-License-Identifier: Apache-2.0
#include "c_api/callbacks.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace devlink::c_api {

absl::Status CallbackEnvironment::Check(const dl_environment& given) {
  if ((given.read_file == nullptr) != (given.exists == nullptr)) {
    return absl::InvalidArgumentError("read_file and exists of an environment go together");
  }
  if ((given.reserve_memory == nullptr) != (given.release_memory == nullptr)) {
    return absl::InvalidArgumentError(
        "reserve_memory and release_memory of an environment go together");
  }
  return absl::OkStatus();
}

absl::StatusOr<FileContents> CallbackEnvironment::ReadFile(const std::string& path,
                                                           std::uint64_t max_bytes) const {
  if (given_.read_file == nullptr) return base().ReadFile(path, max_bytes);
  dl_receiver receiver{.max_bytes = max_bytes, .bytes = {}, .file = {}, .inputs = {}};
  const dl_status status = given_.read_file(given_.user, path.c_str(), max_bytes, &receiver);
  if (status != DL_OK) return StatusOfCallback(status, "read_file");
  if (!receiver.file) {
    return absl::InternalError("the callback read_file returned 0 and set no file");
  }
  return *std::move(receiver.file);
}

bool CallbackEnvironment::Exists(const std::string& path) const {
  return given_.exists == nullptr ? base().Exists(path)
                                  : given_.exists(given_.user, path.c_str()) != 0;
}

unsigned CallbackEnvironment::Parallelism() const {
  return given_.parallelism == nullptr ? base().Parallelism()
                                       : std::max(given_.parallelism(given_.user), 1U);
}

void CallbackEnvironment::RunWorkers(unsigned workers,
                                     const std::function<void(unsigned worker)>& work) const {
  if (given_.run_workers == nullptr) return base().RunWorkers(workers, work);
  const dl_work handed{.work = &work, .workers = workers};
  given_.run_workers(given_.user, workers, &handed);
}

absl::Status CallbackEnvironment::ReserveMemory(std::uint64_t bytes) const {
  if (given_.reserve_memory == nullptr) return base().ReserveMemory(bytes);
  if (given_.reserve_memory(given_.user, bytes) != 0) return absl::OkStatus();
  return absl::ResourceExhaustedError("the callback reserve_memory gives no leave");
}

void CallbackEnvironment::ReleaseMemory(std::uint64_t bytes) const {
  if (given_.release_memory == nullptr) return base().ReleaseMemory(bytes);
  given_.release_memory(given_.user, bytes);
}

void CallbackLog::Write(LogLevel level, std::string_view line) {
  const std::string text(line);  // with a NUL behind it
  callback_(user_, static_cast<dl_log_level>(level), TextOf(text));
}

void CallbackProgress::Report(const ProgressEvent& event) {
  const std::string subject(event.subject);
  const dl_progress progress = {.size = sizeof progress,
                                .phase = static_cast<dl_phase>(event.phase),
                                .done = event.done,
                                .total = event.total,
                                .reserved = 0,
                                .subject = TextOf(subject)};
  callback_(user_, &progress);
}

absl::StatusOr<std::vector<MemoryInput>> CallbackDefinitions::Provide(
    std::span<const UndefinedSymbol> undefined) {
  std::vector<std::vector<dl_text>> inputs;
  std::vector<dl_undefined_symbol> symbols;
  for (const UndefinedSymbol& symbol : undefined) {
    std::vector<dl_text>& names = inputs.emplace_back();
    for (const std::string& input : symbol.inputs) names.push_back(TextOf(input));
    // A vector that moves keeps its elements where they are.
    symbols.push_back({.name = TextOf(symbol.name),
                       .kind = static_cast<dl_symbol_kind>(symbol.kind),
                       .reserved = 0,
                       .inputs = names.data(),
                       .input_count = names.size()});
  }
  dl_receiver receiver{.max_bytes = max_input_bytes_, .bytes = {}, .file = {}, .inputs = {}};
  const dl_status status = callback_(user_, symbols.data(), symbols.size(), &receiver);
  if (status != DL_OK) return StatusOfCallback(status, "undefined");
  return std::move(receiver.inputs);
}

CallbackStore::~CallbackStore() {
  if (given_.release != nullptr) given_.release(given_.user);
}

absl::StatusOr<std::optional<std::vector<std::uint8_t>>> CallbackStore::Find(const CacheKey& key) {
  dl_receiver receiver;
  const dl_status status = given_.find(given_.user, key.bytes.data(), &receiver);
  if (status == DL_NOT_FOUND) return std::nullopt;
  if (status != DL_OK) return StatusOfCallback(status, "find");
  if (!receiver.bytes) return absl::InternalError("the callback find returned 0 and set no bytes");
  return std::move(receiver.bytes);
}

absl::Status CallbackStore::Store(const CacheKey& key, std::span<const std::uint8_t> value) {
  return StatusOfCallback(given_.store(given_.user, key.bytes.data(), value.data(), value.size()),
                          "store");
}

absl::Status CallbackSink::Begin(std::uint64_t size) {
  return given_.begin == nullptr ? absl::OkStatus()
                                 : StatusOfCallback(given_.begin(given_.user, size), "begin");
}

absl::Status CallbackSink::Append(std::span<const std::uint8_t> bytes) {
  return StatusOfCallback(given_.append(given_.user, bytes.data(), bytes.size()), "append");
}

}  // namespace devlink::c_api

namespace c_api = devlink::c_api;

namespace {

absl::Status CheckSize(const dl_receiver& receiver, std::size_t size) {
  return size <= receiver.max_bytes
             ? absl::OkStatus()
             : absl::ResourceExhaustedError("it is larger than the bound on one input");
}

}  // namespace

extern "C" {

dl_status dl_receiver_set_bytes(dl_receiver* receiver, const void* data, size_t size) {
  return c_api::Run(nullptr, [&]() -> absl::Status {
    if (receiver == nullptr) return c_api::Missing("the receiver");
    if (data == nullptr && size != 0) return c_api::Missing("the value");
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    receiver->bytes.emplace(bytes, bytes + size);
    return absl::OkStatus();
  });
}

dl_status dl_receiver_set_file(dl_receiver* receiver, const void* data, size_t size,
                               uint64_t device, uint64_t inode) {
  return c_api::Run(nullptr, [&]() -> absl::Status {
    if (receiver == nullptr) return c_api::Missing("the receiver");
    if (data == nullptr && size != 0) return c_api::Missing("the file");
    if (absl::Status fits = CheckSize(*receiver, size); !fits.ok()) return fits;
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    receiver->file.emplace(
        devlink::FileContents{.bytes = std::vector<std::uint8_t>(bytes, bytes + size),
                              .identity = {.device = device, .inode = inode}});
    return absl::OkStatus();
  });
}

dl_status dl_receiver_add_input(dl_receiver* receiver, const char* name, const void* data,
                                size_t size) {
  return c_api::Run(nullptr, [&]() -> absl::Status {
    if (receiver == nullptr) return c_api::Missing("the receiver");
    if (name == nullptr) return c_api::Missing("the name");
    if (data == nullptr && size != 0) return c_api::Missing("the input");
    if (absl::Status fits = CheckSize(*receiver, size); !fits.ok()) return fits;
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    receiver->inputs.push_back(
        {.name = name, .bytes = std::vector<std::uint8_t>(bytes, bytes + size)});
    return absl::OkStatus();
  });
}

// The library's workers do not throw.
void dl_work_run(const dl_work* work, uint32_t worker) {
  if (work != nullptr && worker < work->workers) (*work->work)(worker);
}

}  // extern "C"
