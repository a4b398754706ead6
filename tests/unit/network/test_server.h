// SPDX-License-Identifier: Apache-2.0
//
// A server on 127.0.0.1 whose every byte a test decides, and which may do everything wrong.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace devlink::testing {

// One accepted connection. Calls return false, or nothing, once the other side or the server is
// gone.
class Connection {
 public:
  Connection(int socket, const std::atomic<bool>& ends) : socket_(socket), ends_(&ends) {}

  bool Write(std::string_view text) const;
  // Up to and with `end`; what comes behind it stays for the next call.
  std::string ReadTo(std::string_view end);
  std::string ReadBytes(std::size_t size);
  // For as long as neither side ends.
  void Hang();
  // Waits a little.
  [[nodiscard]] bool Pause(int milliseconds) const;

 private:
  bool Fill();

  int socket_;
  const std::atomic<bool>* ends_;
  std::string read_;
};

// Calls `serve` for each connection, on a thread of its own, and closes it when that returns.
class TestServer {
 public:
  explicit TestServer(std::function<void(Connection&)> serve);
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string Host() const { return "127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] int connections() const { return connections_; }

 private:
  void Accept();

  std::function<void(Connection&)> serve_;
  int listening_ = -1;
  int port_ = 0;
  std::atomic<bool> ends_ = false;
  std::atomic<int> connections_ = 0;
  std::mutex mutex_;
  std::vector<std::thread> threads_;
  std::thread accepting_;
};

// A port at which nobody listens.
int ClosedPort();

struct HttpRequest {
  std::string method;
  std::string path;
  std::string head;  // all lines, with their ends
  std::string body;
};

// An empty method where the connection ended.
HttpRequest ReadHttp(Connection& connection);
std::string HttpAnswer(int status, std::string_view body, std::string_view more_lines = "");

// Keeps what is put there, as an HTTP server does with a folder. Thread-safe.
class HttpFolder {
 public:
  // One connection to its end, or for `most` requests.
  void Serve(Connection& connection, int most = 1'000'000);

  [[nodiscard]] std::map<std::string, std::string> files() const;
  void Put(const std::string& path, const std::string& body);
  [[nodiscard]] std::vector<HttpRequest> requests() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> files_;
  std::vector<HttpRequest> requests_;
};

// The words of one command of Redis; none where the connection ended.
std::vector<std::string> ReadRedis(Connection& connection);

// Keeps what is set there. Thread-safe.
class RedisTable {
 public:
  void Serve(Connection& connection, int most = 1'000'000);

  [[nodiscard]] std::vector<std::vector<std::string>> commands() const;
  [[nodiscard]] std::map<std::string, std::string> values() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> values_;
  std::vector<std::vector<std::string>> commands_;
};

}  // namespace devlink::testing
