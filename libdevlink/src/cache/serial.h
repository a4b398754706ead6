// SPDX-License-Identifier: Apache-2.0
//
// Values in and out of the bytes that a cache keeps. Little-endian; texts and lists have their
// length in front.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounded_reader.h"
#include "devlink/diagnostics.h"

namespace devlink::internal {

// Bytes that a text takes at least: its length.
inline constexpr std::uint64_t kSmallestText = 8;

class FieldWriter {
 public:
  void U8(std::uint8_t value) { bytes_.push_back(value); }
  void U64(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
  void Bytes(std::span<const std::uint8_t> value) {
    U64(value.size());
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  void Text(std::string_view value) {
    U64(value.size());
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }

  void Texts(std::span<const std::string> values) {
    U64(values.size());
    for (const std::string& value : values) Text(value);
  }

  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

// After the first value that is not there all others are zero or empty, and ok() is false.
class FieldReader {
 public:
  explicit FieldReader(base::Bytes bytes) : reader_(bytes) {}

  [[nodiscard]] bool ok() const { return ok_; }
  // Everything was there and nothing is left over.
  [[nodiscard]] bool AtEnd() const { return ok_ && offset_ == reader_.size(); }

  std::uint8_t U8() { return Get<std::uint8_t>(); }
  std::uint64_t U64() { return Get<std::uint64_t>(); }
  base::Bytes Bytes() {
    const std::uint64_t size = U64();
    const auto bytes = ok_ ? reader_.Slice(offset_, size) : std::nullopt;
    if (!bytes.has_value()) {
      ok_ = false;
      return {};
    }
    offset_ += size;
    return *bytes;
  }
  std::string Text() {
    const base::Bytes bytes = Bytes();
    return {bytes.begin(), bytes.end()};
  }
  std::vector<std::string> Texts() {
    std::vector<std::string> out(Count(kSmallestText));
    for (std::string& text : out) text = Text();
    return out;
  }
  // The length of a list whose items take at least `item_bytes` each, so that no length is believed
  // that the bytes cannot hold.
  std::uint64_t Count(std::uint64_t item_bytes) {
    const std::uint64_t count = U64();
    if (ok_ && count > (reader_.size() - offset_) / item_bytes) ok_ = false;
    return ok_ ? count : 0;
  }

 private:
  template <typename T>
  T Get() {
    T value{};
    if (!ok_ || !reader_.Read(offset_, value)) {
      ok_ = false;
      return T{};
    }
    offset_ += sizeof(T);
    return value;
  }

  base::BoundedReader reader_;
  std::uint64_t offset_ = 0;
  bool ok_ = true;
};

// `own_input` is the name of the input that the diagnostics are about; where they name it, the name
// that Read is given takes its place.
void WriteDiagnostics(const std::vector<Diagnostic>& diagnostics, std::string_view own_input,
                      FieldWriter& writer);
std::vector<Diagnostic> ReadDiagnostics(FieldReader& reader, std::string_view own_input);

}  // namespace devlink::internal
