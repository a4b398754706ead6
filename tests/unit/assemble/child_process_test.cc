// SPDX-License-Identifier: Apache-2.0
#include "assemble/child_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "assemble/child_fence.h"
#include "support/catch.h"
#include "support/process.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;
using internal::ChildOptions;
using internal::ChildResult;
using internal::RunChild;
using std::chrono::milliseconds;

// A shell, and a child of its own that keeps its output open.
const std::vector<std::string> kSlow = {"/bin/sh", "-c",
                                        "echo begun >&2; sleep 600; echo over >&2"};

ChildResult Run(const std::vector<std::string>& argv, const ChildOptions& options) {
  auto result = RunChild(argv, options);
  REQUIRE(result.ok());
  return *std::move(result);
}

milliseconds Since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
}

TEST_CASE("A child's status and text are returned", "[child]") {
  for (const bool stoppable : {false, true}) {
    const std::stop_source source;
    ChildOptions options{.environment = {"A=b"}, .max_text = 8};
    if (stoppable) options.stop = source.get_token();
    const auto result = Run({"/bin/sh", "-c", "echo $A; echo 123456789 >&2; exit 3"}, options);
    CHECK(result.exit_status == 3);
    CHECK(result.signal == 0);
    CHECK_FALSE(result.stopped);
    CHECK_FALSE(result.timed_out);
    CHECK(result.text == "12345678");
    options.with_stdout = true;
    CHECK(Run({"/bin/sh", "-c", "echo $A"}, options).text == "b\n");
  }
  CHECK(absl::IsUnavailable(RunChild({"/no/such/program"}, {}).status()));
}

TEST_CASE("A child can be told another name than that of its file", "[child]") {
  const std::vector<std::string> tells = {"/bin/bash", "-c", "echo $0"};
  CHECK(Run(tells, {.max_text = 100, .with_stdout = true}).text == "/bin/bash\n");
  CHECK(Run(tells, {.name = "ptxas", .max_text = 100, .with_stdout = true}).text == "ptxas\n");
}

TEST_CASE("A child that takes too long is killed with its children", "[child]") {
  const auto begin = std::chrono::steady_clock::now();
  const auto result = Run(kSlow, {.timeout = milliseconds(300), .max_text = 100});
  CHECK(result.timed_out);
  CHECK_FALSE(result.stopped);
  CHECK(result.text == "begun\n");
  CHECK(Since(begin) >= milliseconds(300));
  CHECK(Since(begin) < std::chrono::seconds(60));
}

TEST_CASE("A child is killed when the caller asks to stop", "[child]") {
  const auto begin = std::chrono::steady_clock::now();
  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(milliseconds(300));
    source.request_stop();
  });
  const auto result = Run(kSlow, {.stop = source.get_token(), .max_text = 100});
  CHECK(result.stopped);
  CHECK_FALSE(result.timed_out);
  CHECK(result.signal == 9);
  CHECK(Since(begin) >= milliseconds(300));
  CHECK(Since(begin) < std::chrono::seconds(60));
  // One that closes its output and goes on, too.
  std::stop_source second;
  std::jthread second_stopper([&] {
    std::this_thread::sleep_for(milliseconds(300));
    second.request_stop();
  });
  CHECK(Run({"/bin/sh", "-c", "exec 2>&- ; sleep 600"}, {.stop = second.get_token()}).stopped);
}

TEST_CASE("A stop that was asked for before ends a child at once", "[child]") {
  std::stop_source source;
  source.request_stop();
  CHECK(Run(kSlow, {.stop = source.get_token(), .max_text = 100}).stopped);
}

