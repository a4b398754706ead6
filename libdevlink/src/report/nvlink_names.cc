// SPDX-License-Identifier: Apache-2.0
#include "report/nvlink_names.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "absl/strings/str_replace.h"
#include "base/demangle.h"
#include "base/strings.h"

namespace devlink::internal {

namespace {

// `char const* const*` becomes `const char *const *`. Behind the class that the function belongs to
// there is no blank, since its name stands once only in the mangled one.
std::string Parameter(std::string_view text, std::string_view function) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_: ";
  const std::size_t end = std::min(text.find_first_not_of(kPlain), text.size());
  const std::string_view rest = text.substr(end);
  // Functions, arrays and templates stay as they are.
  if (rest.find_first_not_of("*& const") != std::string_view::npos) {
    return absl::StrReplaceAll(base::ToAbsl(text), {{") [", ")["}});
  }
  std::string_view type = text.substr(0, end);
  std::string qualifiers;
  for (const std::string_view word : {"volatile", "const"}) {
    if (!type.ends_with(base::Cat({" ", word}))) continue;
    type.remove_suffix(word.size() + 1);
    qualifiers = base::Cat({word, " ", qualifiers});
  }
  std::string out = base::Cat({qualifiers, type});
  if (rest.empty()) return out;
  if (!function.starts_with(base::Cat({type, "::"}))) out += ' ';
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == ' ') continue;
    const bool behind_word = std::isalpha(static_cast<unsigned char>(out.back())) != 0 && i != 0;
    if (behind_word && (rest[i] == '*' || rest[i] == '&')) out += ' ';
    out += rest[i];
  }
  return out;
}

std::string Parameters(std::string_view list, std::string_view function) {
  std::string out;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size()) {
      const char c = list[i];
      if (c == '(' || c == '<' || c == '[') ++depth;
      if (c == ')' || c == '>' || c == ']') --depth;
      if (c != ',' || depth != 0) continue;
    }
    std::string_view item = list.substr(begin, i - begin);
    if (item.starts_with(' ')) item.remove_prefix(1);
    out += base::Cat({begin == 0 ? "" : ", ", Parameter(item, function)});
    begin = i + 1;
  }
  return out;
}

// Where the list of parameters begins that the last parenthesis closes; npos: there is none.
std::size_t BeginOfParameters(std::string_view name, std::size_t close) {
  int depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

}  // namespace

std::string NameAsNvlinkSpellsIt(std::string_view mangled) {
  // A clone is called by the name of its origin.
  const std::string name = base::Demangle(mangled.substr(0, mangled.find('$')));
  std::string_view rest = name;
  // What the compiler puts around the names of one file.
  if (rest.starts_with("_INTERNAL_")) {
    const std::size_t colons = rest.find("::");
    if (colons != std::string_view::npos) rest.remove_prefix(colons + 2);
  }
  const std::size_t close = rest.rfind(')');
  const std::size_t open = close == std::string_view::npos ? close : BeginOfParameters(rest, close);
  std::string head(rest.substr(0, std::min(open, rest.size())));
  head = absl::StrReplaceAll(head, {{"(anonymous namespace)", "<unnamed>"}});
  for (const std::string_view sign : {"[]", "()", "+", "-", "*", "/", "=", "<", ">", "!", "~"}) {
    const std::string plain = base::Cat({"operator", sign});
    const std::size_t at = head.find(plain);
    if (at == std::string::npos) continue;
    const std::string_view whole = head;
    const std::size_t cut = at + plain.size() - sign.size();
    head = base::Cat({whole.substr(0, cut), " ", whole.substr(cut)});
  }
  if (open == std::string_view::npos) return head;
  return base::Cat(
      {head, "(", Parameters(rest.substr(open + 1, close - open - 1), head), rest.substr(close)});
}

}  // namespace devlink::internal
