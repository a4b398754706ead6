// SPDX-License-Identifier: Apache-2.0
#include "finalize/telling_texts.h"

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.h"

namespace devlink::internal {
namespace {

using Names = std::vector<std::string_view>;
using Texts = std::vector<std::string>;

bool HasText(std::string_view name, std::string_view text) {
  return name.find(text) != std::string_view::npos;
}

TEST_CASE("One letter tells kernels where no other is left out", "[finalize]") {
  CHECK(TellingTexts(Names{"_Z1kv", "_Z2kkPi"}, {}) == Texts{"_"});
  CHECK(TellingTexts(Names{"kernel", "main"}, {}) == Texts{"k", "m"});
  CHECK(TellingTexts({}, Names{"_Z1kv"}).empty());
}

TEST_CASE("The shortest beginnings that tell are taken", "[finalize]") {
  CHECK(TellingTexts(Names{"_Z4keepv", "_Z4keepi"}, Names{"_Z4dropv"}) == Texts{"_Z4k"});
  CHECK(TellingTexts(Names{"_ZN3cub6kernelEv", "_ZN3cub5otherEv"}, Names{"_Z1dv"}) ==
        Texts{"_ZN3"});
  // It counts where a text stands anywhere in another name.
  CHECK(TellingTexts(Names{"ab", "cd"}, Names{"xxab", "c"}) == Texts{"ab", "cd"});
  // What is there as a whole may stand in another name, for whoever asks to find.
  CHECK(TellingTexts(Names{"_Z1kPi"}, Names{"_Z1kPii"}) == Texts{"_Z1kPi"});
}

TEST_CASE("Every name that stays has a text, and no other name has a shortened one", "[finalize]") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> words;
    for (int i = 0; i < 40; ++i) {
      std::string word = "_Z";
      // Long repetitions, too: of few letters, so that names hold each other.
      const std::size_t length = 1 + random() % (round % 4 == 0 ? 700 : 9);
      while (word.size() < length) word += static_cast<char>('a' + random() % 2);
      words.push_back(word);
    }
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    std::shuffle(words.begin(), words.end(), random);
    const std::size_t split = random() % (words.size() + 1);
    const Names kept(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(split));
    const Names others(words.begin() + static_cast<std::ptrdiff_t>(split), words.end());
    const Texts texts = TellingTexts(kept, others);
    CHECK(texts.size() <= kept.size());
    const auto any_in = [&](std::string_view name) {
      return std::any_of(texts.begin(), texts.end(),
                         [&](const std::string& text) { return HasText(name, text); });
    };
    CHECK(std::all_of(kept.begin(), kept.end(), any_in));
    const TextsWithin within(texts);
    for (const std::string_view other : others) {
      const std::string_view held = within.FirstIn(other);
      CHECK(held.empty() == !any_in(other));
      // Only because a name that stays is a part of it.
      if (!held.empty()) CHECK(std::find(kept.begin(), kept.end(), held) != kept.end());
    }
  }
}

}  // namespace
}  // namespace devlink::internal
