// SPDX-License-Identifier: Apache-2.0
//
// Fat binaries compared with NVIDIA's fatbinary and nvlink.
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "devlink/devlink.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::array<std::string_view, 23> kArchs = {
    "75",   "80",   "86",  "87",   "88",   "89",  "90",   "90a",  "100", "100a", "100f", "103",
    "103a", "103f", "110", "110a", "110f", "120", "120a", "120f", "121", "121a", "121f"};

Arch ArchOf(std::string_view number) { return *Arch::Parse("sm_" + std::string(number)); }

std::string PtxOf(std::string_view arch, const std::string& kernel) {
  return ".version 9.0\n.target sm_" + std::string(arch) + "\n.address_size 64\n.visible .entry " +
         kernel + "()\n{\n  ret; // nothing\n}\n";
}

// What nvlink does not look at without -lto.
Bytes FakeLtoIr() {
  Bytes out(64);
  out[0] = 0xed;
  out[1] = 0x43;
  out[2] = 0x4e;
  out[3] = 0x7f;
  out[4] = 1;
  out[5] = 0x41;
  return out;
}

class Tools {
 public:
  static std::optional<Tools> Find() {
    const auto toolkit = FindToolkit();
    if (!toolkit || toolkit->release != "13.0") return std::nullopt;
    Tools out;
    out.toolkit_ = *toolkit;
    out.fatbinary_ = (std::filesystem::path(toolkit->nvlink).parent_path() / "fatbinary").string();
    if (!std::filesystem::exists(out.fatbinary_)) return std::nullopt;
    return out;
  }

  std::string File(std::string_view name) const { return directory_.File(name); }

  // The path of a relocatable cubin with one kernel.
  std::string Cubin(std::string_view arch, const std::string& kernel) {
    const std::string name = std::string(arch) + "-" + kernel;
    const std::string path = File(name + ".cubin");
    if (!std::filesystem::exists(path)) {
      REQUIRE(WriteText(File(name + ".ptx"), PtxOf(arch, kernel)));
      REQUIRE(RunProcess({toolkit_.ptxas, "-c", "-arch", "sm_" + std::string(arch),
                          File(name + ".ptx"), "-o", path})
                  .ok());
    }
    return path;
  }

  Bytes Fatbinary(std::vector<std::string> arguments) const {
    const std::string path = File("theirs.fatbin");
    std::filesystem::remove(path);
    arguments.insert(arguments.begin(), {fatbinary_, "-64", "--create=" + path});
    RunProcess(arguments);
    return ReadBytes(path).value_or(Bytes());
  }

  struct Linked {
    bool missing = false;    // nvlink did not find the architecture
    bool needs_lto = false;  // it found LTO IR only
    std::string output;
  };
  Linked Link(const Bytes& fatbin, std::string_view target) const {
    const std::string input = File("in.fatbin");
    const std::string output = File("out.cubin");
    std::filesystem::remove(output);
    REQUIRE(WriteBytes(input, fatbin));
    const ProcessResult run =
        RunProcess({toolkit_.nvlink, "-arch", "sm_" + std::string(target), input, "-o", output},
                   std::chrono::seconds(20));
    Linked out;
    out.missing = run.err.find("not found in") != std::string::npos;
    out.needs_lto = run.err.find("LTO objects found") != std::string::npos;
    out.output = ReadText(output).value_or("");
    CAPTURE(run.err);
    CHECK((run.ok() || out.needs_lto));
    return out;
  }

 private:
  Tools() = default;
  Toolkit toolkit_;
  std::string fatbinary_;
  TemporaryDirectory directory_;
};

std::vector<std::string> Image(std::string_view kind, std::string_view arch,
                               const std::string& path) {
  return {"--image3=kind=" + std::string(kind) + ",sm=" + std::string(arch) + ",file=" + path};
}

// One text that fatbinary rewrites.
std::string RandomText(std::mt19937& random) {
  constexpr std::array<std::string_view, 17> kPieces = {" ",  " ",  "\t", "\n", "a",  "/",
                                                        "*",  "\"", "\\", "//", "/*", "*/",
                                                        "\r", "\f", "\v", ";",  "x"};
  std::string out = ".version 8.7\n";
  for (std::size_t i = random() % 40; i > 0; --i) out += kPieces[random() % kPieces.size()];
  return out;
}

// The same members, whatever compressed them.
void CheckSameContents(const Bytes& ours, const Bytes& theirs, std::size_t count) {
  const auto a = Fatbin::Parse(ours);
  const auto b = Fatbin::Parse(theirs);
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  REQUIRE(a->members().size() == count);
  REQUIRE(b->members().size() == count);
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(a->members()[i].raw_flags == b->members()[i].raw_flags);
    CHECK(a->members()[i].uncompressed_size == b->members()[i].uncompressed_size);
    CHECK((*a->Extract(a->members()[i]) == *b->Extract(b->members()[i])));
  }
}

