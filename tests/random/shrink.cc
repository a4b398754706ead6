// SPDX-License-Identifier: Apache-2.0
#include "random/shrink.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace devlink::testing {
namespace {

using Clock = std::chrono::steady_clock;

std::size_t SizeOf(const RandomProgram& program) {
  std::size_t size = 0;
  for (const SourceFile& f : program.files) size += f.text.size() + 200;
  return size;
}

std::vector<std::string> SplitLines(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t from = 0;
  while (from < text.size()) {
    const std::size_t to = std::min(text.find('\n', from), text.size() - 1);
    lines.push_back(text.substr(from, to - from + 1));
    from = to + 1;
  }
  return lines;
}

class Shrinker {
 public:
  Shrinker(LinkPair& pair, Shrunk start, std::chrono::seconds time)
      : pair_(pair), best_(std::move(start)), kind_(best_.result.kind), end_(Clock::now() + time) {}

  // Smaller limits, fewer features, other seeds.
  void ByLimits(const ProgramMaker& maker, std::uint64_t seed, GeneratorLimits limits) {
    const Clock::time_point end = Clock::now() + (end_ - Clock::now()) / 2;
    for (int bit = 0; bit < 32 && Clock::now() < end; ++bit) {
      const std::uint32_t feature = 1U << bit;
      if ((limits.features & feature) == 0) continue;
      GeneratorLimits fewer = limits;
      fewer.features &= ~feature;
      if (Differs(maker, seed, fewer, end)) limits = fewer;
    }
    constexpr std::array<GeneratorLimits, 4> kLadder = {
        {{2, 2, 2, 2, 0}, {2, 3, 3, 3, 0}, {3, 4, 4, 4, 0}, {3, 7, 8, 5, 0}}};
    for (const GeneratorLimits& step : kLadder) {
      GeneratorLimits smaller = step;
      smaller.features = limits.features;
      if (Clock::now() >= end || Differs(maker, seed, smaller, end)) return;
    }
  }

  // Removes runs of lines, long ones first.
  void ByLines() {
    for (std::size_t f = best_.program.files.size(); f-- > 0;) TryWithoutFile(f);
    bool changed = true;
    while (changed && Clock::now() < end_) {
      changed = false;
      for (std::size_t f = 0; f < best_.program.files.size(); ++f) {
        const std::size_t lines = SplitLines(best_.program.files[f].text).size();
        for (std::size_t run = std::max<std::size_t>(lines / 2, 1); run > 0; run /= 2) {
          changed = RemoveRuns(f, run) || changed;
        }
      }
    }
  }

  Shrunk Take() { return std::move(best_); }

 private:
  // Keeps a candidate that is smaller than the best and differs in the same way.
  bool Keep(RandomProgram candidate) {
    if (SizeOf(candidate) >= SizeOf(best_.program)) return false;
    PairResult result = pair_.Check(candidate);
    if (result.verdict != Verdict::kDifferent || result.kind != kind_) return false;
    best_ = {std::move(candidate), std::move(result)};
    return true;
  }

  bool Differs(const ProgramMaker& maker, std::uint64_t seed, const GeneratorLimits& limits,
               Clock::time_point end) {
    constexpr std::uint64_t kSeeds = 12;
    for (std::uint64_t i = 0; i < kSeeds && Clock::now() < end; ++i) {
      if (Keep(maker(seed + i * 1'000'003, limits))) return true;
    }
    return false;
  }

  void TryWithoutFile(std::size_t file) {
    if (best_.program.files.size() < 2 || Clock::now() >= end_) return;
    RandomProgram candidate = best_.program;
    candidate.files.erase(candidate.files.begin() + static_cast<std::ptrdiff_t>(file));
    for (Package& package : candidate.packages) {
      std::erase_if(package.members, [file](const auto& member) { return member.file == file; });
      for (Package::Member& member : package.members) member.file -= member.file > file ? 1 : 0;
    }
    std::erase_if(candidate.packages,
                  [](const Package& package) { return package.members.empty(); });
    Keep(std::move(candidate));
  }

  bool RemoveRuns(std::size_t file, std::size_t run) {
    bool changed = false;
    std::size_t at = 0;
    while (Clock::now() < end_) {
      std::vector<std::string> lines = SplitLines(best_.program.files[file].text);
      if (at >= lines.size()) return changed;
      const auto first = lines.begin() + static_cast<std::ptrdiff_t>(at);
      lines.erase(first, first + static_cast<std::ptrdiff_t>(std::min(run, lines.size() - at)));
      RandomProgram candidate = best_.program;
      candidate.files[file].text.clear();
      for (const std::string& line : lines) candidate.files[file].text += line;
      if (Keep(std::move(candidate))) {
        changed = true;
      } else {
        at += run;
      }
    }
    return changed;
  }

  LinkPair& pair_;
  Shrunk best_;
  std::string kind_;
  Clock::time_point end_;
};

}  // namespace

Shrunk Shrink(LinkPair& pair, const ProgramMaker& maker, std::uint64_t seed,
              const GeneratorLimits& limits, const Shrunk& start, std::chrono::seconds time) {
  Shrinker shrinker(pair, start, time);
  shrinker.ByLimits(maker, seed, limits);
  shrinker.ByLines();
  return shrinker.Take();
}

}  // namespace devlink::testing
