// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/code_choice.h"

#include <string>
#include <string_view>
#include <tuple>

#include "base/strings.h"
#include "format/sm_traits.h"

namespace devlink {

namespace {

// a before f before plain, even where the target is plain.
int VariantRank(char variant) {
  if (variant == 'a') return 2;
  return variant == 'f' ? 1 : 0;
}

// What decides between candidates that would do: the greater one goes first. Of two plain cubins
// for one number that without compatibility record does.
auto RankOf(const CodeCandidate& candidate) {
  const bool is_sass = candidate.kind == CodeKind::kSass;
  return std::tuple(candidate.kind == CodeKind::kNvvm, candidate.arch.number, is_sass,
                    VariantRank(candidate.arch.variant),
                    is_sass && candidate.arch.variant == 0 && !candidate.has_compat_record);
}

// Whether the later one of two equals is taken. nvlink takes the first, but the last of plain PTX
// or LTO IR for just the target's number.
bool LaterGoesFirst(const CodeCandidate& candidate, Arch target) {
  return candidate.kind != CodeKind::kSass && candidate.arch.variant == 0 &&
         candidate.arch.number == target.number;
}

// Whether `later` is taken rather than `best`, which stands before it.
bool GoesBefore(const CodeCandidate& later, const CodeCandidate& best, Arch target) {
  const auto rank = RankOf(later);
  const auto best_rank = RankOf(best);
  return rank > best_rank || (rank == best_rank && LaterGoesFirst(later, target));
}

// The rule for cubins of sm_100 and later without compatibility record. There the header's variant
// counts, for the same number too.
bool OldSassLinksFor(Arch member, Arch target) {
  switch (member.variant) {
    case 'a':
      return member == target;
    case 'f':
      return member.number == target.number && target.variant != 'a';
    default:
      return member.number == target.number ||
             format::Holds(format::ArchRelation::kSassLinksWithoutRecord, member, target);
  }
}

bool RunsOn(const CodeCandidate& candidate, Arch target, CodeChoiceOptions options) {
  if (candidate.kind != CodeKind::kSass) return PtxCompilesFor(candidate.arch, target);
  // Only with -lto does nvlink mind the suffix of sm_90a.
  if (options.lto && candidate.arch == Arch{90, 'a'}) return candidate.arch == target;
  if (candidate.own_number_only) return candidate.arch.number == target.number;
  if (format::TraitsOf(candidate.arch).has_fatbin_record && !candidate.has_compat_record) {
    return OldSassLinksFor(candidate.arch, target);
  }
  return SassLinksFor(candidate.arch, target);
}

// kNotPreferred for whatever could be taken.
CodeVerdict Judge(const CodeCandidate& candidate, Arch target, CodeChoiceOptions options) {
  if (candidate.kind == CodeKind::kOther) return CodeVerdict::kUnknownKind;
  if (!candidate.is_64bit) return CodeVerdict::kNot64Bit;
  // With -lto nvlink makes a cubin for the virtual target's number, and so takes cubins.
  if (candidate.kind == CodeKind::kSass && options.virtual_target && !options.lto) {
    return CodeVerdict::kVirtualTarget;
  }
  if (!RunsOn(candidate, target, options)) return CodeVerdict::kWrongArch;
  if (candidate.kind == CodeKind::kNvvm && !options.lto) return CodeVerdict::kNeedsLto;
  return CodeVerdict::kNotPreferred;
}

std::string NameOf(const CodeCandidate& candidate) {
  switch (candidate.kind) {
    case CodeKind::kPtx:
      return base::Cat({"the PTX for ", candidate.arch.VirtualName()});
    case CodeKind::kNvvm:
      return base::Cat({"the LTO IR for lto_", format::NumberAndVariant(candidate.arch)});
    case CodeKind::kSass:
      return base::Cat({"the cubin for ", candidate.arch.Name()});
    case CodeKind::kOther:
      break;
  }
  return "code of an unknown kind";
}

std::string_view WhyBefore(const CodeCandidate& chosen, const CodeCandidate& other, Arch target) {
  if (chosen.kind == CodeKind::kNvvm && other.kind != CodeKind::kNvvm) {
    return "goes before it in a link with LTO";
  }
  if (chosen.arch.number != other.arch.number) return "has the higher architecture";
  if (chosen.kind != other.kind) return "needs no compilation";
  if (chosen.arch.variant != other.arch.variant) return "is more specific";
  if (RankOf(chosen) != RankOf(other)) return "has no compatibility record";
  return LaterGoesFirst(chosen, target) ? "is the last of its kind" : "stands before it";
}

}  // namespace

CodeChoice ChooseCode(std::span<const CodeCandidate> candidates, Arch target,
                      CodeChoiceOptions options) {
  CodeChoice out;
  out.verdicts.reserve(candidates.size());
  bool has_lto = false;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const CodeVerdict verdict = Judge(candidates[i], target, options);
    out.verdicts.push_back(verdict);
    has_lto |= verdict == CodeVerdict::kNeedsLto;
    if (verdict != CodeVerdict::kNotPreferred) continue;
    if (!out.index || GoesBefore(candidates[i], candidates[*out.index], target)) out.index = i;
  }
  if (out.index) out.verdicts[*out.index] = CodeVerdict::kChosen;
  // For virtual targets nvlink does not tell LTO IR from nothing.
  out.needs_lto = has_lto && !out.index && !options.virtual_target;
  return out;
}

std::string ExplainVerdict(std::span<const CodeCandidate> candidates, const CodeChoice& choice,
                           std::size_t index, Arch target) {
  const std::string name = NameOf(candidates[index]);
  const std::string goal = target.Name();
  switch (choice.verdicts[index]) {
    case CodeVerdict::kChosen:
      return base::Cat({name, " is taken for ", goal});
    case CodeVerdict::kNotPreferred: {
      const CodeCandidate& chosen = candidates[choice.index.value_or(index)];
      return base::Cat({name, " would do for ", goal, ", but ", NameOf(chosen), " (member ",
                        std::to_string(choice.index.value_or(index)), ") ",
                        WhyBefore(chosen, candidates[index], target)});
    }
    case CodeVerdict::kNeedsLto:
      return base::Cat({name, " would do for ", goal, ", but only in a link with LTO"});
    case CodeVerdict::kWrongArch:
      return base::Cat({name,
                        candidates[index].kind == CodeKind::kSass ? " does not run on "
                                                                  : " does not compile for ",
                        goal});
    case CodeVerdict::kVirtualTarget:
      return base::Cat({name, " is of no use for a virtual architecture"});
    case CodeVerdict::kNot64Bit:
      return base::Cat({name, " is not 64-bit code"});
    case CodeVerdict::kUnknownKind:
      break;
  }
  return base::Cat({name, " is never taken"});
}

}  // namespace devlink
