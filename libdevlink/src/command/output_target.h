// SPDX-License-Identifier: Apache-2.0
//
// Where the path of an output leads, and a file without a name beside it.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "base/descriptor.h"

namespace devlink::internal {

using base::Descriptor;

// The last name of a path in its folder, links followed. The folder is held open, so that it is one
// and the same whatever happens to its name.
struct OutputTarget {
  Descriptor folder;
  std::string name;
};

// Nothing, with errno, where the path leads nowhere, or where a link in a folder that everybody may
// write to belongs to somebody else: the kernel does not follow such links either.
std::optional<OutputTarget> FindOutputTarget(const std::string& path);

// A file of random name that will take the place of the target, or one without a name as long as it
// is not complete: then nothing is left of it whatever ends the process.
class ReplacementFile {
 public:
  // `existing`, where given, is what the file replaces; its mode and owner are kept. False, with
  // errno, where that cannot be done.
  bool Open(const OutputTarget& target, const struct stat* existing);
  [[nodiscard]] int file() const { return file_.get(); }
  // Everything is written: gives the file its random name if it has none. False with errno.
  bool Finish(const OutputTarget& target);
  // Puts it in the target's place. With `undoable` what was there stays under the random name.
  bool Rename(const OutputTarget& target, bool undoable);
  void UndoRename(const OutputTarget& target);
  // Removes whatever has the random name.
  void Remove(const OutputTarget& target);

 private:
  enum class Renamed { kNo, kNew, kExchanged, kForGood };

  bool OpenUnnamed(const OutputTarget& target, mode_t mode);
  bool OpenNamed(const OutputTarget& target, mode_t mode);

  Descriptor file_;
  std::string name_;  // empty: no name yet, or none any more
  Renamed renamed_ = Renamed::kNo;
};

}  // namespace devlink::internal
