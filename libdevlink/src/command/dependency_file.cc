// SPDX-License-Identifier: Apache-2.0
#include "command/dependency_file.h"

#include <string_view>

#include "base/status_macros.h"
#include "base/strings.h"
#include "base/visible_text.h"

namespace devlink::internal {

namespace {

absl::StatusOr<std::string> ForMake(std::string_view name) {
  if (name.find('\n') != std::string_view::npos) {
    return absl::InvalidArgumentError(
        base::ToAbsl(base::Cat({"no rule of make can name '", base::VisibleText(name), "'"})));
  }
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    switch (name[i]) {
      case ' ':
      case '\t':
      case '#':
      case ':':
        // Backslashes in front of one are taken for escapes, too.
        for (std::size_t at = i; at > 0 && name[at - 1] == '\\'; --at) out += '\\';
        out += '\\';
        break;
      case '$':
        out += '$';
        break;
      default:
        break;
    }
    out += name[i];
  }
  return out;
}

}  // namespace

absl::StatusOr<std::string> DependencyRule(const std::string& output,
                                           const std::set<std::string>& files) {
  DEVLINK_ASSIGN_OR_RETURN(std::string out, ForMake(output));
  out += ':';
  std::string targets;
  for (const std::string& file : files) {
    DEVLINK_ASSIGN_OR_RETURN(const std::string name, ForMake(file));
    out += base::Cat({" \\\n  ", name});
    targets += base::Cat({"\n", name, ":\n"});
  }
  return base::Cat({out, "\n", targets});
}

}  // namespace devlink::internal
