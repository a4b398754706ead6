// SPDX-License-Identifier: Apache-2.0
#include "format/compression.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "support/catch.h"

namespace devlink::format {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Bytes that compress well, but not to nothing.
Bytes Compressible(std::size_t size, unsigned seed) {
  Bytes out(size);
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::uint8_t>(i / 7 * seed % 251);
  return out;
}

Bytes Compressed(const Bytes& bytes) {
  const auto out = CompressZstd(bytes, kZstdLevelDefault);
  REQUIRE(out.ok());
  return *out;
}

TEST_CASE("a decompressor that met damage reads what comes next", "[format][compression]") {
  ZstdDecompressor zstd;
  const Bytes sample = Compressible(100000, 3);
  const Bytes good = Compressed(sample);
  // Cut off and bent at every part of the frame, each followed by a sound one.
  for (std::size_t at = 0; at < good.size(); at += 1 + good.size() / 64) {
    const auto cut = zstd.Decompress({good.data(), at}, sample.size());
    CHECK(absl::IsDataLoss(cut.status()));
    Bytes bent = good;
    bent[at] ^= 0x55;
    const auto other = zstd.Decompress(bent, sample.size());
    // Not every byte of a frame without a checksum is needed to know its size.
    if (other.ok()) CHECK(other->size() == sample.size());
    if (!other.ok()) CHECK(absl::IsDataLoss(other.status()));
    const auto again = zstd.Decompress(good, sample.size());
    REQUIRE(again.ok());
    CHECK(*again == sample);
  }
}

TEST_CASE("the number of bytes is the one that was said", "[format][compression]") {
  ZstdDecompressor zstd;
  const Bytes sample = Compressible(5000, 5);
  const Bytes good = Compressed(sample);
  CHECK(absl::IsDataLoss(zstd.Decompress(good, sample.size() + 1).status()));
  CHECK(absl::IsDataLoss(zstd.Decompress(good, sample.size() - 1).status()));
  CHECK(absl::IsDataLoss(zstd.Decompress({}, 0).status()));
  CHECK(*zstd.Decompress(Compressed({}), 0) == Bytes());
}

TEST_CASE("threads share a decompressor", "[format][compression]") {
  ZstdDecompressor zstd;
  constexpr unsigned kThreads = 4;
  std::vector<unsigned> right(kThreads);
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (unsigned t = 0; t < kThreads; ++t) {
      threads.emplace_back([&zstd, &mine = right[t], sample = Compressible(20000 + t, t + 2)] {
        const auto compressed = CompressZstd(sample, kZstdLevelDefault);
        for (unsigned i = 0; i < 100; ++i) {
          const auto out = zstd.Decompress(*compressed, sample.size());
          if (out.ok() && *out == sample) ++mine;
        }
      });
    }
  }
  CHECK(std::accumulate(right.begin(), right.end(), 0U) == kThreads * 100);
}

}  // namespace
}  // namespace devlink::format
