// SPDX-License-Identifier: Apache-2.0
#include "support/linked_file.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "devlink/experimental/cubin_writer.h"
#include "format/elf_cuda.h"
#include "format/notes.h"

namespace devlink::testing {
namespace {

constexpr std::uint64_t kMercury = 0x10000000;
constexpr std::uint64_t kRoomBehindNames = 36;

void AddRecords(CubinWriter& w, std::string_view name, std::uint32_t type, std::uint64_t flags,
                const std::vector<std::uint8_t>& records) {
  if (records.empty()) return;
  w.AppendCopy(w.AddSection({.name = name, .type = type, .flags = flags, .align = 4}), records);
}

// The section of references of another.
SectionHandle AddReferences(CubinWriter& w, SectionHandle section) {
  const auto list = w.AddSection({.name = ".rela.nv.global.init",
                                  .type = format::kShtRela,
                                  .flags = 0x40,
                                  .align = 8,
                                  .entry_size = 24,
                                  .link = kSymbolTable,
                                  .only_section_name = true});
  w.SetInfoSection(list, section);
  return list;
}

}  // namespace

LinkedRecords RecordsOfOne() {
  return {.module = {4, 0x12, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0},
          .kernel = {4, 0x1c, 4, 0, 0x40, 0, 0, 0, 2, 0x4c, 1, 0},
          .mercury = {2, 0x4c, 1, 0}};
}

std::vector<std::uint8_t> WriteLinkedFile(const LinkedShape& shape) {
  constexpr std::array<std::uint8_t, 6> kData = {1, 2, 3, 4, 5, 6};
  constexpr std::string_view kPrototype = "#v_i";
  CubinWriter w({.sm = 100, .executable = true, .section_order = SectionOrder::kAsAdded});
  w.SetGap(kStringTable, kRoomBehindNames);
  w.SetGap(kSymbolTable, shape.room_before_symbols);
  w.AddName(kSectionNameTable, ".text.a");
  w.AddName(kStringTable, ".text.a");
  for (const std::string_view name : {".nv.shared.gone", ".nv.shared.gone_too"}) {
    if (!shape.with_names) break;
    w.AddName(kSectionNameTable, name);
    w.AddName(kStringTable, name);
  }
  const auto note = w.AddSection(
      {.name = format::kToolNoteName, .type = format::kShtNote, .flags = 0x2000000, .align = 4});
  w.AppendCopy(note, format::EncodeToolRecord({.tool = shape.tool, .version = shape.version}));
  w.AppendCopy(note, format::EncodeToolRecord({.tool = "ptxas", .version = "2"}));
  const auto graph = w.AddSection(
      {.name = ".nv.callgraph", .type = format::kShtCudaCallGraph, .align = 4, .entry_size = 8});
  AddRecords(w, ".nv.info", format::kShtCudaInfo, 0, shape.records.module);
  AddRecords(w, ".nv.info.k", format::kShtCudaInfo, 0, shape.records.kernel);
  const auto constants = w.AddSection({.name = ".nv.constant3", .flags = 2, .align = 8});
  const std::string text_name = ".text." + shape.kernel;
  const auto text = w.AddSection({.name = text_name, .flags = 6, .align = 128});
  const auto init = w.AddSection({.name = ".nv.global.init", .flags = 3, .align = 16});
  const auto shared = w.AddSection({.name = ".nv.shared.k",
                                    .type = format::kShtNobits,
                                    .flags = 0x43,
                                    .align = 32,
                                    .nobits_size = 1024});
  const auto bank = w.AddSection({.name = ".nv.constant0.k", .flags = 2, .align = 4});
  if (!shape.table.empty()) {
    const auto places = w.AddSection({.name = ".nv.constant2.k", .flags = 2, .align = 4});
    std::vector<std::uint8_t> bytes(shape.table.size() * sizeof(shape.table.front()));
    std::memcpy(bytes.data(), shape.table.data(), bytes.size());
    w.AppendCopy(places, bytes);
  }
  const auto list = shape.addend ? AddReferences(w, init) : kNoSection;
  const auto user =
      w.AddSection({.name = ".nv.merc.nv.constant.user", .flags = kMercury, .align = 8});
  AddRecords(w, ".nv.merc.nv.info.k", format::kShtCudaInfo + 0x83, kMercury, shape.records.mercury);
  const auto table = w.AddSymbolTable({.name = ".nv.merc.symtab",
                                       .type = 0x70000085,
                                       .flags = kMercury,
                                       .align = 8,
                                       .entry_size = 24});
  w.Append(constants, kData);
  w.AppendCopy(text, shape.code);
  w.AppendCopy(init, shape.variables);
  w.Append(bank, kData);
  w.ShareBytes(user, constants);
  const auto kernel = w.AddSymbol(
      {.name = shape.kernel, .binding = 1, .type = 2, .section = text, .size = shape.code.size()});
  w.AddSymbol({.name = shape.kernel, .binding = 1, .type = 2, .section = text, .table = table});
  if (shape.addend) {
    const auto variable =
        w.AddSymbol({.name = "v", .binding = 1, .type = 1, .section = init, .size = 6});
    w.AddRelocation(list, 0, 2, shape.refers_to_kernel ? kernel : variable, *shape.addend);
  }
  w.AddName(kStringTable, kPrototype);
  // In front of the prototype's name.
  std::uint32_t offset = 1;
  for (const std::string_view name : {".text.a", ".shstrtab", ".strtab", ".symtab", ".text.k"}) {
    offset += static_cast<std::uint32_t>(name.size()) + 1;
  }
  if (shape.with_names) offset += 16 + 20;
  for (const std::uint32_t word : {0U, ~0U, 1U, offset}) w.AppendWord(graph, word);  // calls
  for (const std::uint32_t word : {0U, ~0U - 1, 1U, offset}) w.AppendWord(graph, word);
  w.AddSegment({.type = format::kPtPhdr, .flags = 4});
  w.AddSegment({.flags = 4, .first = constants, .last = constants});
  w.AddSegment({.flags = 5, .first = text, .last = text});
  w.AddSegment({.flags = 6, .first = init, .last = shared});
  w.AddSegment({.flags = 4, .first = bank, .last = bank});
  const auto bytes = w.Write();
  if (!bytes.ok()) throw std::logic_error(bytes.status().ToString());
  return *bytes;
}

}  // namespace devlink::testing
