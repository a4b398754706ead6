// SPDX-License-Identifier: Apache-2.0
#include "link/attributes.h"

#include <algorithm>
#include <array>
#include <limits>

#include "absl/container/inlined_vector.h"
#include "base/hash_table.h"
#include "format/elf_cuda.h"
#include "format/nv_info.h"
#include "link/reach.h"

namespace devlink::internal {

using namespace format;  // NOLINT: the attribute names

namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kLast = kNever - 1;  // of records that the flags of code stand for

constexpr auto& kTravelling = kTravellingAttributes;
constexpr std::size_t kCount = kTravelling.size();

// By attribute: its place in kTravelling, kCount where it does not travel.
constexpr auto kSlots = [] {
  std::array<std::uint8_t, 256> out = {};
  out.fill(kCount);
  for (std::size_t i = 0; i < kCount; ++i) out[kTravelling[i]] = static_cast<std::uint8_t>(i);
  return out;
}();

constexpr std::size_t SlotOf(std::uint8_t id) { return kSlots[id]; }

constexpr bool IsList(std::uint8_t id) {
  return id == kAttrExterns || id == kAttrLanguage || id == kAttrEntryFragments;
}

std::uint8_t FormatOf(std::uint8_t id) { return FindInfoAttribute(id).appended_as; }

// What is known of the travelling attributes of a set of functions. Positions count records in
// order of arrival, as nvlink meets them; the sum of mbarriers is kept apart, since a set cannot be
// summed by joining sets.
struct Gathered {
  std::array<std::uint64_t, kCount> first = {};  // where it is met first; kNever: nowhere
  std::uint16_t barriers = 0;
  std::uint16_t vrc = 0;
  std::uint16_t sparse = 0;
  std::uint16_t mask_68 = 0;
  std::uint64_t reconfig_at = 0;  // last position plus one
  std::uint16_t reconfig = 0;

  Gathered() { first.fill(kNever); }

  void Join(const Gathered& other) {
    for (std::size_t i = 0; i < kCount; ++i) first[i] = std::min(first[i], other.first[i]);
    barriers = std::max(barriers, other.barriers);
    vrc = std::max(vrc, other.vrc);
    sparse |= other.sparse;
    mask_68 |= other.mask_68;
    if (other.reconfig_at > reconfig_at) {
      reconfig_at = other.reconfig_at;
      reconfig = other.reconfig;
    }
  }

  void Add(const AttributeRecord& record, std::uint64_t position) {
    const std::size_t slot = SlotOf(record.id);
    if (slot == kCount || (record.format == kInfoSized) != IsList(record.id)) return;
    first[slot] = std::min(first[slot], position);
    if (record.id == kAttrNumBarriers) barriers = std::max(barriers, record.value);
    if (record.id == kAttrVrcCtaInitCount) vrc = std::max(vrc, record.value);
    if (record.id == kAttrSparseMmaMask) sparse |= record.value;
    if (record.id == kAttrMask68) mask_68 |= record.value;
    if (record.id == kAttrRegReconfig && position + 1 > reconfig_at) {
      reconfig_at = position + 1;
      reconfig = record.value;
    }
  }
};

using WordList = std::vector<std::uint32_t> FunctionAttributes::*;

class Propagator {
 public:
  Propagator(const Program& program, const CallGraph& graph, const Liveness& liveness,
             const ToolkitProfile& profile)
      : program_(program), graph_(graph), liveness_(liveness), profile_(profile) {
    own_.resize(program.functions.size());
    own_externs_.resize(program.functions.size());
    mbarriers_.assign(program.functions.size(), 0);
    result_.functions.resize(program.functions.size());
    single_ = liveness.single_kernel != kNone;
  }

  // Each function's own, and nothing of what it reaches.
  Attributes RunOwn() {
    for (std::uint32_t list = 0; list < program_.info_sections.size(); ++list) ReadOwn(list);
    for (FunctionId f = 0; f < own_externs_.size(); ++f) {
      result_.functions[f].externs = own_externs_[f];
    }
    return std::move(result_);
  }

