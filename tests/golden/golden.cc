// SPDX-License-Identifier: Apache-2.0
#include "golden/golden.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "devlink-diff/cubin_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/xxhash.h"
#include "support/text.h"

namespace devlink::testing {

using diff::CubinView;
using diff::FileRange;
using diff::FirstToolRecord;
using diff::ViewCubin;
using diff::ViewSection;
using diff::ViewSymbol;

std::vector<Golden> FindGoldens() {
  const std::filesystem::path directory = std::filesystem::path(DEVLINK_TEST_SOURCE) / "golden";
  std::vector<Golden> goldens;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() != ".txt") continue;
    const std::string stem = entry.path().stem().string();  // globals.sm_80
    const std::size_t dot = stem.rfind('.');
    if (dot == std::string::npos) continue;
    Golden golden;
    golden.arch = stem.substr(dot + 1);
    golden.name = stem.substr(0, dot) + " " + golden.arch;
    golden.description = entry.path();
    for (int number = 1;; ++number) {
      const auto input = directory / Cat(stem, ".", number, ".cubin");
      if (!std::filesystem::exists(input)) break;
      golden.inputs.push_back(input);
    }
    goldens.push_back(std::move(golden));
  }
  std::sort(goldens.begin(), goldens.end(),
            [](const Golden& a, const Golden& b) { return a.name < b.name; });
  return goldens;
}

std::string DescribeOutput(std::span<const std::uint8_t> cubin) {
  std::vector<std::uint8_t> bytes(cubin.begin(), cubin.end());
  const FileRange record = FirstToolRecord(ViewCubin(bytes));
  for (std::uint64_t i = record.begin; i < std::min<std::uint64_t>(record.end, bytes.size()); ++i) {
    bytes[i] = 0;
  }
  const llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(llvm::ArrayRef<std::uint8_t>(bytes.data(), bytes.size()));
  const CubinView view = ViewCubin(bytes);
  std::string out =
      Cat("size ", bytes.size(), "\nxxh3-128 ", Hex(hash.high64, 16), Hex(hash.low64, 16), "\n");
  for (const ViewSection& section : view.sections) {
    Append(out, "section ", section.key, " ", section.size, "\n");
  }
  for (const ViewSymbol& symbol : view.symbols) {
    Append(out, "symbol ", symbol.key, " ", symbol.value, " ", symbol.size, "\n");
  }
  return out;
}

}  // namespace devlink::testing
