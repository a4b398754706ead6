// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>

namespace devlink::bench {

namespace {

struct Run {
  int status = -1;
  double seconds = 0;
  std::uint64_t peak = 0;
};

// In the child: only calls that are safe between fork and exec.
[[noreturn]] void Become(char* const* arguments, const char* directory, const char* messages) {
  const int nothing = open("/dev/null", O_RDWR);
  const int file = open(messages, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (nothing < 0 || file < 0 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 ||
      dup2(file, 2) < 0 || chdir(directory) != 0) {
    _exit(126);
  }
  execvp(arguments[0], arguments);
  _exit(127);
}

Run RunOnce(char* const* arguments, const char* directory, const char* messages) {
  Run run;
  const auto begin = std::chrono::steady_clock::now();
  const pid_t pid = fork();
  if (pid == 0) Become(arguments, directory, messages);
  int status = 0;
  struct rusage usage = {};
  if (pid < 0 || wait4(pid, &status, 0, &usage) != pid) return run;
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  run.peak = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  return run;
}

}  // namespace

Measurement Measure(const std::vector<std::string>& arguments,
                    const std::filesystem::path& directory, int runs, double long_run) {
  std::vector<char*> raw;
  // exec takes char* for historical reasons and does not write to the strings.
  for (const std::string& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
  raw.push_back(nullptr);
  const std::string messages = (directory / "messages.txt").string();

  Measurement out;
  std::vector<double> times;
  while (out.runs < runs) {
    const Run run = RunOnce(raw.data(), directory.c_str(), messages.c_str());
    ++out.runs;
    if (run.status != 0) {
      std::ifstream file(messages);
      std::getline(file, out.failure);
      if (out.failure.empty())
        out.failure = arguments[0] + " ended with status " + std::to_string(run.status);
      return out;
    }
    times.push_back(run.seconds);
    out.peak = std::max(out.peak, run.peak);
    if (run.seconds > long_run) break;
  }
  std::sort(times.begin(), times.end());
  out.ok = true;
  out.seconds = times[times.size() / 2];
  return out;
}

}  // namespace devlink::bench