  Attributes Run() {
    for (std::uint32_t list = 0; list < program_.info_sections.size(); ++list) ReadOwn(list);
    for (FunctionId f = 0; f < own_externs_.size(); ++f) {
      result_.functions[f].externs = own_externs_[f];
    }
    MarkAliases();
    MarkFunctionsWithoutMask();
    ReadBarriersOfCode();
    TakeFragments();
    if (single_) {
      ApplySingleKernel(liveness_.single_kernel);
    } else {
      GatherComponents();
      FindExternsOfKernels();
      FindMbarriersOfKernels();
      FindWordsOfKernels(languages_, &FunctionAttributes::languages);
      FindWordsOfKernels(fragments_, &FunctionAttributes::fragments);
      for (std::uint32_t i = 0; i < liveness_.kernels.size(); ++i) ApplyKernel(i);
    }
    return std::move(result_);
  }

 private:
  // An alias has no mask of its own, and whatever has none gets the default one: it is appended to
  // the attributes of what the alias stands for, and travels to whoever reaches either.
  void MarkAliases() {
    if (!any_sparse_) return;
    for (FunctionId f = 0; f < own_.size(); ++f) {
      const FunctionId real = program_.functions[f].alias_of;
      if (real == kNone || !liveness_.live[f]) continue;
      own_[f].sparse = added_mask_ = kSparseMmaMaskDefault;
      own_[real].sparse |= added_mask_;
      AppendDefaultMask(real);
    }
  }

  // Functions of CUDA 12.0 and earlier, beside others. Kernels are seen to when all is known.
  void MarkFunctionsWithoutMask() {
    if (!any_sparse_) return;
    const std::size_t slot = SlotOf(kAttrSparseMmaMask);
    for (FunctionId f = 0; f < own_.size(); ++f) {
      const Function& function = program_.functions[f];
      if (function.is_kernel || !program_.IsDefined(f) || !liveness_.live[f]) continue;
      if (own_[f].first[slot] != kNever || own_[f].sparse != 0 || function.info == kNone) continue;
      own_[f].sparse = added_mask_ = kSparseMmaMaskDefault;
      AppendDefaultMask(f);
    }
  }

  void AppendDefaultMask(FunctionId f) {
    result_.functions[f].appended.push_back(
        {kInfoHalfValue, kAttrSparseMmaMask, kSparseMmaMaskDefault});
  }

  // The old ABI counts them in the flags of code. nvlink makes an attribute of that, behind all
  // others, which travels as those do.
  void ReadBarriersOfCode() {
    for (FunctionId f = 0; f < own_.size(); ++f) {
      if (!program_.IsDefined(f) || !liveness_.live[f]) continue;
      const std::uint16_t barriers =
          format::BarriersOfCode(program_.sections[program_.functions[f].text].flags);
      if (barriers == 0) continue;
      Gathered& own = own_[f];
      own.barriers = std::max(own.barriers, barriers);
      if (own.first[SlotOf(kAttrNumBarriers)] != kNever) continue;
      own.first[SlotOf(kAttrNumBarriers)] = kLast;
      made_barriers_.insert(f);
      if (!program_.functions[f].is_kernel) AppendBarriers(f, barriers);
    }
  }

  void AppendBarriers(FunctionId f, std::uint16_t barriers) {
    result_.functions[f].appended.push_back({kInfoByteValue, kAttrNumBarriers, barriers});
  }

  // Attributes and undefined functions of one `.nv.info.F`.
  void ReadOwn(std::uint32_t list) {
    const SectionId id = program_.info_sections[list];
    const FunctionId function = program_.sections[id].function;
    if (function == kNone || liveness_.section_removed[id]) return;
    for (const AttributeRecord& record : program_.info_lists[list]) {
      any_sparse_ = any_sparse_ || (record.id == kAttrSparseMmaMask && record.format != kInfoSized);
      if (!Travels(record.id)) continue;
      own_[function].Add(record, record.arrival);
      if (record.format == kInfoSized && record.id == kAttrLanguage) {
        ReadWords(function, record, languages_);
      }
      if (record.format == kInfoSized && record.id == kAttrEntryFragments) {
        ReadWords(function, record, fragments_);
      }
      if (record.format != kInfoSized && record.id == kAttrNumMbarriers) {
        mbarriers_[function] = record.value;
      }
      if (record.format != kInfoSized || record.id != kAttrExterns) continue;
      auto& externs = own_externs_[function];
      externs.clear();
      for (std::size_t i = 0; i < record.payload.size() / 4; ++i) {
        const SymbolId symbol = program_.extern_symbols[record.externs + i];
        if (symbol == kNone || program_.symbols[symbol].function == kNone) continue;
        const FunctionId callee = program_.symbols[symbol].function;
        if (!liveness_.live[callee]) continue;
        if (!program_.IsDefined(callee) || program_.functions[callee].is_kernel) {
          externs.push_back(symbol);
        }
      }
      extern_lists_.push_back({function, record.arrival});
    }
  }

