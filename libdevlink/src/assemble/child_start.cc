// SPDX-License-Identifier: Apache-2.0
//
// Not posix_spawn, which cannot make a child end with its parent.
#include "assemble/child_start.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace devlink::internal {

namespace {

constexpr int kFirstOther = 3;  // behind the standard streams

// --- In the child, in the parent's memory: system calls only ------------------------------------

void Limit(__rlimit_resource_t what, std::uint64_t most) {
  rlimit limit = {};
  if (getrlimit(what, &limit) != 0 || limit.rlim_max <= most) return;
  limit.rlim_max = most;
  if (limit.rlim_cur > most) limit.rlim_cur = most;
  setrlimit(what, &limit);
}

void UseDefaultSignals() {
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  // Those that cannot be changed say so, and need not be.
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &standard, nullptr);
}

// The mask comes last: a signal that waits would otherwise run a handler of the parent.
void UnblockSignals() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool CloseOthersOnExec() {
  constexpr unsigned kCloseOnExec = 4;  // CLOSE_RANGE_CLOEXEC, from Linux 5.11 on
  if (syscall(SYS_close_range, kFirstOther, ~0U, kCloseOnExec) == 0) return true;
  constexpr int kMost = 65536;
  const std::int64_t most = sysconf(_SC_OPEN_MAX);
  for (int file = kFirstOther; file < kMost && file < most; ++file) {
    fcntl(file, F_SETFD, FD_CLOEXEC);
  }
  return true;
}

bool ArrangeStreams(const ChildStart& start) {
  // Out of the way first: in a host that has closed its streams these have their numbers.
  const int text = fcntl(start.text, F_DUPFD, kFirstOther);
  const int opened = open("/dev/null", O_RDWR);
  const int nothing = fcntl(opened, F_DUPFD, kFirstOther);
  return text >= 0 && nothing >= 0 && dup2(nothing, 0) >= 0 &&
         dup2(start.with_stdout ? text : nothing, 1) >= 0 && dup2(text, 2) >= 0;
}

[[noreturn]] void BecomeProgram(const ChildStart& start, pid_t parent, int failure) {
  constexpr int kCannotRun = 127;
  // Away from the streams' numbers, too.
  failure = fcntl(failure, F_DUPFD_CLOEXEC, kFirstOther);
  UseDefaultSignals();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kCannotRun);  // it has ended meanwhile
  setpgid(0, 0);
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_FSIZE, start.max_file_bytes);
  if (ArrangeStreams(start) && CloseOthersOnExec()) {
    if (start.fence != nullptr) start.fence->Enter();
    UnblockSignals();
    execve(start.path, start.argv, start.environment);
  }
  const int error = errno;
  while (write(failure, &error, sizeof(error)) < 0 && errno == EINTR) {
  }
  _exit(kCannotRun);
}

// ------------------------------------------------------------------------------------------------

// The errno that a child sends, 0 where it closed the pipe by becoming the program.
int ReadFailure(int pipe) {
  int error = 0;
  ssize_t count = 0;
  do count = read(pipe, &error, sizeof(error));
  while (count < 0 && errno == EINTR);
  return count == sizeof(error) ? error : 0;
}

}  // namespace

int StartChild(const ChildStart& start, pid_t& pid) {
  std::array<int, 2> failure{};
  // Close-on-exec from the start: another thread may start a program at any moment.
  if (pipe2(failure.data(), O_CLOEXEC) != 0) return errno;
  const pid_t parent = getpid();
  // No handler may run in a child that shares this memory.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = vfork();  // NOLINT: the child makes system calls and ends
  if (child == 0) BecomeProgram(start, parent, failure[1]);
  int error = child < 0 ? errno : 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(failure[1]);
  if (error == 0) error = ReadFailure(failure[0]);
  close(failure[0]);
  if (error != 0 && child > 0) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (error == 0) pid = child;
  return error;
}

}  // namespace devlink::internal
