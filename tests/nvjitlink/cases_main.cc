// SPDX-License-Identifier: Apache-2.0
//
// devlink-nvjitlink-cases LIBRARY CASES FOLDER: runs cases with a libnvJitLink, each in a process
// of its own, and prints what the library answers; linked cubins and PTX go to the folder, which
// has to be there. tests/scripts/nvjitlink.sh compares two libraries with it.
//
// A case is a line of a name and steps, all separated by blanks (`~` stands for a blank in a word):
//
//   create OPTION...            data TYPE FILE [SIZE]       file TYPE FILE      complete
//   unended TYPE FILE           data behind which nothing can be read
//   unnamed TYPE FILE           data without a name
//   nodata TYPE                 no data
//   results                     prints the results and the logs
//   ltoir                       prints whether there is linked LTO IR
//   destroy                     nulls: null pointers for everything
//   threads ARCH TYPE FILE...   the same link many times at once
//
// `;` ends a step. The results, the logs and what Destroy returns are printed behind the steps of
// each case.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

// NVIDIA's library does not come back of some damaged inputs.
constexpr unsigned kSeconds = 5;

struct Library {
  int (*create)(void**, std::uint32_t, const char**) = nullptr;
  int (*destroy)(void**) = nullptr;
  int (*data)(void*, int, const void*, std::size_t, const char*) = nullptr;
  int (*file)(void*, int, const char*) = nullptr;
  int (*complete)(void*) = nullptr;
  int (*cubin_size)(void*, std::size_t*) = nullptr;
  int (*cubin)(void*, void*) = nullptr;
  int (*ptx_size)(void*, std::size_t*) = nullptr;
  int (*ptx)(void*, void*) = nullptr;
  int (*ltoir_size)(void*, std::size_t*) = nullptr;
  int (*ltoir)(void*, void*) = nullptr;
  int (*error_size)(void*, std::size_t*) = nullptr;
  int (*error)(void*, void*) = nullptr;
  int (*info_size)(void*, std::size_t*) = nullptr;
  int (*info)(void*, void*) = nullptr;
  int (*version)(unsigned*, unsigned*) = nullptr;
};

template <typename Function>
void Find(void* library, const char* name, Function*& out) {
  out = reinterpret_cast<Function*>(dlsym(library, name));
}

Library Load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(2);
  }
  Library out;
  Find(library, "__nvJitLinkCreate_13_0", out.create);
  Find(library, "__nvJitLinkDestroy_13_0", out.destroy);
  Find(library, "__nvJitLinkAddData_13_0", out.data);
  Find(library, "__nvJitLinkAddFile_13_0", out.file);
  Find(library, "__nvJitLinkComplete_13_0", out.complete);
  Find(library, "__nvJitLinkGetLinkedCubinSize_13_0", out.cubin_size);
  Find(library, "__nvJitLinkGetLinkedCubin_13_0", out.cubin);
  Find(library, "__nvJitLinkGetLinkedPtxSize_13_0", out.ptx_size);
  Find(library, "__nvJitLinkGetLinkedPtx_13_0", out.ptx);
  Find(library, "__nvJitLinkGetLinkedLTOIRSize_13_0", out.ltoir_size);
  Find(library, "__nvJitLinkGetLinkedLTOIR_13_0", out.ltoir);
  Find(library, "__nvJitLinkGetErrorLogSize_13_0", out.error_size);
  Find(library, "__nvJitLinkGetErrorLog_13_0", out.error);
  Find(library, "__nvJitLinkGetInfoLogSize_13_0", out.info_size);
  Find(library, "__nvJitLinkGetInfoLog_13_0", out.info);
  Find(library, "nvJitLinkVersion", out.version);
  return out;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read '%s'\n", path.c_str());
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Bytes that end where a page ends behind which nothing can be read.
class AtPageEnd {
 public:
  explicit AtPageEnd(std::string_view bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t pages = (bytes.size() + page - 1) / page * page;
    size_ = pages + page;
    base_ = static_cast<char*>(
        mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + pages, page, PROT_NONE);
    data_ = base_ + pages - bytes.size();
    std::memcpy(data_, bytes.data(), bytes.size());
  }
  AtPageEnd(const AtPageEnd&) = delete;
  AtPageEnd& operator=(const AtPageEnd&) = delete;
  ~AtPageEnd() { munmap(base_, size_); }
  [[nodiscard]] const char* data() const { return data_; }