TEST_CASE("A child has the signals of a fresh program, whatever the host made of its own",
          "[child]") {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  auto* const old = std::signal(SIGPIPE, SIG_IGN);
  // Lines such as "SigBlk:	0000000000000000".
  const auto result = Run({"/bin/sh", "-c", "grep -E 'Sig(Blk|Ign)' /proc/self/status >&2"},
                          {.environment = {"PATH=/usr/bin:/bin"}, .max_text = 1000});
  std::signal(SIGPIPE, old);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (result.text.empty()) DEVLINK_SKIP("no /proc");
  CHECK(result.text == "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_CASE("A child has no file of its host", "[child]") {
  // Not close-on-exec, as hosts often leave them.
  const int file = open("/dev/null", O_RDONLY);  // NOLINT(android-cloexec-open)
  REQUIRE(file >= 0);
  const int far = fcntl(file, F_DUPFD, 400);
  const auto result = Run({"/bin/sh", "-c", "ls /proc/self/fd >&2"},
                          {.environment = {"PATH=/usr/bin:/bin"}, .max_text = 1000});
  close(far);
  close(file);
  // The streams, and the folder that ls reads.
  CHECK(result.text == "0\n1\n2\n3\n");
}

TEST_CASE("A child whose end nobody knows did not succeed", "[child]") {
  auto* const old = std::signal(SIGCHLD, SIG_IGN);
  const auto result = RunChild({"/bin/sh", "-c", "exit 3"}, {});
  const auto limited = RunChild({"/bin/sh", "-c", "exit 3"}, {.timeout = std::chrono::minutes(1)});
  std::signal(SIGCHLD, old);
  CHECK(absl::IsUnavailable(result.status()));
  CHECK(absl::IsUnavailable(limited.status()));
}

TEST_CASE("A child ends with its host", "[child]") {
  const TemporaryDirectory directory;
  const std::string note = directory.File("pid");
  const pid_t host = fork();
  if (host == 0) {
    (void)RunChild({"/bin/sh", "-c", "echo $$ > " + note + "; exec sleep 600"},
                   {.environment = {"PATH=/usr/bin:/bin"}});
    _exit(1);
  }
  REQUIRE(host > 0);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::string pid;
  while (!pid.ends_with('\n') && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(milliseconds(10));
    pid = ReadText(note).value_or("");
  }
  REQUIRE_FALSE(pid.empty());
  kill(host, SIGKILL);
  REQUIRE(waitpid(host, nullptr, 0) == host);
  // Gone, or a zombie that nobody waits for.
  const auto alive = [&] {
    const std::string state =
        ReadText("/proc/" + pid.substr(0, pid.size() - 1) + "/stat").value_or("");
    return !state.empty() && state.find(") Z ") == std::string::npos;
  };
  while (alive() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  CHECK_FALSE(alive());
}

TEST_CASE("A child cannot write files of any size", "[child]") {
  const TemporaryDirectory directory;
  const auto result =
      Run({"/bin/sh", "-c", "head -c 100000 /dev/zero > " + directory.File("x")},
          {.environment = {"PATH=/usr/bin:/bin"}, .max_text = 1000, .max_file_bytes = 5000});
  CHECK(result.exit_status != 0);
  CHECK(fs::file_size(directory.File("x")) == 5000);
}

TEST_CASE("A child behind a fence writes in its folder only, and opens no connection", "[child]") {
  if (!internal::CanFenceWrites()) DEVLINK_SKIP("this kernel has no Landlock");
  const TemporaryDirectory directory;
  fs::create_directory(directory.File("inside"));
  REQUIRE(WriteText(directory.File("victim"), "old"));
  fs::create_symlink(directory.File("victim"), directory.File("inside/link"));
  const auto result = Run({"/bin/sh", "-c",
                           "cd '" + directory.File("inside") +
                               "' && echo new > file; echo new > link; echo new > ../other; "
                               "rm ../victim; echo x > /dev/null && echo end >&2"},
                          {.environment = {"PATH=/usr/bin:/bin"},
                           .max_text = 10000,
                           .writable_folder = directory.File("inside")});
  CHECK(result.text.ends_with("end\n"));
  CHECK(ReadText(directory.File("inside/file")) == "new\n");
  CHECK(ReadText(directory.File("victim")) == "old");
  CHECK_FALSE(fs::exists(directory.File("other")));
  const auto status = Run({"/bin/sh", "-c", "grep -E 'NoNewPrivs|Seccomp:' /proc/self/status >&2"},
                          {.environment = {"PATH=/usr/bin:/bin"},
                           .max_text = 1000,
                           .writable_folder = directory.File("inside")});
  CHECK(status.text == "NoNewPrivs:\t1\nSeccomp:\t2\n");
}

}  // namespace
}  // namespace devlink::testing
