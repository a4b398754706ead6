// SPDX-License-Identifier: Apache-2.0
#include "model/redirect.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/bounded_reader.h"
#include "base/status_macros.h"
#include "format/elf_cuda.h"
#include "format/views.h"

namespace devlink::internal {

namespace {

// A copy of the file with longer string tables at its end.
class Rewriter {
 public:
  Rewriter(const Module& module, const Redirections& to)
      : to_(to),
        file_(module.bytes().begin(), module.bytes().end()),
        headers_at_(module.header().shoff),
        sections_(module.sass().section_count()) {}

  // Null where nothing is to be changed.
  absl::StatusOr<ModuleRef> Run() && {
    // Both views have their symbols in tables of their own.
    for (std::uint32_t section = 0; section < sections_; ++section) {
      const format::Shdr header = HeaderAt(section);
      if (format::IsSymbolTable(header.type)) {
        DEVLINK_RETURN_IF_ERROR(RewriteTable(header));
      }
    }
    return changed_ ? Module::Load(std::move(file_)) : ModuleRef();
  }

 private:
  [[nodiscard]] format::Shdr HeaderAt(std::uint32_t section) const {
    return base::BoundedReader(file_).ReadOrZero<format::Shdr>(
        headers_at_ + std::uint64_t{section} * sizeof(format::Shdr));
  }

  absl::Status RewriteTable(const format::Shdr& table) {
    if (!base::BoundedReader(file_).Slice(table.offset, table.size)) {
      return absl::InvalidArgumentError("a symbol table lies outside the file");
    }
    std::vector<std::uint8_t> added;  // strings behind those that are there
    const format::Shdr strings = HeaderAt(table.link);
    for (std::uint64_t at = 0; at + sizeof(format::Sym) <= table.size; at += sizeof(format::Sym)) {
      auto symbol = base::BoundedReader(file_).ReadOrZero<format::Sym>(table.offset + at);
      if (symbol.shndx != format::kShnUndef || symbol.info >> 4 == format::kStbLocal) continue;
      const auto name = NameOf(strings, symbol.name);
      const auto other = to_.find(std::string(name));
      if (name.empty() || other == to_.end()) continue;
      const std::uint64_t place = strings.size + added.size();
      if (place > std::numeric_limits<std::uint32_t>::max()) {
        return absl::InvalidArgumentError("the string table has no room for another name");
      }
      symbol.name = static_cast<std::uint32_t>(place);
      added.insert(added.end(), other->second.begin(), other->second.end());
      added.push_back(0);
      std::memcpy(file_.data() + table.offset + at, &symbol, sizeof(symbol));
    }
    if (!added.empty()) MoveStrings(table.link, strings, added);
    return absl::OkStatus();
  }

  [[nodiscard]] std::string_view NameOf(const format::Shdr& strings, std::uint32_t name) const {
    const auto table = base::BoundedReader(file_).Slice(strings.offset, strings.size);
    if (!table) return {};
    return base::BoundedReader(*table).CString(name).value_or(std::string_view());
  }

  void MoveStrings(std::uint32_t section, format::Shdr strings,
                   const std::vector<std::uint8_t>& added) {
    const std::vector<std::uint8_t> old(
        file_.begin() + static_cast<std::ptrdiff_t>(strings.offset),
        file_.begin() + static_cast<std::ptrdiff_t>(strings.offset + strings.size));
    strings.offset = file_.size();
    strings.size += added.size();
    file_.insert(file_.end(), old.begin(), old.end());
    file_.insert(file_.end(), added.begin(), added.end());
    std::memcpy(file_.data() + headers_at_ + std::uint64_t{section} * sizeof(format::Shdr),
                &strings, sizeof(strings));
    changed_ = true;
  }

  const Redirections& to_;
  std::vector<std::uint8_t> file_;
  const std::uint64_t headers_at_;
  const std::uint32_t sections_;
  bool changed_ = false;
};

}  // namespace

absl::StatusOr<ModuleRef> RedirectReferences(const ModuleRef& module, const Redirections& to) {
  if (to.empty()) return module;
  DEVLINK_ASSIGN_OR_RETURN(ModuleRef redirected, Rewriter(*module, to).Run());
  if (redirected == nullptr) return module;
  return redirected;
}

}  // namespace devlink::internal