  [[nodiscard]] bool Travels(std::uint8_t id) const {
    if (id == kAttrLanguage || id == kAttrMark62) return profile_.languages_travel;
    return id != kAttrMask68 || profile_.mask_68_travels;
  }

  static void ReadWords(FunctionId function, const AttributeRecord& record,
                        std::vector<OwnItem>& out) {
    const base::BoundedReader words(record.payload);
    for (std::uint32_t i = 0; i < record.payload.size() / 4; ++i) {
      out.push_back({function, words.ReadOrZero<std::uint32_t>(std::uint64_t{i} * 4),
                     (std::uint64_t{record.arrival} << 32) | i});
    }
  }

  void GatherComponents() {
    components_.resize(graph_.component_count());
    for (ComponentId component = 0; component < components_.size(); ++component) {
      Gathered& sum = components_[component];
      for (const NodeId node : graph_.Members(component)) {
        if (node < own_.size()) sum.Join(own_[node]);
        for (const NodeId target : graph_.Successors(node)) {
          if (graph_.ComponentOf(target) != component) {
            sum.Join(components_[graph_.ComponentOf(target)]);
          }
        }
      }
    }
  }

  // What a kernel reaches, itself excluded.
  Gathered Others(FunctionId kernel) const {
    Gathered out;
    const ComponentId component = graph_.ComponentOf(kernel);
    for (const NodeId node : graph_.Members(component)) {
      if (node != kernel && node < own_.size()) out.Join(own_[node]);
      for (const NodeId target : graph_.Successors(node)) {
        if (graph_.ComponentOf(target) != component) {
          out.Join(components_[graph_.ComponentOf(target)]);
        }
      }
    }
    return out;
  }

  // A kernel's list: its own, then those of all it reaches, in the order of their sections.
  void FindExternsOfKernels() {
    std::vector<OwnItem> own_items;
    for (const auto& [function, arrival] : extern_lists_) {
      std::uint32_t position = 0;
      for (const SymbolId symbol : own_externs_[function]) {
        own_items.push_back({function, symbol, (std::uint64_t{arrival} << 32) | position++});
      }
    }
    auto found = CollectReachable(graph_, own_items, liveness_.kernels);
    for (std::uint32_t i = 0; i < found.size(); ++i) {
      const FunctionId kernel = liveness_.kernels[i];
      auto& externs = result_.functions[kernel].externs;
      externs.clear();
      base::HashSet<SymbolId> seen;
      for (const SymbolId symbol : own_externs_[kernel]) {
        if (seen.insert(symbol).second) externs.push_back(symbol);
      }
      std::sort(found[i].begin(), found[i].end(),
                [](const ReachedItem& a, const ReachedItem& b) { return a.key < b.key; });
      for (const ReachedItem& use : found[i]) {
        if (seen.insert(use.item).second) externs.push_back(use.item);
      }
    }
  }

  void FindMbarriersOfKernels() {
    std::vector<OwnItem> own_items;
    for (FunctionId f = 0; f < mbarriers_.size(); ++f) {
      if (mbarriers_[f] != 0) own_items.push_back({f, f, 0});
    }
    kernel_mbarriers_.assign(liveness_.kernels.size(), 0);
    VisitReachable(graph_, own_items, liveness_.kernels,
                   [this](std::uint32_t kernel, std::span<const ReachedItem> found) {
                     for (const ReachedItem& use : found) {
                       AddMbarriers(kernel_mbarriers_[kernel], mbarriers_[use.item]);
                     }
                   });
  }

