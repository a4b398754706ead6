// SPDX-License-Identifier: Apache-2.0
//
// The merge of one view of all inputs. Each input goes through three passes, and what comes into
// being in which of them decides the order of names, symbols and sections in the output:
//   1. functions: symbols, code sections, and what every kernel has (function_merge.h);
//   2. variables: symbols and the sections that hold them (object_merge.h, data_sections.h);
//   3. everything else, first sections with data, then attributes, call graph and relocations
//      (attribute_merge.h, call_graph_merge.h, relocation_merge.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "merge/attribute_merge.h"
#include "merge/call_graph_merge.h"
#include "merge/data_sections.h"
#include "merge/findings.h"
#include "merge/function_constants.h"
#include "merge/function_merge.h"
#include "merge/input_maps.h"
#include "merge/input_state.h"
#include "merge/kernel_sections.h"
#include "merge/merge.h"
#include "merge/object_merge.h"
#include "merge/program_builder.h"
#include "merge/relocation_merge.h"
#include "merge/replaced_bodies.h"

namespace devlink::internal {

class ViewMerge {
 public:
  // `options` and `findings` are borrowed. `inputs` are those that will be added.
  ViewMerge(const MergeOptions& options, std::span<const LinkInput> inputs,
            MergeFindings& findings);
  ViewMerge(const ViewMerge&) = delete;
  ViewMerge& operator=(const ViewMerge&) = delete;

  // The view of one input. `map` is filled where it is given.
  void Add(InputId id, const ModuleView& view, std::uint32_t virtual_arch, InputMap* map);
  // After the last input. `maps` are brought up to date; empty where none were asked for.
  [[nodiscard]] Program Finish(InputMaps& maps) &&;

 private:
  void AddHostSection(std::string_view bytes);
  void MergeOtherSections();
  void MergeSection(std::uint32_t index);

  const MergeOptions& options_;
  MergeFindings& findings_;
  ProgramBuilder builder_;
  ReplacedBodies replaced_;
  InputState input_;
  KernelSections kernel_sections_;
  FunctionConstants constants_;
  DataSections data_;
  FunctionMerge functions_;
  ObjectMerge objects_;
  AttributeMerge attributes_;
  CallGraphMerge call_graph_;
  RelocationMerge relocations_;
};

}  // namespace devlink::internal
