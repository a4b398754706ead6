// SPDX-License-Identifier: Apache-2.0
//
// Pass 3: which functions stay.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "link/call_graph.h"
#include "model/kernel_selection.h"

namespace devlink::internal {

struct Liveness {
  std::vector<FunctionId> kernels;    // in creation order, but for those left out; all of them stay
  std::vector<bool> live;             // by FunctionId
  std::vector<bool> section_removed;  // by SectionId: belongs to a function that goes
  std::vector<bool> address_taken;    // by FunctionId
  FunctionId single_kernel = kNone;   // the only one, but for those that only device code uses
  // One is wanted, and others stay that call something: nvlink loses that, or what it needs.
  // Whether they need anything is known when memory is laid out.
  bool keeps_lost = false;
  // Which is wanted then, and which stays beside it.
  struct LostByOne {
    FunctionId kernel = kNone;
    FunctionId wanted = kNone;
  };
  LostByOne lost_by_one;
  std::vector<FunctionId> left_out;  // kernels that nobody uses
  // Kernels that nobody uses and that stay as all code does, and with `as_nvlink` all but the one
  // that is wanted: nvlink follows no call of theirs.
  std::vector<FunctionId> unfollowed;
  // Functions that only pointers lead to which code that stays can come to: what they point to
  // calls them, and no kernel does. nvlink leaves them out, and the calls lead nowhere.
  std::vector<FunctionId> behind_pointers;
  bool loses_behind_pointers = false;  // so does this link
  // Where there are any: the functions that are pointed to, and the first that is called there and
  // that no input defines.
  std::vector<FunctionId> pointed;
  FunctionId missing_behind_pointers = kNone;
  bool left_out_keep_names = false;  // of their shared memory, in the string tables
};

struct LivenessRules {
  // What only functions whose address is taken call goes (docs/cubin-format.md, "Dead functions"),
  // and where one kernel is wanted, only it is followed.
  bool as_nvlink = false;
  // These stay with what they call, although no kernel asks for them.
  std::span<const FunctionId> also = {};
  // What only pointers lead to is found and goes.
  bool loses_behind_pointers = false;
};

// Kernels stay with all that they reach. A function whose address is taken stays, too, and what it
// calls where code that stays has the pointer: it may hand it to code of another link, or call it
// as one of another type. `keep_all` is nvlink -g.
Liveness FindLiveFunctions(const Program& program, const CallGraph& graph, bool keep_all,
                           const KernelSelection& kernels = {}, const LivenessRules& rules = {});

// Whether code that refers to such a function, if it is not defined, cannot be linked.
bool HasToBeDefined(const Symbol& function);

struct NamedFunctions {
  std::vector<FunctionId> functions;
  std::vector<std::string> missing;  // names that no input defines, in the order given
};

NamedFunctions FindFunctions(const Program& program, std::span<const std::string> names);

}  // namespace devlink::internal
