// SPDX-License-Identifier: Apache-2.0
//
// The two codecs of fat binaries: a zstd frame and a bare LZ4 block.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "base/bounded_reader.h"

struct ZSTD_DCtx_s;

namespace devlink::format {

// A block of LZ4 cannot expand further: each byte of a length stands for at most 255.
constexpr std::uint64_t kLz4MaxExpansion = 255;

// Keeps what zstd works in for the next call: these 100 KB take as long to come and to go as a
// cubin of that size takes to be decompressed. Any number of threads may use one.
class ZstdDecompressor {
 public:
  ZstdDecompressor();
  ~ZstdDecompressor();

  // Exactly `size` bytes. DataLoss where `bytes` is damaged or gives another number of bytes; the
  // frame's own size is compared before the result is allocated.
  absl::StatusOr<std::vector<std::uint8_t>> Decompress(base::Bytes bytes, std::uint64_t size);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  using Context = std::unique_ptr<ZSTD_DCtx_s, Free>;

  Context Take();

  std::mutex mutex_;
  std::vector<Context> idle_;
};

// The same of a block of LZ4.
absl::StatusOr<std::vector<std::uint8_t>> DecompressLz4(base::Bytes bytes, std::uint64_t size);

// Levels that fatbinary 13.0 uses: with zstd 1.5.7 and LZ4 1.10 the bytes are the same.
constexpr int kZstdLevelDefault = 5;
constexpr int kZstdLevelSize = 19;
constexpr int kLz4Level = 2;  // of the HC variant

// ResourceExhausted where `bytes` is more than an LZ4 block can hold.
absl::StatusOr<std::vector<std::uint8_t>> CompressZstd(base::Bytes bytes, int level);
absl::StatusOr<std::vector<std::uint8_t>> CompressLz4(base::Bytes bytes);

}  // namespace devlink::format
