// SPDX-License-Identifier: Apache-2.0
#include "plan/definitions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/hash_table.h"
#include "base/name_hash.h"
#include "base/stop.h"
#include "model/module.h"
#include "plan/input_reader.h"
#include "plan/undefined_names.h"

namespace devlink::internal {

namespace {

// A provider whose every answer asks for something new would never come to an end.
constexpr unsigned kMostRounds = 1000;

// Calls `visit` with each symbol of a module.
template <typename Visit>
void VisitSymbols(const SelectedModule& module, const Visit& visit) {
  const ModuleView& view = module.input.module->sass();
  for (std::uint32_t i = 1; i < view.symbol_count(); ++i) visit(view.SymbolAt(i));
}

// What no module defines and nobody was asked for, in order of first reference.
std::vector<UndefinedSymbol> FindUndefined(std::span<const SelectedModule> modules,
                                           base::HashSet<std::string_view, base::NameHash>& asked) {
  base::HashSet<std::string_view, base::NameHash> defined;
  for (const SelectedModule& module : modules) {
    VisitSymbols(module, [&](const InputSymbol& symbol) {
      if (IsOffered(symbol)) defined.insert(symbol.name);
    });
  }
  std::vector<UndefinedSymbol> out;
  constexpr std::size_t kNowhere = ~std::size_t{0};
  base::HashMap<std::string_view, std::size_t, base::NameHash> places;
  for (const SelectedModule& module : modules) {
    VisitSymbols(module, [&](const InputSymbol& symbol) {
      if (!IsWanted(symbol) || defined.contains(symbol.name)) return;
      const auto [place, is_new] = places.try_emplace(symbol.name, out.size());
      if (is_new) {
        const bool is_known = !asked.insert(symbol.name).second;
        if (is_known) place->second = kNowhere;
        if (!is_known) out.push_back({.name = std::string(symbol.name), .kind = KindOf(symbol)});
      }
      if (place->second == kNowhere) return;
      std::vector<std::string>& inputs = out[place->second].inputs;
      if (inputs.empty() || inputs.back() != module.input.name) {
        inputs.push_back(module.input.name);
      }
    });
  }
  return out;
}

bool IsDeviceRuntime(const InputRecordRef& record) {
  return std::any_of(record->objects.begin(), record->objects.end(),
                     [](const ObjectRecord& object) { return object.is_device_runtime; });
}

// Reads what was provided, and puts it behind all inputs but a device runtime that stands last:
// what joins may need that.
absl::Status Join(std::vector<MemoryInput>&& provided, const LinkOptions& options,
                  const LinkContext& context, AssembledPtx& assembled,
                  std::vector<InputRecordRef>& inputs, std::vector<Diagnostic>& diagnostics) {
  const InputReader reader(options, context);
  std::vector<InputRecordRef> joining;
  for (MemoryInput& input : provided) {
    InputRecordRef record = reader.ReadBytes(input.name, std::move(input.bytes));
    if (!record->status.ok()) {
      AppendFindings(*record, diagnostics);
      return record->status;
    }
    joining.push_back(std::move(record));
  }
  assembled.Add(joining);
  const auto last = std::find_if_not(inputs.rbegin(), inputs.rend(), IsDeviceRuntime);
  inputs.insert(last.base(), joining.begin(), joining.end());
  return absl::OkStatus();
}

absl::Status EndlessDefinitions(const UndefinedSymbol& symbol) {
  return absl::ResourceExhaustedError(
      absl::StrCat("what was provided for undefined symbols refers to new ones after ", kMostRounds,
                   " rounds, to '", symbol.name, "' among them"));
}

}  // namespace

Selection SelectDefined(std::vector<InputRecordRef>& inputs, const LinkOptions& options,
                        const LinkContext& context, AssembledPtx& assembled) {
  Selection selection = Select(inputs, options, context, assembled);
  if (context.definitions == nullptr || options.relocatable || options.check_only ||
      options.lto.enabled) {
    return selection;
  }
  const std::stop_token stop = context.environment.StopToken();
  base::HashSet<std::string_view, base::NameHash> asked;  // names in modules, which records keep
  for (unsigned round = 0; selection.status.ok(); ++round) {
    const std::vector<UndefinedSymbol> undefined = FindUndefined(selection.modules, asked);
    if (undefined.empty()) break;
    selection.status = base::CheckStop(stop);
    if (selection.status.ok() && round == kMostRounds) {
      selection.status = EndlessDefinitions(undefined.front());
    }
    if (!selection.status.ok()) break;
    auto provided = context.definitions->Provide(undefined);
    selection.status = provided.status();
    if (!provided.ok() || provided->empty()) break;
    context.Log([&] {
      return absl::StrCat("asked for ", undefined.size(), " undefined symbols, took ",
                          provided->size(), " inputs");
    });
    selection.status =
        Join(*std::move(provided), options, context, assembled, inputs, selection.diagnostics);
    if (selection.status.ok()) selection = Select(inputs, options, context, assembled);
  }
  return selection;
}

}  // namespace devlink::internal
