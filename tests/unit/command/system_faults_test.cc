// SPDX-License-Identifier: Apache-2.0
//
// The whole command, and each call of the system in it that fails in turn: files, processes,
// threads. A program of its own, since it stands in front of the C library.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/catch.h"
#include "unit/command/command_folder.h"

namespace {

enum class Kind {
  kNone,
  kOpen,  // a descriptor
  kRoom,  // on a disk
  kRead,  // of files, and of what the system says of them
  kClose,
  kRename,
  kChange,  // owners, modes, times
  kRemove,
  kProcess,
  kWait,
  kThread,
  kShort  // less is read or written than was asked for
};

// The calls of a kind that still succeed; none fails where it is negative.
std::atomic<std::int64_t> left = -1;
std::atomic<Kind> faulty = Kind::kNone;
std::atomic<int> error_number = 0;
std::atomic<bool> goes_on_failing = false;
std::atomic<int> hits = 0;
std::atomic<std::int64_t> live = 0;

bool Fails(Kind kind) {
  if (faulty.load() != kind) return false;
  const std::int64_t before = left.fetch_sub(1);
  if (before > 0 || (before < 0 && !goes_on_failing)) return false;
  ++hits;
  errno = error_number;
  return true;
}

// The C library's own. Several threads may look for it at the same time.
template <typename Function>
Function* Real(Function*& place, const char* name) {
  const std::atomic_ref<Function*> known(place);
  Function* function = known.load();
  if (function == nullptr) {
    function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
    known.store(function);
  }
  return function;
}

mode_t ModeOfCall(int flags, std::va_list arguments) {
  return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

#define REAL(function) (*Real(real_##function, #function))
// NOLINTBEGIN: the C library's names
#define STAND_IN(kind, result, function, parameters, arguments) \
  static result(*real_##function) parameters;                   \
  extern "C" result function parameters {                       \
    if (Fails(kind)) return -1;                                 \
    return REAL(function) arguments;                            \
  }

static int (*real_open)(const char*, int, ...);
extern "C" int open(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = ModeOfCall(flags, arguments);
  va_end(arguments);
  return Fails(Kind::kOpen) ? -1 : REAL(open)(path, flags, mode);
}
static int (*real_openat)(int, const char*, int, ...);
extern "C" int openat(int folder, const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = ModeOfCall(flags, arguments);
  va_end(arguments);
  const bool makes = (flags & (O_CREAT | __O_TMPFILE)) != 0;
  if (Fails(Kind::kOpen) || (makes && Fails(Kind::kRoom))) return -1;
  return REAL(openat)(folder, path, flags, mode);
}
static int (*real_fcntl)(int, int, ...);
extern "C" int fcntl(int file, int command, ...) {
  std::va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  const bool opens = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  return opens && Fails(Kind::kOpen) ? -1 : REAL(fcntl)(file, command, argument);
}
static int (*real_close)(int);
extern "C" int close(int file) {
  const int result = REAL(close)(file);
  return Fails(Kind::kClose) ? -1 : result;
}
static ssize_t (*real_read)(int, void*, size_t);
extern "C" ssize_t read(int file, void* data, size_t size) {
  if (Fails(Kind::kRead)) return -1;
  return REAL(read)(file, data, size > 1 && Fails(Kind::kShort) ? 1 : size);
}
static ssize_t (*real_write)(int, const void*, size_t);
extern "C" ssize_t write(int file, const void* data, size_t size) {
  if (Fails(Kind::kRoom)) return -1;
  return REAL(write)(file, data, size > 1 && Fails(Kind::kShort) ? 1 : size);
}
static int (*real_pthread_create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*run)(void*), void* argument) {
  return Fails(Kind::kThread) ? error_number.load()
                              : REAL(pthread_create)(thread, attributes, run, argument);
}
static void* (*real_mmap)(void*, size_t, int, int, int, off_t);
extern "C" void* mmap(void* address, size_t size, int protection, int flags, int file, off_t at) {
  return Fails(Kind::kRead) ? MAP_FAILED : REAL(mmap)(address, size, protection, flags, file, at);
}
static char* (*real_mkdtemp)(char*);
extern "C" char* mkdtemp(char* path) { return Fails(Kind::kRoom) ? nullptr : REAL(mkdtemp)(path); }

STAND_IN(Kind::kOpen, int, pipe2, (int* ends, int flags), (ends, flags))
STAND_IN(Kind::kOpen, int, memfd_create, (const char* name, unsigned flags), (name, flags))
STAND_IN(Kind::kOpen, int, dup2, (int file, int other), (file, other))
STAND_IN(Kind::kRoom, int, mkdir, (const char* path, mode_t mode), (path, mode))
STAND_IN(Kind::kRoom, int, fallocate, (int file, int mode, off_t at, off_t size),
         (file, mode, at, size))
STAND_IN(Kind::kRoom, int, linkat, (int a, const char* from, int b, const char* to, int flags),
         (a, from, b, to, flags))
STAND_IN(Kind::kRead, int, fstat, (int file, struct stat* info), (file, info))
STAND_IN(Kind::kRead, int, stat, (const char* path, struct stat* info), (path, info))
STAND_IN(Kind::kRead, int, fstatat, (int folder, const char* path, struct stat* info, int flags),
         (folder, path, info, flags))
STAND_IN(Kind::kRead, int, fstatfs, (int file, struct statfs* info), (file, info))
STAND_IN(Kind::kRead, int, access, (const char* path, int mode), (path, mode))
STAND_IN(Kind::kRead, ssize_t, readlinkat, (int folder, const char* path, char* text, size_t size),
         (folder, path, text, size))
STAND_IN(Kind::kRead, ssize_t, sendfile, (int to, int from, off_t* at, size_t size),
         (to, from, at, size))
STAND_IN(Kind::kRename, int, renameat, (int a, const char* from, int b, const char* to),
         (a, from, b, to))
STAND_IN(Kind::kRename, int, renameat2,
         (int a, const char* from, int b, const char* to, unsigned flags), (a, from, b, to, flags))
STAND_IN(Kind::kRoom, int, ftruncate, (int file, off_t size), (file, size))
STAND_IN(Kind::kChange, int, fchmod, (int file, mode_t mode), (file, mode))
STAND_IN(Kind::kChange, int, fchown, (int file, uid_t user, gid_t group), (file, user, group))
STAND_IN(Kind::kChange, int, futimens, (int file, const struct timespec* times), (file, times))
STAND_IN(Kind::kRemove, int, unlinkat, (int folder, const char* path, int flags),
         (folder, path, flags))
STAND_IN(Kind::kProcess, int, poll, (struct pollfd * files, nfds_t count, int time),
         (files, count, time))
STAND_IN(Kind::kWait, pid_t, waitpid, (pid_t pid, int* status, int flags), (pid, status, flags))
STAND_IN(Kind::kProcess, int, execve, (const char* path, char* const* words, char* const* env),
         (path, words, env))

// It returns twice, so no function can stand around it.
#ifdef __x86_64__
extern "C" int DevlinkVforkFails() { return Fails(Kind::kProcess) ? 1 : 0; }
extern "C" int DevlinkVforkFailed(int error) {
  if (error != 0) errno = error;
  return -1;
}
asm(R"(
.pushsection .text
.globl vfork
.type vfork, @function
vfork:
  subq $8, %rsp
  call DevlinkVforkFails
  addq $8, %rsp
  testl %eax, %eax
  jne 1f
  popq %rdi
  movl $58, %eax
  syscall
  pushq %rdi
  cmpq $-4095, %rax
  jae 2f
  ret
1: xorl %edi, %edi
  jmp DevlinkVforkFailed
2: movl %eax, %edi
  negl %edi
  jmp DevlinkVforkFailed
.size vfork, .-vfork
.popsection
)");
#endif
// NOLINTEND

void* operator new(std::size_t size) {
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  ++live;
  return memory;
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr) --live;
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;

const std::array kOutputs = {"x.cubin", "r.json", "ids.h"};

// Every file of a folder, and what is in it.
std::map<std::string, std::vector<std::uint8_t>> ContentsOf(const std::string& folder) {
  std::map<std::string, std::vector<std::uint8_t>> out;
  for (const auto& entry : fs::directory_iterator(folder)) {
    out[entry.path().filename().string()] = *ReadBytes(entry.path().string());
  }
  return out;
}

std::size_t Count(const char* folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

// The system may list one for a moment that has been waited for.
bool ThreadsComeTo(std::size_t count) {
  for (int i = 0; i < 5000 && Count("/proc/self/task") != count; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return Count("/proc/self/task") == count;
}

struct SystemFault {
  Kind kind;
  int error;
  bool from_there_on = false;
};

std::string NameOf(const SystemFault& fault) {
  return "kind " + std::to_string(static_cast<int>(fault.kind)) + ", error " +
         std::to_string(fault.error) + (fault.from_there_on ? ", from there on" : "");
}

class Experiment {
 public:
  // Warm: the cache has what it needs, and outputs of an earlier run are there.
  Experiment(bool warm) : warm_(warm) {
    REQUIRE(WriteText(folder_.At("second.ptx"),
                      ".version 8.0\n.target sm_80\n.address_size 64\n// the second\n"));
    for (int i = 0; i < 2; ++i) {  // what is made once and kept is not counted
      fs::remove_all(folder_.At("cache"));
      REQUIRE(Run() == 0);
    }
    whole_ = ContentsOf(folder_.At("out"));
    REQUIRE(whole_.size() == kOutputs.size());
  }

  // Returns how many calls there were.
  int TryEach(const SystemFault& fault) {
    int n = 0;
    for (;; ++n) {
      REQUIRE(n < 2000);
      if (!Try(fault, n)) break;
    }
    return n;
  }

 private:
  int Run() { return folder_.Run(Environment::Default(), {folder_.At("second.ptx")}); }

  // False where there was no call with that number.
  bool Try(const SystemFault& fault, int n) {
    INFO(NameOf(fault) << ", call " << n << (warm_ ? ", warm" : ", cold"));
    fs::remove_all(folder_.At("out"));
    fs::create_directory(folder_.At("out"));
    if (!warm_) {
      fs::remove_all(folder_.At("cache"));
    } else {
      for (const char* name : kOutputs) {
        REQUIRE(WriteText(folder_.At(std::string("out/") + name), "old"));
      }
    }
    const auto before = ContentsOf(folder_.At("out"));
    const std::size_t files = Count("/proc/self/fd");
    const std::size_t threads = Count("/proc/self/task");
    folder_.said.clear();
    folder_.said.shrink_to_fit();
    const std::int64_t live_before = live;
    hits = 0;
    error_number = fault.error;
    goes_on_failing = fault.from_there_on;
    left = n;
    faulty = fault.kind;
    const int status = Run();
    faulty = Kind::kNone;
    const std::string said = std::move(folder_.said);
    const std::int64_t leaked = live - live_before - (said.capacity() > 15 ? 1 : 0);
    CAPTURE(status, said);
    CHECK(leaked == 0);
    CHECK(Count("/proc/self/fd") == files);
    CHECK(ThreadsComeTo(threads));
    // Where waiting failed there is a child that nobody has waited for.
    while (fault.kind == Kind::kWait && waitpid(-1, nullptr, 0) > 0) {
    }
    CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
    if (fault.kind != Kind::kRemove) CHECK(fs::is_empty(folder_.At("temporary")));
    const auto after = ContentsOf(folder_.At("out"));
    if (status == 0) {
      CHECK(after.at("x.cubin") == whole_.at("x.cubin"));
      CHECK(after.at("ids.h") == whole_.at("ids.h"));
      // What the system does not let go stays.
      if (fault.kind != Kind::kRemove) CHECK(after.size() == whole_.size());
    } else {
      CHECK_FALSE(said.empty());
      CHECK(after == before);
    }
    if (hits == 0) {
      CHECK(status == 0);
      return false;
    }
    // What it left in the cache is right.
    fs::remove_all(folder_.At("temporary"));
    fs::create_directory(folder_.At("temporary"));
    CHECK(Run() == 0);
    CHECK(ReadBytes(folder_.At("out/x.cubin")) == whole_.at("x.cubin"));
    return true;
  }

  const bool warm_;
  CommandFolder folder_;
  std::map<std::string, std::vector<std::uint8_t>> whole_;
};

TEST_CASE("Each call of the system may fail, and then all that follow", "[faults]") {
  const bool warm = GENERATE(false, true);
  Experiment experiment(warm);
  for (const SystemFault& fault :
       {SystemFault{Kind::kOpen, EMFILE}, SystemFault{Kind::kOpen, EMFILE, true},
        SystemFault{Kind::kOpen, EINTR}, SystemFault{Kind::kRoom, ENOSPC},
        SystemFault{Kind::kRoom, ENOSPC, true}, SystemFault{Kind::kRoom, EINTR},
        SystemFault{Kind::kRead, EIO}, SystemFault{Kind::kRead, EIO, true},
        SystemFault{Kind::kRead, EINTR}, SystemFault{Kind::kClose, EIO},
        SystemFault{Kind::kRename, EIO}, SystemFault{Kind::kRename, EINVAL},
        SystemFault{Kind::kChange, EPERM}, SystemFault{Kind::kChange, EPERM, true},
        SystemFault{Kind::kRemove, EIO, true}}) {
    const int calls = experiment.TryEach(fault);
    CAPTURE(NameOf(fault), warm);
    if (warm || fault.kind != Kind::kRemove) CHECK(calls > 0);
  }
}

TEST_CASE("Each process, wait and thread may fail", "[faults]") {
  Experiment experiment(/*warm=*/false);
  for (const SystemFault& fault :
       {SystemFault{Kind::kProcess, EAGAIN}, SystemFault{Kind::kProcess, EAGAIN, true},
        SystemFault{Kind::kProcess, EINTR}, SystemFault{Kind::kWait, ECHILD},
        SystemFault{Kind::kWait, EINTR}, SystemFault{Kind::kThread, EAGAIN},
        SystemFault{Kind::kThread, EAGAIN, true}}) {
    const int calls = experiment.TryEach(fault);
    CAPTURE(NameOf(fault));
    CHECK(calls > 0);
  }
}

TEST_CASE("Files are read and written to the end, byte by byte if need be", "[faults]") {
  for (const bool warm : {false, true}) {
    Experiment experiment(warm);
    CHECK(experiment.TryEach({Kind::kShort, 0, true}) > 0);
  }
}

}  // namespace
}  // namespace devlink::testing
