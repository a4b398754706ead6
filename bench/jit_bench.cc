// SPDX-License-Identifier: Apache-2.0
//
// devlink-bench-jit: the same links within one process by several libraries with nvJitLink's
// interface, such as NVIDIA's and the one that stands in its place:
//
//   devlink-bench-jit [--arch ARCH] [--leak COUNT] LIBRARY... [-- OPTION... INPUT...]
//
// Each line is measured in a process of its own, which links until a second is over: the first
// link, the median of the others, links per second, and by how much memory grew behind the first
// tenth. With --leak that number of links of two cubins, and a tenth as many that fail. What stands
// behind
// `--` is a class of its own: options begin with a dash.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "modules.h"
#include "programs.h"

namespace devlink::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Files = std::vector<std::vector<char>>;

double MillisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// The functions of the interface that a link takes.
struct Library {
  using Handle = void*;
  int (*create)(Handle*, std::uint32_t, const char* const*) = nullptr;
  int (*add)(Handle, int, const void*, std::size_t, const char*) = nullptr;
  int (*complete)(Handle) = nullptr;
  int (*size)(Handle, std::size_t*) = nullptr;
  int (*get)(Handle, void*) = nullptr;
  int (*destroy)(Handle*) = nullptr;

  bool Open(const std::string& path) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    const auto find = [&](const char* name, auto& function) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    return find("nvJitLinkCreate", create) && find("nvJitLinkAddData", add) &&
           find("nvJitLinkComplete", complete) && find("nvJitLinkGetLinkedCubinSize", size) &&
           find("nvJitLinkGetLinkedCubin", get) && find("nvJitLinkDestroy", destroy);
  }
};

struct Case {
  std::string name;
  Files inputs;
  std::vector<std::string> options;
  bool fails = false;
};

bool Link(const Library& library, const Case& what) {
  constexpr int kAnyInput = 10;
  std::vector<const char*> options;
  for (const std::string& option : what.options) options.push_back(option.c_str());
  Library::Handle handle = nullptr;
  bool ok =
      library.create(&handle, static_cast<std::uint32_t>(options.size()), options.data()) == 0;
  for (const auto& input : what.inputs) {
    ok = ok && library.add(handle, kAnyInput, input.data(), input.size(), "input") == 0;
  }
  ok = ok && library.complete(handle) == 0;
  std::size_t size = 0;
  std::vector<char> cubin;
  if (ok && library.size(handle, &size) == 0) {
    cubin.resize(size);
    ok = library.get(handle, cubin.data()) == 0;
  }
  library.destroy(&handle);
  return ok;
}

// Kilobytes of this process that are in memory.
long ResidentKilobytes() {
  std::ifstream in("/proc/self/statm");
  long pages = 0;
  in >> pages >> pages;
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

// Links on `threads` threads, `count` times or, where that is 0, for a second; prints what it took.
int Measure(const Library& library, const Case& what, unsigned threads, std::uint64_t count) {
  const auto begin = Clock::now();
  if (Link(library, what) == what.fails) {
    std::printf("%-14s %7u  does not link as it should\n", what.name.c_str(), threads);
    return 1;
  }
  const double first = MillisecondsSince(begin);
  std::atomic<std::uint64_t> done = 0;
  std::atomic<long> settled = 0;
  const std::uint64_t settling = count / 10;
  std::vector<std::vector<double>> times(threads);
  const auto start = Clock::now();
  const auto work = [&](unsigned thread) {
    while (count != 0 ? done < count : MillisecondsSince(start) < 1000) {
      const auto link = Clock::now();
      Link(library, what);
      times[thread].push_back(MillisecondsSince(link));
      if (++done == settling + 1) settled = ResidentKilobytes();
    }
  };
  std::vector<std::thread> others;
  for (unsigned thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
  work(0);
  for (std::thread& other : others) other.join();
  const double seconds = MillisecondsSince(start) / 1000;
  std::vector<double> all;
  for (const auto& of_thread : times) all.insert(all.end(), of_thread.begin(), of_thread.end());
  std::sort(all.begin(), all.end());
  std::printf("%-14s %7u %10.3f %10.3f %10.0f %9zu %9ld %9ld\n", what.name.c_str(), threads, first,
              all[all.size() / 2], static_cast<double>(all.size()) / seconds, all.size(),
              ResidentKilobytes() - settled, ResidentKilobytes());
  return 0;
}

int InOwnProcess(const Library& library, const Case& what, unsigned threads, std::uint64_t count) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const int status = Measure(library, what, threads, count);
    std::fflush(stdout);
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status)) std::printf("%-14s %7u  crashed\n", what.name.c_str(), threads);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

