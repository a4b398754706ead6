// SPDX-License-Identifier: Apache-2.0
#include "merge/input_state.h"

#include "base/bounded_reader.h"
#include "format/nv_info.h"

namespace devlink::internal {

void InputState::Begin(InputId input, const ModuleView& module, std::uint32_t compiled_for) {
  id = input;
  virtual_arch = compiled_for;
  view = &module;
  view->GetSections(sections);
  symbols.assign(view->symbol_count(), kNone);
  discarded.assign(view->symbol_count(), false);
  duplicate.assign(view->symbol_count(), false);
  discarded_data.clear();
  odd_banks.clear();
  constants_end.assign(sections.size(), 0);
  registers.assign(view->symbol_count(), 0);
  section_map.assign(sections.size(), SectionMapping());
  surviving.assign(sections.size(), kNone);
  shared_of.assign(sections.size(), 0);
  parameters_of.assign(sections.size(), 0);
  for (std::uint32_t i = 0; i < sections.size(); ++i) {
    const InputSection& section = sections[i];
    if (section.role == SectionRole::kKernelShared) shared_of[section.info] = i;
    if (section.IsParameterBank()) parameters_of[section.info] = i;
    if (section.role != SectionRole::kModuleInfo) continue;
    format::InfoReader records(section.data);
    format::InfoRecord record;
    while (records.Next(record)) {
      if (record.format != format::kInfoSized || record.id != format::kAttrRegCount) continue;
      const base::BoundedReader payload(record.payload);
      registers[payload.ReadOrZero<std::uint32_t>(0)] = payload.ReadOrZero<std::uint32_t>(4);
    }
  }
}

}  // namespace devlink::internal
