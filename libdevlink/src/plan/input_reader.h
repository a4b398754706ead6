// SPDX-License-Identifier: Apache-2.0
//
// From an input to its record, with the environment that a session has: files, memory, threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/bounded_reader.h"
#include "base/memory_lease.h"
#include "devlink/experimental/host_references.h"
#include "devlink/link_options.h"
#include "format/compression.h"
#include "input/input_record.h"
#include "input/input_settings.h"
#include "plan/link_context.h"

namespace devlink::internal {

// Inputs that are read at the same time, and cannot be read again, ask for memory one after the
// other, in their order: which of them there is leave for does not depend on threads.
class Turns {
 public:
  // The turn of one input; it ends with the object at the latest.
  class Turn {
   public:
    Turn(Turns& turns, std::size_t number) : turns_(turns), number_(number) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { End(); }
    void Await();
    void End();

   private:
    Turns& turns_;
    const std::size_t number_;
    bool ended_ = false;
  };

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t now_ = 0;
};

// Every function may be called on several threads at a time. Leave to use memory for the bytes of
// an input is asked for once they are there, for what is made of them when it is, and kept for what
// the record holds as long as it lives. Borrows its arguments.
class InputReader {
 public:
  InputReader(const LinkOptions& options, const LinkContext& context);

  // A file, and the files that it names if it is a thin archive.
  [[nodiscard]] InputRecordRef ReadPath(const std::string& path, Turns::Turn* turn = nullptr) const;
  // An input from memory. It opens no file unless LinkOptions::read_thin_members is set.
  [[nodiscard]] InputRecordRef ReadBytes(std::string_view name, std::vector<std::uint8_t>&& bytes,
                                         Turns::Turn* turn = nullptr) const;
  // The same of bytes that are the caller's, copied once there is leave for them.
  [[nodiscard]] InputRecordRef ReadCopy(std::string_view name, base::Bytes bytes,
                                        Turns::Turn* turn = nullptr) const;
  [[nodiscard]] InputRecordRef ReadCubin(std::string_view name, std::vector<std::uint8_t>&& bytes,
                                         HostReferences references) const;
  [[nodiscard]] InputRecordRef ReadCubin(std::string_view name, base::Bytes bytes,
                                         HostReferences references) const;

  // Leave to use memory for one input, or for a search.
  [[nodiscard]] std::shared_ptr<base::MemoryLease> Lease() const;
  // Reads whole files within LinkOptions::max_input_bytes and the lease. Borrows both.
  [[nodiscard]] FileReader MemberReader(base::MemoryLease& lease) const;

 private:
  [[nodiscard]] InputSettings Settings() const;
  [[nodiscard]] absl::StatusOr<FileContents> ReadFile(const std::string& path,
                                                      const base::MemoryLease& lease) const;

  const LinkOptions& options_;
  const LinkContext& context_;
  mutable format::ZstdDecompressor zstd_;
  InputSettings settings_;
};

// Makes the record of the input with a number, which takes its memory in its turn, if it has one.
using RecordReader = absl::FunctionRef<InputRecordRef(std::size_t, Turns::Turn*)>;

// What `read` makes of each number below `count`, in that order. Several are read at a time where
// there are enough of them to be worth threads; where memory does not suffice for that and `read`
// may be asked again, one by one. With LinkOptions::end_at_rejected_input the first that failed is
// the last; a few hundred behind it may have been read, and nothing comes of them. Cancelled where
// the environment said stop; what an exception means where `read` threw one.
absl::StatusOr<std::vector<InputRecordRef>> ReadAll(std::size_t count, const LinkOptions& options,
                                                    const Environment& environment,
                                                    bool may_read_again, RecordReader read);

}  // namespace devlink::internal
