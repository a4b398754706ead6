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

// One program, run again and again.
class Series {
 public:
  Series(const std::vector<std::string>& arguments, const std::filesystem::path& directory)
      : directory_(directory.string()), messages_((directory / "messages.txt").string()) {
    // exec takes char* for historical reasons and does not write to the strings.
    for (const std::string& word : arguments) arguments_.push_back(const_cast<char*>(word.c_str()));
    arguments_.push_back(nullptr);
  }

  // The time it took; negative where it failed.
  double Once() {
    const Run run = RunOnce(arguments_.data(), directory_.c_str(), messages_.c_str());
    ++out_.runs;
    if (run.status != 0) {
      std::ifstream file(messages_);
      std::getline(file, out_.failure);
      if (out_.failure.empty()) {
        out_.failure =
            std::string(arguments_[0]) + " ended with status " + std::to_string(run.status);
      }
      return -1;
    }
    times_.push_back(run.seconds);
    out_.peak = std::max(out_.peak, run.peak);
    return run.seconds;
  }

  Measurement Result() {
    if (!out_.failure.empty() || times_.empty()) return out_;
    std::sort(times_.begin(), times_.end());
    out_.ok = true;
    out_.seconds = times_[times_.size() / 2];
    return out_;
  }

 private:
  std::vector<char*> arguments_;
  std::string directory_;
  std::string messages_;
  std::vector<double> times_;
  Measurement out_;
};

}  // namespace

Measurement Measure(const std::vector<std::string>& arguments,
                    const std::filesystem::path& directory, int runs, double long_run) {
  Series series(arguments, directory);
  for (int i = 0; i < runs; ++i) {
    const double seconds = series.Once();
    if (seconds < 0 || seconds > long_run) break;
  }
  return series.Result();
}

std::pair<Measurement, Measurement> MeasureInTurns(const std::vector<std::string>& first,
                                                   const std::vector<std::string>& second,
                                                   const std::filesystem::path& directory,
                                                   int runs) {
  Series one(first, directory);
  Series other(second, directory);
  for (int i = 0; i < runs; ++i) {
    if (one.Once() < 0 || other.Once() < 0) break;
  }
  return {one.Result(), other.Result()};
}

}  // namespace devlink::bench
