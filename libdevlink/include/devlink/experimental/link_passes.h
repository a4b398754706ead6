// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/link_passes.h
//
// Looks at a link between its passes: what each of them found, as text. The text is for people and
// for tests; its form may change with every release.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace devlink {

// The passes of a link that leave something to look at, in the order in which they run.
enum class LinkPass : std::uint8_t {
  kMerge,       // all inputs as one program
  kCallGraph,   // who calls whom
  kLiveness,    // which functions stay
  kShared,      // where shared memory lies
  kConstants,   // the compiler's constants of each kernel
  kTextures,    // slots of texture and surface references
  kResources,   // registers and stack of each kernel
  kAttributes,  // what travels from callees to kernels
  kRelocate,    // fields that are stored and relocations that stay
  kImage,       // sections and symbols of the output
};

// The name of a pass as `--print-after` takes it ("call-graph").
std::string_view PassName(LinkPass pass);

// The pass of that name; nothing where there is none.
std::optional<LinkPass> FindPass(std::string_view name);

// All passes in order.
std::span<const LinkPass> AllPasses();

// Told of each pass that has run. Links on several threads that share an observer call it at the
// same time. Must not throw.
class PassObserver {
 public:
  virtual ~PassObserver() = default;

  // `pass` is done. `text` says what it found: lines, each with its newline. It is made when it is
  // called, anew each time; may be called only until `After` returns.
  virtual void After(LinkPass pass, const std::function<std::string()>& text) = 0;
};

}  // namespace devlink
