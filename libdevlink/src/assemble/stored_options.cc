// SPDX-License-Identifier: Apache-2.0
#include "assemble/stored_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace devlink::internal {

namespace {

enum class Value {
  kNone,
  kBool,
  kNumber,   // up to `most`
  kNumbers,  // the same, with commas
  kLimit,    // a number, archmax or archmin
  kWord,     // letters and digits
  kNames,    // identifiers of PTX, with commas
};

struct StoredOption {
  std::string_view long_name;
  std::string_view short_name;  // empty: there is none
  Value value = Value::kNone;
  std::uint32_t most = 0;
};

constexpr std::uint32_t kMostRegisters = 65536;

// What ptxas 13.0 --help lists, but for --gpu-name, which the link decides, and for what names
// files or makes no cubin: --options-file, --output-file, --input-as-string, --help, --version,
// --list-version. nvcc stores what -Xptxas gives it, and of its own accord -g, -maxrregcount,
// -split-compile, --compile-only, --device-stack-protector, --dont-merge-basicblocks, --fmad,
// --generate-line-info and --return-at-end.
constexpr std::array kStoredOptions = {
    StoredOption{"Ofast-compile", "Ofc", Value::kWord},
    StoredOption{"allow-expensive-optimizations", "allow-expensive-optimizations", Value::kBool},
    StoredOption{"compile-as-tools-patch", "astoolspatch"},
    StoredOption{"compile-only", "c"},
    StoredOption{"compiler-annotations", "annotate"},
    StoredOption{"def-load-cache", "dlcm", Value::kWord},
    StoredOption{"def-store-cache", "dscm", Value::kWord},
    StoredOption{"device-debug", "g"},
    StoredOption{"device-function-maxrregcount", "func-maxrregcount", Value::kLimit,
                 kMostRegisters},
    StoredOption{"device-stack-protector", "device-stack-protector", Value::kBool},
    StoredOption{"disable-optimizer-constants", "disable-optimizer-consts"},
    StoredOption{"disable-warnings", "w"},
    StoredOption{"dont-merge-basicblocks", "no-bb-merge"},
    StoredOption{"entry", "e", Value::kNames},
    StoredOption{"extensible-whole-program", "ewp"},
    StoredOption{"fmad", "fmad", Value::kBool},
    StoredOption{"force-load-cache", "flcm", Value::kWord},
    StoredOption{"force-store-cache", "fscm", Value::kWord},
    StoredOption{"g-tensor-memory-access-check", "g-tmem-access-check"},
    StoredOption{"generate-line-info", "lineinfo"},
    StoredOption{"gno-tensor-memory-access-check", "gno-tmem-access-check"},
    StoredOption{"legacy-bar-warp-wide-behavior", "legacy-bar-warp-wide-behavior"},
    StoredOption{"machine", "m", Value::kNumber, 64},
    StoredOption{"make-errors-visible-at-exit", "make-errors-visible-at-exit"},
    StoredOption{"maxntid", "maxntid", Value::kNumbers, 65536},
    StoredOption{"maxrregcount", "maxrregcount", Value::kLimit, kMostRegisters},
    StoredOption{"minnctapersm", "minnctapersm", Value::kNumber, 65536},
    StoredOption{"opt-level", "O", Value::kNumber, 9},
    StoredOption{"optimize-float-atomics", "opt-fp-atomics"},
    StoredOption{"override-directive-values", "override-directive-values"},
    StoredOption{"position-independent-code", "pic", Value::kBool},
    StoredOption{"preserve-relocs", "preserve-relocs"},
    StoredOption{"register-usage-level", "regUsageLevel", Value::kNumber, 10},
    StoredOption{"return-at-end", "ret-end"},
    StoredOption{"sanitize", "sanitize", Value::kWord},
    StoredOption{"sp-bounds-check", "sp-bounds-check"},
    StoredOption{"split-compile", "split-compile", Value::kNumber, kMostThreads},
    StoredOption{"suppress-async-bulk-multicast-advisory-warning",
                 "suppress-async-bulk-multicast-advisory-warning"},
    StoredOption{"suppress-debug-info", "suppress-debug-info"},
    StoredOption{"suppress-double-demote-warning", "suppress-double-demote-warning"},
    StoredOption{"suppress-sparse-mma-advisory-info", "suppress-sparse-mma-advisory-info"},
    StoredOption{"suppress-stack-size-warning", "suppress-stack-size-warning"},
    StoredOption{"verbose", "v"},
    StoredOption{"warn-on-double-precision-use", "warn-double-usage"},
    StoredOption{"warn-on-local-memory-usage", "warn-lmem-usage"},
    StoredOption{"warn-on-spills", "warn-spills"},
    StoredOption{"warning-as-error", "Werror"},
};

// Those whose value may follow the short name at once, and may not be a word of its own.
constexpr std::string_view kJoined = "Om";

bool IsNumber(std::string_view text, std::uint32_t most) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number <= most;
}

