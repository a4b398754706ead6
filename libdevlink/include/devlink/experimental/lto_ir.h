// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/lto_ir.h
//
// The container of LTO IR: what `nvcc -dlto` puts into `.ltoir` files and fat binaries, and what
// libNVVM takes for link-time optimization. A header tells versions and architecture; behind it
// stands LLVM bitcode, which NVIDIA's tools store in a protected form. libdevlink reads the header
// and hands the payload on as it is. docs/lto-ir.md describes the format and how it was found.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/arch.h"

namespace devlink {

// A version as a header has it, of two bytes.
struct LtoIrVersion {
  std::uint8_t major = 0;  // 1 of 1.65
  std::uint8_t minor = 0;  // 65 of 1.65

  friend auto operator<=>(const LtoIrVersion&, const LtoIrVersion&) = default;
};

// The versions in a header; or the newest that a libNVVM reads, the defaults being those of 13.0.
struct LtoIrVersions {
  LtoIrVersion container = {1, 65};  // of the header itself
  LtoIrVersion ir = {2, 98};         // of NVVM IR
  LtoIrVersion debug = {3, 2};       // of its debug information
  LtoIrVersion llvm = {20, 0};       // 7.0 in code for targets below sm_100

  friend bool operator==(const LtoIrVersions&, const LtoIrVersions&) = default;
};

// One of the numbers that follow the fixed part of the header.
struct LtoIrTag {
  static constexpr std::uint16_t kArch = 1;             // ten times the number: 900 for sm_90
  static constexpr std::uint16_t kArchSpecific = 0x20;  // 1 for variant `a`; `f` leaves no trace
  // The payload may be protected: where the key stands in the area for it.
  static constexpr std::uint16_t kKey = 0x63;

  std::uint16_t tag = 0;    // kArch, kArchSpecific, kKey or one that is not known
  std::uint16_t value = 0;  // as in the file; what it means, the tag says

  friend bool operator==(const LtoIrTag&, const LtoIrTag&) = default;
};

// What a header says. The payload is a view into the bytes that were parsed, which must outlive it.
struct LtoIr {
  LtoIrVersions versions;                 // as the header has them
  Arch arch;                              // the virtual architecture it was compiled for
  std::vector<LtoIrTag> tags;             // all of them, in order
  std::size_t tags_offset = 0;            // of the first, in the bytes that were parsed
  std::uint32_t key = 0;                  // 0: the payload is plain bitcode
  std::span<const std::uint8_t> payload;  // with the padding that may follow it

  // Whether only NVIDIA's own libraries can read the payload.
  [[nodiscard]] bool is_protected() const { return key != 0; }

  // InvalidArgument where the bytes are something else (the message says what, for text, bitcode,
  // ELF, fat binaries and PTX), OutOfRange where the container is cut off or an offset lies outside
  // of it, which libNVVM 13.0 does not survive. Any version is read.
  static absl::StatusOr<LtoIr> Parse(std::span<const std::uint8_t> bytes);

  // What libNVVM would refuse and why: versions beyond `newest`, code without an architecture, a
  // plain payload that is not bitcode, and code of LLVM 20 for a target below sm_100.
  // FailedPrecondition; InvalidArgument where nothing of the right kind could be read. libNVVM
  // itself compares no architectures: code for sm_90 links for sm_75.
  [[nodiscard]] absl::Status Check(Arch target, const LtoIrVersions& newest = {}) const;
};

// A container around plain LLVM bitcode, the form that tools other than NVIDIA's can make. libNVVM
// takes it like a protected one. The versions must be such as the bitcode deserves: LLVM 7.0 for a
// target below sm_100. InvalidArgument where `bitcode` is none.
absl::StatusOr<std::vector<std::uint8_t>> WriteLtoIr(std::span<const std::uint8_t> bitcode,
                                                     Arch arch, const LtoIrVersions& versions);

}  // namespace devlink
