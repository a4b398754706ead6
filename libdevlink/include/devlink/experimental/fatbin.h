// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/fatbin.h
//
// Reading fat binaries: containers that hold code for several architectures, as files (`.fatbin`)
// and in the sections `__nv_relfatbin` and `.nv_fatbin` of host objects. The format is described,
// with how each fact was found, in docs/fatbin.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/arch.h"
#include "devlink/experimental/code_choice.h"

namespace devlink {

// How much a fat binary may ask for, and how much of it is read. A plain value.
struct FatbinLimits {
  // Members in all containers together.
  std::uint32_t max_members = 1 << 20;
  // Bytes of one member when decompressed.
  std::uint64_t max_uncompressed_size = std::uint64_t{1} << 30;
  // Bytes of one member when decompressed, per compressed byte. The default is what a zstd frame
  // can reach at most (a block of 128 KiB in four bytes); an LZ4 block cannot exceed 255, and a
  // member that claims more is refused whatever stands here.
  std::uint64_t max_expansion = 32768;
  // Reads what nvlink reads: the first container, whatever follows it.
  bool only_first_container = false;
};

// How a member's bytes are stored: as they are, as a frame of zstd, or as a block of LZ4.
enum class FatbinCompression : std::uint8_t { kNone, kZstd, kLz4 };

// One member of a container. Everything that is a view points into the bytes that were parsed.
struct FatbinMember {
  CodeKind kind = CodeKind::kOther;  // kOther where the raw kind is unknown
  std::uint16_t raw_kind = 0;        // as in the file: 1 PTX, 2 cubin, 8 LTO IR
  // For PTX and LTO IR the virtual architecture's number and variant: sm_90a stands for
  // compute_90a. For kOther no more than what the fields say.
  Arch arch;
  bool is_64bit = false;
  bool is_debug = false;       // built with -g
  bool is_linux_host = false;  // always set by fatbinary on Linux; nvlink does not look at it
  bool is_obfuscated = false;  // see Fatbin::Extract
  // Cubins for sm_100 and later; the record is `extension`.
  bool has_compat_record = false;
  std::uint64_t raw_flags = 0;  // as in the file
  // PTX: the ISA version. Cubin: 1 and the ABI version. LTO IR: 1 and 0x41.
  std::uint16_t code_version_major = 0;
  std::uint16_t code_version_minor = 0;
  std::string_view ident;  // `fatbinary --ident`
  // The options that the code was or is to be compiled with: those of ptxas for PTX, those of cicc
  // for LTO IR; may be empty.
  std::string_view options;
  // Cubins for sm_100 and later: one zero byte and the head of `.nv.compat`. Not needed to link.
  std::span<const std::uint8_t> extension;
  std::uint64_t obfuscation_key = 0;
  FatbinCompression compression = FatbinCompression::kNone;
  bool is_unknown_compression = false;  // neither of those: Extract fails
  // The stored bytes: exactly the compressed ones, or with zeros up to a multiple of 8.
  std::span<const std::uint8_t> payload;
  // Bytes that Extract will decompress to; the size of `payload` for what is not compressed.
  std::uint64_t uncompressed_size = 0;

  std::span<const std::uint8_t> whole;  // header, texts and payload as they stand
  std::uint64_t offset = 0;             // of the member's header in the bytes that were parsed
  std::size_t container = 0;            // which one holds it
  std::size_t index = 0;                // which member of that container it is
};

// The members of one or more containers that stand behind one another. The bytes are borrowed and
// must outlive the object and what was taken from it. Immutable; any number of threads may use it.
class Fatbin {
 public:
  // Why bytes could not be read. Each is a status code of its own: FatbinErrorOf tells them apart.
  enum class Error : std::uint8_t {
    kNone,        // nothing is wrong
    kNotFatbin,   // InvalidArgument: no container stands at the beginning
    kVersion,     // Unimplemented: a container of another version
    kDamaged,     // OutOfRange: something is cut off, or lies outside what should hold it
    kUncompress,  // DataLoss: the compressed bytes are damaged, or give another size
    kTooLarge,    // ResourceExhausted: a limit is exceeded
    kObfuscated,  // FailedPrecondition: libdevlink does not read obfuscated code
  };

  // Reads all containers in `bytes`. Each begins at a multiple of 8; zeros may stand between and
  // behind them. Fails, with the container, the member and the offset, where any header is damaged.
  static absl::StatusOr<Fatbin> Parse(std::span<const std::uint8_t> bytes,
                                      const FatbinLimits& limits = {});

  // The members of all containers, in file order.
  [[nodiscard]] const std::vector<FatbinMember>& members() const { return members_; }
  // How many containers stand behind one another.
  [[nodiscard]] std::size_t container_count() const { return container_count_; }

  // The members as ChooseCode wants them: candidate i is members()[i].
  [[nodiscard]] std::vector<CodeCandidate> Candidates() const;

  // The code of a member: decompressed, PTX without the NUL that ends it. A cubin that is not
  // compressed keeps up to 7 zeros behind its end. Fails with kUncompress, kTooLarge or
  // kObfuscated.
  [[nodiscard]] absl::StatusOr<std::vector<std::uint8_t>> Extract(const FatbinMember& member) const;

  // A fat binary with that member alone, as it is stored: the way to hand on what Extract cannot
  // read. Fails with kDamaged where the object has no such member.
  [[nodiscard]] absl::StatusOr<std::vector<std::uint8_t>> Isolate(const FatbinMember& member) const;

 private:
  FatbinLimits limits_;
  std::vector<FatbinMember> members_;
  std::size_t container_count_ = 0;
};

// Which of Fatbin's errors a status of Parse or Extract is; kNone for an ok status.
Fatbin::Error FatbinErrorOf(const absl::Status& status);

}  // namespace devlink
