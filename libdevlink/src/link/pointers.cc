// SPDX-License-Identifier: Apache-2.0
#include "link/pointers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/hash_table.h"
#include "base/strings.h"
#include "format/make_diagnostic.h"
#include "format/sections.h"

namespace devlink::internal {

namespace {

std::string_view PrototypeAt(const Program& program, std::uint32_t use) {
  return program.prototypes.c_str() + use - 1;
}

// What PrototypeUse calls a text, which is added where it is new.
std::uint32_t AddPrototype(std::string_view text, Program& program) {
  for (std::size_t at = 0; at < program.prototypes.size();) {
    const std::string_view known = program.prototypes.c_str() + at;
    if (known == text) return static_cast<std::uint32_t>(at) + 1;
    at += known.size() + 1;
  }
  const auto added = static_cast<std::uint32_t>(program.prototypes.size()) + 1;
  program.prototypes.append(text).push_back('\0');
  return added;
}

std::string_view NameOf(const Program& program, FunctionId function) {
  return program.symbols[program.functions[function].symbol].name;
}

// " and to 3 more"
std::string More(std::string_view before, const std::vector<FunctionId>& functions) {
  if (functions.size() < 2) return {};
  return absl::StrCat(" ", base::ToAbsl(before), functions.size() - 1, " more");
}

// What a note ends with on what nvlink loses.
std::string_view WhoElseLoses(bool this_link) {
  return this_link ? ", and so does NVIDIA's finalizer, which this link needs"
                   : "; --compat=nvlink, too";
}

Diagnostic Note(std::string_view symbol, std::string text) {
  Diagnostic out = format::MakeDiagnostic(Severity::kInfo, DiagnosticCode::kForgottenAddress, "",
                                          "", std::move(text));
  out.symbol = symbol;
  return out;
}

}  // namespace

std::vector<PointedFunction> FindLostPointers(const Program& program, const Liveness& liveness,
                                              bool relocatable) {
  std::vector<PointedFunction> out;
  if (program.pointed_functions.empty()) return out;
  base::HashSet<FunctionId> pointed;
  for (const Relocation& relocation : program.relocations) {
    const Section& section = program.sections[relocation.section];
    if (!format::HoldsVariables(section.kind) || section.function != kNone) continue;
    const FunctionId function = program.symbols[relocation.symbol].function;
    if (function != kNone) pointed.insert(function);
  }
  base::HashSet<std::string_view> called;
  for (const PrototypeUse& call : program.indirect_callers) {
    if (liveness.live[call.function]) called.insert(PrototypeAt(program, call.prototype));
  }
  for (const PointedFunction& function : program.pointed_functions) {
    const bool is_lost =
        relocatable || !liveness.live[function.function] || called.contains(function.prototype);
    if (is_lost && pointed.contains(function.function)) out.push_back(function);
  }
  return out;
}

Program WithAddressesTaken(Program program, const std::vector<PointedFunction>& functions) {
  base::HashMap<std::string_view, std::uint32_t> prototypes;
  for (const PointedFunction& pointed : functions) {
    Function& function = program.functions[pointed.function];
    if (function.prototype == kNone) {
      const auto [known, inserted] = prototypes.try_emplace(pointed.prototype, 0);
      if (inserted) known->second = AddPrototype(pointed.prototype, program);
      function.prototype = known->second;
    }
    program.addresses_taken.push_back(
        {.function = pointed.function, .prototype = function.prototype});
    program.remembered_addresses.push_back(pointed.function);
  }
  return program;
}

Program AsFinalizerHasIt(Program program, const std::vector<PointedFunction>& lost) {
  for (const PointedFunction& pointed : lost) {
    program.forgotten_addresses.push_back(pointed.function);
  }
  program.second_copy_pointers.stay_null = true;
  return program;
}

std::optional<Diagnostic> NoteForgottenAddresses(const Program& program) {
  const bool lost = !program.forgotten_addresses.empty();
  const std::vector<FunctionId>& functions =
      lost ? program.forgotten_addresses : program.remembered_addresses;
  if (functions.empty()) return std::nullopt;
  const std::string_view first = NameOf(program, functions.front());
  std::string text = base::Cat({"variables point to '", first, "'", More("and to ", functions)});
  text += ": nvlink forgets that functions can be called so whose bodies are another file's";
  text += WhoElseLoses(lost);
  return Note(first, std::move(text));
}

std::optional<Diagnostic> NoteSecondCopyPointers(const Program& program) {
  const SecondCopyPointers& pointers = program.second_copy_pointers;
  if (pointers.count == 0) return std::nullopt;
  const bool one = pointers.count == 1;
  std::string text = base::Cat(
      {"constants hold ", one ? "a pointer to '" : "pointers such as that to '", pointers.first,
       "', of which another file's copy is linked: nvlink leaves ", one ? "it" : "them", " null"});
  text += WhoElseLoses(pointers.stay_null);
  return Note(pointers.first, std::move(text));
}

std::optional<Diagnostic> NoteLostByOne(const Program& program, const Liveness& liveness) {
  if (!liveness.keeps_lost || liveness.lost_by_one.kernel == kNone) return std::nullopt;
  const std::string_view name = NameOf(program, liveness.lost_by_one.kernel);
  std::string text =
      base::Cat({"kernels stay beside '", NameOf(program, liveness.lost_by_one.wanted),
                 "', the only one that is asked for, '", name, "' among them"});
  text += ": nvlink loses what some of them call, or the registers and the memory for it";
  text += WhoElseLoses(false);
  return Note(name, std::move(text));
}

std::optional<Diagnostic> NoteBehindPointers(const Program& program, const CallGraph& graph,
                                             const Liveness& liveness) {
  const std::vector<FunctionId>& functions = liveness.behind_pointers;
  if (functions.empty()) return std::nullopt;
  const base::HashSet<FunctionId> behind(functions.begin(), functions.end());
  // A call that somebody with the pointer comes to at once.
  FunctionId first = functions.front();
  std::string by;
  for (const FunctionId pointed : liveness.pointed) {
    const auto callees = graph.DirectCallees(pointed);
    const auto call =
        std::ranges::find_if(callees, [&](FunctionId callee) { return behind.contains(callee); });
    if (call == callees.end()) continue;
    first = *call;
    by = base::Cat({" (called by '", NameOf(program, pointed), "')"});
    break;
  }
  const std::string_view name = NameOf(program, first);
  std::string text =
      base::Cat({"only pointers lead to '", name, "'", by, More("and to ", functions),
                 ": nvlink leaves such functions out, "});
  if (!liveness.loses_behind_pointers) {
    text += "and whoever has the pointer comes to a call that leads nowhere; --compat=nvlink, too";
  } else if (liveness.missing_behind_pointers != kNone) {
    text += base::Cat({"and so does this link, since no input defines '",
                       NameOf(program, liveness.missing_behind_pointers),
                       "', which is called there; whoever has the pointer comes to a call that "
                       "leads nowhere"});
  } else {
    text +=
        "and so does NVIDIA's finalizer, which this link needs; whoever has the pointer comes to "
        "a call that leads nowhere";
  }
  return Note(name, std::move(text));
}

}  // namespace devlink::internal
