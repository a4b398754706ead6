// SPDX-License-Identifier: Apache-2.0
#include "link/verify_memory.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/hash_table.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "format/elf_cuda.h"
#include "link/call_graph.h"
#include "link/reach.h"

namespace devlink::internal {

namespace {

struct Stretch {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  std::string_view name;
};

// `stretches` lie in `size` bytes of `kernel`, apart from each other.
absl::Status CheckStretches(std::string_view kernel, std::vector<Stretch> stretches,
                            std::uint64_t size) {
  std::sort(stretches.begin(), stretches.end(),
            [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  const Stretch* last = nullptr;
  for (const Stretch& stretch : stretches) {
    if (stretch.size == 0) continue;
    if (last != nullptr && last->begin + last->size > stretch.begin) {
      return absl::InternalError(
          absl::StrCat("kernel '", base::ToAbsl(kernel), "': '", base::ToAbsl(last->name),
                       "' ends at 0x", absl::Hex(last->begin + last->size), ", '",
                       base::ToAbsl(stretch.name), "' begins at 0x", absl::Hex(stretch.begin)));
    }
    last = &stretch;
  }
  if (last == nullptr || last->begin + last->size <= size) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      "kernel '", base::ToAbsl(kernel), "': '", base::ToAbsl(last->name), "' ends at 0x",
      absl::Hex(last->begin + last->size), ", its memory at 0x", absl::Hex(size)));
}

class MemoryVerifier {
 public:
  MemoryVerifier(const PassResults& passes, std::uint64_t reserved)
      : passes_(passes),
        program_(passes.program),
        reserved_(reserved),
        stretches_(passes.liveness.kernels.size()) {
    const auto& unfollowed = passes.liveness.unfollowed;
    if (!unfollowed.empty()) cut_.emplace(program_, unfollowed);
  }

  absl::Status Run() {
    DEVLINK_RETURN_IF_ERROR(CheckSections());
    CollectShared();
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      const KernelShared& shared = passes_.shared.kernels[i];
      const std::uint64_t size = shared.size >= reserved_ ? shared.size - reserved_ : shared.size;
      DEVLINK_RETURN_IF_ERROR(CheckStretches(NameOf(i), std::exchange(stretches_[i], {}), size));
    }
    CollectConstants();
    base::HashMap<FunctionId, std::uint64_t> size_of;
    for (const ConstantBank& bank : passes_.constants.banks) size_of[bank.kernel] = bank.size;
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      const std::uint64_t size = size_of[passes_.liveness.kernels[i]];
      DEVLINK_RETURN_IF_ERROR(CheckStretches(NameOf(i), std::move(stretches_[i]), size));
    }
    return absl::OkStatus();
  }

 private:
  [[nodiscard]] std::string_view NameOf(std::size_t kernel) const {
    return program_.symbols[program_.functions[passes_.liveness.kernels[kernel]].symbol].name;
  }

  // Shared memory without a section would not be there when the kernel runs.
  [[nodiscard]] absl::Status CheckSections() const {
    const std::vector<std::uint32_t>& late = passes_.shared.without_section;
    const base::HashSet<std::uint32_t> gets_one(late.begin(), late.end());
    for (std::uint32_t i = 0; i < passes_.shared.kernels.size(); ++i) {
      if (passes_.shared.kernels[i].size == 0) continue;
      if (program_.functions[passes_.liveness.kernels[i]].shared != kNone) continue;
      if (gets_one.contains(i)) continue;
      return absl::InternalError(absl::StrCat("kernel '", base::ToAbsl(NameOf(i)),
                                              "' has shared memory and no section for it"));
    }
    return absl::OkStatus();
  }

  void CollectShared() {
    base::HashSet<std::pair<FunctionId, SymbolId>> uses;
    std::vector<OwnItem> own_items;
    for (const Relocation& relocation : program_.relocations) {
      const Symbol& symbol = program_.symbols[relocation.symbol];
      const Section& section = program_.sections[relocation.section];
      if (symbol.space != format::kStoShared || symbol.external_shared ||
          section.kind != SectionKind::kText) {
        continue;
      }
      if (!uses.insert({section.function, relocation.symbol}).second) continue;
      own_items.push_back({section.function, relocation.symbol, 0});
    }
    VisitReachable(
        followed(), own_items, passes_.liveness.kernels,
        [this](std::uint32_t kernel, std::span<const ReachedItem> found) {
          for (const ReachedItem& use : found) {
            const auto place = passes_.shared.places.find(use.item);
            if (place == passes_.shared.places.end() || !place->second.offset) continue;
            const Symbol& symbol = program_.symbols[use.item];
            stretches_[kernel].push_back({*place->second.offset, symbol.size, symbol.name});
          }
        });
  }

  void CollectConstants() {
    std::vector<OwnItem> own_items;
    for (const auto& [id, offset] : passes_.constants.moved) {
      own_items.push_back({program_.sections[id].function, id, 0});
    }
    VisitReachable(followed(), own_items, passes_.liveness.kernels,
                   [this](std::uint32_t kernel, std::span<const ReachedItem> found) {
                     for (const ReachedItem& use : found) {
                       const Section& section = program_.sections[use.item];
                       stretches_[kernel].push_back(
                           {passes_.constants.moved.at(use.item), section.size, section.name});
                     }
                   });
  }

  // What memory was laid out by.
  [[nodiscard]] const CallGraph& followed() const { return cut_ ? *cut_ : passes_.graph; }

  const PassResults& passes_;
  const Program& program_;
  const std::uint64_t reserved_;
  std::optional<CallGraph> cut_;                 // without calls that nobody follows
  std::vector<std::vector<Stretch>> stretches_;  // by kernel
};

}  // namespace

absl::Status VerifyMemoryOfKernels(const PassResults& passes, std::uint64_t reserved) {
  return MemoryVerifier(passes, reserved).Run();
}

}  // namespace devlink::internal
