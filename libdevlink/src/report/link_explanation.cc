// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/link_explanation.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/edit_distance.h"
#include "base/guard.h"
#include "base/hash_table.h"
#include "base/readable_names.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "base/visible_text.h"
#include "format/driver_names.h"
#include "plan/compile_lto.h"
#include "report/details_index.h"

namespace devlink {

namespace {

using internal::DetailsGraph;
using internal::DetailsOf;
using internal::ShownName;

std::string InputName(const LinkDetails& details, std::uint32_t input) {
  if (input >= details.inputs.size()) return "";
  return base::Cat({" in '", base::VisibleText(details.inputs[input].name), "'"});
}

std::string InQuotes(std::string_view name) {
  return base::Cat({"'", base::VisibleText(name), "'"});
}

bool Means(base::ReadableNames& names, std::string_view mangled, std::string_view wanted) {
  if (mangled == wanted) return true;
  const std::string shown = ShownName(names, mangled);
  return shown == wanted || internal::WithoutParameters(shown) == wanted;
}

// A few names that are close to `wanted`.
template <typename Entries>
absl::Status NothingCalled(std::string_view what, std::string_view wanted, const Entries& entries) {
  constexpr std::size_t kLimit = 3;
  constexpr std::size_t kMost = 3;
  constexpr std::size_t kLookedAt = 10000;
  std::vector<std::pair<std::size_t, std::string>> close;
  base::ReadableNames readable;
  for (std::size_t i = 0; i < std::min(entries.size(), kLookedAt); ++i) {
    for (std::string name : {std::string(entries[i].name),
                             internal::WithoutParameters(ShownName(readable, entries[i].name))}) {
      const std::size_t distance = base::EditDistance(wanted, name, kLimit);
      if (distance <= kLimit) close.emplace_back(distance, std::move(name));
    }
  }
  std::sort(close.begin(), close.end());
  close.erase(std::unique(close.begin(), close.end()), close.end());
  close.resize(std::min(close.size(), kMost));
  std::string text = base::Cat({"no ", what, " of the link is called ", InQuotes(wanted)});
  const char* separator = "\nsimilar: ";
  for (const auto& [distance, name] : close) {
    text += base::Cat({separator, InQuotes(name)});
    separator = ", ";
  }
  return absl::NotFoundError(base::ToAbsl(text));
}

class Explainer {
 public:
  Explainer(const LinkReport& report, const LinkDetails& details)
      : report_(report), details_(details), graph_(details) {}

  void ExplainFunction(std::uint32_t f) {
    const FunctionDetails& function = details_.functions[f];
    AddHead(function.name, InputName(details_, function.input));
    if (function.input == kNoIndex) {
      out_ += format::IsKnownToDriver(function.name)
                  ? "  no input defines it: the driver brings it\n"
                  : "  no input defines it\n";
      AddCallers(f);
      return;
    }
    if (function.copies > 1) {
      absl::StrAppend(&out_, "  ", function.copies, " inputs define it; the copies that went were ",
                      function.discarded_bytes, " bytes\n");
    }
    if (function.why == LiveReason::kDead) {
      out_ += "  it is not in the output: ";
      out_ += function.is_kernel ? KernelIsDead() : "no kernel that stays reaches it\n";
      AddCallers(f);
      return;
    }
    if (function.is_finalized.value_or(false)) out_ += "  NVIDIA's finalizer changed its code\n";
    AddWay(f);
  }

  void ExplainVariable(const VariableDetails& variable) {
    AddHead(variable.name, InputName(details_, variable.input));
    absl::StrAppend(&out_, "  ", variable.bytes, " bytes at ", variable.offset, " in ",
                    base::ToAbsl(base::VisibleText(variable.section)), ": ",
                    variable.memory == VariableMemory::kShared
                        ? "code that stays refers to it\n"
                        : "variables of global and constant memory all stay\n");
  }

  // Before inputs are explained.
  void IndexInputs() {
    functions_of_.resize(details_.inputs.size());
    variables_of_.resize(details_.inputs.size());
    for (std::uint32_t f = 0; f < details_.functions.size(); ++f) {
      const std::uint32_t input = details_.functions[f].input;
      if (input < functions_of_.size()) functions_of_[input].push_back(f);
    }
    for (const VariableDetails& variable : details_.variables) {
      if (variable.input >= variables_of_.size()) continue;
      ++variables_of_[variable.input].first;
      variables_of_[variable.input].second += variable.bytes;
    }
  }

