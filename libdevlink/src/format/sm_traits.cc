// SPDX-License-Identifier: Apache-2.0
#include "format/sm_traits.h"

#include <algorithm>
#include <array>

namespace devlink::format {

namespace {

constexpr std::uint32_t kReserved = 0x400;
constexpr std::uint16_t kCuda12 = 120;

constexpr SmTraits FromSm100On(std::uint16_t number) {
  SmTraits out{number, "af", kReserved, true, kCuda12, true, true, true};
  out.parameters_at = 0x380;
  return out;
}

constexpr SmTraits Since134(SmTraits traits) {
  traits.first_release = 134;
  return traits;
}

constexpr SmTraits Sm90() {
  SmTraits out{90, "a", kReserved, true, kCuda12};
  out.parameters_at = 0x210;
  return out;
}

constexpr SmTraits UpToSm89(std::uint16_t number) {
  SmTraits out{number, ""};
  out.ptx_files_are_whole = true;
  out.has_registers_in_code = true;
  return out;
}

// Found: the names by what the 13.x tools take; the rest by the same programs on sm_75, sm_80,
// sm_86 to sm_90a, sm_100, sm_103 and sm_120; oldest toolkits by patching the note.
constexpr std::array kSmRows = {
    UpToSm89(75),  // by number
    UpToSm89(80),     UpToSm89(86),     UpToSm89(87),
    UpToSm89(88),     UpToSm89(89),     Sm90(),
    FromSm100On(100), FromSm100On(103), Since134(FromSm100On(107)),
    FromSm100On(110), FromSm100On(120), FromSm100On(121),
};

struct Pair {
  std::uint16_t member;
  std::uint16_t target;
};

// Code for one number that runs on another (docs/cubin-format.md, "Architectures": every member
// with every target, 23 by 23 links). sm_87 and sm_88 stand apart.
constexpr std::array kSassLinks = {Pair{80, 86}, Pair{80, 89}, Pair{86, 89}, Pair{100, 103},
                                   Pair{120, 121}};

// The same of cubins without compatibility record (docs/fatbin.md).
constexpr std::array kSassLinksWithoutRecord = {Pair{120, 121}};

// The later members of the families that compute_NNf stands for.
constexpr std::array kFamilies = {Pair{100, 103}, Pair{120, 121}};

std::span<const Pair> PairsOf(ArchRelation relation) {
  switch (relation) {
    case ArchRelation::kSassLinks:
      return kSassLinks;
    case ArchRelation::kSassLinksWithoutRecord:
      return kSassLinksWithoutRecord;
    case ArchRelation::kFamily:
      break;
  }
  return kFamilies;
}

}  // namespace

const SmTraits& TraitsOf(unsigned sm) {
  const SmTraits* out = kSmRows.data();
  for (const SmTraits& row : kSmRows) {
    if (row.number > sm) break;
    out = &row;
  }
  return *out;
}

std::span<const SmTraits> AllSmTraits() { return kSmRows; }

std::vector<std::string> TargetNames(std::uint16_t release) {
  std::vector<std::string> out;
  for (const SmTraits& row : kSmRows) {
    if (row.first_release > release) continue;
    out.push_back(Arch{row.number, 0}.Name());
    for (const char variant : row.variants) out.push_back(Arch{row.number, variant}.Name());
  }
  return out;
}

bool Holds(ArchRelation relation, Arch member, Arch target) {
  const std::span<const Pair> pairs = PairsOf(relation);
  return std::any_of(pairs.begin(), pairs.end(), [&](const Pair& pair) {
    return pair.member == member.number && pair.target == target.number;
  });
}

std::string NumberAndVariant(Arch arch) {
  std::string out = std::to_string(arch.number);
  if (arch.variant != 0) out.push_back(arch.variant);
  return out;
}

}  // namespace devlink::format
