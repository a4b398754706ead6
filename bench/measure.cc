// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>

namespace devlink::bench {

namespace {

struct Run {
  int status = -1;
  double seconds = 0;
  std::uint64_t peak = 0;
};

// In the child: only calls that are safe between fork and exec.
[[noreturn]] void Become(char* const* arguments, char* const* environment, const char* directory,
                         const char* messages) {
  const int nothing = open("/dev/null", O_RDWR);
  const int file = open(messages, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (nothing < 0 || file < 0 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 ||
      dup2(file, 2) < 0 || chdir(directory) != 0) {
    _exit(126);
  }
  execvpe(arguments[0], arguments, environment);
  _exit(127);
}

// One program, run again and again.
class Series {
 public:
  Series(const Command& command, const std::filesystem::path& directory)
      : directory_(directory.string()), messages_((directory / "messages.txt").string()) {
    // exec takes char* for historical reasons and does not write to the strings.
    for (const std::string& word : command.words) words_.push_back(const_cast<char*>(word.c_str()));
    for (const std::string& variable : command.variables) {
      environment_.push_back(const_cast<char*>(variable.c_str()));
    }
    for (char** variable = environ; *variable != nullptr; ++variable) {
      environment_.push_back(*variable);
    }
    words_.push_back(nullptr);
    environment_.push_back(nullptr);
  }

  [[nodiscard]] bool is_over() const { return is_over_ || words_.size() == 1; }

  void Once(double long_run) {
    const Run run = RunOnce();
    ++out_.runs;
    if (run.status != 0) {
      is_over_ = true;
      std::ifstream file(messages_);
      std::getline(file, out_.failure);
      if (out_.failure.empty()) {
        out_.failure = std::string(words_[0]) + " ended with status " + std::to_string(run.status);
      }
      return;
    }
    times_.push_back(run.seconds);
    out_.peak = std::max(out_.peak, run.peak);
    if (run.seconds > long_run) is_over_ = true;
  }

  Measurement Result() {
    if (!out_.failure.empty() || times_.empty()) return out_;
    std::sort(times_.begin(), times_.end());
    out_.ok = true;
    out_.seconds = times_[times_.size() / 2];
    out_.least = times_.front();
    return out_;
  }

  [[nodiscard]] const std::string& messages() const { return messages_; }

 private:
  [[nodiscard]] Run RunOnce() const {
    Run run;
    const auto begin = std::chrono::steady_clock::now();
    const pid_t pid = fork();
    if (pid == 0) Become(words_.data(), environment_.data(), directory_.c_str(), messages_.c_str());
    int status = 0;
    struct rusage usage = {};
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid) return run;
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    run.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    run.peak = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
    return run;
  }

  std::vector<char*> words_;
  std::vector<char*> environment_;
  std::string directory_;
  std::string messages_;
  std::vector<double> times_;
  bool is_over_ = false;
  Measurement out_;
};

}  // namespace

std::vector<Measurement> MeasureInTurns(const std::vector<Command>& commands,
                                        const std::filesystem::path& directory, int runs,
                                        double long_run) {
  std::vector<Series> all;
  all.reserve(commands.size());
  for (const Command& command : commands) all.emplace_back(command, directory);
  for (int i = 0; i < runs; ++i) {
    for (Series& series : all) {
      if (!series.is_over()) series.Once(long_run);
    }
  }
  std::vector<Measurement> out;
  for (Series& series : all) out.push_back(series.Result());
  return out;
}

Measurement Measure(const Command& command, const std::filesystem::path& directory, int runs) {
  constexpr double kNever = 1e9;
  return MeasureInTurns({command}, directory, runs, kNever).front();
}

std::uint64_t CountInstructions(const Command& command, const std::filesystem::path& directory) {
  Command counted = command;
  const char* const valgrind[] = {"valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"};
  counted.words.insert(counted.words.begin(), std::begin(valgrind), std::end(valgrind));
  constexpr double kNever = 1e9;
  Series series(counted, directory);
  series.Once(kNever);
  std::ifstream file(series.messages());
  constexpr std::string_view kBefore = "Collected : ";
  for (std::string line; std::getline(file, line);) {
    const std::size_t place = line.find(kBefore);
    if (place != std::string::npos) return std::stoull(line.substr(place + kBefore.size()));
  }
  return 0;
}

}  // namespace devlink::bench
