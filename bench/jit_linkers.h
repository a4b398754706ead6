// SPDX-License-Identifier: Apache-2.0
//
// The ways in which a process can link: through a library with nvJitLink's interface, or with
// sessions of libdevlink.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jit_cases.h"
#include "nvjitlink_library.h"

namespace devlink::bench {

// A way to link that is measured.
struct LinkerChoice {
  enum class Kind {
    kLibrary,  // `path`, by nvJitLink's interface
    kSession,  // a session for each link, bytes in, one toolchain for all
    kPool,     // the same, with modules of a pool that all share: the first link fills it
    kCache,    // the same as kSession, with a cache in memory for what compilers made
  };
  Kind kind = Kind::kLibrary;
  std::string path = {};
};

// Where the tools of sessions lie.
struct ToolPlaces {
  std::string nvptxcompiler;  // libdevlink_ptxcompiler.so
  std::string nvvm;           // the folder of the toolkit
};

class JitLinker {
 public:
  virtual ~JitLinker() = default;

  // One link. On any thread.
  virtual bool Link(const std::vector<NamedBytes>& inputs) = 0;
  // In nvJitLink's place; known of libraries alone.
  [[nodiscard]] virtual bool is_devlink() const { return true; }
};

// Whether linking in this way makes sense: a pool keeps cubins, a cache what compilers made.
bool Fits(const LinkerChoice& choice, const JitCase& what);

// Null where it cannot be had.
std::unique_ptr<JitLinker> OpenLinker(const LinkerChoice& choice, const JitCase& what,
                                      const ToolPlaces& places);

}  // namespace devlink::bench
