// SPDX-License-Identifier: Apache-2.0
#include "link/unmatched_references.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "format/make_diagnostic.h"

namespace devlink::internal {

namespace {

// The first few, each of bounded length.
std::string Listed(const std::vector<std::string_view>& names) {
  constexpr std::size_t kMost = 3;
  constexpr std::size_t kLongest = 200;
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    out += base::Cat({i == 0 ? "'" : ", '", names[i].substr(0, kLongest), "'"});
  }
  if (names.size() > kMost) absl::StrAppend(&out, " and ", names.size() - kMost, " more");
  return out;
}

}  // namespace

std::optional<Diagnostic> NoteUnmatchedReferences(const Program& program, const Liveness& liveness,
                                                  const KernelSelection& kernels) {
  if (liveness.left_out.empty() || !kernels.ByHostReferences()) return std::nullopt;
  std::vector<Symbol> defined;
  std::vector<std::string_view> left_out;
  for (const Function& function : program.functions) {
    if (function.is_kernel) defined.push_back(program.symbols[function.symbol]);
  }
  std::vector<std::string_view> unmatched = kernels.NotAmong(defined);
  // What `ld -r` puts between the lists of two objects reads as such names.
  std::erase_if(unmatched, [](std::string_view name) { return name.empty(); });
  if (unmatched.empty()) return std::nullopt;
  left_out.reserve(liveness.left_out.size());
  for (const FunctionId kernel : liveness.left_out) {
    left_out.emplace_back(program.symbols[program.functions[kernel].symbol].name);
  }
  std::sort(left_out.begin(), left_out.end());
  return format::MakeDiagnostic(
      Severity::kInfo, DiagnosticCode::kMalformedInput, "", "",
      base::Cat({"host code refers to kernels that no input has: ", Listed(unmatched),
                 "; left out are kernels that no host code refers to: ", Listed(left_out),
                 ". If an object is damaged, make it again; -ignore-host-info keeps all kernels"}));
}

}  // namespace devlink::internal
