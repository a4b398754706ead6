// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "devlink/sinks.h"

namespace devlink::internal {

// Collects small pieces of a file into large ones for a sink. Errors of the sink are kept until
// Finish; nothing reaches it behind the first.
class OutputBuffer {
 public:
  OutputBuffer(OutputSink& sink, std::uint64_t file_size)
      : sink_(sink), bytes_(std::min<std::uint64_t>(file_size, kCapacity)) {}

  // Bytes put so far.
  [[nodiscard]] std::uint64_t position() const { return sent_ + used_; }

  void Put(std::span<const std::uint8_t> bytes) {
    if (bytes.size() > bytes_.size() - used_) {
      Send();
      if (bytes.size() >= bytes_.size()) return Send(bytes);
    }
    std::copy(bytes.begin(), bytes.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(used_));
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
    if (size > bytes_.size() - used_) Send();
    if (size > bytes_.size()) bytes_.resize(size);
    const std::span<std::uint8_t> place = std::span(bytes_).subspan(used_, size);
    used_ += size;
    return place;
  }

  // The whole file, where it was small enough to be collected in one piece; nothing has reached the
  // sink then.
  [[nodiscard]] std::optional<std::vector<std::uint8_t>> TakeWhole() {
    if (sent_ != 0 || used_ != bytes_.size()) return std::nullopt;
    used_ = 0;
    return std::move(bytes_);
  }

  absl::Status Finish() {
    Send();
    return status_;
  }

 private:
  static constexpr std::uint64_t kCapacity = 128 << 10;

  void Send() {
    Send(std::span(bytes_).first(used_));
    used_ = 0;
  }
  void Send(std::span<const std::uint8_t> bytes) {
    if (status_.ok() && !bytes.empty()) status_ = sink_.Append(bytes);
    sent_ += bytes.size();
  }

  OutputSink& sink_;
  std::vector<std::uint8_t> bytes_;
  std::size_t used_ = 0;
  std::uint64_t sent_ = 0;
  absl::Status status_;
};

}  // namespace devlink::internal
