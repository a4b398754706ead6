// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"
#include "devlink/sinks.h"

namespace devlink::internal {

// Collects small pieces of a file, or of a stretch of it that begins at `position`, into large ones
// for a sink. Errors of the sink are kept until Finish; nothing reaches it behind the first.
class OutputBuffer {
 public:
  OutputBuffer(OutputSink& sink, std::uint64_t file_size, std::uint64_t position = 0)
      : sink_(&sink),
        size_(std::min<std::uint64_t>(file_size, kCapacity)),
        own_(std::make_unique_for_overwrite<std::uint8_t[]>(size_)),
        bytes_(own_.get()),
        sent_(position) {}
  // The stretch is made in `place`, whose size it has.
  OutputBuffer(std::span<std::uint8_t> place, std::uint64_t position)
      : size_(place.size()), bytes_(place.data()), sent_(position) {}

  // Bytes put so far.
  [[nodiscard]] std::uint64_t position() const { return sent_ + used_; }

  void Put(std::span<const std::uint8_t> bytes) {
    if (bytes.size() > size_ - used_) {
      Send();
      if (bytes.size() >= size_) return Send(bytes);
    }
    std::copy(bytes.begin(), bytes.end(), bytes_ + used_);
    used_ += bytes.size();
  }
  void Put(std::string_view text) {
    Put({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  template <typename Value>
  void PutValue(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    Put({reinterpret_cast<const std::uint8_t*>(&value), sizeof(value)});
  }
  void ZeroesTo(std::uint64_t end) {
    while (position() < end) {
      const std::span<std::uint8_t> zeroes =
          Reserve(std::min<std::uint64_t>(end - position(), kCapacity));
      std::fill(zeroes.begin(), zeroes.end(), std::uint8_t{0});
    }
  }

  // Counts the next `size` bytes as put and lends their place, to be filled before anything else is
  // put.
  std::span<std::uint8_t> Reserve(std::uint64_t size) {
    if (size > size_ - used_) Send();
    if (size > size_) {
      own_ = std::make_unique_for_overwrite<std::uint8_t[]>(size);
      bytes_ = own_.get();
      size_ = size;
    }
    const std::span<std::uint8_t> place(bytes_ + used_, size);
    used_ += size;
    return place;
  }

  absl::Status Finish() {
    if (sink_ != nullptr) {
      Send();
    } else if (status_.ok() && used_ != size_) {
      status_ = absl::InternalError("a stretch of the output has another size than its place");
    }
    return status_;
  }

 private:
  static constexpr std::uint64_t kCapacity = 128 << 10;

  void Send() {
    Send({bytes_, used_});
    used_ = 0;
  }
  void Send(std::span<const std::uint8_t> bytes) {
    if (status_.ok() && !bytes.empty()) {
      status_ = sink_ != nullptr ? sink_->Append(bytes)
                                 : absl::InternalError("a stretch of the output has no room");
    }
    sent_ += bytes.size();
  }

  OutputSink* sink_ = nullptr;  // nothing: the stretch stays where it is
  std::uint64_t size_;
  std::unique_ptr<std::uint8_t[]> own_;
  std::uint8_t* bytes_;  // `size_` of them; what has not been put says nothing
  std::size_t used_ = 0;
  std::uint64_t sent_ = 0;
  absl::Status status_;
};

}  // namespace devlink::internal
