// SPDX-License-Identifier: Apache-2.0
//
// One mutated input through the command, in this process, or through nvlink; and what was wrong
// with that.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "random/prng.h"

namespace devlink::testing {

// A file as a compiler wrote it. Its extension says what it is: cubin, o, a, fatbin, ptx, ltoir,
// opt (a file of options).
struct Seed {
  std::string name;
  std::string extension;
  std::string arch;
  std::vector<std::uint8_t> bytes;
};

// Files of FOLDER/ARCH/NAME.EXTENSION, sorted by name.
std::vector<Seed> ReadSeeds(const std::filesystem::path& folder);

struct MutatedInput {
  const Seed* seed = nullptr;
  const Seed* code = nullptr;  // where `seed` is a file of options: what they are for
  std::vector<std::uint8_t> bytes;
  std::vector<std::string> words;  // of the command, which both linkers know
};

// The same for the same seeds and numbers.
MutatedInput MakeMutatedInput(const std::vector<Seed>& seeds, std::uint64_t seed,
                              std::uint64_t number);

enum class Trouble { kNone, kSilent, kLoss, kEscape, kStrayFile, kException };
constexpr const char* kTroubleNames[] = {"none",        "refused without a word",
                                         "silent loss", "control character in a message",
                                         "stray file",  "exception"};

struct MutatedResult {
  int status = 0;
  int signal = 0;          // of nvlink's process
  bool timed_out = false;  // nvlink's process
  std::string said;
  Trouble trouble = Trouble::kNone;
  std::string what;  // of the trouble
};

// Both run in the current folder, which is empty before and after.
MutatedResult LinkWithDevlink(const MutatedInput& input);
MutatedResult LinkWithNvlink(const MutatedInput& input, const std::string& nvlink);

}  // namespace devlink::testing