  void ExplainInput(std::uint32_t i) {
    const InputDetails& input = details_.inputs[i];
    absl::StrAppend(&out_, base::ToAbsl(base::VisibleText(input.name)), ": ",
                    base::ToAbsl(OriginText(input.origin)), "\n");
    std::uint64_t bytes = 0;
    std::uint64_t live_bytes = 0;
    std::size_t live = 0;
    std::vector<std::uint32_t>& own = functions_of_[i];
    for (const std::uint32_t f : own) {
      const FunctionDetails& function = details_.functions[f];
      bytes += function.code_bytes;
      if (function.why == LiveReason::kDead) continue;
      ++live;
      live_bytes += function.code_bytes;
    }
    absl::StrAppend(&out_, "  ", live, " of ", own.size(), " functions are in the output, ",
                    live_bytes, " of ", bytes, " bytes of code; ", variables_of_[i].first,
                    " variables, ", variables_of_[i].second, " bytes\n");
    std::stable_sort(own.begin(), own.end(), [this](std::uint32_t a, std::uint32_t b) {
      return details_.functions[a].code_bytes > details_.functions[b].code_bytes;
    });
    for (const std::uint32_t f : own) AddUse(f);
  }

  void ExplainRegisters(std::uint32_t kernel) {
    const FunctionDetails& function = details_.functions[kernel];
    AddHead(function.name, InputName(details_, function.input));
    const auto found = std::find_if(
        report_.kernels.begin(), report_.kernels.end(),
        [&function](const KernelReport& entry) { return entry.name == function.name; });
    if (found == report_.kernels.end()) {
      out_ += base::Cat({"  it is not in the output: ", KernelIsDead()});
      return;
    }
    const std::vector<DetailsGraph::Step> steps = graph_.ReachableFrom(kernel);
    AddMost("registers", found->registers, kernel, steps, &FunctionDetails::registers);
    AddStack(*found, kernel);
    AddMost("barriers", found->barriers, kernel, steps, &FunctionDetails::barriers);
    absl::StrAppend(&out_, "  shared memory: ", found->shared_bytes, " bytes\n");
  }

  [[nodiscard]] std::string Take() && { return std::move(out_); }

  static std::string_view OriginText(InputOrigin origin) {
    switch (origin) {
      case InputOrigin::kFile:
        return "an input; all inputs are linked";
      case InputOrigin::kArchiveMember:
        return "a member of an archive; all members are linked";
      case InputOrigin::kDeviceRuntime:
        return "the device runtime; something needs it";
      case InputOrigin::kCompiled:
        return "made of the LTO IR of other inputs";
      case InputOrigin::kProvided:
        return "added by the caller for what was undefined";
    }
    return "";
  }

 private:
  void AddHead(std::string_view name, std::string_view where) {
    const std::string shown = ShownName(names_, name);
    out_ += base::VisibleText(name);
    if (shown != name) out_ += base::Cat({" is ", shown});
    out_ += base::Cat({where, "\n"});
  }

  [[nodiscard]] std::string Named(std::uint32_t f) {
    return ShownName(names_, details_.functions[f].name) +
           InputName(details_, details_.functions[f].input);
  }

  [[nodiscard]] std::string KernelIsDead() const {
    return details_.kernel_choice == KernelChoice::kNames
               ? "none of the texts of -kernels-used is in its name\n"
               : "no host code refers to this kernel\n";
  }

  [[nodiscard]] std::string_view KernelIsLive() const {
    switch (details_.kernel_choice) {
      case KernelChoice::kAll:
        return "every kernel stays, since no host code says which it launches";
      case KernelChoice::kHostReferences:
        return "host code refers to it";
      case KernelChoice::kNames:
        return "-kernels-used wants it";
      case KernelChoice::kNothingIsLeftOut:
        return "with -g, -r and -preserve-relocs everything stays";
    }
    return "";
  }

  // Of LiveReason::kKeptAll.
  [[nodiscard]] std::string_view KeptText() const {
    return details_.kernel_choice == KernelChoice::kNothingIsLeftOut
               ? "with -g, -r and -preserve-relocs everything stays"
               : "the compiler kept it";
  }

