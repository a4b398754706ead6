// SPDX-License-Identifier: Apache-2.0
#include "merge/merge.h"

#include <span>
#include <utility>
#include <vector>

#include "format/elf_cuda.h"
#include "format/views.h"
#include "merge/file_merge.h"
#include "merge/findings.h"
#include "merge/view_merge.h"
#include "model/module.h"

namespace devlink::internal {

namespace {

// A compiler's output may lack one, too, whoever implements the compiler.
bool HaveView(std::span<const LinkInput> inputs, format::ViewKind view, MergeFindings& findings) {
  for (InputId id = 0; id < inputs.size(); ++id) {
    if (inputs[id].module->HasView(view)) continue;
    findings.Begin(id);
    findings.ReportLost("it has no Mercury view");
    return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<Merged> Merge(std::span<const LinkInput> inputs, const MergeOptions& options,
                             std::vector<Diagnostic>& diagnostics) {
  Merged merged;
  if (options.keep_maps) merged.maps.resize(inputs.size());
  MergeFindings findings(inputs, options.compatibility, diagnostics);
  if (!HaveView(inputs, options.view, findings)) return findings.status();
  if (options.view == format::ViewKind::kSass) {
    if (options.relocatable) findings.RefuseExtensible();
    findings.WarnOfExtensible(options.severities);
    if (!findings.status().ok()) return findings.status();
  }
  ViewMerge view(options, inputs, findings);
  FileMerge file({.sm = options.sm,
                  .architecture_specific = options.architecture_specific,
                  .profile = options.profile});
  for (InputId id = 0; id < inputs.size(); ++id) {
    const Module& module = *inputs[id].module;
    view.Add(id, module.view(options.view), module.virtual_arch(),
             options.keep_maps ? &merged.maps[id] : nullptr);
    if (file.Add(module.sass(), module.sm() == options.sm))
      findings.WarnOfLimit(options.sm, options.severities);
    if (format::HasOldAbi(module.header())) file.AddOldAbi(module.virtual_arch());
    if (!findings.status().ok()) {
      findings.ReportFailure();
      return findings.status();
    }
  }
  merged.program = std::move(view).Finish(merged.maps);
  merged.file = std::move(file).Finish();
  merged.program.sections[merged.program.cuda_note].flags = merged.file.cuda_note_flags;
  return merged;
}

}  // namespace devlink::internal
