// SPDX-License-Identifier: Apache-2.0
#include "unit/tree/source_tree.h"

#include <algorithm>
#include <cstddef>
#include <regex>
#include <sstream>

#include "support/process.h"

namespace devlink::testing {

namespace fs = std::filesystem;

const fs::path& TreeRoot() {
  static const fs::path root = DEVLINK_SOURCE_ROOT;
  return root;
}

fs::path LibrarySources() { return TreeRoot() / "libdevlink" / "src"; }
fs::path PublicHeaders() { return TreeRoot() / "libdevlink" / "include" / "devlink"; }

std::vector<fs::path> SourcesUnder(const fs::path& directory) {
  std::vector<fs::path> out;
  if (!fs::is_directory(directory)) return out;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    const auto extension = entry.path().extension();
    if (extension == ".cc" || extension == ".h") out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<fs::path> TrackedFiles() {
  const ProcessResult listing = RunProcess(
      {"git", "-C", TreeRoot().string(), "ls-files", "--cached", "--others", "--exclude-standard"});
  std::vector<fs::path> out;
  std::istringstream in(listing.out);
  for (std::string line; std::getline(in, line);) {
    if (fs::is_regular_file(TreeRoot() / line)) out.push_back(TreeRoot() / line);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string NameInTree(const fs::path& file) {
  return file.lexically_relative(TreeRoot()).string();
}

std::string TextOf(const fs::path& file) { return ReadText(file).value_or(""); }

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

namespace {

// Behind the end of the comment or literal that begins at `at`; `at` itself where none does.
std::size_t EndOfHidden(std::string_view text, std::size_t at) {
  const auto behind = [&](std::string_view end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    return found == std::string_view::npos ? text.size() : found + end.size();
  };
  if (text.substr(at, 2) == "//") return std::min(text.find('\n', at), text.size());
  if (text.substr(at, 2) == "/*") return behind("*/", at + 2);
  const char quote = text[at];
  if (quote != '"' && quote != '\'') return at;
  // 1'000 has no character literal in it.
  if (quote == '\'' && at > 0 && IsWordCharacter(text[at - 1])) return at;
  if (quote == '"' && at > 0 && text[at - 1] == 'R') {
    const std::size_t open = std::min(text.find('(', at), text.size());
    std::string close = ")";
    close += text.substr(at + 1, open - at - 1);
    close += '"';
    return behind(close, open);
  }
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return text.size();
}

}  // namespace

std::string WithoutCommentsAndLiterals(std::string_view text) {
  std::string code;
  code.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = EndOfHidden(text, i);
    if (end == i) {
      code += text[i++];
      continue;
    }
    const char opening = text[i];
    if (opening != '/') code += opening;
    code.append(
        static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(i),
                                            text.begin() + static_cast<std::ptrdiff_t>(end), '\n')),
        '\n');
    if (opening != '/') code += opening;
    i = end;
  }
  return code;
}

std::vector<IncludeLine> IncludesOf(const fs::path& file) {
  std::vector<IncludeLine> out;
  std::istringstream in(TextOf(file));
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("#include ")) continue;
    const std::size_t open = line.find_first_of("<\"");
    const std::size_t close = line.find_last_of(">\"");
    if (open >= close) continue;
    out.push_back({line.substr(open + 1, close - open - 1), line[open] == '"'});
  }
  return out;
}