  // Each kernel's own, then those of all it reaches, in order of arrival.
  void FindWordsOfKernels(const std::vector<OwnItem>& words, WordList list) {
    if (words.empty()) return;
    base::HashMap<FunctionId, std::vector<std::uint32_t>> own;
    for (const OwnItem& item : words) own[item.function].push_back(item.item);
    auto found = CollectReachable(graph_, words, liveness_.kernels);
    for (std::uint32_t i = 0; i < found.size(); ++i) {
      std::sort(found[i].begin(), found[i].end(),
                [](const ReachedItem& a, const ReachedItem& b) { return a.key < b.key; });
      const FunctionId kernel = liveness_.kernels[i];
      auto& out = result_.functions[kernel].*list;
      base::HashSet<std::uint32_t> seen;
      if (const auto of_kernel = own.find(kernel); of_kernel != own.end()) {
        for (const std::uint32_t word : of_kernel->second) {
          if (seen.insert(word).second) out.push_back(word);
        }
      }
      for (const ReachedItem& item : found[i]) {
        if (seen.insert(item.item).second) out.push_back(item.item);
      }
    }
  }

  // With one kernel all are its, in order of arrival.
  static void ListAllWords(std::vector<OwnItem>& words, std::vector<std::uint32_t>& out) {
    std::sort(words.begin(), words.end(),
              [](const OwnItem& a, const OwnItem& b) { return a.key < b.key; });
    base::HashSet<std::uint32_t> seen;
    for (const OwnItem& item : words) {
      if (seen.insert(item.item).second) out.push_back(item.item);
    }
  }

  // With one kernel a list that lacks some of them is replaced by one behind the others.
  void ListAllFragments(FunctionId kernel, FunctionAttributes& out) {
    ListAllWords(fragments_, out.fragments);
    base::HashSet<std::uint32_t> own;
    for (const OwnItem& item : fragments_) {
      if (item.function == kernel) own.insert(item.item);
    }
    out.fragments_in_place =
        std::ranges::all_of(out.fragments, [&](std::uint32_t word) { return own.contains(word); });
  }

  // Functions that are no kernels lose theirs.
  void TakeFragments() {
    for (const OwnItem& item : fragments_) {
      if (!program_.functions[item.function].is_kernel) {
        result_.functions[item.function].loses_fragments = true;
      }
    }
  }

  // 0xffff stands for "unknown" and swallows everything.
  static void AddMbarriers(std::uint16_t& sum, std::uint16_t count) {
    sum = static_cast<std::uint16_t>(std::min<std::uint32_t>(0xffff, std::uint32_t{sum} + count));
  }

  // A count that code's flags say stays there where a record of others comes in its place.
  bool KeepsBarrierFlags(FunctionId kernel, const Gathered& others) const {
    return made_barriers_.contains(kernel) && others.first[SlotOf(kAttrNumBarriers)] < kLast;
  }

  // True where the kernel has that attribute itself.
  bool HasOwn(FunctionId kernel, std::uint8_t id) const {
    if (id == kAttrNumBarriers && result_.functions[kernel].keeps_barrier_flags) return false;
    return own_[kernel].first[SlotOf(id)] != kNever;
  }

  // nvlink does not see that the only kernel mixes them where all of it is in functions it calls.
  void CheckCtaGroups(FunctionId kernel, const Gathered& others) {
    const auto uses = [](const Gathered& set, std::uint8_t id) {
      return set.first[SlotOf(id)] != kNever;
    };
    const auto mixes = [&](std::uint8_t id) { return uses(own_[kernel], id) || uses(others, id); };
    const bool sees = !single_ || uses(own_[kernel], kAttrTcgen05OneCta) ||
                      uses(own_[kernel], kAttrTcgen05TwoCta);
    if (sees && mixes(kAttrTcgen05OneCta) && mixes(kAttrTcgen05TwoCta)) {
      result_.mixing_cta_groups.push_back(kernel);
    }
  }

