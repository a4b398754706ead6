// SPDX-License-Identifier: Apache-2.0
//
// GET and SET of devlink:KEY. libcurl finds the server, connects and encrypts, all within a time;
// hiredis knows the protocol. Its own way to connect and to wait bounds single steps only.
#include <hiredis/hiredis.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "base/visible_text.h"
#include "network/curl_handle.h"
#include "network/deadline.h"
#include "network/engine.h"
#include "network/entry_receiver.h"
#include "network/pool.h"

namespace devlink::internal {

namespace {

// --- One answer ----------------------------------------------------------------------------------

struct Reply {
  enum class Kind { kNone, kNothing, kEntry, kDone, kError } kind = Kind::kNone;
  EntryReceiver* receiver = nullptr;  // null where no bytes are expected
  std::string error;
  bool lacks_memory = false;
};

// hiredis calls these with what it has read; what they return it takes for the answer.
void* TakeString(const redisReadTask* task, char* text, std::size_t size) {
  auto& reply = *static_cast<Reply*>(task->privdata);
  try {
    if (task->type == REDIS_REPLY_STRING && reply.receiver != nullptr) {
      reply.receiver->Append({reinterpret_cast<const std::uint8_t*>(text), size});
      reply.kind = Reply::Kind::kEntry;
    } else if (task->type == REDIS_REPLY_STATUS && std::string_view(text, size) == "OK") {
      reply.kind = Reply::Kind::kDone;
    } else {
      constexpr std::size_t kMostOfError = 200;
      reply.kind = Reply::Kind::kError;
      reply.error = std::string(text, std::min(size, kMostOfError));
    }
  } catch (...) {
    reply.lacks_memory = true;
  }
  return &reply;
}
void* TakeNothing(const redisReadTask* task) {
  auto& reply = *static_cast<Reply*>(task->privdata);
  reply.kind = Reply::Kind::kNothing;
  return &reply;
}
// NOLINTNEXTLINE(google-runtime-int): the type of hiredis
void* TakeNumber(const redisReadTask* task, long long /*number*/) {
  auto& reply = *static_cast<Reply*>(task->privdata);
  reply.kind = Reply::Kind::kError;
  return &reply;
}
void KeepAnswer(void* /*reply*/) {}

// What is no answer to any question here: hiredis gives up where it gets no object.
redisReplyObjectFunctions Functions() {
  redisReplyObjectFunctions out = {};
  out.createString = TakeString;
  // The number of elements is an int or, in later releases of hiredis, a size.
  out.createArray = [](const redisReadTask*, auto) -> void* { return nullptr; };
  out.createInteger = TakeNumber;
  out.createNil = TakeNothing;
  out.freeObject = KeepAnswer;
  return out;
}

// --- One connection ------------------------------------------------------------------------------

struct FreeReader {
  void operator()(redisReader* reader) const { redisReaderFree(reader); }
};

// For one thread at a time. After a failed request it is of no more use.
class RedisConnection {
 public:
  static absl::StatusOr<std::unique_ptr<RedisConnection>> Open(const Endpoint& endpoint,
                                                               const NetworkCacheOptions& options,
                                                               const Deadline& deadline);

  // Sends a command and reads its answer. Unavailable before the first byte of an answer, with
  // `is_stale`, where the server has closed the connection meanwhile.
  absl::Status Ask(std::initializer_list<std::string_view> words, std::uint64_t max_answer,
                   const Deadline& deadline, Reply& reply, bool& is_stale);

 private:
  explicit RedisConnection(std::unique_ptr<CurlHandle> handle) : handle_(std::move(handle)) {}

  absl::Status Wait(short events, const Deadline& deadline) const;
  absl::Status SendAll(std::string_view text, const Deadline& deadline);
  absl::Status Receive(std::uint64_t max_answer, const Deadline& deadline, bool& is_stale);
  absl::Status Greet(const Endpoint& endpoint, const Deadline& deadline);

