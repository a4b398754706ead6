// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstring>

#include "devlink/experimental/compile_cache.h"
#include "devlink/version.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/BLAKE3.h"

namespace devlink {

namespace {

// Changes whenever what is stored, or what keys cover, changes without a change of the version.
constexpr std::uint64_t kFormat = 1;

enum class FieldType : std::uint8_t { kText = 1, kBytes, kNumber, kTexts, kKey };

}  // namespace

struct CacheKeyBuilder::State {
  llvm::BLAKE3 hash;

  void Raw(const void* data, std::size_t size) {
    hash.update(llvm::ArrayRef<std::uint8_t>(static_cast<const std::uint8_t*>(data), size));
  }
  void U64(std::uint64_t value) {
    std::uint8_t bytes[8];
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(value >> (8 * i));
    Raw(bytes, sizeof(bytes));
  }
  void Sized(const void* data, std::size_t size) {
    U64(size);
    Raw(data, size);
  }
  void Sized(std::string_view text) { Sized(text.data(), text.size()); }
  void Head(FieldType type, std::string_view name) {
    const auto byte = static_cast<std::uint8_t>(type);
    Raw(&byte, 1);
    Sized(name);
  }
};

CacheKeyBuilder::CacheKeyBuilder(std::string_view domain) : state_(std::make_unique<State>()) {
  state_->Sized("libdevlink cache");
  state_->U64(kFormat);
  state_->Sized(Version());
  state_->Sized(domain);
}
CacheKeyBuilder::CacheKeyBuilder(CacheKeyBuilder&&) noexcept = default;
CacheKeyBuilder& CacheKeyBuilder::operator=(CacheKeyBuilder&&) noexcept = default;
CacheKeyBuilder::~CacheKeyBuilder() = default;

CacheKeyBuilder& CacheKeyBuilder::Text(std::string_view name, std::string_view value) {
  state_->Head(FieldType::kText, name);
  state_->Sized(value);
  return *this;
}

CacheKeyBuilder& CacheKeyBuilder::Bytes(std::string_view name,
                                        std::span<const std::uint8_t> value) {
  state_->Head(FieldType::kBytes, name);
  state_->Sized(value.data(), value.size());
  return *this;
}

CacheKeyBuilder& CacheKeyBuilder::Number(std::string_view name, std::uint64_t value) {
  state_->Head(FieldType::kNumber, name);
  state_->U64(value);
  return *this;
}

CacheKeyBuilder& CacheKeyBuilder::Texts(std::string_view name,
                                        std::span<const std::string> values) {
  state_->Head(FieldType::kTexts, name);
  state_->U64(values.size());
  for (const std::string& value : values) state_->Sized(value);
  return *this;
}

CacheKeyBuilder& CacheKeyBuilder::Key(std::string_view name, const CacheKey& value) {
  state_->Head(FieldType::kKey, name);
  state_->Raw(value.bytes.data(), value.bytes.size());
  return *this;
}

CacheKey CacheKeyBuilder::Build() const {
  CacheKey key;
  state_->hash.final(key.bytes);
  return key;
}

std::string CacheKey::Hex() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

}  // namespace devlink