std::vector<char> Read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Case Cubins(const std::string& arch, int count) {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  const ProgramClass program{.name = "flat", .family = "flat", .modules = count};
  const CompiledProgram compiled =
      CompileProgram(program, arch, here.parent_path() / "bench-modules");
  Case out{.name = std::to_string(count) + " cubins", .options = {"-arch=" + arch}};
  for (const std::string& file : compiled.files)
    out.inputs.push_back(Read(compiled.directory / file));
  return out;
}

Case Given(const std::string& arch, const std::vector<std::string>& words) {
  Case out{.name = "given", .options = {"-arch=" + arch}};
  for (const std::string& word : words) {
    if (word.starts_with('-')) {
      out.options.push_back(word);
    } else {
      out.inputs.push_back(Read(word));
    }
  }
  return out;
}

struct Words {
  std::string arch = "sm_80";
  std::uint64_t leak = 0;
  std::vector<std::string> libraries;
  std::vector<std::string> given;
};

Words ReadWords(int argc, char** argv) {
  Words out;
  int next = 1;
  for (; next < argc && std::string(argv[next]) != "--"; ++next) {
    const std::string word = argv[next];
    if (word == "--arch" && next + 1 < argc) {
      out.arch = argv[++next];
    } else if (word == "--leak" && next + 1 < argc) {
      out.leak = std::strtoull(argv[++next], nullptr, /*base=*/10);
    } else {
      out.libraries.push_back(word);
    }
  }
  for (++next; next < argc; ++next) out.given.emplace_back(argv[next]);
  return out;
}

int Main(const Words& words) {
  std::vector<Case> cases;
  if (words.leak != 0) {
    cases = {Cubins(words.arch, 2),
             {.name = "undefined", .options = {"-arch=" + words.arch}, .fails = true}};
    // The second module alone calls functions that the first has.
    cases[1].inputs = {cases[0].inputs.back()};
  } else if (!words.given.empty()) {
    cases = {Given(words.arch, words.given)};
  } else {
    for (const int count : {1, 2, 10, 100, 1000}) cases.push_back(Cubins(words.arch, count));
  }
  int status = 0;
  for (const std::string& path : words.libraries) {
    Library library;
    if (!library.Open(path)) {
      std::cerr << "devlink-bench-jit: cannot use '" << path << "'\n";
      return 2;
    }
    std::printf("%s\n%-14s %7s %10s %10s %10s %9s %9s %9s\n", path.c_str(), "inputs", "threads",
                "first ms", "median ms", "links/s", "links", "grown kB", "kB");
    for (const Case& what : cases) {
      const std::uint64_t count = what.fails ? words.leak / 10 : words.leak;
      for (const unsigned threads : {1U, 2U}) {
        status |= InOwnProcess(library, what, threads, count);
      }
    }
  }
  return status;
}

}  // namespace
}  // namespace devlink::bench

int main(int argc, char** argv) {
  const devlink::bench::Words words = devlink::bench::ReadWords(argc, argv);
  if (words.libraries.empty()) {
    std::cerr << "usage: devlink-bench-jit [--arch ARCH] [--leak COUNT] LIBRARY... [-- WORD...]\n";
    return 2;
  }
  return devlink::bench::Main(words);
}
