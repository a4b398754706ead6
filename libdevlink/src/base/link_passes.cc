// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/link_passes.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace devlink {

namespace {

struct Row {
  LinkPass pass;
  std::string_view name;
};

// The one table of pass names.
constexpr std::array<Row, 10> kRows = {{{LinkPass::kMerge, "merge"},
                                        {LinkPass::kCallGraph, "call-graph"},
                                        {LinkPass::kLiveness, "liveness"},
                                        {LinkPass::kShared, "shared"},
                                        {LinkPass::kConstants, "constants"},
                                        {LinkPass::kTextures, "textures"},
                                        {LinkPass::kResources, "resources"},
                                        {LinkPass::kAttributes, "attributes"},
                                        {LinkPass::kRelocate, "relocate"},
                                        {LinkPass::kImage, "image"}}};

constexpr std::array<LinkPass, kRows.size()> kPasses = [] {
  std::array<LinkPass, kRows.size()> out = {};
  for (std::size_t i = 0; i < kRows.size(); ++i) out[i] = kRows[i].pass;
  return out;
}();

}  // namespace

std::string_view PassName(LinkPass pass) {
  for (const Row& row : kRows) {
    if (row.pass == pass) return row.name;
  }
  return "";
}

std::optional<LinkPass> FindPass(std::string_view name) {
  const auto* row = std::find_if(kRows.begin(), kRows.end(),
                                 [name](const Row& candidate) { return candidate.name == name; });
  if (row == kRows.end()) return std::nullopt;
  return row->pass;
}

std::span<const LinkPass> AllPasses() { return kPasses; }

}  // namespace devlink
