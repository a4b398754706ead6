// SPDX-License-Identifier: Apache-2.0
#include "base/demangle.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/hash_table.h"
#include "llvm/Demangle/ItaniumDemangle.h"

namespace devlink::base {

namespace {

namespace itanium = llvm::itanium_demangle;
using itanium::Node;

// The parser calls itself for nearly every character, and the printer for every level of the tree.
constexpr std::size_t kMaxName = 2048;
constexpr std::size_t kMaxDepth = 256;
// A substitution may stand for a text that has two others in it, and so on.
constexpr std::uint64_t kMaxText = 1 << 16;

// Where the parser keeps its tree.
class Arena {
 public:
  void reset() { memory_.release(); }
  template <typename T, typename... Args>
  T* makeNode(Args&&... args) {
    return new (memory_.allocate(sizeof(T))) T(std::forward<Args>(args)...);
  }
  void* allocateNodeArray(std::size_t count) { return memory_.allocate(sizeof(Node*) * count); }

 private:
  std::pmr::monotonic_buffer_resource memory_;
};

// Bounds what printing a tree costs. Nodes have more than one parent: each is looked at once.
class TreeSize {
 public:
  bool IsSmall(const Node* root) {
    Push(root);
    while (!open_.empty()) {
      const Node* node = open_.back();
      Entry& entry = seen_[node];
      if (!entry.entered) {
        entry.entered = true;
        Children(node);
        continue;
      }
      open_.pop_back();
      if (entry.done) continue;
      const Entry sum = Sum(node);
      if (sum.text > kMaxText || sum.depth > kMaxDepth) return false;
      seen_[node] = sum;
    }
    return true;
  }

 private:
  struct Entry {
    std::uint64_t text = 0;
    std::size_t depth = 0;
    bool entered = false;
    bool done = false;
  };

  // Calls `node_visitor` for every child, `text_visitor` for every text in the node.
  template <typename OnNode, typename OnText>
  static void Walk(const Node* node, OnNode on_node, OnText on_text) {
    const auto take = [&](const auto& part) {
      using Part = std::decay_t<decltype(part)>;
      if constexpr (std::is_convertible_v<Part, const Node*>) {
        if (part != nullptr) on_node(part);
      } else if constexpr (std::is_same_v<Part, itanium::NodeArray>) {
        for (const Node* element : part) {
          if (element != nullptr) on_node(element);
        }
      } else if constexpr (std::is_same_v<Part, std::string_view>) {
        on_text(part.size());
      }
    };
    node->visit([&](const auto* kind) {
      if constexpr (std::is_same_v<std::decay_t<decltype(*kind)>,
                                   itanium::ForwardTemplateReference>) {
        if (kind->Ref != nullptr) on_node(kind->Ref);
      } else {
        kind->match([&](const auto&... parts) { (take(parts), ...); });
      }
    });
  }

  void Push(const Node* node) {
    if (!seen_[node].entered) open_.push_back(node);
  }
  void Children(const Node* node) {
    Walk(node, [this](const Node* child) { Push(child); }, [](std::size_t) {});
  }

  [[nodiscard]] Entry Sum(const Node* node) {
    constexpr std::uint64_t kWords = 16;  // what a kind of node adds of its own
    Entry sum{.text = kWords, .depth = 1, .entered = true, .done = true};
    std::uint64_t children = 0;
    Walk(
        node,
        [&](const Node* child) {
          const Entry& part = seen_.at(child);
          ++children;
          // A part that is not done is the node itself, or around it: printing would not end.
          sum.text += part.done ? part.text : kMaxText + 1;
          sum.depth = std::max(sum.depth, part.depth + 1);
        },
        [&](std::size_t size) { sum.text += size; });
    // A pattern is printed for each element of a pack, which is somewhere in it.
    if (node->getKind() == Node::KParameterPack) largest_pack_ = std::max(largest_pack_, children);
    if (node->getKind() == Node::KParameterPackExpansion) sum.text *= largest_pack_;
    return sum;
  }

  std::uint64_t largest_pack_ = 1;  // met so far; what a node holds is met before it
  std::vector<const Node*> open_;
  base::HashMap<const Node*, Entry> seen_;
};

}  // namespace

std::string Demangle(std::string_view name) {
  if (!name.starts_with("_Z") || name.size() > kMaxName) return std::string(name);
  itanium::ManglingParser<Arena> parser(name.data(), name.data() + name.size());
  const Node* root = parser.parse();
  if (root == nullptr || !TreeSize().IsSmall(root)) return std::string(name);
  itanium::OutputBuffer text;
  root->print(text);
  std::string out(text.getBuffer(), text.getCurrentPosition());
  std::free(text.getBuffer());
  return out;
}

}  // namespace devlink::base