TEST_CASE("What the writer makes is what fatbinary makes", "[fatbin][toolkit]") {
  auto tools = Tools::Find();
  if (!tools) DEVLINK_SKIP("no CUDA 13.0 toolkit; nothing was compared");
  REQUIRE(WriteText(tools->File("k.ptx"), PtxOf("90", "k")));
  REQUIRE(WriteBytes(tools->File("k.ltoir"), FakeLtoIr()));
  for (const std::string ident : {"", "seven77", "eight888", "nine99999"}) {
    for (const bool debug : {false, true}) {
      const std::string options = "--compile-only " + ident;
      FatbinWriter writer({FatbinCompressMode::kNone, false, debug, ident});
      std::vector<std::string> arguments = {"--compress-mode=none", "--cmdline=" + options,
                                            "--cicc-cmdline=-ftz=0 "};
      if (debug) arguments.emplace_back("-g");
      if (!ident.empty()) arguments.push_back("--ident=" + ident);
      for (const std::string_view arch : kArchs) {
        const std::string cubin = tools->Cubin(arch, "k");
        arguments.push_back(Image("elf", arch, cubin)[0]);
        arguments.push_back(Image("ptx", arch, tools->File("k.ptx"))[0]);
        arguments.push_back(Image("nvvm", arch, tools->File("k.ltoir"))[0]);
        REQUIRE(writer.AddCubin(*ReadBytes(cubin), ArchOf(arch)).ok());
        REQUIRE(writer.AddPtx(PtxOf("90", "k"), ArchOf(arch), options).ok());
        REQUIRE(writer.AddLtoIr(FakeLtoIr(), ArchOf(arch), "-ftz=0 ").ok());
      }
      CAPTURE(ident, debug);
      const auto ours = writer.Write();
      REQUIRE(ours.ok());
      CHECK((*ours == tools->Fatbinary(arguments)));
    }
  }
  std::mt19937 random(1);  // NOLINT: the same texts every time
  for (int i = 0; i < 100; ++i) {
    const std::string text = RandomText(random);
    CAPTURE(text);
    REQUIRE(WriteText(tools->File("r.ptx"), text));
    auto arguments = Image("ptx", "90", tools->File("r.ptx"));
    arguments.emplace_back("--compress-mode=none");
    FatbinWriter writer({FatbinCompressMode::kNone, false, false, ""});
    REQUIRE(writer.AddPtx(text, {90, 0}).ok());
    CHECK((*writer.Write() == tools->Fatbinary(arguments)));
  }
}

TEST_CASE("Compressed members hold the same code", "[fatbin][toolkit]") {
  auto tools = Tools::Find();
  if (!tools) DEVLINK_SKIP("no CUDA 13.0 toolkit; nothing was compared");
  const std::map<std::string, FatbinCompressMode> modes = {
      {"default", FatbinCompressMode::kDefault},
      {"balance", FatbinCompressMode::kDefault},
      {"size", FatbinCompressMode::kSize},
      {"speed", FatbinCompressMode::kSpeed}};
  const std::string cubin = tools->Cubin("100", "k");
  REQUIRE(WriteText(tools->File("k.ptx"), PtxOf("90", "k")));
  for (const auto& [name, mode] : modes) {
    for (const bool all : {false, true}) {
      CAPTURE(name, all);
      std::vector<std::string> arguments = {"--compress-mode=" + name,
                                            Image("elf", "100", cubin)[0],
                                            Image("ptx", "90", tools->File("k.ptx"))[0]};
      if (all) arguments.emplace_back("--compress-all");
      const Bytes theirs = tools->Fatbinary(arguments);
      FatbinWriter writer({mode, all, false, ""});
      REQUIRE(writer.AddCubin(*ReadBytes(cubin), {100, 0}).ok());
      REQUIRE(writer.AddPtx(PtxOf("90", "k"), {90, 0}).ok());
      const auto ours = writer.Write();
      REQUIRE(ours.ok());
      CheckSameContents(*ours, theirs, 2);
      // nvlink reads what we compressed.
      CHECK(tools->Link(*ours, "100").output.find('_') != std::string::npos);
    }
  }
}

