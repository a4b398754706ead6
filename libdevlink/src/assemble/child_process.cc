// SPDX-License-Identifier: Apache-2.0
#include "assemble/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <optional>
#include <system_error>

#include "assemble/child_fence.h"
#include "assemble/child_start.h"
#include "base/strings.h"

namespace devlink::internal {

namespace {

using Clock = std::chrono::steady_clock;

absl::Status CannotStart(const std::string& program, int error) {
  return absl::UnavailableError(
      base::Cat({"cannot run '", program, "': ", std::generic_category().message(error)}));
}

std::vector<char*> Raw(const std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  // posix_spawn takes char* for historical reasons and writes to none of them.
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

// When to give up on a program: after a time, or when the caller asks to stop.
class Patience {
 public:
  Patience(std::chrono::milliseconds timeout, const std::stop_token& stop)
      : limited_(timeout.count() > 0),
        end_(Clock::now() + timeout),
        stop_(stop),
        wake_(stop.stop_possible() ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1) {
    on_stop_.emplace(stop, Wake{wake_});
  }
  ~Patience() {
    on_stop_.reset();  // waits for a call that another thread is in
    if (wake_ >= 0) close(wake_);
  }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

  [[nodiscard]] bool endless() const { return !limited_ && !stop_.stop_possible(); }
  [[nodiscard]] bool stopped() const { return stop_.stop_requested(); }
  [[nodiscard]] bool over() const { return stopped() || (limited_ && Clock::now() >= end_); }

  // A file that can be read as soon as the caller asks to stop; negative where there is none.
  [[nodiscard]] int wake() const { return wake_; }

  // How long to wait with poll, before over() is asked; -1 for ever.
  [[nodiscard]] int Milliseconds() const {
    constexpr std::int64_t kLongest = 1 << 30;
    // Without its file a request to stop has to be looked for.
    std::int64_t most = wake_ < 0 && stop_.stop_possible() ? 50 : kLongest;
    if (limited_) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()).count();
      most = std::clamp<std::int64_t>(left, 0, most);
    } else if (most == kLongest) {
      return -1;
    }
    return static_cast<int>(most);
  }

 private:
  struct Wake {
    int file;
    void operator()() const {
      if (file >= 0) eventfd_write(file, 1);
    }
  };

  const bool limited_;
  const Clock::time_point end_;
  const std::stop_token stop_;
  const int wake_;
  std::optional<std::stop_callback<Wake>> on_stop_;
};

// Reads until the other side is closed. False where patience is over before.
bool Collect(int pipe, const Patience& patience, std::size_t max_text, std::string& text) {
  std::array<char, 16384> buffer{};
  while (!patience.over()) {
    std::array<pollfd, 2> wait{{{pipe, POLLIN, 0}, {patience.wake(), POLLIN, 0}}};
    const int ready = poll(wait.data(), wait.size(), patience.Milliseconds());
    if (ready < 0 && errno != EINTR) return true;
    if (ready <= 0 || wait[0].revents == 0) continue;
    const ssize_t count = read(pipe, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    // The rest is read and forgotten, so that the program is not kept waiting.
    const std::size_t room = max_text - std::min(max_text, text.size());
    text.append(buffer.data(), std::min(room, static_cast<std::size_t>(count)));
  }
  return false;
}

enum class Ended { kKnown, kUnknown, kNotYet };

// Waits for the end. It stays unknown where the host ignores SIGCHLD or waits for every child.
Ended Reap(pid_t pid, int& status) {
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return Ended::kUnknown;
  }
  return Ended::kKnown;
}

// The same, as long as patience lasts.
Ended Reap(pid_t pid, const Patience& patience, int& status) {
  if (patience.endless()) return Reap(pid, status);
  // It closed its stderr: nearly always since it ends, and is gone before the first nap is over.
  timespec nap = {.tv_sec = 0, .tv_nsec = 20'000};
  constexpr std::int64_t kLongestNap = 5'000'000;
  while (!patience.over()) {
    const pid_t done = waitpid(pid, &status, WNOHANG);
    if (done == pid) return Ended::kKnown;
    if (done < 0 && errno != EINTR) return Ended::kUnknown;
    if (done < 0) continue;
    nanosleep(&nap, nullptr);
    nap.tv_nsec = std::min(2 * nap.tv_nsec, kLongestNap);
  }
  return Ended::kNotYet;
}

}  // namespace

absl::StatusOr<ChildResult> RunChild(const std::vector<std::string>& argv,
                                     const ChildOptions& options) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return CannotStart(argv[0], errno);
  std::vector<char*> words = Raw(argv);
  std::string name = options.name;
  if (!name.empty()) words[0] = name.data();
  const std::vector<char*> variables = Raw(options.environment);
  std::optional<ChildFence> fence;
  if (!options.writable_folder.empty()) fence.emplace(options.writable_folder);
  pid_t pid = 0;
  const int error = StartChild({.path = argv[0].c_str(),
                                .argv = words.data(),
                                .environment = variables.data(),
                                .text = ends[1],
                                .with_stdout = options.with_stdout,
                                .max_file_bytes = options.max_file_bytes,
                                .fence = fence ? &*fence : nullptr},
                               pid);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return CannotStart(argv[0], error);
  }
  ChildResult result;
  const Patience patience(options.timeout, options.stop);
  int status = 0;
  Ended ended = Ended::kNotYet;
  if (Collect(ends[0], patience, options.max_text, result.text)) {
    ended = Reap(pid, patience, status);
  }
  if (ended == Ended::kNotYet) {
    result.stopped = patience.stopped();
    result.timed_out = !result.stopped;
    kill(-pid, SIGKILL);
    Reap(pid, status);
  }
  close(ends[0]);
  if (ended == Ended::kUnknown) {
    return absl::UnavailableError(
        base::Cat({"nobody knows how '", argv[0],
                   "' ended: this process ignores SIGCHLD or waits for every child"}));
  }
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

}  // namespace devlink::internal