  void AddCallers(std::uint32_t f) {
    constexpr std::size_t kMost = 5;
    const std::vector<std::uint32_t> callers = graph_.CallersOf(f);
    for (std::size_t i = 0; i < std::min(kMost, callers.size()); ++i) {
      const bool dead = details_.functions[callers[i]].why == LiveReason::kDead;
      out_ +=
          base::Cat({"  called by ", Named(callers[i]), dead ? ", which is not there\n" : "\n"});
    }
    if (callers.size() > kMost) {
      absl::StrAppend(&out_, "  and by ", callers.size() - kMost, " more functions\n");
    }
  }

  // From a kernel to the function.
  void AddWay(std::uint32_t f) {
    std::vector<std::uint32_t> way = {f};
    while (details_.functions[way.back()].reached_from != kNoIndex &&
           way.size() <= details_.functions.size()) {
      way.push_back(details_.functions[way.back()].reached_from);
    }
    const FunctionDetails& first = details_.functions[way.back()];
    out_ += base::Cat({"  ", first.is_kernel ? "kernel " : "", Named(way.back()), ": "});
    switch (first.why) {
      case LiveReason::kKernel:
        out_ += KernelIsLive();
        break;
      case LiveReason::kAddressTaken:
        out_ += "its address is taken";
        break;
      default:
        out_ += KeptText();
    }
    out_ += "\n";
    for (auto step = way.rbegin() + 1; step != way.rend(); ++step) {
      const LiveReason why = details_.functions[*step].why;
      out_ += base::Cat({why == LiveReason::kAddressTaken           ? "  takes the address of "
                         : why == LiveReason::kCalledThroughPointer ? "  calls through a pointer "
                                                                    : "  calls ",
                         Named(*step), "\n"});
    }
  }

  void AddUse(std::uint32_t f) {
    const FunctionDetails& function = details_.functions[f];
    absl::StrAppend(&out_, "  ", base::ToAbsl(ShownName(names_, function.name)), ", ",
                    function.code_bytes, " bytes: ");
    switch (function.why) {
      case LiveReason::kDead:
        out_ += function.is_kernel ? KernelIsDead() : "not in the output\n";
        return;
      case LiveReason::kKernel:
        out_ += base::Cat({"kernel; ", KernelIsLive(), "\n"});
        return;
      case LiveReason::kCalled:
      case LiveReason::kCalledThroughPointer:
        out_ += base::Cat({"called by ", Named(function.reached_from), "\n"});
        return;
      case LiveReason::kAddressTaken:
        out_ += "its address is taken\n";
        return;
      case LiveReason::kAskedFor:
        out_ += "--undefined asks for it, or what that asks for calls it\n";
        return;
      case LiveReason::kKeptAll:
        out_ += base::Cat({KeptText(), "\n"});
        return;
    }
  }

  // Who of all that a kernel calls has the most of something.
  void AddMost(std::string_view what, std::uint32_t total, std::uint32_t kernel,
               const std::vector<DetailsGraph::Step>& steps,
               std::uint32_t FunctionDetails::* count) {
    absl::StrAppend(&out_, "  ", base::ToAbsl(what), ": ", total, "\n");
    const auto most = std::max_element(
        steps.begin(), steps.end(), [&](const DetailsGraph::Step& a, const DetailsGraph::Step& b) {
          return details_.functions[a.function].*count < details_.functions[b.function].*count;
        });
    const std::uint32_t own = details_.functions[kernel].*count;
    if (details_.functions[most->function].*count <= own) return;
    absl::StrAppend(&out_, "    ", own, " of its own body; the most has\n");
    base::HashMap<std::uint32_t, DetailsGraph::Step> by_function;
    for (const DetailsGraph::Step& step : steps) by_function.emplace(step.function, step);
    std::vector<DetailsGraph::Step> way;
    for (std::uint32_t f = most->function; f != kNoIndex;) {
      way.push_back(by_function.at(f));
      f = way.back().from;
    }
    for (auto step = way.rbegin() + 1; step != way.rend(); ++step) {
      absl::StrAppend(&out_, step->through_pointer ? "    calls through a pointer " : "    calls ",
                      base::ToAbsl(Named(step->function)), ": ",
                      details_.functions[step->function].*count, "\n");
    }
  }

  void AddStack(const KernelReport& report, std::uint32_t kernel) {
    if (!report.stack_bytes) {
      out_ += "  stack: unknown, since calls can go round\n";
      return;
    }
    absl::StrAppend(&out_, "  stack: ", *report.stack_bytes, " bytes\n");
    for (const std::uint32_t f : graph_.DeepestWay(kernel)) {
      if (details_.functions[f].frame_bytes == 0) continue;
      absl::StrAppend(&out_, "    ", details_.functions[f].frame_bytes, " of ",
                      base::ToAbsl(Named(f)), "\n");
    }
  }

