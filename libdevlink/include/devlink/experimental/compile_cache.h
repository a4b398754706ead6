// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/compile_cache.h
//
// Keeps what compilers made, so that a link of unchanged inputs need not compile them again. There
// is no cache unless a caller makes one. devlink/experimental/caching_ptx_assembler.h and
// devlink/experimental/caching_lto_compiler.h make use of it. docs/cache.md describes what a key
// covers and what a cache directory looks like.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace devlink {

// 256 bits that stand for everything that a result depends on.
struct CacheKey {
  std::array<std::uint8_t, 32> bytes = {};  // the hash, to be compared as a whole

  // 64 lower-case digits.
  [[nodiscard]] std::string Hex() const;

  friend auto operator<=>(const CacheKey&, const CacheKey&) = default;
};

// Makes a key of named fields, in their order. Every name and value goes in with its length and its
// type, so that no two different lists of fields are the same bytes. The hash is BLAKE3. Keys of
// two domains, or of two versions of devlink, are never equal. One object is for one thread at a
// time; one that was moved from can only be destroyed or assigned to.
class CacheKeyBuilder {
 public:
  explicit CacheKeyBuilder(std::string_view domain);
  CacheKeyBuilder(CacheKeyBuilder&&) noexcept;
  CacheKeyBuilder& operator=(CacheKeyBuilder&&) noexcept;
  ~CacheKeyBuilder();

  // Each adds one field: a text, bytes, a number, a list of texts, or a key that stands for what it
  // was made of. The value is read during the call; `name` tells fields of a domain apart. Text,
  // Bytes, Number, Texts and Key return the builder itself.
  CacheKeyBuilder& Text(std::string_view name, std::string_view value);
  CacheKeyBuilder& Bytes(std::string_view name, std::span<const std::uint8_t> value);
  CacheKeyBuilder& Number(std::string_view name, std::uint64_t value);
  CacheKeyBuilder& Texts(std::string_view name, std::span<const std::string> values);
  CacheKeyBuilder& Key(std::string_view name, const CacheKey& value);

  // Of the fields so far; more may follow.
  [[nodiscard]] CacheKey Build() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Where results are kept. Thread-safe. A store may lose what it was given at any time, but it never
// returns other bytes than those that were stored under the key.
class CacheStore {
 public:
  virtual ~CacheStore() = default;
  // Nothing where the key is not there. An error where the store itself does not work; whoever uses
  // the store then does without.
  virtual absl::StatusOr<std::optional<std::vector<std::uint8_t>>> Find(const CacheKey& key) = 0;
  // In place of what is there under the key, if anything. `value` is copied. ResourceExhausted
  // where it is too large to be kept or there is no more room, Cancelled where the store has given
  // up after errors that it returned before, other errors where the store does not work.
  virtual absl::Status Store(const CacheKey& key, std::span<const std::uint8_t> value) = 0;
  // Where to keep what is true of this machine alone, such as the hash of a file under its inode:
  // this store, one that it has within it, or null where other machines see all that it keeps.
  // Borrowed from this object.
  virtual CacheStore* OfThisMachine() { return this; }
  // True where all that it keeps goes with the process. Whoever uses it may then tell a file by its
  // place, size and times, and need not read a tool's library of a hundred megabytes first.
  [[nodiscard]] virtual bool IsOfThisProcess() const { return false; }
};

// Where results are kept and how many of them. A plain value.
struct DirectoryCacheOptions {
  std::string path;  // made, for its owner alone, where it is not there
  // Bounds on what is kept: those that were not used for longest go first. 0 for no bound. Other
  // processes and entries being written can exceed the bytes for a while.
  std::uint64_t max_bytes = std::uint64_t{5} << 30;
  std::chrono::seconds max_age = std::chrono::hours(24 * 7);  // since the last use
  // Larger results are not kept; what another process kept beyond it is not read, and stays.
  std::uint64_t max_entry_bytes = std::uint64_t{1} << 30;
  // How often the directory is searched for what has to go, by whichever process comes first.
  std::chrono::seconds prune_interval = std::chrono::minutes(20);
};

// A directory, which any number of processes may use at once, also with different bounds. An entry
// appears whole or not at all; one that is damaged is a miss and is removed. InvalidArgument for an
// empty path or a negative time; NotFound, PermissionDenied, ResourceExhausted or Unavailable where
// the directory cannot be made or opened, with the system's reason; PermissionDenied also for
// one that belongs to another user or that others may write to. The result may be shared by any
// number of compilers, sessions and threads.
absl::StatusOr<std::shared_ptr<CacheStore>> CreateDirectoryCache(DirectoryCacheOptions options);

// In memory, for as long as the object lives: for a process that links often. `max_bytes` bounds
// the values together; those that were not used for longest go.
std::shared_ptr<CacheStore> CreateMemoryCache(std::uint64_t max_bytes = std::uint64_t{256} << 20);

// One store in front of another, such as a directory in front of a server that machines share
// (devlink/experimental/network_cache.h). What only `shared` has is kept in `local` when it is
// found; what is stored goes to both. A fault of one shows only where the other has no answer
// either: Find fails where neither has the key and one of them failed, Store where one did.
// Neither may be null.
std::shared_ptr<CacheStore> CreateTieredCache(std::shared_ptr<CacheStore> local,
                                              std::shared_ptr<CacheStore> shared);

// How a cache was used. Problems of a cache are reported here only: a link never fails because
// of its cache, and its diagnostics are those of a link without one.
struct CacheUse {
  std::uint64_t hits = 0;             // results that were there
  std::uint64_t misses = 0;           // results that had to be made
  std::uint64_t stored = 0;           // results that were handed to the store, and that it took
  std::uint64_t faults = 0;           // calls of the store that failed, and were done without
  std::vector<std::string> problems;  // the first few, each once
};

}  // namespace devlink
