// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace devlink::internal {

// Keeps a child to what it is there for, as far as the kernel lets a process without privileges do
// that: it writes below one folder only (Landlock), opens no connections and looks into no other
// process (seccomp), and gains no rights by what it runs. What a kernel does not have is left out.
class ChildFence {
 public:
  // Made by the parent.
  explicit ChildFence(const std::string& writable_folder);
  ~ChildFence();
  ChildFence(const ChildFence&) = delete;
  ChildFence& operator=(const ChildFence&) = delete;

  // In the child, between fork and exec; system calls only. Of its threads the calling one, and all
  // that it starts, stay within the fence for good.
  void Enter() const;

 private:
  int rules_ = -1;
};

// Whether the kernel keeps a child from writing elsewhere.
bool CanFenceWrites();

}  // namespace devlink::internal