  const LinkReport& report_;
  const LinkDetails& details_;
  const DetailsGraph graph_;
  base::ReadableNames names_;
  std::vector<std::vector<std::uint32_t>> functions_of_;             // by input
  std::vector<std::pair<std::size_t, std::uint64_t>> variables_of_;  // number and bytes
  std::string out_;
};

// The last part of a path, or an archive without its member.
bool InputMeans(std::string_view name, std::string_view wanted) {
  if (name == wanted || (name.starts_with(wanted) && name.substr(wanted.size()).starts_with(":"))) {
    return true;
  }
  const std::size_t slash = name.rfind('/');
  return slash != std::string_view::npos && InputMeans(name.substr(slash + 1), wanted);
}

}  // namespace

absl::StatusOr<std::string> WhyLive(const LinkReport& report, std::string_view symbol) {
  return base::Guard([&]() -> absl::StatusOr<std::string> {
    DEVLINK_ASSIGN_OR_RETURN(const LinkDetails* details, DetailsOf(report));
    Explainer out(report, *details);
    base::ReadableNames names;
    bool any = false;
    for (std::uint32_t f = 0; f < details->functions.size(); ++f) {
      if (!Means(names, details->functions[f].name, symbol)) continue;
      out.ExplainFunction(f);
      any = true;
    }
    for (const VariableDetails& variable : details->variables) {
      if (!Means(names, variable.name, symbol)) continue;
      out.ExplainVariable(variable);
      any = true;
    }
    if (any) return std::move(out).Take();
    return NothingCalled("function or variable", symbol, details->functions);
  });
}

absl::StatusOr<std::string> WhyInput(const LinkReport& report, std::string_view input) {
  return base::Guard([&]() -> absl::StatusOr<std::string> {
    DEVLINK_ASSIGN_OR_RETURN(const LinkDetails* details, DetailsOf(report));
    Explainer out(report, *details);
    out.IndexInputs();
    bool any = false;
    for (std::uint32_t i = 0; i < details->inputs.size(); ++i) {
      if (!InputMeans(details->inputs[i].name, input)) continue;
      out.ExplainInput(i);
      any = true;
    }
    std::string text = std::move(out).Take();
    for (const LeftOutInput& left_out : details->left_out) {
      if (!InputMeans(left_out.name, input)) continue;
      text +=
          base::Cat({base::VisibleText(left_out.name), ": not linked; ", left_out.reason, "\n"});
      any = true;
    }
    const bool in_parts =
        std::any_of(details->inputs.begin(), details->inputs.end(), [](const InputDetails& linked) {
          return linked.origin == InputOrigin::kCompiled && linked.name != internal::kLtoResultName;
        });
    for (const std::string& name : details->lto_inputs) {
      if (!InputMeans(name, input)) continue;
      text += base::Cat({base::VisibleText(name),
                         in_parts ? ": its LTO IR was compiled in parts; see 'lto.cubin (...)'\n"
                                  : ": its LTO IR was compiled with that of all others; see "
                                    "'lto.cubin'\n"});
      any = true;
    }
    if (any) return text;
    return NothingCalled("input", input, details->inputs);
  });
}

absl::StatusOr<std::string> WhyRegisters(const LinkReport& report, std::string_view kernel) {
  return base::Guard([&]() -> absl::StatusOr<std::string> {
    DEVLINK_ASSIGN_OR_RETURN(const LinkDetails* details, DetailsOf(report));
    Explainer out(report, *details);
    base::ReadableNames names;
    bool any = false;
    for (std::uint32_t f = 0; f < details->functions.size(); ++f) {
      const FunctionDetails& function = details->functions[f];
      if (!function.is_kernel || !Means(names, function.name, kernel)) continue;
      out.ExplainRegisters(f);
      any = true;
    }
    if (any) return std::move(out).Take();
    std::vector<FunctionDetails> kernels;
    std::copy_if(details->functions.begin(), details->functions.end(), std::back_inserter(kernels),
                 [](const FunctionDetails& function) { return function.is_kernel; });
    return NothingCalled("kernel", kernel, kernels);
  });
}

}  // namespace devlink
