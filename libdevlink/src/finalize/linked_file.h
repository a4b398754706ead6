// SPDX-License-Identifier: Apache-2.0
//
// A cubin of two views that another linker wrote, taken apart so that some of its sections can
// become larger or smaller, and laid out again by the rules that nvlink follows (docs/mercury.md,
// "The file").
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/bounded_reader.h"
#include "format/elf_cuda.h"

namespace devlink::internal {

class LinkedFile {
 public:
  // Borrows the bytes. InvalidArgument where they are not such a cubin, or one that does not lie in
  // the file as those rules say: it could not be laid out again.
  static absl::StatusOr<LinkedFile> Read(base::Bytes file);

  [[nodiscard]] std::uint32_t section_count() const {
    return static_cast<std::uint32_t>(headers_.size());
  }
  [[nodiscard]] const format::Shdr& header(std::uint32_t section) const {
    return headers_[section];
  }
  // Empty where the name table does not have it.
  [[nodiscard]] std::string_view NameOf(std::uint32_t section) const;
  // As it was read; empty for sections without bytes.
  [[nodiscard]] base::Bytes DataOf(std::uint32_t section) const;
  [[nodiscard]] std::uint32_t name_table() const { return header_.shstrndx; }

  // What a section holds from now on. Those that share their bytes with it must not be replaced.
  void Replace(std::uint32_t section, std::vector<std::uint8_t> bytes);
  void Rename(std::uint32_t section, std::uint32_t name) { headers_[section].name = name; }

  // The file with what was replaced, everything behind it moved.
  [[nodiscard]] absl::StatusOr<std::vector<std::uint8_t>> Write() const;

 private:
  // Where everything lies.
  struct Layout {
    std::vector<std::uint64_t> offsets;  // by section
    std::uint64_t headers = 0;
    std::uint64_t segments = 0;
    std::uint64_t end = 0;
  };

  LinkedFile() = default;
  absl::Status ReadTables();
  [[nodiscard]] absl::Status CheckLayout();
  [[nodiscard]] std::uint64_t SizeOf(std::uint32_t section) const;
  [[nodiscard]] bool HasBytes(std::uint32_t section) const;
  [[nodiscard]] std::uint64_t RoomOfConstants() const;
  [[nodiscard]] std::uint64_t RoomBefore(std::uint32_t section) const;
  [[nodiscard]] Layout LayOut() const;
  [[nodiscard]] absl::Status MoveSegments(const Layout& layout,
                                          std::vector<format::Phdr>& out) const;
  [[nodiscard]] absl::Status MoveSegment(const Layout& layout, format::Phdr& segment) const;

  base::Bytes file_;
  format::Ehdr header_ = {};
  std::vector<format::Shdr> headers_;
  std::vector<format::Phdr> segments_;
  std::vector<std::uint32_t> shares_with_;  // an earlier section at the same place; 0: none
  std::uint64_t room_before_symbols_ = 0;
  // That room is of a size for which there is no rule, so that the table of strings in front of it
  // must stay as it is.
  bool keeps_strings_ = false;
  std::vector<std::optional<std::vector<std::uint8_t>>> replaced_;
};

}  // namespace devlink::internal
