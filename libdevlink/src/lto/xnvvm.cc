// SPDX-License-Identifier: Apache-2.0
#include "lto/xnvvm.h"

#include "absl/status/statusor.h"
#include "assemble/option_builders.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace devlink::internal {

namespace {

using Words = std::vector<std::string>;

absl::Status RefuseQuote(std::string_view value, std::vector<Diagnostic>* found) {
  return RefuseOption(found, "Stray '\"' character",
                      base::Cat({"a quote is left open in the value of -Xnvvm: '", value, "'"}));
}

// First as every list on nvlink's command line: items end at commas. Double quotes are removed and
// keep commas inside an item; within them a backslash keeps a quote, and itself.
absl::StatusOr<Words> SplitList(std::string_view value, std::vector<Diagnostic>* found) {
  Words out(1);
  bool quoted = false;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    if (c == '"' && (!quoted || value[i - 1] != '\\')) {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      out.emplace_back();
    } else {
      out.back().push_back(c);
    }
  }
  if (quoted) return RefuseQuote(value, found);
  // Blanks around an item are not part of it.
  for (std::string& item : out) {
    item.erase(0, item.find_first_not_of(' '));
    item.erase(item.find_last_not_of(' ') + 1);
  }
  return out;
}

// Then, when the vector is built, as words that end at blanks. Here a backslash takes the next
// character as it is, and quotes keep blanks.
absl::Status AppendWords(std::string_view item, Words& out, std::vector<Diagnostic>* found) {
  bool quoted = false;
  bool open = false;
  for (std::size_t i = 0; i < item.size(); ++i) {
    char c = item[i];
    if (c == ' ' && !quoted) {
      open = false;
      continue;
    }
    if (c == '\\') {
      if (++i == item.size()) {
        return RefuseOption(
            found, "Stray '' character",
            base::Cat({"nothing follows the '\\' at the end of '", item, "' in -Xnvvm"}));
      }
      c = item[i];
    } else if (c == '"') {
      quoted = !quoted;
      continue;
    }
    if (!open) out.emplace_back();
    open = true;
    out.back().push_back(c);
  }
  return quoted ? RefuseQuote(item, found) : absl::OkStatus();
}

}  // namespace

absl::Status AppendXnvvmWords(std::string_view value, std::vector<std::string>& words,
                              std::vector<Diagnostic>* found) {
  DEVLINK_ASSIGN_OR_RETURN(const Words items, SplitList(value, found));
  for (const std::string& item : items) {
    DEVLINK_RETURN_IF_ERROR(AppendWords(item, words, found));
  }
  return absl::OkStatus();
}

absl::Status CheckXnvvm(std::string_view value, std::vector<Diagnostic>* found) {
  return SplitList(value, found).status();
}

}  // namespace devlink::internal
