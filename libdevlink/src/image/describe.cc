// SPDX-License-Identifier: Apache-2.0
#include "image/describe.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/release.h"
#include "base/status_macros.h"
#include "format/elf_cuda.h"
#include "format/nv_compat.h"
#include "format/views.h"
#include "image/changed_banks.h"
#include "image/executable_form.h"
#include "image/file_records.h"
#include "image/function_records.h"
#include "image/output_form.h"
#include "image/relocatable_form.h"
#include "image/two_view_describer.h"
#include "image/view_describer.h"
#include "image/view_pairs.h"
#include "link/fast_path.h"

namespace devlink::internal {

namespace {

// About what the lists come to that the description copies.
std::size_t CopiedBytes(const PassResults& passes) {
  constexpr std::size_t kPair = 8;
  const Program& program = passes.program;
  std::size_t out = passes.relocated.kept.size() * sizeof(format::Rela) +
                    (program.calls.size() + program.address_takers.size() +
                     program.addresses_taken.size() + program.indirect_callers.size()) *
                        kPair;
  for (const auto& list : program.info_lists) {
    for (const AttributeRecord& record : list) out += sizeof(std::uint32_t) + record.payload.size();
  }
  for (const FunctionAttributes& function : passes.attributes.functions) {
    out += (function.externs.size() + function.appended.size()) * sizeof(std::uint32_t);
  }
  return out;
}

CubinSizes SizesOf(const PassResults& passes) {
  constexpr std::size_t kOfTheOutput = 16;  // and of no input
  return {.sections = passes.program.sections.size() + kOfTheOutput,
          .symbols = passes.program.symbols.size() + kOfTheOutput,
          .patches = passes.relocated.patches.size(),
          .copied_bytes = CopiedBytes(passes)};
}

ExecutableOptions FormOf(const ImageSettings& settings) {
  return {.moved_shared_is_local = settings.profile.moved_shared_is_local,
          .lists_internal = settings.preserve_relocations,
          .retained = settings.retained_symbols};
}

// Describes step by step; what no later step reads is freed between them.
CubinDescription DescribeAs(const OutputForm& form, const ChangedBanks& banks, PassResults& passes,
                            const ImageSettings& settings) {
  Program& program = passes.program;
  base::Release(program.relocations);  // they are resolved, or kept in a list of their own
  CubinDescription cubin{
      .writer = CubinWriter(
          {.sm = settings.target.number,
           .executable = !form.relocatable(),
           .wide_section_indices = program.residue.internal_sections >= format::kShnLoReserve},
          SizesOf(passes)),
      .names = {program.names, passes.constants.names}};
  base::Release(program.calls);  // the graph has them
  const auto names = std::make_shared<base::StringArena>();
  cubin.names.push_back(names);

  ViewDescriber view(passes, form, banks, cubin.writer, *names);
  view.AddNames();
  base::Release(program.section_names);
  base::Release(program.symbol_names);
  view.AddSections();
  view.AddSymbols();
  view.LinkSections();
  view.FillContents();
  base::Release(passes.relocated.patches);
  view.FillRelocations();
  base::Release(passes.relocated.kept);
  view.FillSlotLists();
  FillFileRecords(program, passes.file, view.handles(), form.relocatable(), settings, cubin.writer);
  FillCallGraph(passes, view.handles(), cubin.writer);
  FillAttributes(passes, view.handles(), form.relocatable(), cubin.writer);
  // In memory that stays where it is when the description moves.
  cubin.writer.SetPrototypes(names->Concat(program.prototypes, ""));
  return cubin;
}

}  // namespace

std::uint64_t ContentBytes(const PassResults& passes) {
  std::uint64_t out = 0;
  for (SectionId id = 0; id < passes.program.sections.size(); ++id) {
    const Section& section = passes.program.sections[id];
    if (passes.liveness.section_removed[id]) continue;
    if (!format::HasBytes(section.type, section.flags)) continue;
    for (const Piece& piece : section.pieces) out += piece.bytes.size();
  }
  return out;
}

CubinDescription Describe(std::unique_ptr<PassResults> passes, const ImageSettings& settings) {
  PassResults& found = *passes;
  const ChangedBanks banks(found);
  return settings.relocatable
             ? DescribeAs(RelocatableForm(found, settings.keep_references), banks, found, settings)
             : DescribeAs(ExecutableForm(found, banks, FormOf(settings)), banks, found, settings);
}

namespace {

// Both views, in the forms that they have in the output.
absl::StatusOr<CubinDescription> DescribeViews(const LinkedView& mercury, const LinkedView& sass,
                                               const ViewPairs& pairs, FileParts& parts,
                                               const ImageSettings& settings) {
  const Program& program = mercury.program();
  const bool relocatable = settings.relocatable;
  CubinDescription cubin{
      .writer = CubinWriter(
          {.sm = settings.target.number,
           .executable = !relocatable,
           .unused_program_header_size = 0,
           .wide_section_indices = program.residue.internal_sections >= format::kShnLoReserve}),
      .names = {program.names, mercury.passes.constants.names, sass.program().names,
                sass.passes.constants.names}};
  const auto names = std::make_shared<base::StringArena>();
  cubin.names.push_back(names);

  TwoViewDescriber file(mercury, sass, pairs, cubin.writer, *names);
  file.AddNames(relocatable && settings.spoils_names);
  file.AddSections();
  file.AddSymbols();
  file.LinkSections();
  DEVLINK_RETURN_IF_ERROR(file.FillContents());
  DEVLINK_RETURN_IF_ERROR(file.FillRelocations());
  if (!settings.profile.compat_keeps_fastpath) {
    format::CompatMerger::AppendFastPath(
        CommonFastPath(sass.program(), sass.passes.liveness, parts.fast_paths), parts.compat);
  }
  FillFileRecords(program, parts, file.plain(), relocatable, settings, cubin.writer);
  FillCallGraph(mercury.passes, file.plain(), cubin.writer);
  FillAttributes(mercury.passes, file.mercury(), relocatable, cubin.writer);
  FillSassAttributes(mercury.passes, file.plain(), relocatable,
                     {sass.program(), pairs, file.sass()}, cubin.writer);
  cubin.writer.SetPrototypes(names->Concat(program.prototypes, ""));
  return cubin;
}

// Relocations of either view name the kernels' external shared memory by number.
bool HaveSameInstances(const PassResults& mercury, const PassResults& sass) {
  const auto name_in = [](const PassResults& passes) {
    return [&program = passes.program](const ExternalInstance& instance) {
      return program.symbols[program.functions[instance.kernel].symbol].name;
    };
  };
  const auto& some = mercury.shared.partial.instances;
  const auto& others = sass.shared.partial.instances;
  return std::ranges::equal(some, others, {}, name_in(mercury), name_in(sass));
}

}  // namespace

absl::StatusOr<CubinDescription> DescribeTwoViews(PassedView mercury, PassedView sass,
                                                  const ImageSettings& settings) {
  PassResults& of_mercury = *mercury.passes;
  PassResults& of_sass = *sass.passes;
  if (!HaveSameInstances(of_mercury, of_sass)) {
    return absl::InvalidArgumentError(
        "kernels that use external shared memory differ in the views");
  }
  const ViewPairs pairs = PairViews(of_mercury.program, mercury.maps, of_sass.program, sass.maps);
  base::Release(mercury.maps);
  base::Release(sass.maps);
  const ChangedBanks mercury_banks(of_mercury);
  const ChangedBanks sass_banks(of_sass);
  const auto describe = [&](const OutputForm& mercury_form, const OutputForm& sass_form) {
    return DescribeViews({of_mercury, mercury_form, mercury_banks},
                         {of_sass, sass_form, sass_banks}, pairs, of_sass.file, settings);
  };
  if (settings.relocatable) {
    return describe(RelocatableForm(of_mercury, settings.keep_references),
                    RelocatableForm(of_sass, settings.keep_references));
  }
  return describe(ExecutableForm(of_mercury, mercury_banks, FormOf(settings)),
                  ExecutableForm(of_sass, sass_banks, FormOf(settings)));
}

}  // namespace devlink::internal
