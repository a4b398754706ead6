// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/ptxas_options.h"

#include <algorithm>

#include "absl/status/status.h"
#include "assemble/option_builders.h"
#include "assemble/stored_options.h"
#include "base/guard.h"
#include "base/strings.h"

namespace devlink {

using internal::CheckStoredOptions;
using internal::FastCompileWord;
using internal::RefuseOption;

namespace {

using Words = std::vector<std::string>;

absl::Status RefuseValue(std::vector<Diagnostic>* found, std::string_view option,
                         std::string_view value, std::string_view room) {
  return RefuseOption(
      found, base::Cat({"Invalid argument for option '", option, "'"}),
      base::Cat({"'", value, "' takes more than ", room, " characters, as nvlink allows"}));
}

// Blanks and tabs only: to ptxas a line end is part of a word.
void AppendWords(std::string_view text, Words& out) {
  std::size_t from = 0;
  while ((from = text.find_first_not_of(" \t", from)) != std::string_view::npos) {
    const std::size_t to = std::min(text.find_first_of(" \t", from), text.size());
    out.emplace_back(text.substr(from, to - from));
    from = to;
  }
}

// False where a quote is left open.
bool AppendXptxas(std::string_view value, Words& out) {
  std::string item;
  bool quoted = false;
  for (const char c : value) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      AppendWords(item, out);
      item.clear();
    } else {
      item.push_back(c);
    }
  }
  AppendWords(item, out);
  return !quoted;
}

}  // namespace

PtxasOptionBuilder::PtxasOptionBuilder(Arch target) : target_(target) {}

PtxasOptionBuilder& PtxasOptionBuilder::Debug(bool debug) {
  debug_ = debug;
  return *this;
}

PtxasOptionBuilder& PtxasOptionBuilder::KeepBlocks(bool keep) {
  keep_blocks_ = keep;
  return *this;
}

PtxasOptionBuilder& PtxasOptionBuilder::Relocatable(bool relocatable) {
  relocatable_ = relocatable;
  return *this;
}

PtxasOptionBuilder& PtxasOptionBuilder::MaxRegisters(int registers) {
  max_registers_ = registers;
  return *this;
}

PtxasOptionBuilder& PtxasOptionBuilder::CudaApiVersion(std::string_view version) {
  cuda_api_version_ = version;
  return *this;
}

PtxasOptionBuilder& PtxasOptionBuilder::FastCompileLevel(FastCompile level) {
  fast_compile_ = level;
  return *this;
}

PtxasOptionBuilder& PtxasOptionBuilder::StackProtector(std::optional<bool> protect) {
  stack_protector_ = protect;
  return *this;
}

PtxasOptionBuilder& PtxasOptionBuilder::SplitCompile(int threads) {
  split_compile_ = threads;
  return *this;
}

PtxasOptionBuilder& PtxasOptionBuilder::Xptxas(std::string_view value) {
  xptxas_.emplace_back(value);
  return *this;
}

PtxasOptionBuilder& PtxasOptionBuilder::MemberOptions(std::string_view text) {
  member_options_ = text;
  return *this;
}

PtxasOptionBuilder& PtxasOptionBuilder::LimitNumbers(bool limit) {
  limit_numbers_ = limit;
  return *this;
}

PtxasOptionBuilder& PtxasOptionBuilder::LinkTimeOptimized(bool optimized) {
  link_time_optimized_ = optimized;
  return *this;
}

absl::StatusOr<std::vector<std::string>> PtxasOptionBuilder::Build(
    std::vector<Diagnostic>* found) const try {
  // What was given for the link, in nvlink's order.
  Words given;
  for (const std::string& value : xptxas_) {
    if (!AppendXptxas(value, given)) {
      return RefuseOption(found, "Stray '\"' character",
                          base::Cat({"in the value of -Xptxas: '", value, "'"}));
    }
  }
  if (max_registers_ > 0) {
    const std::string text = std::to_string(max_registers_);
    if (limit_numbers_ && text.size() > 3) return RefuseValue(found, "-maxrregcount", text, "3");
    given.push_back(base::Cat({"-maxrregcount=", text}));
  }
  if (!cuda_api_version_.empty()) {
    if (cuda_api_version_.size() > 4) {
      return RefuseValue(found, "-cuda-api-version", cuda_api_version_, "4");
    }
    given.push_back(base::Cat({"-cuda-api-version=", cuda_api_version_}));
  }
  if (fast_compile_ != FastCompile::kOff) {
    given.push_back(base::Cat({"--Ofast-compile=", FastCompileWord(fast_compile_)}));
  }
  if (stack_protector_.has_value()) {
    given.push_back(base::Cat({"--device-stack-protector=", *stack_protector_ ? "true" : "false"}));
  }
  if (split_compile_ != 1) {
    const std::string text = std::to_string(split_compile_);
    if (limit_numbers_ && text.size() > 3) return RefuseValue(found, "-split-compile", text, "3");
    given.push_back(base::Cat({"-split-compile=", text}));
  }

  Words out;
  const auto append = [&out](const Words& words) {
    out.insert(out.end(), words.begin(), words.end());
  };
  out.push_back(base::Cat({"-arch=", target_.Name()}));
  if (link_time_optimized_) {
    append(given);
    if (relocatable_) out.emplace_back("-c");
    if (debug_ && keep_blocks_) out.insert(out.end(), {"-no-bb-merge", "-ret-end"});
    if (debug_) out.emplace_back("-g");
    out.emplace_back("-m64");
    return out;
  }
  out.emplace_back("-m64");
  if (debug_) out.emplace_back("-g");
  if (member_options_.has_value()) {
    Words stored;
    AppendWords(*member_options_, stored);
    if (const absl::Status allowed = CheckStoredOptions(stored); !allowed.ok()) {
      return RefuseOption(found, "Invalid assembler option in a fat binary",
                          std::string(allowed.message()));
    }
    append(stored);
    if (relocatable_) out.emplace_back("-c");
    append(given);
  } else {
    append(given);
    if (relocatable_) out.emplace_back("-c");
  }
  return out;
} catch (...) {
  return base::StatusOfException();
}

}  // namespace devlink
