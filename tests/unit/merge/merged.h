// SPDX-License-Identifier: Apache-2.0
//
// Merges inputs made by hand, and picks lines out of dumps.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "devlink/diagnostics.h"
#include "merge/merge.h"
#include "model/module.h"
#include "model/program.h"
#include "unit/cubin_builder.h"
#include "unit/input_builder.h"

namespace devlink::testing {

// What a merge gave. The inputs are called 'a', 'b' and so on.
struct Merged {
  std::vector<internal::LinkInput> inputs;
  std::vector<Diagnostic> diagnostics;
  absl::StatusOr<internal::Merged> result = internal::Merged();

  [[nodiscard]] const internal::Program& program() const {
    if (!result.ok()) throw std::logic_error(result.status().ToString());
    return result->program;
  }
  [[nodiscard]] const internal::FileParts& file() const {
    if (!result.ok()) throw std::logic_error(result.status().ToString());
    return result->file;
  }
  // A line for each finding.
  [[nodiscard]] std::string Findings() const {
    std::string out;
    for (const Diagnostic& diagnostic : diagnostics) out += diagnostic.text + "\n";
    return out;
  }
};

inline Merged MergeInputs(const std::vector<ModuleRef>& modules,
                          const internal::MergeOptions& options = {.sm = 80}) {
  Merged out;
  char name = 'a';
  for (const ModuleRef& module : modules) out.inputs.push_back({std::string(1, name++), module});
  out.result = internal::Merge(out.inputs, options, out.diagnostics);
  return out;
}

// Modules of small cubins.
inline std::vector<ModuleRef> LoadCubins(const std::vector<CubinSpec>& specs) {
  std::vector<ModuleRef> out;
  for (const CubinSpec& spec : specs) out.push_back(*internal::Module::Load(BuildCubin(spec)));
  return out;
}

inline Merged MergeInputs(std::initializer_list<InputBuilder*> builders,
                          const internal::MergeOptions& options = {.sm = 80}) {
  std::vector<ModuleRef> modules;
  for (InputBuilder* builder : builders) modules.push_back(builder->Build());
  return MergeInputs(modules, options);
}

// The lines of a dump that begin with one of the words, each with the deeper lines below it.
inline std::string Pick(std::string_view dump, std::initializer_list<std::string_view> words) {
  std::string out;
  std::size_t picked_level = std::string::npos;
  while (!dump.empty()) {
    const std::size_t end = std::min(dump.find('\n'), dump.size() - 1) + 1;
    const std::string_view line = dump.substr(0, end);
    dump.remove_prefix(end);
    const std::size_t level = line.find_first_not_of(' ');
    const std::string_view word = line.substr(level, line.find_first_of(" \n", level) - level);
    const bool below = picked_level != std::string::npos && level > picked_level;
    if (!below) {
      const bool named = std::find(words.begin(), words.end(), word) != words.end();
      picked_level = named ? level : std::string::npos;
    }
    if (picked_level != std::string::npos) out += line;
  }
  return out;
}

}  // namespace devlink::testing
