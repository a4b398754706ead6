// SPDX-License-Identifier: Apache-2.0
#include "devlink-inspect/describe_code.h"

#include <array>
#include <cctype>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "devlink/experimental/lto_ir.h"
#include "format/ptx_text.h"

namespace devlink::inspect {

namespace {

// Words, and each other character but blanks, of a text without comments.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  // False at the end.
  bool Next(std::string_view& token) {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    if (at_ == text_.size()) return false;
    const std::size_t begin = at_;
    if (text_[at_] == '"') {
      for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
        if (text_[at_] == '\\') ++at_;
      }
      at_ = std::min(at_ + 1, text_.size());
    } else if (IsOfWord(text_[at_])) {
      while (at_ < text_.size() && IsOfWord(text_[at_])) ++at_;
    } else {
      ++at_;
    }
    token = text_.substr(begin, at_ - begin);
    return true;
  }

 private:
  static bool IsOfWord(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' ||
           c == '.';
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// One declaration or definition at the outermost level.
struct PtxItem {
  std::string_view kind;  // kernel, function, or the space of a variable
  std::string_view linkage;
  std::string_view name;
  bool is_defined = true;
};

struct PtxFacts {
  std::string_view target;
  std::string_view address_size;
  std::vector<PtxItem> items;
};

std::string_view KindOf(std::string_view directive) {
  constexpr std::array<std::array<std::string_view, 2>, 5> kKinds = {{{".entry", "kernel"},
                                                                      {".func", "function"},
                                                                      {".global", "global"},
                                                                      {".const", "constant"},
                                                                      {".shared", "shared"}}};
  for (const auto& [word, kind] : kKinds) {
    if (word == directive) return kind;
  }
  return {};
}

bool IsLinkage(std::string_view word) {
  return word == ".visible" || word == ".extern" || word == ".weak" || word == ".common";
}

// A statement at the outermost level ends with a semicolon or with the body in braces.
class PtxScanner {
 public:
  explicit PtxScanner(std::string_view text) : tokens_(text) {}

  PtxFacts Run() {
    for (std::string_view token; tokens_.Next(token);) Take(token);
    return std::move(facts_);
  }

 private:
  void Take(std::string_view token) {
    if (token == "{" && braces_++ == 0) End(true);
    if (token == "}" && braces_ > 0) --braces_;
    if (braces_ > 0 || token == "}") return;
    if (token == "(") ++parentheses_;
    if (token == ")" && parentheses_ > 0) --parentheses_;
    if (token == ";") return End(false);
    if (parentheses_ > 0) return;
    if (previous_ == ".target") facts_.target = token;
    if (previous_ == ".address_size") facts_.address_size = token;
    if (IsLinkage(token)) {
      item_ = {.linkage = token.substr(1)};
    } else if (!KindOf(token).empty() && item_.kind.empty()) {
      item_.kind = KindOf(token);
    } else if (!item_.kind.empty() && item_.name.empty() && IsName(token)) {
      item_.name = token;
    }
    previous_ = token;
  }

  static bool IsName(std::string_view token) {
    const char c = token.front();
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
  }

  void End(bool has_body) {
    parentheses_ = 0;
    if (!item_.kind.empty() && !item_.name.empty()) {
      const bool is_code = item_.kind == "kernel" || item_.kind == "function";
      item_.is_defined = is_code ? has_body : item_.linkage != "extern";
      facts_.items.push_back(item_);
    }
    item_ = {};
  }

  Tokens tokens_;
  PtxFacts facts_;
  PtxItem item_;
  std::string_view previous_;
  int braces_ = 0;
  int parentheses_ = 0;
};

std::string VersionText(LtoIrVersion version) {
  return absl::StrCat(version.major, ".", version.minor);
}

}  // namespace

void DescribePtx(std::string_view text, const Choice& choice, Report& report) {
  const std::string compact = format::CompactPtx(text);
  const PtxFacts facts = PtxScanner(compact).Run();
  const auto version = format::FindPtxVersion(text);
  std::string headline = "PTX";
  std::string number;
  if (version) number = absl::StrCat(version->major, ".", version->minor);
  if (version) absl::StrAppend(&headline, " ", number);
  if (!facts.target.empty()) absl::StrAppend(&headline, " for ", std::string(facts.target));
  report.Headline(absl::StrCat(headline, ", ", text.size(), " bytes"));
  report.Field({.key = "version", .shown = Shown::kInJson}, TextOrNothing(number));
  report.Field({.key = "target", .shown = Shown::kInJson}, TextOrNothing(facts.target));
  report.Field({.key = "address_size", .shown = Shown::kInJson}, TextOrNothing(facts.address_size));
  if (!choice.summary) return;
  constexpr std::array kColumns = {Column{"kind", "kind"}, Column{"linkage", "linkage"},
                                   Column{"is_defined", "defined"}, Column{"name", "name"}};
  report.BeginTable({.key = "declarations",
                     .title = "declarations",
                     .columns = kColumns,
                     .most_rows = choice.most_rows});
  for (const PtxItem& item : facts.items) {
    AddRow(report, kColumns, std::string(item.kind), TextOrNothing(item.linkage), item.is_defined,
           MangledName{item.name});
  }
  report.EndTable();
}

void DescribeLtoIr(base::Bytes bytes, Report& report) {
  const auto ir = LtoIr::Parse(bytes);
  if (!ir.ok()) {
    report.Headline(absl::StrCat("LTO IR, ", bytes.size(), " bytes"));
    report.Problem(base::FromAbsl(ir.status().message()));
    return;
  }
  const std::string arch =
      ir->arch.number == 0 ? "no architecture" : "lto_" + ir->arch.VirtualName().substr(8);
  report.Headline(absl::StrCat("LTO IR for ", arch, ", NVVM IR ", VersionText(ir->versions.ir),
                               ", LLVM ", VersionText(ir->versions.llvm),
                               ir->is_protected() ? ", protected" : "", ", ", bytes.size(),
                               " bytes"));
  const auto field = [&](std::string_view key, const Cell& value) {
    report.Field({.key = key, .shown = Shown::kInJson}, value);
  };
  field("arch", arch);
  field("container_version", VersionText(ir->versions.container));
  field("ir_version", VersionText(ir->versions.ir));
  field("debug_version", VersionText(ir->versions.debug));
  field("llvm_version", VersionText(ir->versions.llvm));
  field("is_protected", ir->is_protected());
  field("payload_bytes", std::uint64_t{ir->payload.size()});
}

}  // namespace devlink::inspect
