// SPDX-License-Identifier: Apache-2.0
#include "format/compression.h"

#include <lz4.h>
#include <lz4hc.h>
#include <zstd.h>

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace devlink::format {

namespace {

absl::Status OtherSize(std::uint64_t found, std::uint64_t expected) {
  return absl::DataLossError(
      absl::StrCat("the data has ", found, " bytes, the header says ", expected));
}

}  // namespace

void ZstdDecompressor::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

ZstdDecompressor::ZstdDecompressor() = default;
ZstdDecompressor::~ZstdDecompressor() = default;

ZstdDecompressor::Context ZstdDecompressor::Take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      Context context = std::move(idle_.back());
      idle_.pop_back();
      return context;
    }
  }
  return Context(ZSTD_createDCtx());
}

absl::StatusOr<std::vector<std::uint8_t>> ZstdDecompressor::Decompress(base::Bytes bytes,
                                                                       std::uint64_t size) {
  const auto claimed = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (claimed == ZSTD_CONTENTSIZE_ERROR) return absl::DataLossError("not a zstd frame");
  if (claimed != ZSTD_CONTENTSIZE_UNKNOWN && claimed != size) return OtherSize(claimed, size);
  std::vector<std::uint8_t> out(size);
  Context context = Take();
  if (context == nullptr) return absl::ResourceExhaustedError("no memory for zstd");
  const std::size_t result =
      ZSTD_decompressDCtx(context.get(), out.data(), out.size(), bytes.data(), bytes.size());
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(context));
  }
  if (ZSTD_isError(result) != 0) {
    return absl::DataLossError(absl::StrCat("zstd: ", ZSTD_getErrorName(result)));
  }
  if (result != size) return OtherSize(result, size);
  return out;
}

absl::StatusOr<std::vector<std::uint8_t>> DecompressLz4(base::Bytes bytes, std::uint64_t size) {
  if (bytes.size() > LZ4_MAX_INPUT_SIZE || size > LZ4_MAX_INPUT_SIZE) {
    return absl::DataLossError("larger than an LZ4 block can be");
  }
  if (size / kLz4MaxExpansion > bytes.size()) {
    return absl::DataLossError(
        absl::StrCat(bytes.size(), " bytes of LZ4 data cannot become ", size));
  }
  std::vector<std::uint8_t> out(size);
  const int result = LZ4_decompress_safe(reinterpret_cast<const char*>(bytes.data()),
                                         reinterpret_cast<char*>(out.data()),
                                         static_cast<int>(bytes.size()), static_cast<int>(size));
  if (result < 0) return absl::DataLossError("LZ4: the block is damaged");
  if (static_cast<std::uint64_t>(result) != size) {
    return OtherSize(static_cast<std::uint64_t>(result), size);
  }
  return out;
}

absl::StatusOr<std::vector<std::uint8_t>> CompressZstd(base::Bytes bytes, int level) {
  std::vector<std::uint8_t> out(ZSTD_compressBound(bytes.size()));
  const std::size_t result =
      ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), level);
  if (ZSTD_isError(result) != 0) {
    return absl::InternalError(absl::StrCat("zstd: ", ZSTD_getErrorName(result)));
  }
  out.resize(result);
  return out;
}

absl::StatusOr<std::vector<std::uint8_t>> CompressLz4(base::Bytes bytes) {
  if (bytes.size() > LZ4_MAX_INPUT_SIZE) {
    return absl::ResourceExhaustedError(
        absl::StrCat(bytes.size(), " bytes are more than an LZ4 block can hold"));
  }
  const int size = static_cast<int>(bytes.size());
  std::vector<std::uint8_t> out(static_cast<std::size_t>(LZ4_compressBound(size)));
  const int result = LZ4_compress_HC(reinterpret_cast<const char*>(bytes.data()),
                                     reinterpret_cast<char*>(out.data()), size,
                                     static_cast<int>(out.size()), kLz4Level);
  if (result <= 0) return absl::InternalError("LZ4: the data cannot be compressed");
  out.resize(static_cast<std::size_t>(result));
  return out;
}

}  // namespace devlink::format
