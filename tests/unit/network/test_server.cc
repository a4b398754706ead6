// SPDX-License-Identifier: Apache-2.0
#include "unit/network/test_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace devlink::testing {

namespace {

constexpr int kTick = 10;  // milliseconds: how soon an end is noticed

bool IsReady(int socket, short events) {
  pollfd waiting = {.fd = socket, .events = events, .revents = 0};
  return poll(&waiting, 1, kTick) > 0;
}

std::size_t NumberIn(std::string_view text) {
  std::size_t out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

// A socket that listens, and its port.
std::pair<int, int> Listen() {
  const int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (listening < 0 || bind(listening, any, size) != 0 || listen(listening, 64) != 0 ||
      getsockname(listening, any, &size) != 0) {
    throw std::runtime_error("no socket on 127.0.0.1");
  }
  return {listening, ntohs(address.sin_port)};
}

}  // namespace

bool Connection::Write(std::string_view text) const {
  while (!text.empty()) {
    if (*ends_) return false;
    if (!IsReady(socket_, POLLOUT)) continue;
    const ssize_t count = send(socket_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool Connection::Fill() {
  while (!*ends_) {
    if (!IsReady(socket_, POLLIN)) continue;
    char piece[65536];
    const ssize_t count = recv(socket_, piece, sizeof(piece), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    read_.append(piece, static_cast<std::size_t>(count));
    return true;
  }
  return false;
}

std::string Connection::ReadTo(std::string_view end) {
  while (read_.find(end) == std::string::npos) {
    if (!Fill()) return "";
  }
  return ReadBytes(read_.find(end) + end.size());
}

std::string Connection::ReadBytes(std::size_t size) {
  while (read_.size() < size) {
    if (!Fill()) return "";
  }
  std::string out = read_.substr(0, size);
  read_.erase(0, size);
  return out;
}

void Connection::Hang() {
  while (Fill()) read_.clear();
}

bool Connection::Pause(int milliseconds) const {
  for (int waited = 0; waited < milliseconds && !*ends_; waited += kTick) {
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(kTick, milliseconds)));
  }
  return !*ends_;
}

TestServer::TestServer(std::function<void(Connection&)> serve) : serve_(std::move(serve)) {
  std::tie(listening_, port_) = Listen();
  accepting_ = std::thread([this] { Accept(); });
}

TestServer::~TestServer() {
  ends_ = true;
  accepting_.join();
  for (std::thread& thread : threads_) thread.join();
  close(listening_);
}

void TestServer::Accept() {
  while (!ends_) {
    if (!IsReady(listening_, POLLIN)) continue;
    const int accepted = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (accepted < 0) continue;
    ++connections_;
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([this, accepted] {
      Connection connection(accepted, ends_);
      serve_(connection);
      close(accepted);
    });
  }
}

int ClosedPort() {
  const auto [listening, port] = Listen();
  close(listening);
  return port;
}

HttpRequest ReadHttp(Connection& connection) {
  HttpRequest out;
  out.head = connection.ReadTo("\r\n\r\n");
  std::istringstream words(out.head);
  words >> out.method >> out.path;
  constexpr std::string_view kLength = "Content-Length: ";
  const std::size_t length = out.head.find(kLength);
  if (length != std::string::npos) {
    const std::size_t size = NumberIn(std::string_view(out.head).substr(length + kLength.size()));
    out.body = connection.ReadBytes(size);
    if (out.body.size() != size) out.method.clear();
  }
  return out;
}

std::string HttpAnswer(int status, std::string_view body, std::string_view more_lines) {
  std::string out = "HTTP/1.1 " + std::to_string(status) + " x\r\n" + std::string(more_lines) +
                    "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  return out.append(body);
}

void HttpFolder::Serve(Connection& connection, int most) {
  for (int served = 0; served < most; ++served) {
    const HttpRequest request = ReadHttp(connection);
    if (request.method.empty()) return;
    std::string answer;
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
      const auto found = files_.find(request.path);
      if (request.method == "PUT") {
        files_[request.path] = request.body;
        answer = HttpAnswer(201, "");
      } else {
        answer =
            found == files_.end() ? HttpAnswer(404, "not there") : HttpAnswer(200, found->second);
      }
    }
    if (!connection.Write(answer)) return;
  }
}

std::map<std::string, std::string> HttpFolder::files() const {
  const std::lock_guard lock(mutex_);
  return files_;
}

void HttpFolder::Put(const std::string& path, const std::string& body) {
  const std::lock_guard lock(mutex_);
  files_[path] = body;
}

std::vector<HttpRequest> HttpFolder::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::vector<std::string> ReadRedis(Connection& connection) {
  std::vector<std::string> out;
  const std::string count = connection.ReadTo("\r\n");
  if (!count.starts_with('*')) return out;
  for (std::size_t left = NumberIn(std::string_view(count).substr(1)); left > 0; --left) {
    const std::string size = connection.ReadTo("\r\n");
    if (!size.starts_with('$')) return {};
    out.push_back(connection.ReadBytes(NumberIn(std::string_view(size).substr(1))));
    connection.ReadTo("\r\n");
  }
  return out;
}

void RedisTable::Serve(Connection& connection, int most) {
  for (int served = 0; served < most; ++served) {
    const std::vector<std::string> words = ReadRedis(connection);
    if (words.empty()) return;
    std::string answer = "+OK\r\n";
    {
      const std::lock_guard lock(mutex_);
      commands_.push_back(words);
      if (words[0] == "SET") values_[words.at(1)] = words.at(2);
      if (words[0] == "GET") {
        const auto found = values_.find(words.at(1));
        answer = found == values_.end()
                     ? "$-1\r\n"
                     : "$" + std::to_string(found->second.size()) + "\r\n" + found->second + "\r\n";
      }
    }
    if (!connection.Write(answer)) return;
  }
}

std::vector<std::vector<std::string>> RedisTable::commands() const {
  const std::lock_guard lock(mutex_);
  return commands_;
}

std::map<std::string, std::string> RedisTable::values() const {
  const std::lock_guard lock(mutex_);
  return values_;
}

}  // namespace devlink::testing