TEST_CASE("Cubins above ten million bytes are compressed", "[fatbin][toolkit]") {
  auto tools = Tools::Find();
  if (!tools) DEVLINK_SKIP("no CUDA 13.0 toolkit; nothing was compared");
  Bytes cubin = *ReadBytes(tools->Cubin("90", "k"));
  for (const std::size_t size : {10'000'000, 10'000'001}) {
    for (const auto& [name, mode] : {std::pair{"default", FatbinCompressMode::kDefault},
                                     {"speed", FatbinCompressMode::kSpeed},
                                     {"none", FatbinCompressMode::kNone}}) {
      CAPTURE(size, name);
      cubin.resize(size);
      REQUIRE(WriteBytes(tools->File("large.cubin"), cubin));
      const Bytes theirs = tools->Fatbinary({"--compress-mode=" + std::string(name),
                                             Image("elf", "90", tools->File("large.cubin"))[0]});
      FatbinWriter writer({mode, false, false, ""});
      REQUIRE(writer.AddCubin(cubin, {90, 0}).ok());
      const auto ours = writer.Write();
      REQUIRE(ours.ok());
      CheckSameContents(*ours, theirs, 1);
    }
  }
}

struct Member {
  CodeKind kind = CodeKind::kOther;
  std::string_view arch;
  std::string kernel;
};

Member RandomMember(std::mt19937& random) {
  constexpr std::array kKinds = {CodeKind::kSass, CodeKind::kSass, CodeKind::kSass, CodeKind::kPtx,
                                 CodeKind::kPtx,  CodeKind::kPtx,  CodeKind::kNvvm};
  Member out;
  out.kind = kKinds[random() % kKinds.size()];
  out.arch = kArchs[random() % kArchs.size()];
  // Two of each kind and architecture, so that the order of equals shows.
  out.kernel = (out.kind == CodeKind::kSass ? "sass_" : "ptx_") + std::string(out.arch) + "_" +
               std::to_string(random() % 2);
  return out;
}

void CheckChoice(Tools& tools, const std::vector<Member>& members, std::string_view target) {
  FatbinWriter writer({FatbinCompressMode::kNone, false, false, ""});
  std::string all;
  for (const Member& member : members) {
    const Arch arch = ArchOf(member.arch);
    absl::Status status;
    if (member.kind == CodeKind::kSass) {
      status = writer.AddCubin(*ReadBytes(tools.Cubin(member.arch, member.kernel)), arch);
    } else if (member.kind == CodeKind::kPtx) {
      status = writer.AddPtx(PtxOf(member.arch, member.kernel), arch);
    } else {
      status = writer.AddLtoIr(FakeLtoIr(), arch);
    }
    REQUIRE(status.ok());
    all +=
        (member.kind == CodeKind::kNvvm ? "lto_" + std::string(member.arch) : member.kernel) + " ";
  }
  CAPTURE(all, target);
  const auto bytes = writer.Write();
  REQUIRE(bytes.ok());
  const auto fatbin = Fatbin::Parse(*bytes);
  REQUIRE(fatbin.ok());
  const CodeChoice choice = ChooseCode(fatbin->Candidates(), ArchOf(target));
  const Tools::Linked theirs = tools.Link(*bytes, target);
  CHECK(theirs.needs_lto == choice.needs_lto);
  CHECK(theirs.missing == (!choice.index && !choice.needs_lto));
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].kind == CodeKind::kNvvm) continue;
    CAPTURE(members[i].kernel);
    const bool taken = choice.index && members[i].kernel == members[*choice.index].kernel;
    CHECK((theirs.output.find(members[i].kernel) != std::string::npos) == taken);
  }
}

TEST_CASE("nvlink takes what ChooseCode chooses", "[fatbin][toolkit]") {
  auto tools = Tools::Find();
  if (!tools) DEVLINK_SKIP("no CUDA 13.0 toolkit; nothing was compared");
  std::mt19937 random(2);  // NOLINT: the same choices every time
  SECTION("of one") {
    for (int i = 0; i < 200; ++i) {
      CheckChoice(*tools, {RandomMember(random)}, kArchs[random() % kArchs.size()]);
    }
  }
  SECTION("of several") {
    for (int i = 0; i < 120; ++i) {
      std::vector<Member> members(2 + random() % 6);
      for (Member& member : members) member = RandomMember(random);
      CheckChoice(*tools, members, kArchs[random() % kArchs.size()]);
    }
  }
  SECTION("of several for close architectures") {
    for (int i = 0; i < 120; ++i) {
      std::vector<Member> members(2 + random() % 4);
      const std::size_t first = random() % (kArchs.size() - 5);
      const auto pick = [&] { return kArchs[first + random() % 6]; };
      for (Member& member : members) {
        member = RandomMember(random);
        member.arch = pick();
        member.kernel = (member.kind == CodeKind::kSass ? "sass_" : "ptx_") +
                        std::string(member.arch) + "_" + std::to_string(random() % 2);
      }
      CheckChoice(*tools, members, pick());
    }
  }
}

}  // namespace
}  // namespace devlink::testing
