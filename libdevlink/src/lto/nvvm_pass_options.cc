// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/nvvm_pass_options.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>

#include "absl/strings/charconv.h"
#include "base/edit_distance.h"
#include "base/guard.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "format/sm_traits.h"
#include "lto/nvvm_knob_tables.h"

namespace devlink {

namespace {

using internal::KnobNames;
using internal::KnobNote;
using internal::KnobTable;
using internal::NameWalk;

constexpr std::string_view kXopt = "-Xopt";

const KnobTable& TableOf(NvvmGeneration generation) {
  return generation == NvvmGeneration::kLlvm7 ? internal::Llvm7Knobs() : internal::Llvm20Knobs();
}

std::string_view Targets(NvvmGeneration generation) {
  return generation == NvvmGeneration::kLlvm7 ? "targets before sm_100" : "sm_100 and later";
}

const KnobNote* FindNote(std::string_view name) {
  const auto notes = internal::KnobNotes();
  const auto at = std::ranges::lower_bound(notes, name, {}, &KnobNote::name);
  return at != notes.end() && at->name == name ? &*at : nullptr;
}

bool Contains(std::string_view names, std::string_view wanted) {
  NameWalk walk(names);
  for (std::string_view name; !(name = walk.Next()).empty();) {
    if (name == wanted) return true;
  }
  return false;
}

// A name of the table and, for a choice, its words.
struct Entry {
  const KnobNames* group = nullptr;
  std::string_view name;
  std::string_view words;
};

template <typename Visit>  // bool(Entry): whether to go on
void ForEachEntry(const KnobTable& table, Visit&& visit) {
  for (const KnobNames& group : table.names) {
    NameWalk walk(group.names);
    for (std::string_view token; !(token = walk.Next()).empty();) {
      const std::size_t colon = token.find(':');
      const Entry entry{
          .group = &group,
          .name = token.substr(0, colon),
          .words = colon == std::string_view::npos ? std::string_view() : token.substr(colon + 1)};
      if (!visit(entry)) return;
    }
  }
}

std::optional<Entry> FindEntry(const KnobTable& table, std::string_view name) {
  std::optional<Entry> out;
  ForEachEntry(table, [&](const Entry& entry) {
    if (entry.name == name) out = entry;
    return !out.has_value();
  });
  return out;
}

void Describe(const KnobNote* note, NvvmKnob& knob) {
  if (note == nullptr) return;
  knob.default_value = note->default_value;
  knob.pass = note->pass;
}

template <typename T>
bool IsInteger(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// As std::from_chars reads a fixed one, which libc++ 19 has not; Abseil's takes "0x1", too.
bool IsNumber(std::string_view text) {
  double value = 0;
  const auto [end, error] =
      absl::from_chars(text.data(), text.data() + text.size(), value, absl::chars_format::fixed);
  return error == std::errc() && end == text.data() + text.size() &&
         text.find_first_not_of("-.0123456789") == std::string_view::npos;  // 0x1, inf, nan
}

bool IsOneOf(std::string_view words, std::string_view value) {
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find('|'));
    if (word == value) return true;
    words.remove_prefix(std::min(words.size(), word.size() + 1));
  }
  return false;
}

// What a value has to be, or nothing where it is right.
std::string WhatIsWrong(const Entry& entry, std::string_view value) {
  constexpr auto kHighest = std::numeric_limits<std::uint32_t>::max();
  switch (entry.group->kind) {
    case NvvmKnobKind::kBoolean:
      return IsOneOf("0|1|true|false|TRUE|FALSE|True|False", value) ? "" : "0, 1, true or false";
    case NvvmKnobKind::kInteger:
      return IsInteger<std::int32_t>(value) ? "" : "a whole number of 32 bits";
    case NvvmKnobKind::kUnsigned:
      return IsInteger<std::uint32_t>(value)
                 ? ""
                 : base::Cat({"a whole number from 0 to ", std::to_string(kHighest)});
    case NvvmKnobKind::kLong:
      return IsInteger<std::uint64_t>(value) ? "" : "a whole number of 64 bits";
    case NvvmKnobKind::kNumber:
      return IsNumber(value) ? "" : "a number";
    case NvvmKnobKind::kText:
      return "";
    case NvvmKnobKind::kChoice: {
      if (entry.words.empty() || IsOneOf(entry.words, value)) return "";
      std::string out(entry.words);
      for (std::size_t at = 0; (at = out.find('|', at)) != std::string::npos;) {
        out.replace(at, 1, ", ");
      }
      return base::Cat({"one of ", out});
    }
  }
  return "";
}

absl::Status UnknownKnob(std::string_view name, NvvmGeneration generation) {
  std::string message = base::Cat({"libNVVM has no knob '", name, "' for ", Targets(generation)});
  const NvvmGeneration other =
      generation == NvvmGeneration::kLlvm7 ? NvvmGeneration::kLlvm20 : NvvmGeneration::kLlvm7;
  if (FindEntry(TableOf(other), name).has_value()) {
    message += base::Cat({", only for ", Targets(other)});
  } else if (const auto nearest = internal::NearestNvvmKnob(name, generation); !nearest.empty()) {
    message += base::Cat({"; the nearest is '", nearest, "'"});
  }
  return absl::InvalidArgumentError(base::ToAbsl(message));
}

}  // namespace