 private:
  char* base_;
  char* data_;
  std::size_t size_;
};

using Words = std::vector<std::string>;
using SizeFunction = int (*)(void*, std::size_t*);
using GetFunction = int (*)(void*, void*);

class Case {
 public:
  Case(const Library& library, std::string name, std::string folder)
      : library_(library), name_(std::move(name)), folder_(std::move(folder)) {}

  void Run(const std::vector<Words>& steps) {
    for (const Words& step : steps) Step(step);
    PrintAll("");
    Print("destroy", library_.destroy(&handle_));
    if (handle_ != nullptr) std::printf("%s: destroy leaves a handle\n", name_.c_str());
  }

 private:
  void Print(const std::string& what, int code) {
    std::printf("%s: %s %d\n", name_.c_str(), what.c_str(), code);
    std::fflush(stdout);
  }

  void Step(const Words& words) {
    const std::string& what = words[0];
    if (what == "create") return Print("create", Create(words));
    if (what == "data" || what == "unended") return Print(what, Data(words));
    if (what == "nodata") return Print(what, library_.data(handle_, Type(words), nullptr, 0, "no"));
    if (what == "unnamed") {
      const std::string bytes = ReadFile(words.at(2));
      return Print(what, library_.data(handle_, Type(words), bytes.c_str(), bytes.size(), nullptr));
    }
    if (what == "file") {
      return Print(what, library_.file(handle_, Type(words), words.at(2).c_str()));
    }
    if (what == "complete") return Print(what, library_.complete(handle_));
    if (what == "destroy") return Print(what, library_.destroy(&handle_));
    if (what == "results") return PrintAll(what);
    if (what == "ltoir") {
      return Write("ltoir.ltoir", Get("ltoir", library_.ltoir_size, library_.ltoir, true));
    }
    if (what == "nulls") return Nulls();
    if (what == "threads") return Threads(words);
    std::printf("%s: unknown step %s\n", name_.c_str(), what.c_str());
  }

  static int Type(const Words& words) { return std::atoi(words.at(1).c_str()); }

  int Create(const Words& words) {
    std::vector<const char*> options;
    for (std::size_t i = 1; i < words.size(); ++i) options.push_back(words[i].c_str());
    return library_.create(&handle_, static_cast<std::uint32_t>(options.size()), options.data());
  }

  int Data(const Words& words) {
    std::string bytes = ReadFile(words.at(2));
    std::size_t size = bytes.size();
    if (words.size() > 3) size = std::strtoul(words[3].c_str(), nullptr, 10);
    std::string name = words.at(2).substr(words.at(2).rfind('/') + 1);
    if (words[0] == "unended") {
      const AtPageEnd copy(std::string_view(bytes).substr(0, size));
      return library_.data(handle_, Type(words), copy.data(), size, name.c_str());
    }
    // NVIDIA's library keeps the pointer.
    names_.push_back(std::move(name));
    const int code =
        library_.data(handle_, Type(words), bytes.c_str(), size, names_.back().c_str());
    // The data may be overwritten, for all types.
    std::fill(bytes.begin(), bytes.end(), '?');
    return code;
  }

  std::string Get(const char* what, SizeFunction get_size, GetFunction get, bool print_size) {
    if (get_size == nullptr) return {};
    constexpr std::size_t kUnset = 987654321;
    std::size_t size = kUnset;
    const int code = get_size(handle_, &size);
    std::string text(size == kUnset ? 16 : size + 16, '#');
    const int got = get(handle_, text.data());
    std::string line = std::string(what) + " size " + std::to_string(code) + " get";
    Print(line, got);
    if (code != 0 || got != 0) return {};
    const std::size_t end = text.find_last_not_of('#') + 1;
    if (print_size) std::printf("%s: %s has %zu bytes\n", name_.c_str(), what, size);
    if (end > size) std::printf("%s: %s writes behind the end\n", name_.c_str(), what);
    text.resize(size);
    return text;
  }

  void PrintLog(const char* what, std::string log) {
    while (!log.empty() && log.back() == '\0') log.pop_back();
    std::istringstream lines(log);
    for (std::string line; std::getline(lines, line);) {
      std::printf("%s: %s | %s\n", name_.c_str(), what, line.c_str());
    }
  }

  void Write(const std::string& suffix, const std::string& bytes) {
    if (bytes.empty()) return;
    std::ofstream(folder_ + "/" + name_ + suffix, std::ios::binary) << bytes;
  }

