// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/option_consensus.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "assemble/option_builders.h"
#include "assemble/stored_options.h"
#include "base/guard.h"
#include "base/strings.h"
#include "lto/consensus_table.h"

namespace devlink {

using internal::kMostThreads;
using internal::RefuseOption;

namespace {

// How an option is written in a module, and what it is called on nvlink's command line.
struct OptionSpelling {
  std::string_view name;
  std::string_view in_module;
  bool is_flag;
};

// In the order of MemberOption.
constexpr std::array<OptionSpelling, kMemberOptionCount> kSpellings = {{
    {"-lineinfo", "-generate-line-info", true},
    {"-maxrregcount", "-maxreg ", false},
    {"-ftz", "-ftz=", false},
    {"-prec-div", "-prec_div=", false},
    {"-prec-sqrt", "-prec_sqrt=", false},
    {"-fmad", "-fmad=", false},
    {"-split-compile", "-split-compile ", false},
    {"-inline-info", "-inline-info", true},
}};

constexpr std::size_t Index(MemberOption option) { return static_cast<std::size_t>(option); }

// nvlink's name of an option, that of the command line.
std::string_view NameOf(MemberOption option) { return kSpellings[Index(option)].name; }

// strtol to base 10, independent of the locale, cut to 32 bits as in nvlink, to which 4294967297
// is 1 and every number beyond 64 bits is -1 or, when negative, 0.
int ReadNumber(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t\n\v\f\r");
  if (from == std::string_view::npos) return 0;
  text.remove_prefix(from);
  const bool negative = text.front() == '-';
  if (negative || text.front() == '+') text.remove_prefix(1);
  std::uint64_t magnitude = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), magnitude);
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (read.ec == std::errc::result_out_of_range || magnitude > kMax) {
    return negative ? 0 : -1;
  }
  return static_cast<int>(static_cast<std::uint32_t>(negative ? 0 - magnitude : magnitude));
}

std::optional<int> Read(const OptionSpelling& spelling, std::string_view text) {
  const std::size_t at = text.find(spelling.in_module);
  if (at == std::string_view::npos) return std::nullopt;
  return spelling.is_flag ? 1 : ReadNumber(text.substr(at + spelling.in_module.size()));
}

Diagnostic Line(Severity severity, std::string text, std::string reason) {
  Diagnostic out;
  out.code = DiagnosticCode::kOptionMismatch;
  out.severity = severity;
  out.text = std::move(text);
  out.notes.push_back(std::move(reason));
  return out;
}

// What Reason() names in full: beyond that only how many there are.
constexpr std::size_t kNamedModules = 8;
// And so many values of which modules are named at all.
constexpr std::size_t kNamedValues = 16;

}  // namespace

namespace internal {

ConsensusState NextState(ConsensusState state, ConsensusEvent event, bool is_first) {
  using enum ConsensusState;
  // Rows: the state so far. Columns: the events, in their order.
  constexpr std::array<std::array<ConsensusState, 4>, 4> kTable = {{
      {kNone, kMixed, kMixed, kMixed},              // kNone: modules without were there before
      {kMixed, kValue, kValue, kConflict},          // kValue
      {kMixed, kMixed, kMixed, kConflict},          // kMixed
      {kConflict, kConflict, kConflict, kConflict}  // kConflict
  }};
  if (is_first) return event == ConsensusEvent::kAbsent ? kNone : kValue;
  return kTable[static_cast<std::size_t>(state)][static_cast<std::size_t>(event)];
}

}  // namespace internal

void OptionConsensus::Vote(std::string_view module, std::string_view option_text) {
  for (std::size_t i = 0; i < kMemberOptionCount; ++i) {
    Tracker& tracker = trackers_[i];
    const std::optional<int> vote = Read(kSpellings[i], option_text);
    using internal::ConsensusEvent;
    const ConsensusEvent event = !vote.has_value()            ? ConsensusEvent::kAbsent
                                 : !tracker.value.has_value() ? ConsensusEvent::kFirstValue
                                 : *vote == *tracker.value    ? ConsensusEvent::kSameValue
                                                              : ConsensusEvent::kOtherValue;
    tracker.state = internal::NextState(tracker.state, event, tracker.votes.empty());
    if (event == ConsensusEvent::kFirstValue) tracker.value = vote;
    tracker.votes.push_back({std::string(module), vote});
  }
}

const OptionConsensus::Tracker& OptionConsensus::Of(MemberOption option) const {
  return trackers_[Index(option)];
}

