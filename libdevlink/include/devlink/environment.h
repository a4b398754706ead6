// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/environment.h
//
// All that the library asks of the world around it while it links: input files, threads, whether to
// go on, the time, and leave to use memory. A program that embeds the library may answer each of
// these itself: files from a virtual file system, work on its own threads, a bound on memory, a
// link that is no longer wanted. The compilers (ptxas, libNVVM and their kind) and the directory of
// a compile cache lie outside: they are named by paths, and the system opens them.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace devlink {

// Which file a path leads to: two paths of one file, be it through links, have equal identities.
// nvlink links an archive once, however often and by whatever path it is named, and goes by this.
struct FileIdentity {
  std::uint64_t device = 0;  // st_dev of the file, or any number that tells file systems apart
  std::uint64_t inode = 0;   // st_ino, or any number that tells files of one device apart

  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

// A file as Environment::ReadFile hands it over; a value of its own.
struct FileContents {
  std::vector<std::uint8_t> bytes;  // all of it
  FileIdentity identity;            // of the very file that was read
};

// Thread-safe: every function may be called on several threads at once. An output never depends on
// what an environment answers beyond the bytes of files: not on threads, time or memory. Whoever is
// given an environment borrows it; it must outlive them.
class Environment {
 public:
  // The real world: the files of this machine, threads of its own for parallel work, no wish to
  // stop, no bound on memory. It has no state, and lives as long as the program.
  static const Environment& Default();

  virtual ~Environment() = default;

  // Reads a whole regular file. NotFound where it cannot be read, with the reason;
  // ResourceExhausted where it is larger than `max_bytes`.
  [[nodiscard]] virtual absl::StatusOr<FileContents> ReadFile(const std::string& path,
                                                              std::uint64_t max_bytes) const = 0;

  // Whether there is anything at that path, a file or a directory.
  [[nodiscard]] virtual bool Exists(const std::string& path) const = 0;

  // How many calls RunWorkers would run at a time if it were free to choose; at least 1. Asked only
  // where a caller of the library left the number open.
  [[nodiscard]] virtual unsigned Parallelism() const = 0;

  // Calls `work(0)` on the calling thread and, as far as there are threads for it, `work(1)` to
  // `work(workers - 1)` on others at the same time. Returns when all calls have returned. Any call
  // but that of 0 may come late or be left out: workers take their jobs from a common list until
  // it is empty, and each is able to finish it alone. Those are free to wait for jobs that another
  // has taken, never for one to be called. `work` does not throw. With one worker no thread is
  // started. The library calls it only where there is more than one job to do.
  virtual void RunWorkers(unsigned workers,
                          const std::function<void(unsigned worker)>& work) const = 0;

  // Says when to give up: what runs then ends soon, with Cancelled. Taken once at the beginning of
  // each operation. A token without state is that of a link that nobody will stop.
  [[nodiscard]] virtual std::stop_token StopToken() const = 0;

  // Nanoseconds since some fixed point, never less than what an earlier call returned. For
  // progress, time traces and LinkOutcome::compiler_runs only.
  [[nodiscard]] virtual std::uint64_t NowNanoseconds() const = 0;

  // Asks for leave to use `bytes` of memory for something large: the bytes of an input, for as long
  // as a session has it; a text that is being assembled (then it is an estimate). ResourceExhausted
  // where there is no leave; what needed it then fails or, where others are about to give back what
  // they have, waits. Whatever was granted is given back by one call of ReleaseMemory with the same
  // number; that must not throw, since destructors call it.
  [[nodiscard]] virtual absl::Status ReserveMemory(std::uint64_t bytes) const = 0;
  virtual void ReleaseMemory(std::uint64_t bytes) const = 0;

 protected:
  Environment() = default;
  Environment(const Environment&) = default;
  Environment& operator=(const Environment&) = default;
};

// Answers as another environment does, which it borrows: derive from it to answer some things
// otherwise.
//
//   class Cancellable : public devlink::ForwardingEnvironment {
//    public:
//     std::stop_token StopToken() const override { return source.get_token(); }
//     std::stop_source source;
//   };
class ForwardingEnvironment : public Environment {
 public:
  explicit ForwardingEnvironment(const Environment& base = Default()) : base_(&base) {}

  [[nodiscard]] absl::StatusOr<FileContents> ReadFile(const std::string& path,
                                                      std::uint64_t max_bytes) const override;
  [[nodiscard]] bool Exists(const std::string& path) const override;
  [[nodiscard]] unsigned Parallelism() const override;
  void RunWorkers(unsigned workers,
                  const std::function<void(unsigned worker)>& work) const override;
  [[nodiscard]] std::stop_token StopToken() const override;
  [[nodiscard]] std::uint64_t NowNanoseconds() const override;
  [[nodiscard]] absl::Status ReserveMemory(std::uint64_t bytes) const override;
  void ReleaseMemory(std::uint64_t bytes) const override;

 protected:
  // The environment that answers what is not overridden. Borrowed.
  [[nodiscard]] const Environment& base() const { return *base_; }

 private:
  const Environment* base_;
};

// What parallel work of one link may take.
struct ParallelOptions {
  // Jobs at a time; 0 for Environment::Parallelism.
  unsigned threads = 0;
  // Bound on the estimated memory, in bytes, of the jobs that run at a time. One runs in any case.
  std::uint64_t memory_budget = std::uint64_t{2} << 30;
};

// A bound on memory, for an environment that has one. Thread-safe; one budget may stand behind
// several environments.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t limit) : limit_(limit) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // ResourceExhausted where that would be more than the limit; then nothing is reserved.
  [[nodiscard]] absl::Status Reserve(std::uint64_t bytes);
  // Of what was reserved before.
  void Release(std::uint64_t bytes);

  // The bound in bytes, as it was given.
  [[nodiscard]] std::uint64_t limit() const { return limit_; }
  // Bytes that are reserved now, and their peak: the most that ever were at a time.
  [[nodiscard]] std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }

 private:
  const std::uint64_t limit_;
  std::atomic<std::uint64_t> used_ = 0;
  std::atomic<std::uint64_t> peak_ = 0;
};

}  // namespace devlink
