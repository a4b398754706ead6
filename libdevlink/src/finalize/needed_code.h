// SPDX-License-Identifier: Apache-2.0
//
// What a part of a program cannot be finalized without, so that its inputs can go without all else.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/hash_table.h"
#include "model/module.h"

namespace devlink::internal {

// Code sections, by name.
using CodeNames = base::HashSet<std::string_view>;

// By section of a view the code section that it is, or that it says something of: attributes,
// constants, shared memory, relocations. 0 for all others.
std::vector<std::uint32_t> CodeOwners(const std::vector<InputSection>& sections);

// A function and one that calls it, by names of code.
struct CodeCall {
  std::string_view code;
  std::string_view caller;
};

// Who needs whom in a program. Borrows from the modules. Code is known by the name of its section,
// so that what is said of one body of a function holds for all.
class NeededCode {
 public:
  // All inputs of the link, and the code that stays.
  NeededCode(std::span<const Module* const> modules, const CodeNames& stays);

  // In all parts.
  void AlwaysNeed(std::string_view code);
  // By whom code stays: a part that has it needs that, too.
  void NeedCallers(std::span<const CodeCall> calls);

  // What these sections, of code that stays, need: what they refer to, what was said above, and
  // what initial values and pointers lead to. Nothing where a kernel that goes is among it: then it
  // matters which kernels stay.
  [[nodiscard]] std::optional<CodeNames> Of(std::span<const std::string_view> sections) const;

 private:
  using Node = std::uint32_t;
  static constexpr Node kNone = ~Node{0};
  struct Place {  // of a module's view, while it is read
    const ModuleView& view;
    const std::vector<InputSection>& sections;
    const std::vector<std::uint32_t>& owners;
    std::vector<Node> nodes;  // by symbol, as far as they were asked for
  };

  Node NodeOf(std::string_view name);
  Node NodeOfSymbol(Place& place, std::uint32_t symbol);
  void AddEdge(Node from, Node to);
  void Read(const ModuleView& view);
  void ReadDefinitions(const Place& place);
  void ReadReferences(Place& place, std::uint32_t list);
  void ReadRecords(Place& place, std::uint32_t section);
  void ReadCalls(Place& place, std::uint32_t section);

  // Names of code sections, and of symbols: what they stand for may be another file's. No symbol is
  // called as a section is.
  base::HashMap<std::string_view, Node> nodes_;
  std::vector<std::string_view> names_;
  std::vector<std::vector<Node>> needs_;    // by node
  std::vector<std::vector<Node>> callers_;  // by node
  std::vector<bool> is_kernel_;             // by node
  std::vector<bool> goes_;                  // by node, of kernels
  std::vector<Node> roots_;                 // always needed
};

}  // namespace devlink::internal
