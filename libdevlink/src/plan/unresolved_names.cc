// SPDX-License-Identifier: Apache-2.0
#include "plan/unresolved_names.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/demangle.h"
#include "base/hash_table.h"
#include "base/name_hash.h"
#include "base/similar_names.h"
#include "base/strings.h"
#include "format/driver_names.h"

namespace devlink::internal {

namespace {

constexpr std::size_t kMostNamed = 3;

bool IsOfName(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.' ||
         c == '%';
}

// The words of a line of PTX that may be names, directives and registers among them.
template <typename Use>
void ForEachWord(std::string_view line, const Use& use) {
  while (!line.empty()) {
    const auto begin = std::find_if(line.begin(), line.end(), IsOfName);
    const auto end = std::find_if_not(begin, line.end(), IsOfName);
    if (begin != end) use(line.substr(begin - line.begin(), end - begin));
    line.remove_prefix(end - line.begin());
  }
}

// What libNVVM's PTX says of names: it writes a declaration, a head of a function and the braces of
// a body at the beginning of lines, and declares before it uses.
class Names {
 public:
  struct Undefined {
    std::string_view name;
    bool is_function = false;
    std::vector<std::string_view> users;
  };

  void Read(std::string_view ptx) {
    while (!ptx.empty()) {
      const std::size_t end = std::min(ptx.find('\n'), ptx.size() - 1);
      ReadLine(ptx.substr(0, end));
      ptx.remove_prefix(end + 1);
    }
  }

  // In order of declaration, but for those that another text defines and the driver has.
  [[nodiscard]] std::vector<const Undefined*> Missing() const {
    std::vector<const Undefined*> out;
    for (const Undefined& name : undefined_) {
      const bool is_there = defined_.contains(name.name) || format::IsKnownToDriver(name.name) ||
                            format::IsSystemCall(name.name);
      if (!is_there && !name.users.empty()) out.push_back(&name);
    }
    return out;
  }
  [[nodiscard]] const Undefined* Find(std::string_view name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? nullptr : &undefined_[found->second];
  }
  // Functions, in their order.
  [[nodiscard]] const std::vector<std::string_view>& functions() const { return functions_; }

 private:
  void ReadLine(std::string_view line) {
    if (line.starts_with("//")) return;
    if (line.starts_with("{")) {
      user_ = head_;
      if (!head_.empty() && defined_.insert(head_).second) functions_.push_back(head_);
    } else if (line.starts_with("}")) {
      user_ = {};
    } else if (line.starts_with(".")) {
      ReadHead(line);
    } else if (!user_.empty()) {
      ForEachWord(line, [this](std::string_view word) { Use(word); });
    }
  }

  void ReadHead(std::string_view line) {
    const bool is_function = line.find(".func") != std::string_view::npos;
    const bool is_entry = line.find(".entry") != std::string_view::npos;
    head_ = {};
    // What a function returns stands in front of its name.
    if (const std::size_t end = line.find(") "); is_function && end != std::string_view::npos) {
      ForEachWord(line.substr(end), [this](std::string_view word) {
        if (head_.empty()) head_ = word;
      });
    } else if (is_function || is_entry) {
      ForEachWord(line.substr(0, line.find('(')), [this](std::string_view word) { head_ = word; });
    } else {
      ForEachWord(line.substr(0, line.find_first_of("[=;")),
                  [this](std::string_view word) { head_ = word; });
      if (!line.starts_with(".extern") && !head_.empty()) defined_.insert(head_);
    }
    if (line.starts_with(".extern") && !head_.empty()) {
      if (places_.try_emplace(head_, undefined_.size()).second) {
        undefined_.push_back({.name = head_, .is_function = is_function, .users = {}});
      }
    }
    if (!is_function && !is_entry) head_ = {};
  }

  void Use(std::string_view word) {
    const auto found = places_.find(word);
    if (found == places_.end()) return;
    std::vector<std::string_view>& users = undefined_[found->second].users;
    if (users.empty() || users.back() != user_) users.push_back(user_);
  }

  std::string_view head_;  // the function whose head was read last
  std::string_view user_;  // the function whose body is being read
  std::vector<Undefined> undefined_;
  base::HashMap<std::string_view, std::size_t, base::NameHash> places_;
  base::HashSet<std::string_view, base::NameHash> defined_;
  std::vector<std::string_view> functions_;
};

void Explain(const Names& names, std::string_view name, base::SimilarNames& similar,
             std::vector<std::string>& notes) {
  const std::string readable = base::Demangle(name);
  if (readable != name) notes.push_back(base::Cat({"'", name, "' is ", readable}));
  if (const Names::Undefined* missing = names.Find(name)) {
    const std::vector<std::string_view>& users = missing->users;
    for (std::size_t i = 0; i < users.size() && i < kMostNamed; ++i) {
      notes.push_back(
          base::Cat({missing->is_function ? "called by " : "used by ", base::Demangle(users[i])}));
    }
    if (users.size() > kMostNamed) {
      notes.push_back(absl::StrCat("and by ", users.size() - kMostNamed, " more functions"));
    }
  }
  if (format::IsDeviceRuntime(name)) {
    notes.push_back(format::AdviceOnDeviceRuntime());
    return;
  }
  similar.Want(name);
  std::size_t found = 0;
  for (const std::string_view function : names.functions()) {
    if (found == kMostNamed || similar.is_exhausted()) return;
    if (!similar.IsLike(function)) continue;
    ++found;
    notes.push_back(base::Cat({"similar: ", base::Demangle(function)}));
  }
}

// The assembler goes no further than the first.
void NameOthers(const Names& names, std::string_view first, std::vector<std::string>& notes) {
  constexpr std::size_t kMost = 20;
  std::string others;
  std::size_t count = 0;
  for (const Names::Undefined* missing : names.Missing()) {
    if (missing->name == first || ++count > kMost) continue;
    others += base::Cat({count == 1 ? "" : ", ", base::Demangle(missing->name)});
  }
  if (count == 0) return;
  if (count > kMost) others += absl::StrCat(" and ", count - kMost, " more");
  notes.push_back(absl::StrCat("undefined, too: ", others));
}

// `f` of `ptxas fatal   : Unresolved extern function 'f'`; empty for other lines.
std::string_view UnresolvedName(std::string_view line) {
  constexpr std::string_view kUnresolved = "Unresolved extern ";
  const std::size_t at = line.find(kUnresolved);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = line.find('\'', at);
  const std::size_t end = line.rfind('\'');
  return begin < end ? line.substr(begin + 1, end - begin - 1) : std::string_view();
}

}  // namespace

void ExplainUnresolved(std::span<const std::string> ptx, std::vector<Diagnostic>& lines) {
  const auto is_unresolved = [](const Diagnostic& line) {
    return !UnresolvedName(line.text).empty();
  };
  if (std::none_of(lines.begin(), lines.end(), is_unresolved)) return;
  Names names;
  for (const std::string& text : ptx) names.Read(text);
  base::SimilarNames similar;  // its bound is for all names together
  for (Diagnostic& line : lines) {
    if (!is_unresolved(line)) continue;
    line.code = DiagnosticCode::kUndefinedReference;
    line.symbol = UnresolvedName(line.text);
    Explain(names, line.symbol, similar, line.notes);
    NameOthers(names, line.symbol, line.notes);
  }
}

}  // namespace devlink::internal