  void ApplyKernel(std::uint32_t index) {
    const FunctionId kernel = liveness_.kernels[index];
    const Gathered& own = own_[kernel];
    const Gathered others = Others(kernel);
    CheckCtaGroups(kernel, others);
    FunctionAttributes& out = result_.functions[kernel];
    const bool made_barriers = made_barriers_.contains(kernel);
    out.keeps_barrier_flags = KeepsBarrierFlags(kernel, others);
    const auto has = [this, kernel](std::uint8_t id) { return HasOwn(kernel, id); };
    const auto replace = [&](std::uint8_t id, std::uint16_t value) {
      if (has(id)) out.replaced.push_back({FormatOf(id), id, value});
    };
    if (!made_barriers) replace(kAttrNumBarriers, std::max(own.barriers, others.barriers));
    replace(kAttrVrcCtaInitCount, std::max(own.vrc, others.vrc));
    replace(kAttrNumMbarriers, kernel_mbarriers_[index]);
    replace(kAttrSparseMmaMask, own.sparse | others.sparse);
    replace(kAttrMask68, own.mask_68 | others.mask_68);
    if (others.reconfig_at != 0) {
      replace(kAttrRegReconfig,
              static_cast<std::uint16_t>((own.reconfig & 0xff00) | (others.reconfig & 0xff)));
    }
    out.externs_in_place = has(kAttrExterns);

    absl::InlinedVector<std::uint8_t, kCount> missing;
    for (const std::uint8_t id : kTravelling) {
      if (others.first[SlotOf(id)] != kNever && !has(id)) missing.push_back(id);
    }
    std::sort(missing.begin(), missing.end(), [&others](std::uint8_t a, std::uint8_t b) {
      return others.first[SlotOf(a)] < others.first[SlotOf(b)];
    });
    bool sparse_done = has(kAttrSparseMmaMask);
    for (const std::uint8_t id : missing) {
      std::uint16_t value = 0;
      if (id == kAttrExterns && out.externs.empty()) continue;
      if (id == kAttrNumBarriers) value = std::max(own.barriers, others.barriers);
      if (id == kAttrVrcCtaInitCount) value = others.vrc;
      if (id == kAttrNumMbarriers) value = kernel_mbarriers_[index];
      if (id == kAttrRegReconfig) value = others.reconfig;
      if (id == kAttrMask68) value = others.mask_68;
      if (id == kAttrSparseMmaMask) value = kSparseMmaMaskDefault | others.sparse;
      sparse_done = sparse_done || id == kAttrSparseMmaMask;
      out.appended.push_back({FormatOf(id), id, value});
    }
    if (any_sparse_ && !sparse_done) AppendDefaultMask(kernel);
    if (made_barriers && !out.keeps_barrier_flags) {
      AppendBarriers(kernel, std::max(own.barriers, others.barriers));
    }
  }

  void ApplySingleKernel(FunctionId kernel) {
    Gathered all;
    std::uint16_t mbarriers = 0;
    for (FunctionId f = 0; f < own_.size(); ++f) {
      if (!liveness_.live[f]) continue;
      all.Join(own_[f]);
      AddMbarriers(mbarriers, mbarriers_[f]);
    }
    CheckCtaGroups(kernel, all);
    const Gathered& own = own_[kernel];
    FunctionAttributes& out = result_.functions[kernel];
    const bool made_barriers = made_barriers_.contains(kernel);
    out.keeps_barrier_flags = KeepsBarrierFlags(kernel, all);
    const auto has = [this, kernel](std::uint8_t id) { return HasOwn(kernel, id); };
    if (has(kAttrNumBarriers) && !made_barriers) {
      out.replaced.push_back({kInfoByteValue, kAttrNumBarriers, all.barriers});
    }
    if (has(kAttrNumMbarriers)) {
      out.replaced.push_back({kInfoHalfValue, kAttrNumMbarriers, mbarriers});
    }
    if (has(kAttrSparseMmaMask) && added_mask_ != 0) {
      out.replaced.push_back({kInfoHalfValue, kAttrSparseMmaMask,
                              static_cast<std::uint16_t>(own.sparse | added_mask_)});
    }
    if (has(kAttrMask68)) out.replaced.push_back({kInfoHalfValue, kAttrMask68, all.mask_68});
    ListAllWords(languages_, out.languages);
    ListAllFragments(kernel, out);
    for (const std::uint8_t id : kTravelling) {
      if (id == kAttrExterns) ListAllUndefined(kernel, out);
      const bool moves = id == kAttrEntryFragments && !out.fragments_in_place;
      if (id == kAttrExterns || all.first[SlotOf(id)] == kNever || (has(id) && !moves)) continue;
      std::uint16_t value = 0;
      if (id == kAttrMask68) value = all.mask_68;
      if (id == kAttrSparseMmaMask) value = kSparseMmaMaskDefault | all.sparse;
      if (id == kAttrVrcCtaInitCount) value = all.vrc;
      if (id == kAttrNumBarriers) value = all.barriers;
      if (id == kAttrNumMbarriers) value = mbarriers;
      if (value == 0 && (id == kAttrNumBarriers || id == kAttrNumMbarriers)) continue;
      out.appended.push_back({FormatOf(id), id, value});
    }
    if (made_barriers && !out.keeps_barrier_flags) AppendBarriers(kernel, all.barriers);
  }