// Whether each item of a list satisfies `check`.
template <typename Check>
bool All(std::string_view list, Check check) {
  for (;;) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (!check(list.substr(0, end))) return false;
    if (end == list.size()) return true;
    list.remove_prefix(end + 1);
  }
}

bool IsName(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
  });
}

bool Fits(std::string_view text, const StoredOption& option) {
  const auto is_number = [&](std::string_view item) { return IsNumber(item, option.most); };
  switch (option.value) {
    case Value::kNone:
      return false;
    case Value::kBool:
      return text == "true" || text == "false";
    case Value::kNumber:
      return is_number(text);
    case Value::kNumbers:
      return All(text, is_number);
    case Value::kLimit:
      return is_number(text) || text == "archmax" || text == "archmin";
    case Value::kWord:
      return !text.empty() && std::ranges::all_of(text, absl::ascii_isalnum);
    case Value::kNames:
      return All(text, IsName);
  }
  return false;
}

absl::Status Refuse(std::string_view word, std::string_view why) {
  constexpr std::size_t kShown = 100;
  return absl::InvalidArgumentError(absl::StrCat("'", base::ToAbsl(word.substr(0, kShown)),
                                                 word.size() > kShown ? "..." : "", "' ",
                                                 base::ToAbsl(why)));
}

// A word that begins with a dash, taken apart as ptxas does it.
struct TakenApart {
  const StoredOption* option = nullptr;  // null: not among them
  bool has_value = false;
  std::string_view value;
};

TakenApart TakeApart(std::string_view word) {
  const bool is_long = word.starts_with("--");
  const std::string_view text = word.substr(is_long ? 2 : 1);
  const std::size_t equal = std::min(text.find('='), text.size());
  const std::string_view name = text.substr(0, equal);
  TakenApart out;
  const auto find = [](std::string_view wanted, auto member) -> const StoredOption* {
    if (wanted.empty()) return nullptr;
    const auto found = std::ranges::find(kStoredOptions, wanted, member);
    return found == kStoredOptions.end() ? nullptr : &*found;
  };
  out.option = find(name, is_long ? &StoredOption::long_name : &StoredOption::short_name);
  out.has_value = equal != text.size();
  if (out.has_value) out.value = text.substr(equal + 1);
  if (out.option == nullptr && !is_long && !text.empty() &&
      kJoined.find(text.front()) != std::string_view::npos) {
    out = {.option = find(text.substr(0, 1), &StoredOption::short_name),
           .has_value = true,
           .value = text.substr(1)};
  }
  return out;
}

}  // namespace

absl::Status CheckStoredOptions(std::span<const std::string> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with('-')) {
      return Refuse(word, "stands where an option is expected; ptxas would take it for a file");
    }
    const TakenApart taken = TakeApart(word);
    if (taken.option == nullptr) return Refuse(word, "is not an option that a file may give");
    if (taken.option->value == Value::kNone) {
      if (taken.has_value) return Refuse(word, "has a value, and the option takes none");
      continue;
    }
    if (taken.has_value) {
      if (!Fits(taken.value, *taken.option)) return Refuse(word, "has a value that is not allowed");
      continue;
    }
    // -O and -m alone: their value would be the name of a file to ptxas.
    if (word.size() == 2 && kJoined.find(word[1]) != std::string_view::npos) {
      return Refuse(word, "lacks its value");
    }
    if (i + 1 == words.size()) return Refuse(word, "lacks its value");
    if (!Fits(words[++i], *taken.option)) {
      return Refuse(words[i], base::Cat({"is not a value of '", word, "'"}));
    }
  }
  return absl::OkStatus();
}

}  // namespace devlink::internal
