// SPDX-License-Identifier: Apache-2.0
#include "merge/view_merge.h"

#include <cstddef>
#include <utility>

#include "format/elf_cuda.h"
#include "format/sections.h"
#include "merge/compact.h"

namespace devlink::internal {

namespace {

ExpectedSizes Expect(std::span<const LinkInput> inputs, format::ViewKind kind) {
  ExpectedSizes out;
  for (const LinkInput& input : inputs) {
    const ModuleView& view = input.module->view(kind);
    out.sections += view.section_count();
    out.symbols += view.symbol_count();
    for (std::uint32_t i = 0; i < view.section_count(); ++i) {
      const SectionRole role = view.RoleAt(i);
      if (role == SectionRole::kText) ++out.functions;
      if (role == SectionRole::kRelocations) {
        out.relocations += view.SectionAt(i).data.size() / format::kRelSize;
      }
    }
  }
  return out;
}

}  // namespace

ViewMerge::ViewMerge(const MergeOptions& options, std::span<const LinkInput> inputs,
                     MergeFindings& findings)
    : options_(options),
      findings_(findings),
      builder_(options.sm, options.view, options.profile.weak_symbols_are_global,
               Expect(inputs, options.view)),
      kernel_sections_(builder_, input_),
      constants_(builder_, input_, replaced_, options.relocatable,
                 !options.relocatable || options.compatibility == Compatibility::kNvlink ||
                     !format::HasTwoViews(options.sm)),
      data_(builder_, input_, findings, constants_, kernel_sections_),
      functions_(builder_, input_, findings, replaced_, constants_, kernel_sections_,
                 options.kernels, options.compatibility == Compatibility::kNvlink),
      objects_(builder_, input_, findings, replaced_, data_, constants_, options.relocatable,
               options.compatibility == Compatibility::kDevlink),
      attributes_(builder_, input_, findings),
      call_graph_(builder_, input_, findings, options.relocatable),
      relocations_(builder_, input_, findings, options.profile.writes_phantom_rel_names) {
  builder_.force_rela = options.force_rela;
  builder_.preserve_resolved = options.preserve_resolved;
  builder_.one_list_of_a_name = options.compatibility == Compatibility::kNvlink;
  builder_.allow_undefined = options.allow_undefined;
  if (options.host_section) AddHostSection(*options.host_section);
}

// Bytes that no pass looks at, before all that inputs bring.
void ViewMerge::AddHostSection(std::string_view bytes) {
  const SectionId id = builder_.AddSection(format::section_name::kHost, SectionKind::kDebug,
                                           format::kShtCudaHost, 0, 8);
  builder_.AddSectionSymbol(id);
  Section& section = builder_.program.sections[id];
  section.size = bytes.size();
  AppendPiece(section, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, 0);
}

void ViewMerge::Add(InputId id, const ModuleView& view, std::uint32_t virtual_arch, InputMap* map) {
  builder_.Begin(id);
  findings_.Begin(id);
  input_.Begin(id, view, virtual_arch);
  functions_.Run();
  objects_.Run();
  MergeOtherSections();
  if (map != nullptr) *map = MapOf(input_, builder_.program);
}

Program ViewMerge::Finish(InputMaps& maps) && {
  objects_.AllocateCommons();
  objects_.LayOutReserved();
  call_graph_.Settle();
  if (options_.relocatable && options_.compatibility == Compatibility::kNvlink) {
    kernel_sections_.AddForExternals();
  }
  if (options_.kernels.LeavesOut() && options_.profile.constants_move_null_symbol) {
    builder_.program.residue.last_packed_constant = data_.last_packed_constant();
    if (options_.compatibility == Compatibility::kNvlink) data_.PackConstants();
  }
  Program program = std::move(builder_).Take();
  ForgetReplaced(replaced_, program, maps);
  Compact(replaced_, options_.relocatable, options_.preserve_resolved, program, maps);
  return program;
}

void ViewMerge::MergeOtherSections() {
  const auto count = static_cast<std::uint32_t>(input_.sections.size());
  for (const bool with_data : {true, false}) {
    for (std::uint32_t i = 0; i < count; ++i) {
      // Shared memory that no variable asks for comes behind what has bytes.
      const SectionRole role = input_.sections[i].role;
      const bool has_data = format::IsContent(role) && role != SectionRole::kKernelShared;
      if (has_data != with_data) continue;
      findings_.ReportOddBank(builder_.program, input_, i);
      MergeSection(i);
    }
  }
}

void ViewMerge::MergeSection(std::uint32_t index) {
  const InputSection& section = input_.sections[index];
  switch (section.role) {
    case SectionRole::kDebug:
      return data_.MapDebug(index);
    case SectionRole::kModuleInfo:
    case SectionRole::kFunctionInfo:
      return attributes_.Run(index);
    case SectionRole::kCallGraph:
      return call_graph_.TakeCalls(section);
    case SectionRole::kPrototype:
      return call_graph_.TakePrototypes(section);
    case SectionRole::kRelocations:
      return relocations_.Run(index);
    case SectionRole::kConstantBank:
    case SectionRole::kFunctionConstants:
    case SectionRole::kGlobalInit:
      // Data that no new variable pulled in is appended all the same; zeroed memory is not.
      if (input_.section_map[index].state == SectionMapping::kUnmapped) data_.Map(index, false);
      return;
    case SectionRole::kKernelShared:
      if (input_.view->extensible() &&  // no variable asks for it
          input_.section_map[index].state == SectionMapping::kUnmapped) {
        data_.Map(index, false);
      }
      return;
    default:
      return;
  }
}

}  // namespace devlink::internal
