// SPDX-License-Identifier: Apache-2.0
#include "jit_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "markdown.h"

namespace devlink::bench {

namespace {

constexpr double kMebi = 1024.0 * 1024.0;

using Results = std::vector<JitResult>;

template <typename T>
std::vector<double> Sorted(const Results& results, T JitResult::* field) {
  std::vector<double> out;
  for (const JitResult& result : results) out.push_back(static_cast<double>(result.*field));
  std::sort(out.begin(), out.end());
  return out;
}

template <typename T>
double Median(const Results& results, T JitResult::* field) {
  const std::vector<double> sorted = Sorted(results, field);
  return sorted[sorted.size() / 2];
}

// The median of all rounds and the least of them, in microseconds: of milliseconds.
std::string Times(const Results& results, double JitResult::* median, double JitResult::* least) {
  return ThreeDigits(Median(results, median) * 1000) + " (" +
         ThreeDigits(Sorted(results, least).front() * 1000) + ")";
}

const char* Problem(const Results& results) {
  for (const JitResult& result : results) {
    switch (result.state) {
      case JitResult::State::kCannotOpen:
        return "cannot be opened";
      case JitResult::State::kWrongResult:
        return "does not link as it should";
      case JitResult::State::kCrashed:
        return "crashed";
      default:
        break;
    }
  }
  return nullptr;
}

const Results& With(const JitRow& row, unsigned threads) {
  static const Results none;
  const auto found = row.by_threads.find(threads);
  return found == row.by_threads.end() ? none : found->second;
}

std::string NameOf(const JitRow& row) {
  const Results& results = With(row, 1);
  return results.empty() ? "" : NameOf(row.choice, results.front());
}

// What two threads do beside one.
void AddRates(const Results& one, const Results& two, std::vector<std::string>& cells) {
  const double rate = Median(one, &JitResult::links_per_second);
  if (two.empty() || Problem(two) != nullptr) {
    cells.insert(cells.end(), {two.empty() ? "" : Problem(two), ThreeDigits(rate), "", ""});
    return;
  }
  const double rate_of_two = Median(two, &JitResult::links_per_second);
  cells.insert(cells.end(), {Times(two, &JitResult::first, &JitResult::first), ThreeDigits(rate),
                             ThreeDigits(rate_of_two), ThreeDigits(rate_of_two / rate)});
}

// How long it takes to load each of the libraries.
std::string LoadingText(const std::vector<JitRow>& rows) {
  std::map<std::string, Results> by_name;
  for (const JitRow& row : rows) {
    const Results& one = With(row, 1);
    if (row.choice.kind != LinkerChoice::Kind::kLibrary || one.empty()) continue;
    Results& all = by_name[NameOf(row)];
    all.insert(all.end(), one.begin(), one.end());
  }
  std::string out;
  for (const auto& [name, results] : by_name) {
    out += (out.empty() ? " (" : ", ") + name + " in " +
           ThreeDigits(Median(results, &JitResult::loading)) + " ms";
  }
  return out.empty() ? out : out + ")";
}

}  // namespace

std::string NameOf(const LinkerChoice& choice, const JitResult& result) {
  switch (choice.kind) {
    case LinkerChoice::Kind::kSession:
      return "session";
    case LinkerChoice::Kind::kPool:
      return "session, pool";
    case LinkerChoice::Kind::kCache:
      return "session, cache";
    default:
      break;
  }
  if (result.state == JitResult::State::kCannotOpen) return choice.path;
  return result.is_devlink ? "our libnvJitLink" : "NVIDIA's libnvJitLink";
}

std::string LatencyText(const std::vector<JitRow>& rows) {
  MarkdownTable table({"inputs", "by", "first", "then", "times faster", "first, 2 threads",
                       "links/s", "2 threads", "scales", "peak MiB"});
  double theirs = 0;  // of NVIDIA's library, which comes first
  std::string inputs;
  for (const JitRow& row : rows) {
    const Results& one = With(row, 1);
    std::vector<std::string> cells = {row.inputs, NameOf(row)};
    if (row.inputs != inputs) theirs = 0;
    inputs = row.inputs;
    if (one.empty() || Problem(one) != nullptr) {
      cells.emplace_back(one.empty() ? "left out" : Problem(one));
    } else {
      const double then = Median(one, &JitResult::median);
      const bool is_theirs = !one.front().is_devlink;
      if (is_theirs) theirs = then;
      cells.push_back(Times(one, &JitResult::first, &JitResult::first));
      cells.push_back(Times(one, &JitResult::median, &JitResult::least));
      cells.push_back(is_theirs || theirs == 0 || then == 0 ? "" : ThreeDigits(theirs / then));
      AddRates(one, With(row, 2), cells);
      cells.push_back(ThreeDigits(Median(one, &JitResult::peak) / kMebi));
    }
    table.Add(std::move(cells));
  }
  return "Microseconds of a link: the median and, in parentheses, the least. `first` is that of a "
         "new process,\nwhich has loaded the library already" +
         LoadingText(rows) + ".\n\n" + table.Text();
}

std::string LeakText(const std::vector<JitRow>& rows) {
  MarkdownTable table(
      {"inputs", "by", "threads", "links", "links/s", "grown KiB", "bytes a link", "peak MiB"});
  for (const JitRow& row : rows) {
    for (const auto& [threads, results] : row.by_threads) {
      const JitResult& result = results.front();
      std::vector<std::string> cells = {row.inputs, NameOf(row), std::to_string(threads)};
      if (const char* problem = Problem(results); problem != nullptr) {
        cells.emplace_back(problem);
      } else {
        // Memory is looked at from the end of the first tenth on.
        const double counted = static_cast<double>(result.links) * 0.9;
        cells.insert(cells.end(),
                     {std::to_string(result.links), ThreeDigits(result.links_per_second),
                      std::to_string(result.grown / 1024),
                      std::to_string(std::lround(static_cast<double>(result.grown) / counted)),
                      ThreeDigits(static_cast<double>(result.peak) / kMebi)});
      }
      table.Add(std::move(cells));
    }
  }
  return table.Text();
}

bool AllWell(const std::vector<JitRow>& rows) {
  for (const JitRow& row : rows) {
    for (const auto& [threads, results] : row.by_threads) {
      if (Problem(results) != nullptr) return false;
    }
  }
  return true;
}

}  // namespace devlink::bench
