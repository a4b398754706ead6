// SPDX-License-Identifier: Apache-2.0
#include "assemble/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <system_error>

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

// What is left until `end`, for poll: -1 for ever.
int Left(bool limited, Clock::time_point end) {
  if (!limited) return -1;
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

// Reads until the other side is closed. False where the time is over before.
bool Collect(int pipe, bool limited, Clock::time_point end, std::size_t max_text,
             std::string& text) {
  std::array<char, 16384> buffer{};
  for (;;) {
    pollfd wait{pipe, POLLIN, 0};
    const int ready = poll(&wait, 1, Left(limited, end));
    if (ready == 0) return false;
    if (ready < 0) {
      if (errno == EINTR) continue;
      return true;
    }
    const ssize_t count = read(pipe, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    // The rest is read and forgotten, so that the program is not kept waiting.
    const std::size_t room = max_text - std::min(max_text, text.size());
    text.append(buffer.data(), std::min(room, static_cast<std::size_t>(count)));
  }
}

// Waits for the end. False where the time is over before.
bool Reap(pid_t pid, bool limited, Clock::time_point end, int& status) {
  for (;;) {
    const pid_t done = waitpid(pid, &status, limited ? WNOHANG : 0);
    if (done == pid) return true;
    if (done < 0 && errno != EINTR) return true;
    if (done != 0) continue;
    // It closed its stderr and goes on: rare, and not worth more than a nap.
    if (Left(limited, end) == 0) return false;
    poll(nullptr, 0, 1);
  }
}

}  // namespace

absl::StatusOr<ChildResult> RunChild(const std::vector<std::string>& argv,
                                     const std::vector<std::string>& environment,
                                     std::chrono::milliseconds timeout, std::size_t max_text,
                                     bool with_stdout) {
  std::array<int, 2> ends{};
  // Close-on-exec from the start: another thread may start a program at any moment.
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return CannotStart(argv[0], errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (with_stdout) {
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  } else {
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const std::vector<char*> words = Raw(argv);
  const std::vector<char*> variables = Raw(environment);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, words[0], &actions, &attributes, words.data(), variables.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return CannotStart(argv[0], error);
  }
  ChildResult result;
  const bool limited = timeout.count() > 0;
  const Clock::time_point end = Clock::now() + timeout;
  int status = 0;
  if (!Collect(ends[0], limited, end, max_text, result.text) || !Reap(pid, limited, end, status)) {
    result.timed_out = true;
    kill(-pid, SIGKILL);
    Reap(pid, false, end, status);
  }
  close(ends[0]);
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

}  // namespace devlink::internal