  void PrintAll(const std::string& when) {
    Write(when + ".cubin", Get("cubin", library_.cubin_size, library_.cubin, true));
    Write(when + ".ptx", Get("ptx", library_.ptx_size, library_.ptx, true));
    PrintLog("error", Get("error log", library_.error_size, library_.error, true));
    const std::string info = Get("info log", library_.info_size, library_.info, true);
    PrintLog("info", info);
  }

  void Nulls() {
    std::size_t size = 0;
    char byte = 0;
    unsigned number = 0;
    void* none = nullptr;
    const char* word = "-arch=sm_90";
    Print("null handle of create", library_.create(nullptr, 1, &word));
    Print("null options", library_.create(&none, 1, nullptr));
    Print("no options", library_.create(&none, 0, &word));
    if (none != nullptr) std::printf("%s: a handle was made\n", name_.c_str());
    Print("null destroy", library_.destroy(nullptr));
    Print("destroy of none", library_.destroy(&none));
    Print("null data", library_.data(nullptr, 1, &byte, 1, "n"));
    Print("null file", library_.file(nullptr, 1, "n"));
    Print("null path", library_.file(handle_, 1, nullptr));
    Print("null complete", library_.complete(nullptr));
    const std::array<SizeFunction, 4> sizes = {library_.cubin_size, library_.ptx_size,
                                               library_.error_size, library_.info_size};
    const std::array<GetFunction, 4> gets = {library_.cubin, library_.ptx, library_.error,
                                             library_.info};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      Print("size of null", sizes[i](nullptr, &size));
      Print("size to null", sizes[i](handle_, nullptr));
      Print("get of null", gets[i](nullptr, &byte));
      Print("get to null", gets[i](handle_, nullptr));
    }
    Print("version to null", library_.version(nullptr, &number));
    Print("version to null, too", library_.version(&number, nullptr));
  }

  // The same link on eight threads, eight times each, gives the same bytes.
  void Threads(const Words& words) {
    constexpr int kThreads = 8;
    constexpr int kTimes = 8;
    std::vector<std::string> found(kThreads);
    const auto work = [&](int thread) {
      for (int i = 0; i < kTimes; ++i) found[thread] += "," + LinkOnce(words);
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
    for (std::thread& thread : threads) thread.join();
    const std::string alone = LinkOnce(words);
    int different = 0;
    for (const std::string& all : found) {
      std::string expected;
      for (int i = 0; i < kTimes; ++i) expected += "," + alone;
      different += all == expected ? 0 : 1;
    }
    Print("threads whose links differ", different);
  }

  std::string LinkOnce(const Words& words) const {
    void* handle = nullptr;
    const char* option = words.at(1).c_str();
    library_.create(&handle, 1, &option);
    for (std::size_t i = 2; i + 1 < words.size(); i += 2) {
      const std::string bytes = ReadFile(words[i + 1]);
      library_.data(handle, std::atoi(words[i].c_str()), bytes.c_str(), bytes.size(), "input");
    }
    library_.complete(handle);
    std::size_t size = 0;
    library_.cubin_size(handle, &size);
    std::string cubin(size, '\0');
    library_.cubin(handle, cubin.data());
    library_.destroy(&handle);
    return cubin;
  }

  const Library& library_;
  std::string name_;
  std::string folder_;
  std::deque<std::string> names_;
  void* handle_ = nullptr;
};

std::vector<Words> StepsOf(std::istringstream& line) {
  std::vector<Words> out(1);
  for (std::string word; line >> word;) {
    if (word == ";") {
      out.emplace_back();
      continue;
    }
    std::replace(word.begin(), word.end(), '~', ' ');
    out.back().push_back(word);
  }
  if (out.back().empty()) out.pop_back();
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: devlink-nvjitlink-cases LIBRARY CASES FOLDER\n", stderr);
    return 2;
  }
  const Library library = Load(argv[1]);
  std::ifstream cases(argv[2]);
  for (std::string line; std::getline(cases, line);) {
    std::istringstream words(line);
    std::string name;
    if (!(words >> name) || name[0] == '#') continue;
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      alarm(kSeconds);
      Case(library, name, argv[3]).Run(StepsOf(words));
      std::fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) std::printf("%s: crashed with %d\n", name.c_str(), WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
      std::printf("%s: ended the process with %d\n", name.c_str(), WEXITSTATUS(status));
    }
  }
  return 0;
}
