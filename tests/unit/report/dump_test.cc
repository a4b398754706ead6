// SPDX-License-Identifier: Apache-2.0
//
// Texts of whole results; what each pass does is tested with the pass.
#include "report/dump.h"

#include "report/dump_text.h"
#include "support/catch.h"
#include "unit/link/linked.h"

namespace devlink::testing {
namespace {

using Function = InputBuilder::Function;
using Variable = InputBuilder::Variable;

TEST_CASE("A whole program is told by name, in creation order", "[dump]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle f = a.Declare("f");
  a.AddCall(k, f);
  a.Relocate(a.TextOf(k), 0, 0x38, f);
  const Merged merged = MergeInputs({&a});
  CHECK(internal::DumpProgram(merged.program()) + internal::DumpFileParts(merged.file()) ==
        R"(sections
  .note.nv.tkinfo tool-note size=0x0 align=4 flags=0x2000000
  .note.nv.cuinfo cuda-note size=0x0 align=4 flags=0x1000000
  .nv.info module-info size=0x0 align=4 flags=0x0
  .text.k text size=0x10 align=16 flags=0x6 function=k registers=8
    0x0: 0x10 bytes, 11 11 11 11 11 11 11 11 11 11 11 11 11 11 11 11
  .nv.info.k function-info size=0x0 align=4 flags=0x40 owner=.text.k function=k
  .nv.shared.k entry-shared size=0x0 align=1 flags=0x43 owner=.text.k function=k
  .rel.text.k relocations size=0x0 align=8 flags=0x40 owner=.text.k function=k
symbols
  .note.nv.tkinfo section
  .note.nv.cuinfo section
  k function global section=.text.k size=0x10 other=0x10 input=0 global-part
  .text.k section
  .nv.shared.k section
  f function global undefined input=0 global-part
functions
  k kernel text=.text.k info=.nv.info.k shared=.nv.shared.k registers=8
  f undefined
calls
  k -> f
records of .nv.info
  REGCOUNT k 0x8
records of .nv.info.k
relocations
  .text.k ABS32_LO_32 f list=.rel.text.k
names in .shstrtab
  .shstrtab
  .strtab
  .symtab
  .symtab_shndx
  .note.nv.tkinfo
  .note.nv.cuinfo
  .nv.info
  .text.k
  .nv.info.k
  .nv.shared.k
  .rel.text.k
names in .strtab
  .shstrtab
  .strtab
  .symtab
  .symtab_shndx
  .note.nv.tkinfo
  .note.nv.cuinfo
  .nv.info
  .text.k
  .nv.info.k
  .nv.shared.k
  .rel.text.k
cuda note
  0x0: 0x10 bytes, 0c 00 00 00 08 00 00 00 e8 03 00 00 4e 56 49 44
  0x10: 0x10 bytes, 49 41 20 43 6f 72 70 00 02 00 50 00 82 00 00 00
)");
}

TEST_CASE("The same inputs give the same text", "[dump]") {
  const auto dump = [] {
    InputBuilder a;
    const SymbolHandle k = a.DefineKernel("k");
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      const SymbolHandle s = a.Define(Variable{.name = name,
                                               .section = a.AddData(".nv_debug.shared", 0),
                                               .space = format::kStoShared,
                                               .value = 4});
      a.Relocate(a.TextOf(k), 0, 1, s, 0);
    }
    const Linked linked({&a});
    return internal::DumpProgram(linked.passes.program) +
           internal::DumpShared(linked.passes.program, linked.passes.liveness,
                                linked.passes.shared);
  };
  CHECK(dump() == dump());
}

TEST_CASE("The call graph tells circles, and pointers as nodes of their own", "[dump]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle f = a.Define(Function{.name = "f"});
  const SymbolHandle g = a.Define(Function{.name = "g"});
  a.AddCall(k, f);
  a.AddCall(f, f);
  a.CallIndirectly(k, "v_");
  a.TakeAddress(g, "v_");
  const Linked linked({&a});
  CHECK(internal::DumpCallGraph(linked.passes.program, linked.passes.graph) == R"(calls
  k -> f (pointer 1)
  f -> f
  (pointer 1) -> g
components, callees first
  f cyclic
  g
  (pointer 1)
  k
)");
}

TEST_CASE("Shared memory is told by kernel and by variable", "[dump]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle dynamic =
      a.Define(Variable{.name = "dynamic", .space = format::kStoShared, .size = 0});
  a.Define(Variable{.name = "s",
                    .section = a.AddData(".nv.shared.k", 0, k),
                    .space = format::kStoShared,
                    .value = 4});
  a.Relocate(a.TextOf(k), 0, 1, dynamic, 0);
  const Linked linked({&a}, {.reserved = 0x400});
  CHECK(internal::DumpShared(linked.passes.program, linked.passes.liveness, linked.passes.shared) ==
        R"(kernels
  k size=0x410 align=16 emitted symbol
variables
  s section=.nv.shared.k offset=0x0
extern begins
  k offset=0x10
section of all files size=0x0 align=16 emitted
)");
}

TEST_CASE("Texture slots are told with the banks that they make larger", "[dump]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  a.AddData(".nv.constant0.k", 0x180, k);
  a.Relocate(
      a.TextOf(k), 0, 1,
      a.Define(Variable{.name = "t", .space = 0, .size = 0, .type = format::kSttCudaTexture}));
  const Linked linked({&a});
  CHECK(internal::DumpTextures(linked.passes.program, linked.passes.textures) == R"(slots
  t offset=0x180
banks
  .nv.constant0.k size=0x184 align=4 flags=0x42
    0x0: 0x180 bytes, sum 1618edc5
)");
}

TEST_CASE("A cubin is told by its section headers and symbols", "[dump]") {
  CubinWriter writer({.sm = 80, .executable = true});
  const SectionHandle text =
      writer.AddSection({.name = ".text.k", .type = 1, .flags = 6, .align = 128});
  writer.AppendZeros(text, 32);
  writer.AddSymbol({.name = "k", .binding = 1, .type = 2, .section = text, .size = 32});
  const auto cubin = writer.Write();
  REQUIRE(cubin.ok());
  const std::string dump = internal::DumpCubin(*cubin);
  CHECK(dump.starts_with("executable flags="));
  CHECK(Pick(dump, {".text.k", "k"}) ==
        R"(  .text.k type=0x1 size=0x20 align=128 flags=0x6
  k type=2 binding=1 section=.text.k size=0x20
)");
}

TEST_CASE("Bytes that are not a cubin make a short text", "[dump]") {
  CHECK(internal::DumpCubin({}) == "shorter than an ELF header\n");
  const std::vector<std::uint8_t> ones(64, 0xff);
  CHECK(internal::DumpCubin(ones) == "relocatable flags=0xffffffff\nsections\n");
}

TEST_CASE("Names that could be taken for more than one word are quoted", "[dump]") {
  CHECK(internal::DumpWord("plain$name") == "plain$name");
  CHECK(internal::DumpWord("") == R"("")");
  CHECK(internal::DumpWord("two words") == R"("two words")");
  CHECK(internal::DumpWord("line\n") == R"("line\u000a")");
  CHECK(internal::DumpWord("\xff") == "\"\xef\xbf\xbd\"");
}

TEST_CASE("Short pieces are shown, long ones are summed up", "[dump]") {
  const std::vector<std::uint8_t> bytes(17, 0xab);
  const base::Bytes all = bytes;
  CHECK(internal::DumpPiece({all.first(2), 0x10}) == "0x10: 0x2 bytes, ab ab");
  CHECK(internal::DumpPiece({all, 0}) == R"(0x0: 0x11 bytes, sum ae07ad9a)");
}

}  // namespace
}  // namespace devlink::testing
