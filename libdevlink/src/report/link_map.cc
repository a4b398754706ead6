// SPDX-License-Identifier: Apache-2.0
//
// Tables of what a link made: the map and the sizes.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/guard.h"
#include "base/readable_names.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "base/visible_text.h"
#include "devlink/experimental/link_explanation.h"
#include "format/sections.h"
#include "report/details_index.h"

namespace devlink {

namespace {

std::string Shown(std::string_view text) { return base::VisibleText(text); }

// In a column of so many characters. Not absl::StrFormat: libdevlink.so.0 cannot have it within,
// since Debian compiles it for programs.
std::string Right(const absl::AlphaNum& value, std::size_t width) {
  std::string out = absl::StrCat(value);
  if (out.size() < width) out.insert(0, width - out.size(), ' ');
  return out;
}
std::string Left(std::string_view text, std::size_t width) {
  std::string out(text);
  if (out.size() < width) out.resize(width, ' ');
  return out;
}

std::string NameOfInput(const LinkDetails& details, std::uint32_t input) {
  return input < details.inputs.size() ? Shown(details.inputs[input].name) : std::string("-");
}

// What stays of each input.
struct Kept {
  std::uint64_t code = 0;
  std::uint64_t data = 0;
};

std::vector<Kept> KeptOfInputs(const LinkDetails& details) {
  std::vector<Kept> out(details.inputs.size());
  for (const FunctionDetails& function : details.functions) {
    if (function.input < out.size() && function.why != LiveReason::kDead) {
      out[function.input].code += function.code_bytes;
    }
  }
  for (const VariableDetails& variable : details.variables) {
    if (variable.input < out.size()) out[variable.input].data += variable.bytes;
  }
  return out;
}

std::string_view Words(InputOrigin origin) {
  switch (origin) {
    case InputOrigin::kFile:
      return "input";
    case InputOrigin::kArchiveMember:
      return "member";
    case InputOrigin::kDeviceRuntime:
      return "device runtime";
    case InputOrigin::kCompiled:
      return "compiled";
    case InputOrigin::kProvided:
      return "provided";
  }
  return "";
}

void AddInput(const absl::AlphaNum& bytes, const absl::AlphaNum& code, const absl::AlphaNum& data,
              std::string_view taken_as, const std::string& name, std::string& out) {
  absl::StrAppend(&out, Right(bytes, 12), " ", Right(code, 12), " ", Right(data, 12), "  ",
                  Left(taken_as, 14), " ", name, "\n");
}

void AddInputs(const LinkDetails& details, std::string& out) {
  out += "Inputs\n\n";
  AddInput("bytes", "code kept", "data", "taken as", "name", out);
  const std::vector<Kept> kept = KeptOfInputs(details);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const InputDetails& input = details.inputs[i];
    AddInput(input.bytes, kept[i].code, kept[i].data, Words(input.origin), Shown(input.name), out);
  }
  for (const std::string& name : details.lto_inputs) {
    AddInput("-", "-", "-", "LTO IR", Shown(name), out);
  }
  for (const LeftOutInput& left_out : details.left_out) {
    AddInput("-", "-", "-", "not linked", absl::StrCat(Shown(left_out.name), ": ", left_out.reason),
             out);
  }
}

void AddFunction(const absl::AlphaNum& bytes, const absl::AlphaNum& registers,
                 const absl::AlphaNum& frame, const std::string& input, const std::string& name,
                 std::string& out) {
  absl::StrAppend(&out, Right(bytes, 10), " ", Right(registers, 9), " ", Right(frame, 8), "  ",
                  Left(input, 30), " ", name, "\n");
}

void AddFunctions(const LinkDetails& details, std::string& out) {
  out += "\nFunctions\n\n";
  AddFunction("bytes", "registers", "frame", "input", "name", out);
  std::vector<const FunctionDetails*> dead;
  for (const FunctionDetails& function : details.functions) {
    if (function.why == LiveReason::kDead) {
      if (function.input != kNoIndex) dead.push_back(&function);
      continue;
    }
    AddFunction(function.code_bytes, function.registers, function.frame_bytes,
                NameOfInput(details, function.input), Shown(function.name), out);
  }
  if (dead.empty()) return;
  const auto add = [&](const absl::AlphaNum& bytes, const std::string& input,
                       const std::string& name) {
    absl::StrAppend(&out, Right(bytes, 10), "  ", Left(input, 30), " ", name, "\n");
  };
  out += "\nFunctions that are left out\n\n";
  add("bytes", "input", "name");
  for (const FunctionDetails* function : dead) {
    add(function->code_bytes, NameOfInput(details, function->input), Shown(function->name));
  }
}

void AddSections(const LinkDetails& details, std::string& out) {
  const auto add = [&](const absl::AlphaNum& bytes, const absl::AlphaNum& file_bytes,
                       const absl::AlphaNum& align, const std::string& name) {
    absl::StrAppend(&out, Right(bytes, 12), " ", Right(file_bytes, 12), " ", Right(align, 8), "  ",
                    name, "\n");
  };
  out += "\nSections\n\n";
  add("bytes", "in the file", "align", "name");
  for (const SectionDetails& section : details.sections) {
    add(section.bytes, section.file_bytes, section.align, Shown(section.name));
  }
}

void AddKernels(const LinkReport& report, std::string& out) {
  const auto add = [&](const std::array<std::string, 5>& cells, const std::string& name) {
    constexpr std::array<std::size_t, 5> kWidths = {9, 10, 10, 10, 8};
    for (std::size_t i = 0; i < cells.size(); ++i) {
      absl::StrAppend(&out, i == 0 ? "" : " ", Right(cells[i], kWidths[i]));
    }
    absl::StrAppend(&out, "  ", name, "\n");
  };
  out += "\nKernels\n\n";
  add({"registers", "stack", "shared", "parameters", "barriers"}, "name");
  for (const KernelReport& kernel : report.kernels) {
    add({absl::StrCat(kernel.registers),
         kernel.stack_bytes ? absl::StrCat(*kernel.stack_bytes) : "unknown",
         absl::StrCat(kernel.shared_bytes), absl::StrCat(kernel.parameter_bytes),
         absl::StrCat(kernel.barriers)},
        Shown(kernel.name));
  }
}

void AddVariables(const LinkDetails& details, std::string& out) {
  const auto add = [&](const std::string& offset, const absl::AlphaNum& bytes,
                       std::string_view memory, const std::string& input, const std::string& name) {
    absl::StrAppend(&out, Right(offset, 12), " ", Right(bytes, 10), "  ", Left(memory, 8), "  ",
                    Left(input, 30), " ", name, "\n");
  };
  out += "\nVariables\n\n";
  add("offset", "bytes", "memory", "input", "name");
  for (const VariableDetails& variable : details.variables) {
    add(variable.offset == 0 ? "0" : absl::StrCat("0x", absl::Hex(variable.offset)), variable.bytes,
        internal::WordFor(variable.memory), NameOfInput(details, variable.input),
        Shown(variable.name));
  }
}

// Bytes under one heading, largest first.
class Table {
 public:
  void Add(std::string_view name, std::uint64_t bytes) { bytes_[std::string(name)] += bytes; }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  // At most `most` lines, and one for all others.
  void AppendTo(std::string& out, std::string_view heading, std::size_t most) const {
    std::vector<std::pair<std::uint64_t, std::string_view>> rows;
    std::uint64_t total = 0;
    for (const auto& [name, bytes] : bytes_) {
      rows.emplace_back(bytes, name);
      total += bytes;
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    absl::StrAppend(&out, out.empty() ? "" : "\n", base::ToAbsl(heading), ": ", total, " bytes\n");
    std::uint64_t shown = 0;
    for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
      AddRow(out, rows[i].first, total, rows[i].second);
      shown += rows[i].first;
    }
    if (rows.size() > most) {
      AddRow(out, total - shown, total, absl::StrCat(rows.size() - most, " more"));
    }
  }

