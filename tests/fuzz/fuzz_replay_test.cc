// SPDX-License-Identifier: Apache-2.0
//
// Every fuzz target over its seeds, over what was found by them (tests/fuzz/corpus) and over simple
// mutations of both, in every build.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz/targets.h"
#include "support/catch.h"
#include "support/text.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;
using Input = std::vector<std::uint8_t>;

const fs::path kCorpus = fs::path(DEVLINK_TEST_SOURCE) / "fuzz" / "corpus";
constexpr std::size_t kLargest = 4096;  // of a committed file

std::vector<Input> Committed(std::string_view target) {
  std::vector<fs::path> paths;
  const fs::path folder = kCorpus / target;
  if (fs::is_directory(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Input> inputs;
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

std::vector<Input> InputsOf(const FuzzTarget& target) {
  std::vector<Input> inputs = target.seeds();
  for (Input& committed : Committed(target.name)) inputs.push_back(std::move(committed));
  return inputs;
}

void Run(const FuzzTarget& target, Input input, const std::string& what) {
  input.shrink_to_fit();  // so that a sanitizer sees a read past the end
  INFO(target.name << ", " << what);
  try {
    target.run(input);
  } catch (const std::exception& found) {
    FAIL_CHECK(target.name << ", " << what << ": " << found.what());
  }
}

TEST_CASE("Fuzz targets take their seeds and what was found before", "[fuzz]") {
  for (const FuzzTarget& target : FuzzTargets()) {
    const std::vector<Input> inputs = InputsOf(target);
    REQUIRE_FALSE(inputs.empty());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      CHECK(inputs[i].size() <= kLargest);
      Run(target, inputs[i], Cat("input ", i));
    }
    Run(target, {}, "no bytes");
  }
}

TEST_CASE("Fuzz targets take simple mutations of their seeds", "[fuzz]") {
  std::mt19937 random(20240229);  // the same on every machine
  for (const FuzzTarget& target : FuzzTargets()) {
    const std::vector<Input> inputs = InputsOf(target);
    for (int round = 0; round < 300; ++round) {
      Input input = inputs[random() % inputs.size()];
      for (unsigned n = 1 + random() % 4; n > 0 && !input.empty(); --n) {
        const std::size_t at = random() % input.size();
        switch (random() % 4) {
          case 0:
            input[at] = static_cast<std::uint8_t>(random());
            break;
          case 1:
            input.resize(at);
            break;
          case 2:
            input.insert(input.begin() + static_cast<std::ptrdiff_t>(at),
                         static_cast<std::uint8_t>(random()));
            break;
          default:
            input[at] = static_cast<std::uint8_t>(input[at] ^ (1U << random() % 8));
        }
      }
      Run(target, std::move(input), Cat("round ", round));
    }
  }
}

TEST_CASE("Every folder of found inputs belongs to a target", "[fuzz]") {
  for (const auto& entry : fs::directory_iterator(kCorpus)) {
    if (entry.is_directory()) {
      CHECK(FindFuzzTarget(entry.path().filename().string()) != nullptr);
    }
  }
}

}  // namespace
}  // namespace devlink::testing
