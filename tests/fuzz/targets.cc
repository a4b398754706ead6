// SPDX-License-Identifier: Apache-2.0
#include "fuzz/targets.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "absl/status/status.h"
#include "devlink/arch.h"
#include "devlink/experimental/code_choice.h"
#include "devlink/experimental/fatbin_writer.h"
#include "format/nvlink_text.h"
#include "support/elf_builder.h"
#include "support/fatbin_builder.h"
#include "support/host_object.h"
#include "support/linked_file.h"
#include "support/lto_container.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

using Seeds = std::vector<std::vector<std::uint8_t>>;

constexpr int kSm = 80;

Cubin Small() {
  return BuildCubin(
      {.functions = {{.name = "k", .calls = {"f"}, .kernel = true, .static_shared = 8},
                     {.name = "f", .weak = true, .frame = 16}},
       .global_bytes = 16});
}

Seeds CubinSeeds() {
  return {Small(), BuildCubin({.sm = 75, .functions = {{.name = "k", .kernel = true}}}),
          BuildCubin({.sm = 90, .functions = {{.name = "f", .calls = {"f", "g"}}}})};
}

std::vector<std::uint8_t> SmallFatbin(FatbinCompressMode mode) {
  FatbinWriter writer({.mode = mode, .compress_all = mode != FatbinCompressMode::kNone});
  const bool added =
      writer.AddCubin(Small(), Arch{.number = kSm}).ok() &&
      writer.AddPtx(".version 8.0\n.target sm_75\n.address_size 64\n", Arch{.number = 75}, "-O1 ")
          .ok();
  Expect(added, "a seed that cannot be made");
  return *writer.Write();
}

Seeds FatbinSeeds() {
  return {SmallFatbin(FatbinCompressMode::kNone), SmallFatbin(FatbinCompressMode::kSize),
          SmallFatbin(FatbinCompressMode::kSpeed)};
}

ByteVector SmallObject() {
  return MakeHostObject(Small(), kSm, {{".nvHRKE", ListBytes({"k*"})}, {".nvHRKI", ListBytes({})}});
}

Seeds HostObjectSeeds() {
  return {SmallObject(), BuildElf({{".text", "host"}}),
          BuildHostObject(EmptyFatbin(), "_id_1", {.big_endian = true})};
}

Seeds ArchiveSeeds() {
  return {BuildArchive({{"k.cubin", Small()}}),
          BuildArchive({{"t.o", BuildElf({{".text", "host"}})}, {"h.o", SmallObject()}}),
          BuildThinArchive({{"a.o", 4}, {"b.o", 70}})};
}

Seeds InspectSeeds() {
  Seeds out = CubinSeeds();
  out.push_back(SmallFatbin(FatbinCompressMode::kSize));
  out.push_back(SmallObject());
  out.push_back(BuildArchive({{"k.cubin", Small()}, {"t.o", BuildElf({{".text", "host"}})}}));
  out.push_back(ToBytes(".version 8.0\n.target sm_75\n.visible .entry k() { ret; }\n"));
  return out;
}

Seeds LtoSeeds() { return {MakeLtoContainer(Arch{.number = 90}, "not bitcode")}; }

Seeds OptionTextSeeds() {
  return {ToBytes("-O3 --maxrregcount 32 -lineinfo"),
          ToBytes("-ftz=1 -prec_div=0 -prec_sqrt=0 -fmad=1 -maxreg 64\n-split-compile 4"),
          ToBytes("\"a b\" 'c' d\\ e -I/etc/passwd")};
}

Seeds OptionFileSeeds() {
  return {ToBytes("-arch=sm_80\n-o\na.out\n-lfoo\n-L/usr/lib\nb.o"),
          ToBytes("-arch\nsm_90a\n-optf=again\n--report=r.json\n-Xptxas=-O1,-v"),
          ToBytes("0x10\n-kernels-used\n\"a,b\",c")};
}

Seeds RegisterFileSeeds() {
  return {ToBytes("_id_1\n_id_2\nliba.a:b.o"), ToBytes(std::string("_Z6kern*\0*Pi*i\0\0", 16))};
}

Seeds AttributeSeeds() {
  return {
      ToBytes(std::string("\x04\x11\x08\x00\x01\x00\x00\x00\x10\x00\x00\x00\x03\x1b\xff\x00", 16)),
      ToBytes(std::string("\x00\x00\x00\x00\xff\xff\xff\xff\x01\x00\x00\x00\x02\x00\x00\x00", 16)),
      ToBytes(std::string("\x02\x09\x00\x00\x02\x02\x01\x00", 8))};
}

// Numbers for the models: any will do, these reach several of their branches.
Seeds ModelSeeds() {
  Seeds out;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    std::vector<std::uint8_t>& bytes = out.emplace_back();
    unsigned state = seed * 2654435761U;
    for (int i = 0; i < 160; ++i) {
      state = state * 1103515245U + 12345U;
      bytes.push_back(static_cast<std::uint8_t>(state >> 16));
    }
  }
  return out;
}

// A capsule of four instructions: long records, a short one, one that is not there.
Seeds CapsuleSeeds() {
  std::string capsule("\x02\x01\x01\x07\0\0\0\x01\0\0\xc0\x04\0\0\0\x01\0\0\0", 19);
  capsule += '\x02' + std::string(31, '\0') + '\x41' + std::string(3, '\0') + '\x02' +
             std::string(31, '\0');
  return {ToBytes(capsule)};
}

