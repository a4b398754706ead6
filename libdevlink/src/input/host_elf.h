// SPDX-License-Identifier: Apache-2.0
//
// The section table of an ELF file of any class and byte order.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/bounded_reader.h"

namespace devlink::internal {

struct HostSection {
  std::uint32_t name = 0;  // where its name stands in the table of names
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
};

// Borrows the bytes of the file. Immutable.
class HostElf {
 public:
  // InvalidArgument, with what is wrong, where header, section table or the table of names cannot
  // be read. An object without any table of names has an empty one.
  static absl::StatusOr<HostElf> Open(base::Bytes bytes);

  [[nodiscard]] std::uint64_t section_count() const { return section_count_; }
  // `index` must be below section_count().
  [[nodiscard]] HostSection SectionAt(std::uint64_t index) const;
  [[nodiscard]] std::string_view names() const { return names_; }
  [[nodiscard]] std::uint64_t names_index() const { return names_index_; }
  [[nodiscard]] bool big_endian() const { return big_endian_; }

 private:
  explicit HostElf(base::Bytes bytes) : reader_(bytes) {}
  absl::Status ReadTable();
  absl::Status ReadNames();
  // Little-endian as the reader has it, or turned round.
  template <typename T>
  [[nodiscard]] T Number(std::uint64_t offset) const;
  [[nodiscard]] std::uint64_t Word(std::uint64_t offset) const;

  base::BoundedReader reader_;
  bool wide_ = false;
  bool big_endian_ = false;
  std::uint64_t table_ = 0;
  std::uint64_t section_count_ = 0;
  std::uint64_t names_index_ = 0;
  std::string_view names_;
};

}  // namespace devlink::internal