NvvmGeneration NvvmGenerationOf(const Arch& target) {
  return format::TraitsOf(target).has_later_nvvm ? NvvmGeneration::kLlvm20 : NvvmGeneration::kLlvm7;
}

std::optional<NvvmKnob> FindNvvmKnob(std::string_view name, NvvmGeneration generation) {
  const KnobTable& table = TableOf(generation);
  const KnobNote* note = FindNote(name);
  NvvmKnob knob;
  if (const auto entry = FindEntry(table, name)) {
    knob = {.name = entry->name, .kind = entry->group->kind, .scope = entry->group->scope};
    knob.confidence = Contains(table.measured, name) ? NvvmKnobConfidence::kMeasured
                                                     : NvvmKnobConfidence::kAccepted;
  } else if (note != nullptr) {
    knob = {.name = note->name, .confidence = NvvmKnobConfidence::kDocumentOnly};
  } else {
    return std::nullopt;
  }
  Describe(note, knob);
  return knob;
}

std::vector<NvvmKnob> NvvmKnobs(NvvmGeneration generation) {
  const KnobTable& table = TableOf(generation);
  std::map<std::string_view, NvvmKnob> all;
  for (const KnobNote& note : internal::KnobNotes()) {
    NvvmKnob knob{.name = note.name, .confidence = NvvmKnobConfidence::kDocumentOnly};
    Describe(&note, knob);
    all.emplace(note.name, knob);
  }
  ForEachEntry(table, [&](const Entry& entry) {
    NvvmKnob knob{.name = entry.name, .kind = entry.group->kind, .scope = entry.group->scope};
    Describe(FindNote(entry.name), knob);
    all.insert_or_assign(entry.name, knob);
    return true;
  });
  NameWalk measured(table.measured);
  for (std::string_view name; !(name = measured.Next()).empty();) {
    if (const auto at = all.find(name); at != all.end()) {
      at->second.confidence = NvvmKnobConfidence::kMeasured;
    }
  }
  std::vector<NvvmKnob> out;
  out.reserve(all.size());
  for (const auto& [name, knob] : all) out.push_back(knob);
  return out;
}

absl::StatusOr<NvvmPassOptions> NvvmPassOptions::Parse(std::span<const std::string> words,
                                                       NvvmGeneration generation,
                                                       std::vector<std::string>* others) {
  return base::Guard([&]() -> absl::StatusOr<NvvmPassOptions> {
    NvvmPassOptions out(generation);
    const KnobTable& table = TableOf(generation);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] != kXopt) {
        if (others == nullptr) {
          return absl::InvalidArgumentError(
              base::ToAbsl(base::Cat({"'", words[i], "' is not an -Xopt option of libNVVM"})));
        }
        others->push_back(words[i]);
        continue;
      }
      if (i + 1 == words.size()) {
        // libNVVM would end the process here.
        return absl::InvalidArgumentError("an option for libNVVM's optimiser must follow -Xopt");
      }
      std::string word = words[++i];
      const std::size_t dashes = word.starts_with("--") ? 2 : 1;
      const auto entry =
          FindEntry(table, std::string_view(word).substr(std::min(dashes, word.size())));
      const bool takes_next = word.starts_with('-') && entry.has_value() &&
                              entry->group->kind != NvvmKnobKind::kBoolean &&
                              i + 2 < words.size() && words[i + 1] == kXopt;
      if (takes_next) {
        word += base::Cat({"=", words[i + 2]});
        i += 2;
      }
      DEVLINK_RETURN_IF_ERROR(out.SetWord(word));
    }
    return out;
  });
}

