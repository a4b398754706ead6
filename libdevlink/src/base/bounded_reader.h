// SPDX-License-Identifier: Apache-2.0
//
// The one way in which libdevlink reads bytes of a file: no offset, size or count taken from an
// input is used before it went through here.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace devlink::base {

using Bytes = std::span<const std::uint8_t>;

// Little-endian views of a byte range. The range is borrowed.
class BoundedReader {
 public:
  explicit BoundedReader(Bytes bytes) : bytes_(bytes) {}

  [[nodiscard]] std::uint64_t size() const { return bytes_.size(); }

  // False, and `out` untouched, where the value does not lie within the range.
  template <typename T>
  [[nodiscard]] bool Read(std::uint64_t offset, T& out) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return false;
    std::memcpy(&out, bytes_.data() + offset, sizeof(T));
    return true;
  }

  // The value at `offset`, or zero outside the range: for offsets that were checked before.
  template <typename T>
  [[nodiscard]] T ReadOrZero(std::uint64_t offset) const {
    T out{};
    (void)Read(offset, out);
    return out;
  }

  [[nodiscard]] std::optional<Bytes> Slice(std::uint64_t offset, std::uint64_t size) const {
    if (offset > bytes_.size() || bytes_.size() - offset < size) return std::nullopt;
    return bytes_.subspan(offset, size);
  }

  // The NUL-terminated string at `offset`; nothing where no NUL ends it within the range.
  [[nodiscard]] std::optional<std::string_view> CString(std::uint64_t offset) const {
    if (offset >= bytes_.size()) return std::nullopt;
    const void* end = std::memchr(bytes_.data() + offset, 0, bytes_.size() - offset);
    if (end == nullptr) return std::nullopt;
    const auto* begin = reinterpret_cast<const char*>(bytes_.data() + offset);
    return std::string_view(begin, static_cast<const char*>(end) - begin);
  }

 private:
  Bytes bytes_;
};

}  // namespace devlink::base