ConsensusState OptionConsensus::state(MemberOption option) const { return Of(option).state; }
std::optional<int> OptionConsensus::value(MemberOption option) const { return Of(option).value; }
const std::vector<OptionVote>& OptionConsensus::votes(MemberOption option) const {
  return Of(option).votes;
}

std::string OptionConsensus::Reason(MemberOption option) const {
  const OptionSpelling& spelling = kSpellings[Index(option)];
  // Modules by what they say, in the order in which it was said first; "nothing" comes last.
  struct Group {
    std::optional<int> value;
    std::string names;
    std::size_t count = 0;
  };
  std::vector<Group> groups;
  std::size_t unnamed = 0;
  for (const OptionVote& vote : votes(option)) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& other) { return other.value == vote.value; });
    if (group == groups.end()) {
      if (groups.size() == kNamedValues) {
        ++unnamed;
        continue;
      }
      group = groups.insert(groups.end(), Group{vote.value, "", 0});
    }
    ++group->count;
    if (group->count > kNamedModules) continue;
    if (!group->names.empty()) group->names += ", ";
    group->names += vote.module;
  }
  std::stable_partition(groups.begin(), groups.end(),
                        [](const Group& group) { return group.value.has_value(); });

  std::string out = base::Cat({spelling.name, ":"});
  if (groups.empty()) return out + " no module takes part";
  for (const Group& group : groups) {
    out += &group == &groups.front() ? " " : ", ";
    out += group.names;
    if (group.count > kNamedModules) {
      out += base::Cat({" and ", std::to_string(group.count - kNamedModules), " more"});
    }
    const std::string_view verb = group.count == 1 ? " says " : " say ";
    if (!group.value.has_value()) {
      out += base::Cat({verb, "nothing"});
    } else if (spelling.is_flag) {
      out += group.count == 1 ? " has it" : " have it";
    } else {
      out += base::Cat({verb, std::to_string(*group.value)});
    }
  }
  if (unnamed > 0) out += base::Cat({", and ", std::to_string(unnamed), " more say otherwise"});
  return out;
}

absl::StatusOr<AgreedOptions> OptionConsensus::Resolve(const ConsensusOverrides& given,
                                                       std::vector<Diagnostic>* found) const {
  return base::Guard([&]() -> absl::StatusOr<AgreedOptions> {
    const auto mixed = [&](MemberOption option, std::string_view value) {
      if (found == nullptr || state(option) != ConsensusState::kMixed) return;
      const std::string_view name = NameOf(option);
      found->push_back(Line(
          Severity::kInfo,
          base::Cat({"Some objects do not have '", name,
                     "' specified but others do; will build everything with '", name, value, "'"}),
          Reason(option)));
    };

    AgreedOptions out;
    for (std::size_t i = 0; i < kMemberOptionCount; ++i) {
      const auto option = static_cast<MemberOption>(i);
      if (option == MemberOption::kMaxRegisters && given.max_registers != 0) continue;
      const Tracker& tracker = trackers_[i];
      if (tracker.state == ConsensusState::kConflict) {
        std::string text =
            base::Cat({"Cicc option values for '", NameOf(option), "' do not match"});
        absl::Status status =
            absl::InvalidArgumentError(base::ToAbsl(base::Cat({text, ": ", Reason(option)})));
        if (found != nullptr) {
          found->push_back(Line(Severity::kFatal, std::move(text), Reason(option)));
        }
        return status;
      }
      if (!tracker.value.has_value()) continue;
      const int value = *tracker.value;
      switch (option) {
        case MemberOption::kLineInfo:
          mixed(option, "");
          out.line_info = true;
          break;
        case MemberOption::kMaxRegisters:
          mixed(option, base::Cat({"=", std::to_string(value)}));
          out.max_registers = value;
          break;
        case MemberOption::kFtz:
          out.ftz = value;
          break;
        case MemberOption::kPrecDiv:
          out.prec_div = value;
          break;
        case MemberOption::kPrecSqrt:
          out.prec_sqrt = value;
          break;
        case MemberOption::kFmad:
          out.fmad = value;
          break;
        case MemberOption::kSplitCompile:
          if (value > kMostThreads) {
            return RefuseOption(found, "Invalid argument for option '-split-compile'",
                                base::Cat({Reason(option), "; a module may ask for ",
                                           std::to_string(kMostThreads), " threads"}));
          }
          out.split_compile = value;
          break;
        case MemberOption::kInlineInfo:
          out.inline_info = true;
          break;
      }
    }
    return out;
  });
}

}  // namespace devlink
