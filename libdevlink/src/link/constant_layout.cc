// SPDX-License-Identifier: Apache-2.0
#include "link/constant_layout.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/align.h"
#include "format/sections.h"
#include "format/sm_traits.h"
#include "format/views.h"
#include "link/reach.h"

namespace devlink::internal {

namespace {

bool IsCompilerBank(const Section& section) {
  return section.kind == SectionKind::kFunctionConstants && section.bank == format::kCompilerBank;
}

// Where the compiler's constants are before the layout.
struct MergedBanks {
  base::HashMap<FunctionId, SectionId> of_kernel;
  std::vector<OwnItem> of_functions;  // the item is the section
};

MergedBanks CollectBanks(const Program& program, const Liveness& liveness) {
  MergedBanks banks;
  for (SectionId id = 0; id < program.sections.size(); ++id) {
    const Section& section = program.sections[id];
    if (!IsCompilerBank(section) || liveness.section_removed[id]) continue;
    if (program.functions[section.function].is_kernel) {
      // One that a replaced body left empty is filled again, in its old place.
      banks.of_kernel[section.function] = id;
    } else if (!section.stays_in_place) {
      banks.of_functions.push_back({section.function, id, 0});
    }
  }
  return banks;
}

// The banks of kernels while constants are appended. A kernel is given by its place among the live
// ones.
class KernelBanks {
 public:
  KernelBanks(const Program& program, const Liveness& liveness,
              const base::HashMap<FunctionId, SectionId>& merged, base::StringArena& names,
              std::uint64_t max_bytes)
      : program_(program),
        liveness_(liveness),
        merged_(merged),
        names_(names),
        bytes_left_(max_bytes),
        index_(liveness.kernels.size(), kNone) {}

  [[nodiscard]] std::uint64_t SizeOf(std::uint32_t kernel) const {
    if (index_[kernel] != kNone) return banks_[index_[kernel]].size;
    const Section* own = MergedBankOf(kernel);
    return own == nullptr ? 0 : own->size;
  }

  [[nodiscard]] std::uint32_t AlignOf(std::uint32_t kernel) const {
    if (index_[kernel] != kNone) return banks_[index_[kernel]].align;
    const Section* own = MergedBankOf(kernel);
    return own == nullptr ? 1 : own->align;
  }

  // Puts the constants of the function that `id` belongs to at `offset` of the kernel's bank.
  void Append(std::uint32_t kernel, SectionId id, std::uint64_t offset, std::uint32_t align) {
    const Section& callee = program_.sections[id];
    ConstantBank& bank = Open(kernel, callee);
    bank.align = align;
    bank.size = base::AlignUp(offset + callee.size, align);
    // A bank that is larger than any may be is refused, whatever is in it.
    if (bank.size > format::kMaxConstantBank || !Spend(callee)) return;
    bank.appended.push_back(id);
    for (const Piece& piece : callee.pieces) {
      bank.pieces.push_back({piece.bytes, offset + piece.offset});
    }
  }

  [[nodiscard]] bool too_large() const { return too_large_; }

  std::vector<ConstantBank> Take() && {
    std::erase_if(banks_, [](const ConstantBank& bank) { return bank.size == 0; });
    return std::move(banks_);
  }

 private:
  // For what is kept of one copy, here and in the output.
  bool Spend(const Section& callee) {
    const std::uint64_t bytes =
        callee.size + sizeof(SectionId) + callee.pieces.size() * sizeof(Piece);
    too_large_ |= bytes > bytes_left_;
    if (too_large_) return false;
    bytes_left_ -= bytes;
    return true;
  }

  [[nodiscard]] const Section* MergedBankOf(std::uint32_t kernel) const {
    const auto own = merged_.find(liveness_.kernels[kernel]);
    return own == merged_.end() ? nullptr : &program_.sections[own->second];
  }

  ConstantBank& Open(std::uint32_t kernel, const Section& callee) {
    if (index_[kernel] != kNone) return banks_[index_[kernel]];
    index_[kernel] = static_cast<std::uint32_t>(banks_.size());
    ConstantBank& bank = banks_.emplace_back();
    bank.kernel = liveness_.kernels[kernel];
    const auto own = merged_.find(bank.kernel);
    if (own == merged_.end()) {
      bank.name = names_.Concat(format::CompilerConstantsPrefix(program_.view),
                                program_.symbols[program_.functions[bank.kernel].symbol].name);
      bank.flags = callee.flags;
      bank.align = callee.align;
      return bank;
    }
    const Section& section = program_.sections[own->second];
    bank.section = own->second;
    bank.name = section.name;
    bank.flags = section.flags;
    bank.size = section.size;
    bank.align = section.align;
    bank.pieces.assign(section.pieces.begin(), section.pieces.end());
    return bank;
  }

  const Program& program_;
  const Liveness& liveness_;
  const base::HashMap<FunctionId, SectionId>& merged_;
  base::StringArena& names_;  // of new sections
  std::uint64_t bytes_left_;
  bool too_large_ = false;
  std::vector<std::uint32_t> index_;  // into `banks_`
  std::vector<ConstantBank> banks_;
};

}  // namespace

ConstantLayout LayOutConstants(const Program& program, const CallGraph& graph,
                               const Liveness& liveness, std::uint64_t max_bytes) {
  ConstantLayout layout;
  layout.null_symbol_value = program.residue.last_packed_constant.value_or(0);
  const MergedBanks merged = CollectBanks(program, liveness);
  if (merged.of_functions.empty()) return layout;

  const auto users = UsersOfItems(graph, merged.of_functions, liveness.kernels);

  // Last created first, as nvlink goes.
  const auto names = std::make_shared<base::StringArena>();
  layout.names = names;
  KernelBanks banks(program, liveness, merged.of_kernel, *names, max_bytes);
  for (auto own_item = merged.of_functions.rbegin(); own_item != merged.of_functions.rend();
       ++own_item) {
    if (banks.too_large()) {  // the link ends with that; kernels times functions is a long way
      layout.moved[own_item->item] = 0;
      continue;
    }
    const Section& callee = program.sections[own_item->item];
    std::vector<std::uint32_t> kernels;
    if (const auto found = users.find(own_item->item); found != users.end()) {
      kernels = found->second.Sorted();
    }
    std::reverse(kernels.begin(), kernels.end());
    // The strictest alignment of all banks concerned applies to each of them.
    std::uint32_t align = callee.align;
    for (const std::uint32_t kernel : kernels) align = std::max(align, banks.AlignOf(kernel));
    std::uint64_t offset = 0;
    for (const std::uint32_t kernel : kernels) {
      offset = std::max(offset, base::AlignUp(banks.SizeOf(kernel), align));
    }
    layout.moved[own_item->item] = offset;
    const auto discarded = program.residue.discarded_variables.find(own_item->item);
    if (discarded != program.residue.discarded_variables.end() && !kernels.empty() &&
        !program.residue.last_packed_constant.has_value()) {
      layout.null_symbol_value = offset + discarded->second;
    }
    for (const std::uint32_t kernel : kernels) banks.Append(kernel, own_item->item, offset, align);
  }
  layout.too_large = banks.too_large();
  layout.banks = std::move(banks).Take();
  return layout;
}

}  // namespace devlink::internal
