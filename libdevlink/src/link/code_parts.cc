// SPDX-License-Identifier: Apache-2.0
#include "link/code_parts.h"

#include <algorithm>
#include <functional>

#include "base/hash_table.h"

namespace devlink::internal {

namespace {

bool IsLiveCode(const Program& program, const Liveness& liveness, FunctionId function) {
  return liveness.live[function] && program.IsDefined(function);
}

std::uint64_t BytesOf(const Program& program, FunctionId function) {
  return program.sections[program.functions[function].text].size;
}

// Functions of one name, which alone tells them from others.
struct Namesakes {
  std::string_view section;
  std::uint64_t bytes = 0;
};

std::vector<Namesakes> FindNamesakes(const Program& program, const Liveness& liveness) {
  std::vector<Namesakes> out;
  base::HashMap<std::string_view, std::size_t> places;
  for (FunctionId i = 0; i < program.functions.size(); ++i) {
    if (!IsLiveCode(program, liveness, i)) continue;
    const std::string_view name = program.sections[program.functions[i].text].name;
    const auto [place, is_new] = places.try_emplace(name, out.size());
    if (is_new) out.push_back({.section = name});
    out[place->second].bytes += BytesOf(program, i);
  }
  return out;
}

}  // namespace

LiveCode LiveCodeOf(const Program& program, const Liveness& liveness) {
  LiveCode out;
  for (SectionId id = 0; id < program.sections.size(); ++id) {
    if (program.sections[id].kind != SectionKind::kText || liveness.section_removed[id]) continue;
    out.bytes += program.sections[id].size;
    ++out.sections;
  }
  return out;
}

std::vector<CodePart> CutIntoParts(const Program& program, const Liveness& liveness,
                                   std::size_t count) {
  if (count < 2) return {};
  std::vector<Namesakes> code = FindNamesakes(program, liveness);
  std::ranges::stable_sort(code, std::greater(), &Namesakes::bytes);
  std::vector<CodePart> out(count);
  for (const Namesakes& next : code) {
    CodePart& lightest = *std::ranges::min_element(out, {}, &CodePart::bytes);
    lightest.sections.push_back(next.section);
    lightest.bytes += next.bytes;
  }
  // A part is not done before the largest one, which a whole must exceed by far.
  constexpr std::uint64_t kMostOfTen = 7;
  std::uint64_t whole = 0;
  for (const CodePart& part : out) whole += part.bytes;
  const bool is_won = std::ranges::all_of(out, [&](const CodePart& part) {
    return !part.sections.empty() && part.bytes * 10 <= whole * kMostOfTen;
  });
  return is_won ? out : std::vector<CodePart>();
}

}  // namespace devlink::internal