absl::Status NvvmPassOptions::SetWord(std::string_view word) {
  return base::Guard([&]() -> absl::Status {
    const std::string_view whole = word;
    if (word.starts_with("--")) {
      word.remove_prefix(2);
    } else if (word.starts_with('-')) {
      word.remove_prefix(1);
    } else {
      return absl::InvalidArgumentError(base::ToAbsl(base::Cat(
          {"'", whole,
           "' is not an option for libNVVM's optimiser: it must look like -name=value"})));
    }
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return Set(word);
    return Set(word.substr(0, equals), word.substr(equals + 1));
  });
}

absl::Status NvvmPassOptions::Set(std::string_view name, std::optional<std::string_view> value) {
  return base::Guard([&]() -> absl::Status {
    const KnobTable& table = TableOf(generation_);
    const auto entry = FindEntry(table, name);
    if (Contains(table.unsafe, name)) {
      return absl::InvalidArgumentError(base::ToAbsl(
          base::Cat({"libNVVM's knob '", name,
                     "' cannot be used: it ends the process, or loads or writes files"})));
    }
    if (!entry.has_value()) return UnknownKnob(name, generation_);
    const bool named_only = !value.has_value();
    if (named_only && entry->group->kind != NvvmKnobKind::kBoolean) {
      return absl::InvalidArgumentError(
          base::ToAbsl(base::Cat({"libNVVM's knob '", name, "' needs a value: -", name, "=..."})));
    }
    if (!named_only) {
      if (value->empty() || value->find('\0') != std::string_view::npos) {
        return absl::InvalidArgumentError(base::ToAbsl(
            base::Cat({"the value of libNVVM's knob '", name, "' is empty or has a NUL"})));
      }
      if (const std::string wanted = WhatIsWrong(*entry, *value); !wanted.empty()) {
        return absl::InvalidArgumentError(
            base::ToAbsl(base::Cat({"'", *value, "' is not a value for libNVVM's knob '", name,
                                    "': it must be ", wanted})));
      }
    }
    std::optional<std::string> kept;
    if (!named_only) kept.emplace(*value);
    for (auto& [known, old] : values_) {
      if (known != name) continue;
      old = std::move(kept);
      return absl::OkStatus();
    }
    values_.emplace_back(std::string(name), std::move(kept));
    return absl::OkStatus();
  });
}

void NvvmPassOptions::Clear(std::string_view name) {
  std::erase_if(values_, [&](const auto& item) { return item.first == name; });
}

std::optional<std::string_view> NvvmPassOptions::Value(std::string_view name) const {
  for (const auto& [known, value] : values_) {
    if (known != name) continue;
    return value.has_value() ? std::string_view(*value) : std::string_view("1");
  }
  return std::nullopt;
}

bool NvvmPassOptions::IsOn(std::string_view name) const {
  const auto knob = FindNvvmKnob(name, generation_);
  return internal::ResolveNvvmBoolean(Value(name), knob.has_value() ? knob->default_value : "0");
}

std::vector<std::string> NvvmPassOptions::ToArguments() const {
  std::vector<std::string> out;
  out.reserve(values_.size() * 2);
  for (const auto& [name, value] : values_) {
    out.emplace_back(kXopt);
    out.push_back(value.has_value() ? base::Cat({"-", name, "=", *value}) : base::Cat({"-", name}));
  }
  return out;
}

bool NvvmPassOptions::OutlivesProgram() const {
  const KnobTable& table = TableOf(generation_);
  return std::ranges::any_of(values_, [&](const auto& item) {
    const auto entry = FindEntry(table, item.first);
    return !entry.has_value() || entry->group->scope == NvvmKnobScope::kLibrary;
  });
}

namespace internal {

std::string_view NearestNvvmKnob(std::string_view name, NvvmGeneration generation) {
  const KnobTable& table = TableOf(generation);
  // Longer names are not knobs, and comparing takes time in their length.
  if (name.empty() || name.size() > 100) return {};
  std::string_view best;
  std::size_t limit = std::max<std::size_t>(2, name.size() / 3) + 1;
  ForEachEntry(table, [&](const Entry& entry) {
    const std::size_t distance = base::EditDistance(entry.name, name, limit);
    if (distance < limit && !Contains(table.unsafe, entry.name)) {
      best = entry.name;
      limit = distance;
    }
    return limit > 0;
  });
  return best;
}

bool ResolveNvvmBoolean(std::optional<std::string_view> value, std::string_view default_value) {
  if (value.has_value() && !value->empty()) {
    const char first = value->front();
    return first == '1' || first == 't' || first == 'T';
  }
  return default_value.starts_with('1');
}

}  // namespace internal

}  // namespace devlink
