// SPDX-License-Identifier: Apache-2.0
#include "devlink-inspect/inspect.h"

#include <string>
#include <vector>

#include "devlink/experimental/fatbin_writer.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/fatbin_builder.h"
#include "support/host_object.h"
#include "support/lto_container.h"
#include "unit/cubin_builder.h"
#include "unit/devlink-inspect/shown.h"

namespace devlink::testing {
namespace {

using inspect::Choice;

constexpr Choice kSummary{.summary = true, .most_rows = 12};

Cubin Program() {
  return BuildCubin({.functions = {{.name = "_Z4drawPi",
                                    .calls = {"_Z6helperv", "_Z5shadei"},
                                    .kernel = true,
                                    .registers = 33,
                                    .static_shared = 64},
                                   {.name = "_Z6helperv", .registers = 17, .frame = 16}},
                     .global_bytes = 4});
}

bool Has(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

TEST_CASE("A summary of a cubin names kernels, functions, variables and what is undefined",
          "[inspect]") {
  const ShownText shown = AsText(Program(), kSummary, "program.cubin");
  CHECK(shown.problems == 0);
  CHECK(Has(shown.text, "program.cubin: relocatable cubin for sm_80, CUDA 13.0, "));
  CHECK(Has(shown.text, "  kernels\n"));
  CHECK(Has(shown.text, "draw(int*)\n"));
  CHECK(Has(shown.text, "helper()\n"));
  CHECK(Has(shown.text, "shade(int)\n"));
  CHECK(Has(shown.text, "variable\n"));
  CHECK_FALSE(Has(shown.text, "  sections\n"));
  CHECK(Has(AsText(Program(), kSummary, "program.cubin", false).text, "_Z4drawPi\n"));
}

TEST_CASE("JSON has the numbers of each kernel", "[inspect]") {
  const ShownText shown = AsJson(Program(), kSummary, "program.cubin");
  CHECK(shown.problems == 0);
  const auto file = FileIn(shown.text);
  CHECK(StringIn(file, "name") == "program.cubin");
  CHECK(StringIn(file, "kind") == "cubin");
  CHECK(StringIn(file, "type") == "relocatable");
  CHECK(StringIn(file, "arch") == "sm_80");
  CHECK(StringIn(file, "toolkit") == "13.0");
  CHECK(file.getInteger("size") == static_cast<std::int64_t>(Program().size()));
  const auto kernels = ListIn(file, "kernels");
  REQUIRE(kernels.size() == 1);
  CHECK(StringIn(kernels[0], "name") == "_Z4drawPi");
  CHECK(StringIn(kernels[0], "demangled") == "draw(int*)");
  CHECK(kernels[0].getInteger("registers") == 33);
  CHECK(kernels[0].getInteger("shared_bytes") == 64);
  const auto functions = ListIn(file, "functions");
  REQUIRE(functions.size() == 1);
  CHECK(functions[0].getInteger("registers") == 17);
  CHECK(functions[0].getInteger("frame_bytes") == 16);
  const auto undefined = ListIn(file, "undefined");
  REQUIRE(undefined.size() == 1);
  CHECK(StringIn(undefined[0], "name") == "_Z5shadei");
  CHECK(undefined[0].getBoolean("is_driver") == false);
  CHECK_FALSE(FileIn(AsJson(Program(), kSummary, "a", false).text).empty());
}

TEST_CASE("Symbols, relocations, attributes and the call graph have names", "[inspect]") {
  const ShownText shown = AsJson(Program(), inspect::Choice::Everything());
  CHECK(shown.problems == 0);
  const auto file = FileIn(shown.text);
  bool has_kernel = false;
  for (const auto& symbol : ListIn(file, "symbols")) {
    if (StringIn(symbol, "name") != "_Z4drawPi") continue;
    has_kernel = true;
    CHECK(StringIn(symbol, "type") == "FUNC");
    CHECK(StringIn(symbol, "binding") == "GLOBAL");
    CHECK(symbol.getBoolean("is_kernel") == true);
    CHECK(StringIn(symbol, "section") == ".text._Z4drawPi");
  }
  CHECK(has_kernel);
  bool has_relocation = false;
  for (const auto& relocation : ListIn(file, "relocations")) {
    has_relocation |= StringIn(relocation, "symbol") == "_Z5shadei" &&
                      StringIn(relocation, "type").starts_with("R_CUDA_");
  }
  CHECK(has_relocation);
  bool has_registers = false;
  for (const auto& attribute : ListIn(file, "attributes")) {
    if (StringIn(attribute, "attribute") != "REGCOUNT") continue;
    const auto* symbols = attribute.getArray("symbols");
    const auto* words = attribute.getArray("words");
    REQUIRE(symbols != nullptr);
    REQUIRE(words != nullptr);
    has_registers |=
        symbols->front().getAsString() == "_Z4drawPi" && words->front().getAsInteger() == 33;
  }
  CHECK(has_registers);
  const auto calls = ListIn(file, "call_graph");
  REQUIRE(calls.size() == 2);
  CHECK(StringIn(calls[0], "list") == "calls");
  CHECK(StringIn(calls[0], "from") == "_Z4drawPi");
  CHECK(StringIn(calls[1], "to") == "_Z5shadei");
  CHECK_FALSE(ListIn(file, "sections").empty());
  // An input has no segments, the builder's tool leaves no note.
  CHECK(ListIn(file, "segments").empty());
}

TEST_CASE("Each choice shows its own part", "[inspect]") {
  const ByteVector cubin = Golden("common.sm_90.1.cubin");
  const auto shows = [&](Choice choice, std::string_view title) {
    return Has(AsText(cubin, choice).text, title);
  };
  CHECK(shows({.headers = true}, "OS ABI: 0x41"));
  CHECK(shows({.sections = true}, "  sections\n"));
  CHECK(shows({.symbols = true}, "    .symtab\n"));
  CHECK(shows({.attributes = true}, "REGCOUNT"));
  CHECK(shows({.resources = true}, "  kernels\n"));
  CHECK(shows({.notes = true}, "ptxas"));
  CHECK(shows({.notes = true}, "  compatibility\n"));
  CHECK_FALSE(shows({.symbols = true}, "  sections\n"));
  CHECK_FALSE(shows({}, "kernels"));
}

TEST_CASE("A cubin with a Mercury view has two tables of symbols", "[inspect]") {
  const ShownText shown = AsJson(Golden("mercury/first.cubin"), inspect::Choice::Everything());
  CHECK(shown.problems == 0);
  const auto file = FileIn(shown.text);
  CHECK(file.getBoolean("has_mercury_view") == true);
  CHECK(StringIn(file, "arch").starts_with("sm_10"));
  std::vector<std::string> sass;
  std::vector<std::string> mercury;
  for (const auto& symbol : ListIn(file, "symbols")) {
    const bool is_sass = StringIn(symbol, "table") == ".symtab";
    if (StringIn(symbol, "type") != "SECTION") {
      (is_sass ? sass : mercury).push_back(StringIn(symbol, "name"));
    }
  }
  CHECK(sass == mercury);
  bool has_mercury_relocation = false;
  for (const auto& relocation : ListIn(file, "relocations")) {
    if (!StringIn(relocation, "type").starts_with("R_MERCURY_")) continue;
    has_mercury_relocation = true;
    CHECK(StringIn(relocation, "symbol") != "?");
  }
  CHECK(has_mercury_relocation);
}

TEST_CASE("Cubins of older toolkits say their release and architecture", "[inspect]") {
  const auto file = FileIn(AsJson(Golden("old_11_8.sm_75.1.cubin"), kSummary).text);
  CHECK(StringIn(file, "toolkit") == "11.8");
  CHECK(StringIn(file, "arch") == "sm_75");
  CHECK(StringIn(file, "virtual_arch") == "compute_75");
}

ByteVector TwoMembers() {
  FatbinWriter writer({.mode = FatbinCompressMode::kSize, .compress_all = true});
  REQUIRE(writer.AddCubin(Program(), Arch{.number = 80}).ok());
  REQUIRE(writer
              .AddPtx(".version 8.0\n.target sm_75\n.address_size 64\n"
                      ".visible .entry k(.param .u64 p) { ret; }\n"
                      ".extern .func (.param .b32 r) f(.param .b32 a);\n"
                      ".visible .const .align 4 .b8 w[16] = {1, 2};\n",
                      Arch{.number = 75}, "-O1 ")
              .ok());
  return *writer.Write();
}

TEST_CASE("A fat binary shows its members, unpacked", "[inspect]") {
  const auto file = FileIn(AsJson(TwoMembers(), kSummary, "two.fatbin").text);
  CHECK(StringIn(file, "kind") == "fatbin");
  const auto members = ListIn(file, "members");
  REQUIRE(members.size() == 2);
  CHECK(StringIn(members[0], "name") == "1.sm_80.cubin");
  CHECK(StringIn(members[0], "compression") == "zstd");
  CHECK(members[0].getInteger("uncompressed_size") == static_cast<std::int64_t>(Program().size()));
  CHECK(ListIn(members[0], "kernels").size() == 1);
  CHECK(StringIn(members[1], "name") == "2.compute_75.ptx");
  CHECK(StringIn(members[1], "options") == "-O1 ");
  CHECK(StringIn(members[1], "version") == "8.0");
  const auto declarations = ListIn(members[1], "declarations");
  REQUIRE(declarations.size() == 3);
  CHECK(StringIn(declarations[0], "kind") == "kernel");
  CHECK(StringIn(declarations[0], "name") == "k");
  CHECK(StringIn(declarations[1], "name") == "f");
  CHECK(declarations[1].getBoolean("is_defined") == false);
  CHECK(StringIn(declarations[2], "kind") == "constant");
  CHECK(StringIn(declarations[2], "name") == "w");
  const ShownText text = AsText(TwoMembers(), kSummary, "two.fatbin");
  CHECK(text.problems == 0);
  CHECK(Has(text.text, "two.fatbin: fatbin, 2 members, "));
  CHECK(Has(text.text, "  2.compute_75.ptx: PTX 8.0 for sm_75, "));
}

TEST_CASE("An archive shows objects, and these their ids and fat binaries", "[inspect]") {
  const ByteVector object =
      MakeHostObjectWithFatbin(TwoMembers(), {{".nvHRKE", ListBytes({"_Z4draw*"})}});
  const ByteVector archive = BuildArchive(
      {{"h.o", object}, {"t.o", BuildElf({{".text", "host"}})}, {"readme", ToBytes("text")}});
  const ShownText shown = AsJson(archive, kSummary, "lib.a");
  CHECK(shown.problems == 0);
  const auto members = ListIn(FileIn(shown.text), "members");
  REQUIRE(members.size() == 3);
  CHECK(StringIn(members[0], "kind") == "host-object");
  CHECK(StringIn(ListIn(members[0], "host_references").front(), "name") == "_Z4draw*");
  CHECK(ListIn(members[0], "fatbins").front().getInteger("members") == 2);
  CHECK(members[0].getArray("module_ids")->size() == 1);
  const auto code = ListIn(members[0], "members");
  REQUIRE(code.size() == 2);
  CHECK(StringIn(code[0], "address") == "h.o:1.sm_80.cubin");
  CHECK(StringIn(code[0], "section") == "__nv_relfatbin");
  CHECK(Has(AsText(archive, kSummary, "lib.a").text, "  t.o: an ELF object for the host, "));
  CHECK(StringIn(members[2], "kind") == "unknown");
}

TEST_CASE("Code for the whole program is found in programs, too", "[inspect]") {
  const ByteVector fatbin = TwoMembers();
  const ByteVector program =
      BuildElf({{".nv_fatbin", std::string(fatbin.begin(), fatbin.end())}}, {.type = 2});
  const auto file = FileIn(AsJson(program, kSummary, "program").text);
  CHECK(StringIn(file, "kind") == "host-file");
  CHECK(StringIn(ListIn(file, "members").front(), "section") == ".nv_fatbin");
}

TEST_CASE("LTO IR, PTX and bitcode are told apart", "[inspect]") {
  const auto lto = FileIn(AsJson(MakeLtoContainer(Arch{.number = 90}, "x"), kSummary).text);
  CHECK(StringIn(lto, "kind") == "lto-ir");
  CHECK(StringIn(lto, "arch") == "lto_90");
  CHECK(lto.getBoolean("is_protected") == false);
  CHECK(StringIn(FileIn(AsJson(ToBytes(".version 9.0\n.target sm_90\n"), kSummary).text), "kind") ==
        "ptx");
  CHECK(StringIn(FileIn(AsJson(ToBytes("BC\xc0\xde"), kSummary).text), "kind") == "bitcode");
}

TEST_CASE("What is nothing of the kind is a problem", "[inspect]") {
  for (const char* text : {"", "text"}) {
    const ShownText shown = AsJson(ToBytes(text), kSummary);
    CHECK(shown.problems == 1);
    CHECK(FileIn(shown.text).getArray("problems")->size() == 1);
    CHECK(Has(AsText(ToBytes(text), kSummary).text, "problem: "));
  }
}

TEST_CASE("Names cannot speak to terminals, nor break JSON", "[inspect]") {
  const std::string name = "k\x1b[2J\"\\\xff\n";
  const Cubin cubin = BuildCubin({.functions = {{.name = name, .kernel = true}}});
  const ShownText text = AsText(cubin, inspect::Choice::Everything(), "a\x1b.cubin");
  CHECK(text.text.find('\x1b') == std::string::npos);
  CHECK(Has(text.text, "k\\x1b[2J\"\\\\xff\\x0a"));
  const auto kernels = ListIn(FileIn(AsJson(cubin, inspect::Choice::Everything()).text), "kernels");
  CHECK(StringIn(kernels.front(), "name") == "k\x1b[2J\"\\\xef\xbf\xbd\n");
}

TEST_CASE("A summary stops after a screen, JSON does not", "[inspect]") {
  CubinSpec spec;
  for (int i = 0; i < 30; ++i) {
    spec.functions.push_back({.name = "k" + std::to_string(i), .kernel = true});
  }
  const Cubin cubin = BuildCubin(spec);
  const ShownText text = AsText(cubin, kSummary);
  CHECK(Has(text.text, "and 18 more\n"));
  CHECK_FALSE(Has(text.text, "k29"));
  CHECK(Has(AsText(cubin, {.resources = true}).text, "k29"));
  CHECK(ListIn(FileIn(AsJson(cubin, kSummary).text), "kernels").size() == 30);
}

}  // namespace
}  // namespace devlink::testing
