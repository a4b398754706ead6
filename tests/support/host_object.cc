// SPDX-License-Identifier: Apache-2.0
#include "support/host_object.h"

#include <algorithm>

#include "devlink-diff/cubin_view.h"
#include "support/fatbin_builder.h"
#include "support/number_at.h"

namespace devlink::testing {
namespace {

using diff::CubinView;
using diff::ViewCubin;
using diff::ViewSection;

constexpr std::size_t kFatbinHeader = 16;
constexpr std::size_t kMemberHeader = 64;
constexpr std::uint16_t kKindElf = 2;

}  // namespace

std::vector<std::uint8_t> MakeHostObject(std::span<const std::uint8_t> cubin, int sm,
                                         const std::vector<ElfSection>& sections) {
  FatbinBuilder member;
  member.kind = CodeKind::kSass;
  member.arch.number = static_cast<std::uint16_t>(sm);
  return BuildHostObject(ToText(FatbinBuilder::Container({member.Member(cubin)})), "_test_module",
                         {}, sections);
}

std::vector<std::uint8_t> MakeHostObjectWithFatbin(std::span<const std::uint8_t> fatbin,
                                                   const std::vector<ElfSection>& sections) {
  return BuildHostObject(std::string(fatbin.begin(), fatbin.end()), "_test_module", {}, sections);
}

std::string ListBytes(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) {
    out += text;
    out += '\0';
  }
  return out.empty() ? std::string(1, '\0') : out;
}

std::vector<std::uint8_t> CubinOf(std::span<const std::uint8_t> object, int sm) {
  const CubinView view = ViewCubin(object);
  const ViewSection* fatbin = view.Find("__nv_relfatbin");
  if (fatbin == nullptr) return {};
  const auto data = fatbin->data;
  const std::size_t end = kFatbinHeader + NumberAt<std::uint64_t>(data, 8);
  for (std::size_t at = kFatbinHeader; at + kMemberHeader <= std::min(end, data.size());) {
    const auto header = NumberAt<std::uint32_t>(data, at + 4);
    const auto size = NumberAt<std::uint64_t>(data, at + 8);
    if (header < kMemberHeader || at + header + size > data.size()) return {};
    if (NumberAt<std::uint16_t>(data, at) == kKindElf &&
        NumberAt<std::uint32_t>(data, at + 28) == static_cast<std::uint32_t>(sm)) {
      const auto payload = data.subspan(at + header, size);
      return {payload.begin(), payload.end()};
    }
    at += header + size;
  }
  return {};
}

std::vector<ElfSection> HostReferenceSectionsOf(std::span<const std::uint8_t> object) {
  std::vector<ElfSection> out;
  const CubinView view = ViewCubin(object);
  for (const ViewSection& section : view.sections) {
    if (!section.name.starts_with(".nvHR")) continue;
    out.push_back({section.name, std::string(section.data.begin(), section.data.end()), 1});
  }
  return out;
}

}  // namespace devlink::testing