  std::unique_ptr<CurlHandle> handle_;
  redisReplyObjectFunctions functions_ = Functions();
  std::unique_ptr<redisReader, FreeReader> reader_;
};

absl::StatusOr<std::unique_ptr<RedisConnection>> RedisConnection::Open(
    const Endpoint& endpoint, const NetworkCacheOptions& options, const Deadline& deadline) {
  std::unique_ptr<CurlHandle> handle = CurlHandle::Create(endpoint, options);
  if (handle == nullptr) return NoMemoryForRequest();
  handle->Set(CURLOPT_CONNECT_ONLY, 1L);
  handle->Set(CURLOPT_SSL_ENABLE_ALPN, 0L);
  const auto limit = std::min(options.connect_timeout, deadline.Left());
  handle->Set(CURLOPT_CONNECTTIMEOUT_MS,
              static_cast<CurlNumber>(std::max<CurlNumber>(limit.count(), 1)));
  if (!endpoint.socket.empty()) handle->Set(CURLOPT_UNIX_SOCKET_PATH, endpoint.socket.c_str());
  const CURLcode code = handle->Perform();
  if (code != CURLE_OK) return handle->StatusOf(code);
  std::unique_ptr<RedisConnection> out(new RedisConnection(std::move(handle)));
  out->reader_.reset(redisReaderCreateWithFunctions(&out->functions_));
  if (out->reader_ == nullptr) return NoMemoryForRequest();
  DEVLINK_RETURN_IF_ERROR(out->Greet(endpoint, deadline));
  return out;
}

absl::Status RedisConnection::Greet(const Endpoint& endpoint, const Deadline& deadline) {
  constexpr std::uint64_t kShortAnswer = 512;
  const auto expect_ok = [&](std::initializer_list<std::string_view> words) -> absl::Status {
    Reply reply;
    bool is_stale = false;
    DEVLINK_RETURN_IF_ERROR(Ask(words, kShortAnswer, deadline, reply, is_stale));
    if (reply.kind == Reply::Kind::kDone) return absl::OkStatus();
    return absl::FailedPreconditionError(
        base::Cat({"answered ", *words.begin(), " with '", base::VisibleText(reply.error), "'"}));
  };
  if (!endpoint.user.empty()) {
    DEVLINK_RETURN_IF_ERROR(expect_ok({"AUTH", endpoint.user, endpoint.password}));
  } else if (!endpoint.password.empty()) {
    DEVLINK_RETURN_IF_ERROR(expect_ok({"AUTH", endpoint.password}));
  }
  if (endpoint.database == 0) return absl::OkStatus();
  return expect_ok({"SELECT", std::to_string(endpoint.database)});
}

absl::Status RedisConnection::Wait(short events, const Deadline& deadline) const {
  curl_socket_t socket = CURL_SOCKET_BAD;
  curl_easy_getinfo(handle_->get(), CURLINFO_ACTIVESOCKET, &socket);
  if (socket == CURL_SOCKET_BAD) return absl::UnavailableError("the connection is gone");
  pollfd waiting = {.fd = socket, .events = events, .revents = 0};
  while (true) {
    const auto left = deadline.Left().count();
    if (left == 0) return absl::DeadlineExceededError("did not answer in time");
    const int ready = poll(&waiting, 1, static_cast<int>(left));
    if (ready > 0) return absl::OkStatus();
    if (ready < 0 && errno != EINTR) return absl::UnavailableError("the connection is gone");
  }
}

absl::Status RedisConnection::SendAll(std::string_view text, const Deadline& deadline) {
  while (!text.empty()) {
    std::size_t sent = 0;
    const CURLcode code = curl_easy_send(handle_->get(), text.data(), text.size(), &sent);
    if (code == CURLE_AGAIN) {
      DEVLINK_RETURN_IF_ERROR(Wait(POLLOUT, deadline));
      continue;
    }
    if (code != CURLE_OK) return absl::UnavailableError("closed the connection");
    text.remove_prefix(sent);
  }
  return absl::OkStatus();
}

absl::Status RedisConnection::Receive(std::uint64_t max_answer, const Deadline& deadline,
                                      bool& is_stale) {
  // A line that does not end is read again by hiredis with each piece.
  constexpr std::uint64_t kLongestLine = 4096;
  std::array<char, std::size_t{64} << 10> piece;
  std::uint64_t received = 0;
  bool has_line = false;
  while (true) {
    std::size_t size = 0;
    const CURLcode code = curl_easy_recv(handle_->get(), piece.data(), piece.size(), &size);
    if (code == CURLE_AGAIN) {
      DEVLINK_RETURN_IF_ERROR(Wait(POLLIN, deadline));
      continue;
    }
    if (code != CURLE_OK || size == 0) {
      is_stale = received == 0;
      return absl::UnavailableError("closed the connection");
    }
    // Pieces may come without end and without a pause.
    if (deadline.Left().count() == 0) return absl::DeadlineExceededError("did not answer in time");
    received += size;
    has_line = has_line || std::memchr(piece.data(), '\n', size) != nullptr;
    if (received > max_answer || (!has_line && received > kLongestLine)) {
      return absl::DataLossError("answered with more than an entry can have");
    }
    if (redisReaderFeed(reader_.get(), piece.data(), size) != REDIS_OK) return NoMemoryForRequest();
    void* answer = nullptr;
    if (redisReaderGetReply(reader_.get(), &answer) != REDIS_OK) {
      return absl::DataLossError("answered with what is not the protocol of Redis");
    }
    if (answer != nullptr) return absl::OkStatus();
  }
}

absl::Status RedisConnection::Ask(std::initializer_list<std::string_view> words,
                                  std::uint64_t max_answer, const Deadline& deadline, Reply& reply,
                                  bool& is_stale) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string_view word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  char* command = nullptr;
  const int size =
      redisFormatCommandArgv(&command, static_cast<int>(texts.size()), texts.data(), sizes.data());
  if (size < 0) return NoMemoryForRequest();
  const absl::Cleanup free_command = [&] { redisFreeCommand(command); };
  const PipeSignalBlock block;
  if (absl::Status sent = SendAll({command, static_cast<std::size_t>(size)}, deadline);
      !sent.ok()) {
    is_stale = sent.code() == absl::StatusCode::kUnavailable;
    return sent;
  }
  reader_->privdata = &reply;
  DEVLINK_RETURN_IF_ERROR(Receive(max_answer, deadline, is_stale));
  if (reply.lacks_memory) return NoMemoryForRequest();
  // More than the answer: whatever it is, it answers nothing that was asked.
  if (reader_->pos != reader_->len) return absl::DataLossError("answered more than was asked");
  return absl::OkStatus();
}

// --- The engine ----------------------------------------------------------------------------------

class RedisEngine final : public CacheEngine {
 public:
  RedisEngine(Endpoint endpoint, NetworkCacheOptions options)
      : endpoint_(std::move(endpoint)),
        options_(std::move(options)),
        idle_(options_.max_idle_connections) {}