  // What lists of undefined functions name anywhere, in the profile's order; kernels are named
  // there, too, the only one itself by functions that take its address.
  std::vector<SymbolId> AllUndefined() const {
    std::vector<std::pair<std::uint32_t, FunctionId>> lists;  // by arrival of their records
    lists.reserve(extern_lists_.size());
    for (const ExternList& list : extern_lists_) lists.emplace_back(list.arrival, list.function);
    std::sort(lists.begin(), lists.end());
    std::vector<SymbolId> met;
    base::HashSet<SymbolId> seen;
    for (const auto& [arrival, function] : lists) {
      for (const SymbolId symbol : own_externs_[function]) {
        if (seen.insert(symbol).second) met.push_back(symbol);
      }
    }
    if (profile_.reverses_undefined_of_single_kernel) std::reverse(met.begin(), met.end());
    return met;
  }

  // With one kernel all undefined functions are its, unless it names them all itself.
  void ListAllUndefined(FunctionId kernel, FunctionAttributes& out) {
    const std::vector<SymbolId> undefined = AllUndefined();
    std::vector<SymbolId> own;
    base::HashSet<SymbolId> seen;
    for (const SymbolId symbol : own_externs_[kernel]) {
      if (seen.insert(symbol).second) own.push_back(symbol);
    }
    out.externs_in_place = std::all_of(undefined.begin(), undefined.end(),
                                       [&](SymbolId symbol) { return seen.contains(symbol); });
    out.externs = out.externs_in_place ? own : undefined;
    // Named in any case where it has no list of its own to stand in.
    const bool has_list = own_[kernel].first[SlotOf(kAttrExterns)] != kNever;
    if (!out.externs.empty() && !(out.externs_in_place && has_list)) {
      out.appended.push_back({kInfoSized, kAttrExterns, 0});
    }
  }

  // A function that names undefined functions.
  struct ExternList {
    FunctionId function = kNone;
    std::uint32_t arrival = 0;  // position of its record among all
  };

  const Program& program_;
  const CallGraph& graph_;
  const Liveness& liveness_;
  const ToolkitProfile& profile_;
  Attributes result_;
  bool single_ = false;
  bool any_sparse_ = false;  // some function has the mask: every kernel gets one
  std::uint16_t added_mask_ = 0;
  std::vector<Gathered> own_;         // by FunctionId
  std::vector<Gathered> components_;  // by ComponentId
  std::vector<std::vector<SymbolId>> own_externs_;
  std::vector<ExternList> extern_lists_;
  std::vector<OwnItem> languages_;
  std::vector<OwnItem> fragments_;
  std::vector<std::uint16_t> mbarriers_;
  base::HashSet<FunctionId> made_barriers_;  // functions whose count the flags of their code say
  std::vector<std::uint16_t> kernel_mbarriers_;
};

}  // namespace

Attributes PropagateAttributes(const Program& program, const CallGraph& graph,
                               const Liveness& liveness, const ToolkitProfile& profile) {
  return Propagator(program, graph, liveness, profile).Run();
}

Attributes KeepAttributes(const Program& program, const CallGraph& graph,
                          const Liveness& liveness) {
  return Propagator(program, graph, liveness, ToolkitProfile()).RunOwn();
}

std::uint32_t OwnBarriersOf(const Program& program, FunctionId function) {
  const SectionId text = program.functions[function].text;
  std::uint32_t barriers = text == kNone ? 0 : format::BarriersOfCode(program.sections[text].flags);
  const SectionId info = program.functions[function].info;
  if (info != kNone) {
    for (const AttributeRecord& record : program.info_lists[program.sections[info].info_list]) {
      if (record.format != kInfoSized && record.id == kAttrNumBarriers) barriers = record.value;
    }
  }
  return barriers;
}

std::uint32_t BarriersOf(const Program& program, const Attributes& attributes, FunctionId kernel) {
  std::uint32_t barriers = OwnBarriersOf(program, kernel);
  const FunctionAttributes& of_kernel = attributes.functions[kernel];
  for (const auto* list : {&of_kernel.replaced, &of_kernel.appended}) {
    for (const FunctionAttributes::Value& value : *list) {
      if (value.id == kAttrNumBarriers) barriers = value.value;
    }
  }
  return barriers;
}

}  // namespace devlink::internal
