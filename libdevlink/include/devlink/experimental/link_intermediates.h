// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/link_intermediates.h
//
// What a link has in hand on its way from inputs to output: PTX, LTO IR, the cubins that become of
// them, and the cubins as they are linked. For looking at one step alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace devlink {

// In the order in which a link goes through them; a link without LTO IR or PTX leaves those out.
enum class LinkStage : std::uint8_t {
  kPtx,        // PTX of an input, before it is assembled
  kAssembled,  // the cubin that was made of the PTX of the same index
  kLtoIr,      // a module of LTO IR, before all of them are compiled
  kLtoPtx,     // a text that the compiler made of them
  kLtoCubin,   // the cubin that was made of the text of the same index
  kLinked,     // a cubin as it is linked, in link order
  kFinalized,  // what NVIDIA's finalizer made of those, before the link takes it over
};

// One thing that a link has on its way to the output.
struct LinkIntermediate {
  LinkStage stage = LinkStage::kPtx;  // what it is
  // Counts from 0 within the stage. LTO IR may be compiled a second time: module 0 comes again
  // then, and what came of the first time does not count.
  std::uint32_t index = 0;
  std::string_view name;                // what messages call the input
  std::span<const std::uint8_t> bytes;  // a whole file
  bool is_fat_binary = false;  // LTO IR in the form that only NVIDIA's libraries read, in a fat
                               // binary with that member alone
  // What works on it next, and the words for it; empty where nothing does.
  std::string_view tool = {};
  std::span<const std::string> arguments = {};
};

// Told of each of them as soon as it is there, of links that fail, too, on the thread that runs the
// link. All that a LinkIntermediate has is borrowed until Take returns. Must not call the session.
class IntermediateSink {
 public:
  virtual ~IntermediateSink() = default;
  // Called once for each. Errors of the sink are its own: the link goes on.
  virtual void Take(const LinkIntermediate& intermediate) = 0;
};

}  // namespace devlink
