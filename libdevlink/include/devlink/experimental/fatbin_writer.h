// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/fatbin_writer.h
//
// Making fat binaries.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/arch.h"
#include "devlink/experimental/code_choice.h"

namespace devlink {

// As `fatbinary --compress-mode`.
enum class FatbinCompressMode : std::uint8_t {
  kNone,  // every member as it is
  // zstd; cubins only with FatbinWriterOptions::compress_all or is_debug or above 10,000,000 bytes
  kDefault,
  kSize,   // zstd at a higher level; cubins too
  kSpeed,  // LZ4; cubins like kDefault
};

// A plain value.
struct FatbinWriterOptions {
  FatbinCompressMode mode = FatbinCompressMode::kDefault;  // which members are compressed, and how
  bool compress_all = false;  // `fatbinary --compress-all`: cubins, too
  bool is_debug = false;      // sets the flag; the code is not changed
  std::string ident;          // `fatbinary --ident`
};

// Collects codes and writes one container, with the members in the order they were added. What is
// added is copied. Distinct objects may be used from several threads, one object from one at a
// time.
//
// Without compression the bytes are those of `fatbinary -64 --create` of CUDA 13.0. Compressed
// payloads decompress to the same, but the codecs' versions decide about their bytes. LTO IR that
// fatbinary would obfuscate when compressing is stored as it is.
class FatbinWriter {
 public:
  explicit FatbinWriter(FatbinWriterOptions options = {});

  // InvalidArgument where `cubin` is not a 64-bit cubin for the number of `arch`, whose variant is
  // taken on trust.
  absl::Status AddCubin(std::span<const std::uint8_t> cubin, Arch arch);

  // `text` without the NUL that ends it in the container; `ptxas_options` are what it is to be
  // compiled with (`fatbinary --cmdline`). Comments and superfluous blanks are dropped, ends of
  // lines stay. InvalidArgument where no `.version` is found.
  absl::Status AddPtx(std::string_view text, Arch arch, std::string_view ptxas_options = {});

  // `cicc_options` as in `fatbinary --cicc-cmdline`. InvalidArgument where `bytes` are too short to
  // be LTO IR.
  absl::Status AddLtoIr(std::span<const std::uint8_t> bytes, Arch arch,
                        std::string_view cicc_options = {});

  // The container. May be called any number of times. FailedPrecondition where nothing was added,
  // ResourceExhausted where a member is too large for its codec or for the format.
  [[nodiscard]] absl::StatusOr<std::vector<std::uint8_t>> Write() const;

 private:
  struct Code {
    CodeKind kind = CodeKind::kOther;
    Arch arch;
    std::uint16_t version_major = 0;
    std::uint16_t version_minor = 0;
    std::string extension;  // options, or the compatibility record
    bool has_compat_record = false;
    std::vector<std::uint8_t> bytes;
  };
  absl::Status Append(const Code& code, std::vector<std::uint8_t>& out) const;

  FatbinWriterOptions options_;
  std::vector<Code> codes_;
};

}  // namespace devlink