  absl::StatusOr<std::optional<std::vector<std::uint8_t>>> Get(const CacheKey& key) override {
    EntryReceiver receiver(options_.max_entry_bytes);
    Reply reply{.receiver = &receiver};
    DEVLINK_RETURN_IF_ERROR(Request({"GET", NameOf(key)}, reply));
    if (reply.kind == Reply::Kind::kNothing) return std::nullopt;
    if (reply.kind != Reply::Kind::kEntry) return Unexpected(reply);
    std::vector<std::uint8_t> value;
    DEVLINK_RETURN_IF_ERROR(receiver.Finish(key, value));
    return value;
  }

  absl::Status Put(const CacheKey& key, base::Bytes value) override {
    const EntryHeader header = HeaderOfEntry(key, value);
    const std::string entry =
        base::Cat({{reinterpret_cast<const char*>(&header), sizeof(header)},
                   {reinterpret_cast<const char*>(value.data()), value.size()}});
    Reply reply;
    const std::string seconds = std::to_string(options_.expiry.count());
    DEVLINK_RETURN_IF_ERROR(options_.expiry.count() > 0
                                ? Request({"SET", NameOf(key), entry, "EX", seconds}, reply)
                                : Request({"SET", NameOf(key), entry}, reply));
    if (reply.kind == Reply::Kind::kDone) return absl::OkStatus();
    if (reply.error.starts_with("OOM ")) {
      return NoRoomFor(value);
    }
    return Unexpected(reply);
  }

 private:
  static std::string NameOf(const CacheKey& key) { return base::Cat({"devlink:", key.Hex()}); }
  static absl::Status Unexpected(const Reply& reply) {
    return absl::FailedPreconditionError(
        base::Cat({"answered with '", base::VisibleText(reply.error), "'"}));
  }

  absl::Status Request(std::initializer_list<std::string_view> words, Reply& reply) {
    constexpr std::uint64_t kRoomForLines = 64;
    const std::uint64_t max_answer = options_.max_entry_bytes + sizeof(EntryHeader) + kRoomForLines;
    const Deadline deadline(options_.request_timeout);
    bool is_stale = false;
    // One that waited may have been closed by the server long ago; so may all that wait.
    while (std::unique_ptr<RedisConnection> waiting = idle_.Take()) {
      const absl::Status asked = waiting->Ask(words, max_answer, deadline, reply, is_stale);
      if (asked.ok()) idle_.GiveBack(std::move(waiting));
      if (asked.ok() || !is_stale) return asked;
      is_stale = false;
    }
    DEVLINK_ASSIGN_OR_RETURN(auto fresh, RedisConnection::Open(endpoint_, options_, deadline));
    DEVLINK_RETURN_IF_ERROR(fresh->Ask(words, max_answer, deadline, reply, is_stale));
    idle_.GiveBack(std::move(fresh));
    return absl::OkStatus();
  }

  const Endpoint endpoint_;
  const NetworkCacheOptions options_;
  Pool<RedisConnection> idle_;
};

}  // namespace

std::unique_ptr<CacheEngine> CreateRedisEngine(const Endpoint& endpoint,
                                               const NetworkCacheOptions& options) {
  return std::make_unique<RedisEngine>(endpoint, options);
}

}  // namespace devlink::internal
