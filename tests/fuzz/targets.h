// SPDX-License-Identifier: Apache-2.0
//
// What is fuzzed: functions that take any bytes. Each is linked with libFuzzer into a program of
// its own (the preset `fuzz`, scripts/fuzz), and fuzz_replay_test runs all of them over their seeds
// in every build. A target that finds something wrong throws.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "devlink/link_options.h"
#include "devlink/link_session.h"

namespace devlink::testing {

using FuzzBytes = std::span<const std::uint8_t>;

struct FuzzTarget {
  std::string_view name;
  void (*run)(FuzzBytes bytes);
  // Where mutation begins: small inputs of what the target reads, made by the tests' own builders.
  std::vector<std::vector<std::uint8_t>> (*seeds)();
};

// By name. Null where there is none.
const FuzzTarget* FindFuzzTarget(std::string_view name);
std::span<const FuzzTarget> FuzzTargets();

// Readers of files and of what stands in them.
void FuzzCubin(FuzzBytes bytes);
void FuzzArchive(FuzzBytes bytes);
void FuzzHostObject(FuzzBytes bytes);
void FuzzFatbin(FuzzBytes bytes);
void FuzzLtoContainer(FuzzBytes bytes);
void FuzzOptionText(FuzzBytes bytes);
void FuzzOptionFile(FuzzBytes bytes);
void FuzzRegisterFile(FuzzBytes bytes);
void FuzzAttributes(FuzzBytes bytes);
// What devlink-inspect shows of a file of any kind.
void FuzzInspect(FuzzBytes bytes);

// What only cubins for sm_100 and later have. Views: changes of the goldens' two.
void FuzzCapsule(FuzzBytes bytes);
void FuzzLines(FuzzBytes bytes);
void FuzzFrames(FuzzBytes bytes);
void FuzzLinkedFile(FuzzBytes bytes);
void FuzzRegisterRanges(FuzzBytes bytes);
void FuzzViews(FuzzBytes bytes);
// Changes of an input, of which a part of the program is made.
void FuzzPartInput(FuzzBytes bytes);
// Changes of a linked file as a part that was finalized, or as the file that it is put into.
void FuzzJoined(FuzzBytes bytes);

// Whole links: the bytes are a description of cubins, which are written, damaged and linked.
void FuzzLink(FuzzBytes bytes);
// The bytes are calls of the public interface.
void FuzzApi(FuzzBytes bytes);

// Links them with at most 256 MiB. What is refused is refused with a word, and nothing is an
// internal error.
LinkOutcome LinkFuzzed(std::span<const std::vector<std::uint8_t>> inputs, LinkOptions options);

// Throws std::logic_error unless `holds`.
void Expect(bool holds, std::string_view what);

}  // namespace devlink::testing
