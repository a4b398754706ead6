// SPDX-License-Identifier: Apache-2.0
//
// Caches on servers, in front of servers that do their work, and of servers that do not.
#include "devlink/experimental/network_cache.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cache/entry.h"
#include "network/endpoint.h"
#include "support/catch.h"
#include "support/process.h"
#include "unit/network/test_server.h"

namespace devlink::testing {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;
using Clock = std::chrono::steady_clock;

CacheKey KeyOf(std::string_view text) { return CacheKeyBuilder("test").Text("t", text).Build(); }

std::shared_ptr<CacheStore> Open(NetworkCacheOptions options) {
  auto store = CreateNetworkCache(std::move(options));
  INFO(store.status().ToString());
  REQUIRE(store.ok());
  return *std::move(store);
}

// With patience for any number of faults.
NetworkCacheOptions Patient(std::string url) {
  return {.url = std::move(url),
          .connect_timeout = 10s,
          .request_timeout = 10s,
          .max_faults = 1000,
          .max_lost_time = 1h,
          .max_entry_bytes = 1000};
}

std::string EntryOf(const CacheKey& key, const Bytes& value) {
  const internal::EntryHeader header = internal::HeaderOfEntry(key, value);
  std::string out(reinterpret_cast<const char*>(&header), sizeof(header));
  return out.append(value.begin(), value.end());
}

std::string Redis(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

absl::StatusCode FindCode(CacheStore& store, const CacheKey& key) {
  const auto found = store.Find(key);
  INFO(found.status().ToString());
  if (found.ok()) CHECK_FALSE(found->has_value());
  return found.status().code();
}

Bytes Find(CacheStore& store, const CacheKey& key) {
  const auto found = store.Find(key);
  INFO(found.status().ToString());
  REQUIRE(found.ok());
  return found->value_or(Bytes{});
}

// ---- Servers that work
// -----------------------------------------------------------------------------

TEST_CASE("What is put on an HTTP server comes back from it", "[network]") {
  HttpFolder folder;
  TestServer server([&](Connection& connection) { folder.Serve(connection); });
  const auto store = Open({.url = "http://" + server.Host() + "/a/b/"});
  CHECK_FALSE(store->Find(KeyOf("x"))->has_value());
  REQUIRE(store->Store(KeyOf("x"), Bytes{1, 2, 3}).ok());
  REQUIRE(store->Store(KeyOf("y"), Bytes{}).ok());
  REQUIRE(store->Store(KeyOf("x"), Bytes{1, 2, 3, 4}).ok());
  const Bytes large(3'000'000, 7);
  REQUIRE(store->Store(KeyOf("z"), large).ok());
  const auto other = Open({.url = "http://" + server.Host() + "/a/b"});
  CHECK(Find(*other, KeyOf("x")) == Bytes{1, 2, 3, 4});
  REQUIRE(other->Find(KeyOf("y"))->has_value());
  CHECK(Find(*other, KeyOf("y")).empty());
  CHECK(Find(*other, KeyOf("z")) == large);
  // The layout is a promise to other versions and to who looks after the server.
  CHECK(folder.files().at("/a/b/ac/" + KeyOf("x").Hex()) == EntryOf(KeyOf("x"), {1, 2, 3, 4}));
  // One connection each.
  CHECK(server.connections() == 2);
  CHECK(store->OfThisMachine() == nullptr);
}

TEST_CASE("What is set in Redis comes back from it", "[network]") {
  RedisTable table;
  TestServer server([&](Connection& connection) { table.Serve(connection); });
  const auto store = Open({.url = "redis://us%20er:p%40ss@" + server.Host() + "/5", .expiry = 2h});
  CHECK_FALSE(store->Find(KeyOf("x"))->has_value());
  REQUIRE(store->Store(KeyOf("x"), Bytes{1, 2, 3}).ok());
  const Bytes large(3'000'000, 7);
  REQUIRE(store->Store(KeyOf("z"), large).ok());
  CHECK(Find(*store, KeyOf("x")) == Bytes{1, 2, 3});
  CHECK(Find(*store, KeyOf("z")) == large);
  CHECK(server.connections() == 1);
  const std::string name = "devlink:" + KeyOf("x").Hex();
  CHECK(table.values().at(name) == EntryOf(KeyOf("x"), {1, 2, 3}));
  const auto commands = table.commands();
  REQUIRE(commands.size() >= 4);
  using Words = std::vector<std::string>;
  CHECK(commands[0] == Words{"AUTH", "us er", "p@ss"});
  CHECK(commands[1] == Words{"SELECT", "5"});
  CHECK(commands[2] == Words{"GET", name});
  CHECK(commands[3] == Words{"SET", name, EntryOf(KeyOf("x"), {1, 2, 3}), "EX", "7200"});

  const auto plain = Open({.url = "redis://secret@" + server.Host()});
  REQUIRE(plain->Store(KeyOf("y"), Bytes{4}).ok());
  CHECK(table.commands().at(table.commands().size() - 2) == Words{"AUTH", "secret"});
  CHECK(table.commands().back().size() == 3);
}

TEST_CASE("A server may close each connection after its answer", "[network]") {
  HttpFolder folder;
  TestServer http([&](Connection& connection) { folder.Serve(connection, 1); });
  RedisTable table;
  TestServer redis([&](Connection& connection) { table.Serve(connection, 1); });
  for (const std::string& url : {"http://" + http.Host(), "redis://" + redis.Host()}) {
    CAPTURE(url);
    const auto store = Open({.url = url});
    for (std::uint8_t i = 0; i < 5; ++i) {
      const CacheKey key = KeyOf(std::to_string(i));
      CHECK(store->Store(key, Bytes(100'000, i)).ok());
      std::this_thread::sleep_for(20ms);
      CHECK(Find(*store, key) == Bytes(100'000, i));
      std::this_thread::sleep_for(20ms);
    }
  }
}

TEST_CASE("Many threads use one store, each connection again and again", "[network]") {
  HttpFolder folder;
  TestServer http([&](Connection& connection) { folder.Serve(connection); });
  RedisTable table;
  TestServer redis([&](Connection& connection) { table.Serve(connection); });
  constexpr int kThreads = 8;
  for (const std::string& url : {"http://" + http.Host(), "redis://" + redis.Host()}) {
    const auto store = Open({.url = url});
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 30; ++i) {
          // Half of the keys are everybody's.
          const std::string name = std::to_string(i % 2 == 0 ? i : (1000 * t) + i);
          const Bytes value(static_cast<std::size_t>(i) * 100, static_cast<std::uint8_t>(i));
          if (!store->Store(KeyOf(name), value).ok()) ++wrong;
          const auto found = store->Find(KeyOf(name));
          if (!found.ok() || *found != value) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
  }
  CHECK(http.connections() <= kThreads);
  CHECK(redis.connections() <= kThreads);
}

TEST_CASE("Users and tokens go to the server as the caller gave them", "[network]") {
  HttpFolder folder;
  TestServer server([&](Connection& connection) { folder.Serve(connection); });
  const auto head = [&](NetworkCacheOptions options) {
    Open(std::move(options))->Find(KeyOf("x")).IgnoreError();
    return folder.requests().back().head;
  };
  CHECK(head({.url = "http://me:p%3Ass@" + server.Host()}).find("Basic bWU6cDpzcw==") !=
        std::string::npos);
  CHECK(head({.url = "http://" + server.Host(), .bearer_token = "abc.def"})
            .find("Authorization: Bearer abc.def\r\n") != std::string::npos);
  CHECK(head({.url = "http://" + server.Host()}).find("Authorization") == std::string::npos);
}

TEST_CASE("The environment plays no part", "[network]") {
  const TemporaryDirectory home;
  REQUIRE(WriteText(home.File(".netrc"), "default login stranger password secret\n"));
  const std::string dead = "http://127.0.0.1:" + std::to_string(ClosedPort());
  HttpFolder folder;
  TestServer server([&](Connection& connection) { folder.Serve(connection); });
  for (const char* name : {"http_proxy", "all_proxy", "ALL_PROXY"}) setenv(name, dead.c_str(), 1);
  const char* old = std::getenv("HOME");
  const std::string old_home = old == nullptr ? "" : old;
  setenv("HOME", home.path().c_str(), 1);
  const auto store = Open({.url = "http://" + server.Host()});
  CHECK(store->Store(KeyOf("x"), Bytes{1}).ok());
  CHECK(Find(*store, KeyOf("x")) == Bytes{1});
  for (const HttpRequest& request : folder.requests()) {
    CHECK(request.head.find("Authorization") == std::string::npos);
  }
  setenv("HOME", old_home.c_str(), 1);
  for (const char* name : {"http_proxy", "all_proxy", "ALL_PROXY"}) unsetenv(name);
}

TEST_CASE("Programs that are started later inherit no connection", "[network]") {
  HttpFolder folder;
  TestServer http([&](Connection& connection) { folder.Serve(connection); });
  RedisTable table;
  TestServer redis([&](Connection& connection) { table.Serve(connection); });
  const auto first = Open({.url = "http://" + http.Host()});
  const auto second = Open({.url = "redis://" + redis.Host()});
  REQUIRE(first->Find(KeyOf("x")).ok());
  REQUIRE(second->Find(KeyOf("x")).ok());
  int sockets = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int file = std::stoi(entry.path().filename().string());
    int family = 0;
    socklen_t size = sizeof(family);
    if (file <= STDERR_FILENO || getsockopt(file, SOL_SOCKET, SO_DOMAIN, &family, &size) != 0 ||
        family != AF_INET) {
      continue;
    }
    ++sockets;
    CHECK((fcntl(file, F_GETFD) & FD_CLOEXEC) != 0);
  }
  CHECK(sockets >= 6);  // both ends of both, and what listens
}

// ---- Servers that do not
// -----------------------------------------------------------------------------

struct Misbehaviour {
  const char* name;
  absl::StatusCode code;
  std::function<bool(Connection&)> serve;  // behind a request; whether it takes another one
};

TestServer Misbehaving(const Misbehaviour& how, bool is_redis) {
  return TestServer([&how, is_redis](Connection& connection) {
    while (is_redis ? !ReadRedis(connection).empty() : !ReadHttp(connection).method.empty()) {
      if (!how.serve(connection)) return;
    }
  });
}

bool Repeat(Connection& connection, const std::string& text) {
  while (connection.Write(text)) {
  }
  return false;
}

bool Drip(Connection& connection, const std::string& text) {
  for (std::size_t i = 0; connection.Pause(20); ++i) {
    if (!connection.Write(text.substr(i % text.size(), 1))) break;
  }
  return false;
}

bool Hang(Connection& connection) {
  connection.Hang();
  return false;
}

// Says that, however often it is asked, and leaves the connection open or closes it.
std::function<bool(Connection&)> Always(std::string text) {
  return [text = std::move(text)](Connection& connection) { return connection.Write(text); };
}
std::function<bool(Connection&)> Once(std::string text) {
  return [text = std::move(text)](Connection& connection) {
    connection.Write(text);
    return false;
  };
}

// Each of these is an error or a miss, within the time that was allowed, and never a value.
void CheckAll(const std::vector<Misbehaviour>& all, bool is_redis) {
  const CacheKey key = KeyOf("x");
  for (const Misbehaviour& how : all) {
    CAPTURE(how.name);
    const TestServer server = Misbehaving(how, is_redis);
    NetworkCacheOptions options = Patient((is_redis ? "redis://" : "http://") + server.Host());
    if (how.code == absl::StatusCode::kDeadlineExceeded) options.request_timeout = 200ms;
    const auto store = Open(options);
    const auto begin = Clock::now();
    for (int i = 0; i < 2; ++i) CHECK(FindCode(*store, key) == how.code);
    CHECK(Clock::now() - begin < 8s);
    // A miss is none for what is stored; anything else fails there as well, and does not hang.
    if (how.code != absl::StatusCode::kOk) CHECK_FALSE(store->Store(key, Bytes(500, 1)).ok());
    CHECK(Clock::now() - begin < 9s);
  }
}

TEST_CASE("An HTTP server that does not work is an error within bounds", "[network]") {
  using Code = absl::StatusCode;
  const CacheKey key = KeyOf("x");
  const std::string entry = EntryOf(key, Bytes(500, 1));
  const std::string too_large = EntryOf(key, Bytes(5000, 1));
  TestServer elsewhere([&](Connection& c) { c.Write(HttpAnswer(200, entry)); });
  CheckAll(
      {{"hangs", Code::kDeadlineExceeded, Hang},
       {"closes", Code::kUnavailable, Once("")},
       {"is no HTTP server", Code::kUnavailable, Once("220 smtp.example ESMTP\r\n")},
       {"sends zeros", Code::kUnavailable,
        [](Connection& c) { return Repeat(c, std::string(999, 0)); }},
       {"has endless headers", Code::kUnavailable,
        [](Connection& c) {
          c.Write("HTTP/1.1 200 OK\r\n");
          return Repeat(c, "A: " + std::string(1000, 'b') + "\r\n");
        }},
       {"drips headers", Code::kDeadlineExceeded,
        [](Connection& c) { return Drip(c, "HTTP/1.1 200 OK\r\nA: b\r\n"); }},
       {"drips an entry", Code::kDeadlineExceeded,
        [&](Connection& c) {
          c.Write("HTTP/1.1 200 OK\r\nContent-Length: 548\r\n\r\n");
          return Drip(c, entry);
        }},
       {"stops within an entry", Code::kDeadlineExceeded,
        Always(HttpAnswer(200, entry).substr(0, 300))},
       {"closes within an entry", Code::kUnavailable, Once(HttpAnswer(200, entry).substr(0, 300))},
       {"500", Code::kFailedPrecondition, Always(HttpAnswer(500, "oh"))},
       {"401", Code::kFailedPrecondition, Always(HttpAnswer(401, ""))},
       {"redirects", Code::kFailedPrecondition,
        Always(HttpAnswer(302, "", "Location: http://" + elsewhere.Host() + "/\r\n"))},
       {"redirects to a file", Code::kFailedPrecondition,
        Always(HttpAnswer(301, "", "Location: file:///etc/passwd\r\n"))},
       {"404 with a page without end", Code::kOk,
        [](Connection& c) {
          c.Write("HTTP/1.1 404 no\r\n\r\n");
          return Repeat(c, std::string(1000, 'x'));
        }}},
      false);
  CHECK(elsewhere.connections() == 0);
  auto dead = Open(Patient("http://127.0.0.1:" + std::to_string(ClosedPort())));
  CHECK(FindCode(*dead, key) == Code::kUnavailable);
  CHECK(dead->Store(key, Bytes{1}).code() == Code::kUnavailable);
}

// Of these the server itself is well: what is stored takes their place.
TEST_CASE("What an HTTP server has in place of an entry is never taken for it", "[network]") {
  const CacheKey key = KeyOf("x");
  const std::string path = "/ac/" + key.Hex();
  const std::string entry = EntryOf(key, Bytes(60, 1));
  HttpFolder folder;
  TestServer server([&](Connection& connection) { folder.Serve(connection); });
  const auto store = Open(Patient("http://" + server.Host()));
  std::vector<std::string> wrong = {
      "",          "<html>log in first</html>",       std::string(100'000, 'x'),
      entry + "x", EntryOf(KeyOf("y"), Bytes(60, 1)), EntryOf(key, Bytes(5000, 1))};
  for (std::size_t i = 0; i < entry.size(); ++i) {
    wrong.push_back(entry);
    wrong.back()[i] = static_cast<char>(wrong.back()[i] ^ 0x10);
    wrong.push_back(entry.substr(0, i));
  }
  for (const std::string& there : wrong) {
    folder.Put(path, there);
    CHECK(FindCode(*store, key) == absl::StatusCode::kDataLoss);
  }
  REQUIRE(store->Store(key, Bytes(60, 1)).ok());
  CHECK(Find(*store, key) == Bytes(60, 1));
  // Without a length, the end of the connection is the end of the entry.
  TestServer old([&](Connection& connection) {
    ReadHttp(connection);
    connection.Write("HTTP/1.0 200 OK\r\n\r\n" + entry.substr(0, 70));
  });
  CHECK(FindCode(*Open(Patient("http://" + old.Host())), key) == absl::StatusCode::kDataLoss);
}

TEST_CASE("A Redis server that does not work is an error within bounds", "[network]") {
  using Code = absl::StatusCode;
  const CacheKey key = KeyOf("x");
  const std::string entry = EntryOf(key, Bytes(500, 1));
  CheckAll(
      {{"hangs", Code::kDeadlineExceeded, Hang},
       {"closes", Code::kUnavailable, Once("")},
       {"closes within an entry", Code::kUnavailable, Once(Redis(entry).substr(0, 100))},
       {"stops within an entry", Code::kDeadlineExceeded, Always(Redis(entry).substr(0, 100))},
       {"drips", Code::kDeadlineExceeded, [&](Connection& c) { return Drip(c, Redis(entry)); }},
       {"is an HTTP server", Code::kDataLoss, Always(HttpAnswer(400, ""))},
       {"sends zeros", Code::kDataLoss,
        [](Connection& c) { return Repeat(c, std::string(999, 0)); }},
       {"has a line without end", Code::kDataLoss,
        [](Connection& c) { return Repeat(c, "+" + std::string(1000, 'a')); }},
       {"says too much", Code::kDataLoss, Always("+OK\r\n+OK\r\n")},
       {"answers with a list", Code::kDataLoss, Always("*2\r\n$1\r\na\r\n$1\r\nb\r\n")},
       {"answers with a long list", Code::kDataLoss, Always("*2000000000\r\n")},
       {"has a length without sense", Code::kDataLoss, Always("$99999999999999999999\r\n")},
       {"answers with a number", Code::kFailedPrecondition, Always(":7\r\n")},
       {"is in trouble", Code::kFailedPrecondition, Always("-MISCONF no disk\r\n")},
       {"wants a password", Code::kFailedPrecondition, Always("-NOAUTH who are you?\r\n")}},
      true);
  auto dead = Open(Patient("redis://127.0.0.1:" + std::to_string(ClosedPort())));
  CHECK(FindCode(*dead, key) == Code::kUnavailable);
  CHECK(dead->Store(key, Bytes{1}).code() == Code::kUnavailable);
}

TEST_CASE("What Redis has in place of an entry is never taken for it", "[network]") {
  using Code = absl::StatusCode;
  const CacheKey key = KeyOf("x");
  const std::string entry = EntryOf(key, Bytes(60, 1));
  std::mutex mutex;
  std::string there;
  const auto answer_with = [&](const std::string& text) {
    const std::lock_guard lock(mutex);
    there = text;
  };
  const auto answer = [&] {
    const std::lock_guard lock(mutex);
    return there;
  };
  TestServer server([&](Connection& connection) {
    while (!ReadRedis(connection).empty() && connection.Write(answer())) {
    }
  });
  const auto store = Open(Patient("redis://" + server.Host()));
  for (std::size_t i = 0; i < entry.size(); ++i) {
    std::string changed = entry;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    for (const std::string& wrong : {changed, entry.substr(0, i)}) {
      answer_with(Redis(wrong));
      CHECK(FindCode(*store, key) == Code::kDataLoss);
    }
  }
  answer_with(Redis(EntryOf(key, Bytes(900'000, 1))));
  CHECK(FindCode(*store, key) == Code::kDataLoss);
  answer_with("+OK\r\n");
  CHECK(FindCode(*store, key) == Code::kFailedPrecondition);
  answer_with("-OOM command not allowed when used memory > 'maxmemory'.\r\n");
  CHECK(store->Store(key, Bytes{1}).code() == Code::kResourceExhausted);
  answer_with(Redis(entry));
  CHECK(Find(*store, key) == Bytes(60, 1));
  answer_with("-WRONGPASS\x1b[31m " + std::string(3000, 'x') + "\r\n");
  const auto greeted = Open(Patient("redis://:secret@" + server.Host()))->Find(key);
  CHECK(greeted.status().code() == Code::kDataLoss);  // the answer to AUTH is short
  answer_with("-WRONGPASS\x1b[31m\r\n");
  const auto refused = Open(Patient("redis://:secret@" + server.Host()))->Find(key);
  CHECK(refused.status().message() ==
        "cache 'redis://" + server.Host() + "': answered AUTH with 'WRONGPASS\\x1b[31m'");
}

TEST_CASE("A server that leaves while it is written to ends nothing", "[network]") {
  for (const bool is_redis : {false, true}) {
    TestServer server([](Connection& connection) { connection.ReadBytes(1000); });
    NetworkCacheOptions options = Patient((is_redis ? "redis://" : "http://") + server.Host());
    options.max_entry_bytes = 100'000'000;
    const auto store = Open(options);
    const absl::Status stored = store->Store(KeyOf("x"), Bytes(50'000'000, 1));
    CAPTURE(is_redis, stored.ToString());
    CHECK(stored.code() == absl::StatusCode::kUnavailable);
  }
}

// ---- When enough is enough
// -------------------------------------------------------------------------

TEST_CASE("After some faults in a row a server is left alone", "[network]") {
  TestServer server([](Connection&) {});
  NetworkCacheOptions options = Patient("http://" + server.Host());
  options.max_faults = 3;
  const auto store = Open(options);
  for (int i = 0; i < 2; ++i) CHECK(FindCode(*store, KeyOf("x")) == absl::StatusCode::kUnavailable);
  const absl::Status last = store->Store(KeyOf("x"), Bytes{1});
  CHECK(std::string(last.message()).ends_with("; it is left alone from here on"));
  const int before = server.connections();
  for (int i = 0; i < 5; ++i) CHECK(FindCode(*store, KeyOf("x")) == absl::StatusCode::kOk);
  CHECK(store->Store(KeyOf("x"), Bytes{1}).code() == absl::StatusCode::kCancelled);
  CHECK(server.connections() == before);
}

TEST_CASE("Time that faults cost is bounded", "[network]") {
  TestServer server([](Connection& connection) { connection.Hang(); });
  NetworkCacheOptions options = Patient("redis://" + server.Host());
  options.request_timeout = 50ms;
  options.max_lost_time = 200ms;
  const auto store = Open(options);
  const auto begin = Clock::now();
  int faults = 0;
  for (int i = 0; i < 100; ++i) faults += store->Find(KeyOf("x")).ok() ? 0 : 1;
  CHECK(faults <= 4);
  CHECK(faults >= 1);
  CHECK(Clock::now() - begin < 2s);
}

TEST_CASE("Time that slow answers cost is bounded", "[network]") {
  const CacheKey key = KeyOf("x");
  TestServer server([&](Connection& connection) {
    while (!ReadHttp(connection).method.empty() && connection.Pause(400) &&
           connection.Write(HttpAnswer(200, EntryOf(key, {5})))) {
    }
  });
  NetworkCacheOptions options = Patient("http://" + server.Host());
  options.max_lost_time = 200ms;
  const auto store = Open(options);
  int hits = 0;
  std::string said;
  for (int i = 0; i < 20; ++i) {
    const auto found = store->Find(key);
    hits += found.ok() && found->has_value() ? 1 : 0;
    if (!found.ok()) said += std::string(found.status().message());
  }
  CHECK(hits >= 1);
  CHECK(hits <= 2);
  CHECK(said == "cache 'http://" + server.Host() +
                    "': answers too slowly; nothing more is looked up there");
  // Storing is counted on its own.
  CHECK(store->Store(key, Bytes{1}).ok());
}

TEST_CASE("Faults with answers in between end nothing", "[network]") {
  std::atomic<int> count = 0;
  TestServer server([&](Connection& connection) {
    while (!ReadHttp(connection).method.empty()) {
      if (!connection.Write(HttpAnswer(++count % 3 == 0 ? 404 : 503, ""))) return;
    }
  });
  NetworkCacheOptions options = Patient("http://" + server.Host());
  options.max_faults = 3;
  const auto store = Open(options);
  int faults = 0;
  for (int i = 0; i < 30; ++i) faults += store->Find(KeyOf("x")).ok() ? 0 : 1;
  CHECK(faults == 20);
}

TEST_CASE("A server that takes nothing is still asked", "[network]") {
  const CacheKey key = KeyOf("x");
  TestServer server([&](Connection& connection) {
    while (true) {
      const HttpRequest request = ReadHttp(connection);
      const bool asks = request.method == "GET";
      if (request.method.empty() ||
          !connection.Write(asks ? HttpAnswer(200, EntryOf(key, {5})) : HttpAnswer(403, ""))) {
        return;
      }
    }
  });
  NetworkCacheOptions options = Patient("http://" + server.Host());
  options.max_faults = 2;
  const auto store = Open(options);
  CHECK(store->Store(key, Bytes{1}).code() == absl::StatusCode::kFailedPrecondition);
  CHECK(store->Store(key, Bytes{1}).message().find("; nothing more is stored there") !=
        std::string::npos);
  CHECK(store->Store(key, Bytes{1}).code() == absl::StatusCode::kCancelled);
  CHECK(Find(*store, key) == Bytes{5});
}

TEST_CASE("What a server has no room for counts as no fault", "[network]") {
  TestServer server([&](Connection& connection) {
    while (!ReadHttp(connection).method.empty() && connection.Write(HttpAnswer(413, "no"))) {
    }
  });
  NetworkCacheOptions options = Patient("http://" + server.Host());
  options.max_faults = 1;
  const auto store = Open(options);
  for (int i = 0; i < 3; ++i) {
    CHECK(store->Store(KeyOf("x"), Bytes{1}).code() == absl::StatusCode::kResourceExhausted);
  }
  CHECK(store->Store(KeyOf("x"), Bytes(2000, 1)).code() == absl::StatusCode::kResourceExhausted);
}

// ---- Addresses
// ---------------------------------------------------------------------------------------

TEST_CASE("Addresses are taken apart", "[network]") {
  const auto read = [](const std::string& url) {
    auto endpoint = internal::ParseEndpoint(url);
    INFO(url << ": " << endpoint.status().ToString());
    REQUIRE(endpoint.ok());
    return *endpoint;
  };
  CHECK(read("http://h").base == "http://h");
  CHECK(read("http://h:81/a/b//").base == "http://h:81/a/b");
  CHECK(read("https://u:p@[::1]:81/a").base == "https://[::1]:81/a");
  CHECK(read("https://u:p@h/a").shown == "https://h/a");
  CHECK(read("redis://h").base == "http://h:6379/");
  CHECK(read("rediss://h/2").base == "https://h:6379/");
  CHECK(read("rediss://h/2").database == 2);
  CHECK(read("rediss://h/2").shown == "rediss://h:6379/2");
  CHECK(read("redis://:p@h").password == "p");
  CHECK(read("redis://p@h").password == "p");
  CHECK(read("redis://p@h").user.empty());
  CHECK(read("redis://u:p@h").user == "u");
  CHECK(read("redis+unix:///run/redis.sock").socket == "/run/redis.sock");
  CHECK(read("redis+unix://:p@localhost/a%20b?db=3").socket == "/a b");
  CHECK(read("redis+unix://:p@localhost/a%20b?db=3").database == 3);
  CHECK(read("redis+unix://:p@localhost/a%20b?db=3").password == "p");
  CHECK(read("redis+unix://:p@localhost/a%20b?db=3").shown == "redis+unix:///a%20b");
}

TEST_CASE("Addresses and options without sense are refused, and no password is shown",
          "[network]") {
  for (const char* url : {"",
                          "h",
                          "/tmp",
                          "file:///tmp/s3cret",
                          "ftp://u:s3cret@h/",
                          "http://",
                          "http://u:s3cret@",
                          "http://h:s3cret/",
                          "http://u:s3cret@h:99999/",
                          "http://h/?a=s3cret",
                          "http://h/#s3cret",
                          "http://h/\ns3cret",
                          "redis://u:s3cret@h/x",
                          "redis://u:s3cret@h/-1",
                          "redis://h/1/2",
                          "redis://h/99999999999",
                          "redis://h/?db=1",
                          "redis+unix://:s3cret@localhost/",
                          "redis+unix:///s?x=s3cret",
                          "redis+unix:///s?db=",
                          "redis+unix:///s?db=x",
                          "http://u:s3cret%00@h/",
                          "HTTP//h"}) {
    CAPTURE(url);
    const auto made = CreateNetworkCache({.url = url});
    CHECK(made.status().code() == absl::StatusCode::kInvalidArgument);
    CHECK(made.status().message().find("s3cret") == std::string::npos);
  }
  const auto code = [](NetworkCacheOptions options) {
    return CreateNetworkCache(std::move(options)).status().code();
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  CHECK(code({.url = "http://h", .connect_timeout = 0ms}) == kInvalid);
  CHECK(code({.url = "http://h", .request_timeout = -1ms}) == kInvalid);
  CHECK(code({.url = "http://h", .request_timeout = std::chrono::hours(10'000)}) == kInvalid);
  CHECK(code({.url = "http://h", .max_faults = 0}) == kInvalid);
  CHECK(code({.url = "http://h", .expiry = -1s}) == kInvalid);
  CHECK(code({.url = "http://u@h", .bearer_token = "t"}) == kInvalid);
  CHECK(code({.url = "redis://h", .bearer_token = "t"}) == kInvalid);
  CHECK(code({.url = "http://h", .bearer_token = "t\r\nX: y"}) == kInvalid);
  const auto dead = Open(Patient("http://u:s3cret@127.0.0.1:" + std::to_string(ClosedPort())));
  CHECK(dead->Find(KeyOf("x")).status().message().find("s3cret") == std::string::npos);
}

}  // namespace
}  // namespace devlink::testing