namespace {

// What a brace outside of functions opens.
enum class Opens { kScope, kFunction, kValue };

// Without template parameters and the signs behind `operator`, in which brackets and = mean
// nothing.
std::string Simplified(const std::string& head) {
  static const std::regex operators(R"(\boperator\s*[^\s\w(]+)");
  static const std::regex parameters(R"(\btemplate\s*<[^<>]*(<[^<>]*(<[^<>]*>[^<>]*)*>[^<>]*)*>)");
  return std::regex_replace(std::regex_replace(head, operators, "operator"), parameters, "");
}

Opens WhatOpens(const std::string& whole_head) {
  const std::string head = Simplified(whole_head);
  static const std::regex scope(
      R"(^\s*(\[\[.*\]\]\s*)?(inline\s+|export\s+|typedef\s+|static\s+|constexpr\s+)*)"
      R"((namespace|class|struct|union|enum|extern)\b)");
  int depth = 0;
  bool has_parameters = false;
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (head[i] == '(') {
      has_parameters = true;
      ++depth;
    } else if (head[i] == ')') {
      --depth;
    } else if (head[i] == '=' && depth == 0) {
      const std::size_t value = head.find_first_not_of(" \n", i + 1);
      return value != std::string::npos && head[value] == '[' ? Opens::kFunction : Opens::kValue;
    }
  }
  if (std::regex_search(head, scope)) return Opens::kScope;
  return has_parameters ? Opens::kFunction : Opens::kScope;
}

// `Name() : member_` before the braces of a member's value.
bool EndsInInitialisedMember(const std::string& head) {
  const std::size_t last = head.find_last_not_of(" \n");
  if (last == std::string::npos || (!IsWordCharacter(head[last]) && head[last] != '>')) {
    return false;
  }
  int depth = 0;
  for (std::size_t i = 0; i < last; ++i) {
    depth += head[i] == '(' ? 1 : head[i] == ')' ? -1 : 0;
    const bool single_colon =
        head[i] == ':' && head[i + 1] != ':' && (i == 0 || head[i - 1] != ':');
    if (single_colon && depth == 0 && head.find(')') < i) return true;
  }
  return false;
}

std::size_t MatchingBrace(std::string_view code, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    if (code[i] == '{') ++depth;
    if (code[i] == '}' && --depth == 0) return i;
  }
  return code.size() - 1;
}

// Directives may hold anything, half a function too.
std::string WithoutDirectives(std::string_view code) {
  std::string out;
  std::istringstream in{std::string(code)};
  bool continued = false;
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find_first_not_of(' ');
    const bool directive = continued || (first != std::string::npos && line[first] == '#');
    continued = directive && line.ends_with('\\');
    if (!directive) out += line;
    out += '\n';
  }
  return out;
}

std::string OnOneLine(const std::string& head) {
  static const std::regex blanks(R"(\s+)");
  const std::string line = std::regex_replace(head, blanks, " ");
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

}  // namespace

std::vector<FunctionExtent> FunctionsOf(std::string_view whole_code) {
  const std::string code = WithoutDirectives(whole_code);
  std::vector<FunctionExtent> out;
  std::string head;
  int line = 1;
  int head_line = 1;
  int parentheses = 0;
  const auto count_lines = [&](std::size_t from, std::size_t to) {
    return static_cast<int>(std::count(code.begin() + static_cast<std::ptrdiff_t>(from),
                                       code.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
  };
  for (std::size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '\n') ++line;
    if (c == '(') ++parentheses;
    if (c == ')') --parentheses;
    if (c == '}' || (c == ';' && parentheses == 0)) {
      head.clear();
      continue;
    }
    if (c != '{') {
      const bool blank = c == ' ' || c == '\n';
      if (c == ':' && (head == "public" || head == "private" || head == "protected")) {
        head.clear();
        continue;
      }
      if (head.empty() && !blank) head_line = line;
      if (!head.empty() || !blank) head += c;
      continue;
    }
    const bool part_of_head = parentheses > 0 || EndsInInitialisedMember(head);
    const Opens opens = part_of_head ? Opens::kValue : WhatOpens(head);
    if (opens == Opens::kScope) {
      head.clear();
      continue;
    }
    const std::size_t close = MatchingBrace(code, i);
    line += count_lines(i, close);
    if (opens == Opens::kFunction) {
      out.push_back({OnOneLine(head), head_line, line - head_line + 1});
      head.clear();
    } else {
      head += "{}";
    }
    i = close;
  }
  return out;
}

}  // namespace devlink::testing