 private:
  static void AddRow(std::string& out, std::uint64_t bytes, std::uint64_t total,
                     std::string_view name) {
    constexpr double kPerMille = 1000;
    const double share =
        total == 0 ? 0 : kPerMille * static_cast<double>(bytes) / static_cast<double>(total);
    const auto tenths = static_cast<std::uint64_t>(std::llround(share));
    absl::StrAppend(&out, Right(bytes, 12), " ",
                    Right(absl::StrCat(tenths / 10, ".", tenths % 10), 5), "%  ", Shown(name),
                    "\n");
  }

  std::map<std::string, std::uint64_t> bytes_;
};

// What kind of thing a section of a cubin holds, by its name.
std::string_view KindOf(std::string_view section) {
  namespace names = format::section_name;
  using Kind = std::pair<std::string_view, std::string_view>;
  if (format::IsNameOfCode(section)) return "code";
  if (format::IsNameOfRelocations(section)) return "relocations";
  const std::array kKinds = {
      Kind{names::kCapsules, "code for the finalizer"},
      Kind{names::kMercuryPrefix, "Mercury view"},
      Kind{names::kConstants, "constants"},
      Kind{names::kGlobal, "global memory"},
      Kind{names::kModuleShared, "shared memory"},
      Kind{names::kKernelShared, "shared memory"},
      Kind{names::kDebug, "debug information"},
      Kind{names::kNvDebug, "debug information"},
      Kind{names::kRelocationActions, "relocations"},
      Kind{names::kModuleInfo, "attributes"},
      Kind{names::kCallGraph, "call graph"},
      Kind{names::kSymbols, "symbols"},
      Kind{names::kStrings, "names"},
      Kind{names::kNames, "names"},
  };
  for (const auto& [prefix, kind] : kKinds) {
    if (section.starts_with(prefix)) return kind;
  }
  return "everything else";
}

}  // namespace

