// SPDX-License-Identifier: Apache-2.0
//
// devlink-bench-jit: the same links within a process by NVIDIA's libnvJitLink, by the library that
// stands in its place, and by sessions of libdevlink:
//
//   devlink-bench-jit [--arch ARCH] [--quick] [--rounds N] [--leak COUNT] [LIBRARY...]
//                     [-- OPTION... INPUT...]
//
// Prints a table. Every figure is taken in a process of its own, which links once and then until a
// quarter of a second is over; rounds go through all ways to link in turns. With --leak each way
// makes that number of links of two cubins, of two that are new each time, and a tenth as many that
// fail, and says by how much memory grew. Without LIBRARYs those of the toolkit (CUDA_HOME) and of
// this build are taken. What stands behind `--` is linked in place of the usual programs: options
// begin with a dash.
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "jit_cases.h"
#include "jit_linkers.h"
#include "jit_measure.h"
#include "jit_table.h"

namespace devlink::bench {
namespace {

namespace fs = std::filesystem;

struct Words {
  std::string arch = "sm_90";
  bool quick = false;
  std::uint64_t rounds = 0;  // 0: 7, or 2 with --quick
  std::uint64_t leak = 0;
  std::vector<std::string> libraries;
  std::vector<std::string> given;
};

bool ReadNumber(const std::string& text, std::uint64_t& number) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stopped == end && number > 0;
}

std::optional<Words> ReadWords(const std::vector<std::string>& words) {
  Words out;
  std::size_t next = 0;
  for (; next < words.size() && words[next] != "--"; ++next) {
    const std::string& word = words[next];
    if (word == "--quick") {
      out.quick = true;
      continue;
    }
    if (!word.starts_with('-')) {
      out.libraries.push_back(word);
      continue;
    }
    if (++next == words.size()) return std::nullopt;
    bool ok = true;
    if (word == "--arch") {
      out.arch = words[next];
    } else if (word == "--leak") {
      ok = ReadNumber(words[next], out.leak);
    } else {
      ok = word == "--rounds" && ReadNumber(words[next], out.rounds);
    }
    if (!ok) return std::nullopt;
  }
  if (next < words.size()) out.given.assign(words.begin() + 1 + next, words.end());
  return out;
}

fs::path BuildFolder() { return fs::read_symlink("/proc/self/exe").parent_path().parent_path(); }

std::string Toolkit() {
  const char* const home = std::getenv("CUDA_HOME");
  return home == nullptr ? "" : home;
}

std::vector<LinkerChoice> Choices(const Words& words) {
  std::vector<std::string> libraries = words.libraries;
  if (libraries.empty()) {
    for (const char* folder : {"/lib64", "/lib", "/targets/x86_64-linux/lib"}) {
      const std::string library = Toolkit() + folder + "/libnvJitLink.so.13";
      if (!fs::exists(library)) continue;
      libraries.push_back(library);
      break;
    }
    libraries.push_back((BuildFolder() / "lib/nvjitlink/libnvJitLink.so.13").string());
  }
  std::vector<LinkerChoice> out;
  for (const std::string& library : libraries) out.push_back({.path = library});
  for (const auto kind :
       {LinkerChoice::Kind::kSession, LinkerChoice::Kind::kPool, LinkerChoice::Kind::kCache}) {
    out.push_back({.kind = kind});
  }
  return out;
}

// Everything is measured once with 1 thread and once with 2 before anything is measured again.
std::vector<JitRow> MeasureAll(const Words& words, const std::vector<JitCase>& cases,
                               const std::vector<LinkerChoice>& choices, std::uint64_t rounds) {
  const ToolPlaces places{
      .nvptxcompiler = (BuildFolder() / "lib/libdevlink_ptxcompiler.so").string(),
      .nvvm = Toolkit()};
  std::vector<JitRow> rows;
  for (const JitCase& what : cases) {
    std::cerr << what.name << " ...\n";
    const std::size_t first = rows.size();
    for (const LinkerChoice& choice : choices) {
      if (Fits(choice, what)) rows.push_back({.inputs = what.name, .choice = choice});
    }
    for (std::uint64_t round = 0; round < rounds; ++round) {
      for (const unsigned threads : {1U, 2U}) {
        for (std::size_t i = first; i < rows.size(); ++i) {
          JitRun run{.threads = threads, .seconds = words.quick ? 0.05 : 0.25};
          run.links = what.fails ? words.leak / 10 : words.leak;
          // Of what takes long the first rounds say enough.
          const std::vector<JitResult>& before = rows[i].by_threads[threads];
          const bool is_slow = !before.empty() && before.front().first > 500;
          if (is_slow && (words.quick || round >= 3)) continue;
          rows[i].by_threads[threads].push_back(MeasureJit(rows[i].choice, what, places, run));
        }
      }
    }
  }
  return rows;
}

int Main(const Words& words) {
  const fs::path cache = BuildFolder() / "bench-modules";
  std::vector<JitCase> cases;
  if (!words.given.empty()) {
    cases = {GivenCase(words.arch, words.given)};
  } else if (words.leak != 0) {
    cases = LeakCases(words.arch, cache);
  } else {
    cases = LatencyCases(words.arch, cache);
  }
  const std::uint64_t usual = words.quick ? 2 : 7;
  const std::uint64_t rounds = words.leak != 0 ? 1 : words.rounds != 0 ? words.rounds : usual;
  const std::vector<JitRow> rows = MeasureAll(words, cases, Choices(words), rounds);
  std::fputs((words.leak != 0 ? LeakText(rows) : LatencyText(rows)).c_str(), stdout);
  return AllWell(rows) ? 0 : 1;
}

}  // namespace
}  // namespace devlink::bench

int main(int argc, char** argv) {
  try {
    const auto words = devlink::bench::ReadWords(std::vector<std::string>(argv + 1, argv + argc));
    if (words) return devlink::bench::Main(*words);
  } catch (const std::exception& error) {
    std::cerr << "devlink-bench-jit: " << error.what() << '\n';
    return 1;
  }
  std::cerr << "usage: devlink-bench-jit [--arch ARCH] [--quick] [--rounds N] [--leak COUNT] "
               "[LIBRARY...] [-- WORD...]\n";
  return 2;
}