// A unit of two sequences that set an address, advance and end.
Seeds LineSeeds() {
  const std::string header("\x02\0\x11\0\0\0\x01\x01\xfb\x0e\x0a\0\x01\x01\x01\x01\0\0\0\x01\0\0\0",
                           23);
  const std::string sequence(
      "\0\x09\x02\0\0\0\0\0\0\0\0\x03\x02\x09\x10\0\x01\x02\x81\x01\0\x01\x01", 23);
  const std::string unit = header + sequence + sequence;
  std::string table(1, '\x01');
  table += static_cast<char>(unit.size());
  return {ToBytes(table + std::string(3, '\0') + unit)};
}

// Two functions, each with a head of its own.
Seeds FrameSeeds() {
  const std::string length("\xff\xff\xff\xff\x14\0\0\0\0\0\0\0", 12);
  const std::string head =
      length + std::string(8, '\xff') + std::string("\x03\0\x04\x7c\xff\x0f\0\0\0\0\0\0", 12);
  std::string code("\xff\xff\xff\xff\x20\0\0\0\0\0\0\0", 12);
  code += std::string(16, '\0') + std::string("\x80\x01\0\0\0\0\0\0\x04\x04\0\0\0\x04\x1c\0", 16);
  return {ToBytes("\x01" + head + code + head + code)};
}

// A function, two ranges of a variable's register.
Seeds RegisterRangeSeeds() {
  const std::string range("\x01\0\0\0v\0\x04\0\0\x01\0\0\0\0\x10\0\0\0", 18);
  return {ToBytes(std::string("k\0\x02\0\0\0", 6) + range + range)};
}

Seeds LinkedFileSeeds() {
  return {WriteLinkedFile({}), WriteLinkedFile({.tool = "a", .with_names = true}),
          WriteLinkedFile({.room_before_symbols = 77}),
          WriteLinkedFile({.with_names = true, .records = RecordsOfOne()})};
}

// No change; one of a section header, of a section, of any byte.
Seeds ViewSeeds() {
  return {{0},
          {1},
          {3},
          {0, 0x40, 9, 3, 1, 0, 0, 0},
          {1, 0xa0, 7, 0, 0xff, 0, 0, 0},
          {2, 0x01, 80, 1, 3, 3, 3, 3}};
}

// The same, with all code, one function and every other one as the part.
Seeds PartInputSeeds() {
  return {{0, 0xff},
          {0, 0x01},
          {1, 0x55},
          {2, 0xaa},
          {0, 0x0f, 0x40, 9, 3, 1, 0, 0, 0},
          {1, 0x01, 0xa0, 7, 0, 0xff, 0, 0, 0},
          {2, 0x55, 0x01, 80, 1, 3, 3, 3, 3}};
}

constexpr std::array kTargets = {
    FuzzTarget{"api", FuzzApi, ModelSeeds},
    FuzzTarget{"archive", FuzzArchive, ArchiveSeeds},
    FuzzTarget{"attributes", FuzzAttributes, AttributeSeeds},
    FuzzTarget{"capsule", FuzzCapsule, CapsuleSeeds},
    FuzzTarget{"cubin", FuzzCubin, CubinSeeds},
    FuzzTarget{"fatbin", FuzzFatbin, FatbinSeeds},
    FuzzTarget{"frames", FuzzFrames, FrameSeeds},
    FuzzTarget{"host_object", FuzzHostObject, HostObjectSeeds},
    FuzzTarget{"inspect", FuzzInspect, InspectSeeds},
    FuzzTarget{"joined", FuzzJoined, ViewSeeds},
    FuzzTarget{"lines", FuzzLines, LineSeeds},
    FuzzTarget{"link", FuzzLink, ModelSeeds},
    FuzzTarget{"linked_file", FuzzLinkedFile, LinkedFileSeeds},
    FuzzTarget{"lto_container", FuzzLtoContainer, LtoSeeds},
    FuzzTarget{"option_file", FuzzOptionFile, OptionFileSeeds},
    FuzzTarget{"option_text", FuzzOptionText, OptionTextSeeds},
    FuzzTarget{"part_input", FuzzPartInput, PartInputSeeds},
    FuzzTarget{"register_file", FuzzRegisterFile, RegisterFileSeeds},
    FuzzTarget{"register_ranges", FuzzRegisterRanges, RegisterRangeSeeds},
    FuzzTarget{"views", FuzzViews, ViewSeeds},
};

}  // namespace

std::span<const FuzzTarget> FuzzTargets() { return kTargets; }

const FuzzTarget* FindFuzzTarget(std::string_view name) {
  const auto* found = std::find_if(kTargets.begin(), kTargets.end(),
                                   [&](const FuzzTarget& target) { return target.name == name; });
  return found == kTargets.end() ? nullptr : found;
}

LinkOutcome LinkFuzzed(std::span<const std::vector<std::uint8_t>> inputs, LinkOptions options) {
  options.max_memory_bytes = std::uint64_t{256} << 20;
  auto session = LinkSession::Create(std::move(options));
  Expect(session.ok(), "no session");
  bool added = true;
  for (const std::vector<std::uint8_t>& input : inputs) {
    added &= session->AddCubin("fuzzed", std::span<const std::uint8_t>(input)).ok();
  }
  LinkOutcome outcome = session->Link();
  if (!added || !outcome.ok()) Expect(!outcome.diagnostics.empty(), "refused without a word");
  if (!added) outcome.status = absl::InvalidArgumentError("an input was refused");
  for (const Diagnostic& diagnostic : outcome.diagnostics) {
    // nvlink's words for what refers to a symbol that a linked cubin does not have.
    if (diagnostic.text == format::nvlink_text::kDeletedSymbol) continue;
    Expect(diagnostic.text.find("Internal error") == std::string::npos, diagnostic.text);
  }
  return outcome;
}

void Expect(bool holds, std::string_view what) {
  if (!holds) throw std::logic_error(std::string(what));
}

}  // namespace devlink::testing