absl::StatusOr<std::string> LinkMap(const LinkReport& report) {
  return base::Guard([&]() -> absl::StatusOr<std::string> {
    DEVLINK_ASSIGN_OR_RETURN(const LinkDetails* kept, internal::DetailsOf(report));
    const LinkDetails& details = *kept;
    std::string out;
    AddInputs(details, out);
    AddSections(details, out);
    AddKernels(report, out);
    AddFunctions(details, out);
    AddVariables(details, out);
    return out;
  });
}

absl::StatusOr<std::string> SizeTable(const LinkReport& report) {
  return base::Guard([&]() -> absl::StatusOr<std::string> {
    DEVLINK_ASSIGN_OR_RETURN(const LinkDetails* kept, internal::DetailsOf(report));
    const LinkDetails& details = *kept;
    constexpr std::size_t kMost = 20;
    std::string out;
    Table sections;
    for (const SectionDetails& section : details.sections) {
      sections.Add(KindOf(section.name), section.file_bytes);
    }
    sections.AppendTo(out, "In the file", kMost);
    Table inputs;
    const std::vector<Kept> parts = KeptOfInputs(details);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      inputs.Add(details.inputs[i].name, parts[i].code + parts[i].data);
    }
    inputs.AppendTo(out, "Code and variables by input", kMost);
    base::ReadableNames names;
    Table functions;
    Table templates;
    Table copies;
    Table dead;
    for (const FunctionDetails& function : details.functions) {
      const std::string name = internal::ShownName(names, function.name);
      if (function.discarded_bytes != 0) copies.Add(name, function.discarded_bytes);
      if (function.why == LiveReason::kDead) {
        if (function.code_bytes != 0) dead.Add(name, function.code_bytes);
        continue;
      }
      if (function.code_bytes != 0) functions.Add(name, function.code_bytes);
      const std::string of = internal::TemplateName(name);
      if (!of.empty()) templates.Add(of, function.code_bytes);
    }
    functions.AppendTo(out, "Code by function", kMost);
    if (!templates.empty()) templates.AppendTo(out, "Code by template", kMost);
    if (!dead.empty()) dead.AppendTo(out, "Code that was left out", kMost);
    if (!copies.empty()) copies.AppendTo(out, "Copies in inputs that were discarded", kMost);
    return out;
  });
}

}  // namespace devlink
