// SPDX-License-Identifier: Apache-2.0
//
// Which member of a fat binary is linked: by libdevlink's rules, and by nvlink itself. Every member
// has a kernel of its own name, so that nvlink's output says which one it took.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devlink-diff/cubin_view.h"
#include "devlink/devlink.h"
#include "support/catch.h"
#include "support/fatbin_builder.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

using diff::CubinView;
using diff::ViewCubin;
using diff::ViewSection;

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

constexpr std::array<std::string_view, 23> kArchs = {
    "75",   "80",   "86",  "87",   "88",   "89",  "90",   "90a",  "100", "100a", "100f", "103",
    "103a", "103f", "110", "110a", "110f", "120", "120a", "120f", "121", "121a", "121f"};

Arch ArchOf(std::string_view name) { return *Arch::Parse(Cat("sm_", name)); }

std::string NameOf(Arch arch) { return arch.Name().substr(3); }

// A directory with codes to choose from, made when they are first asked for.
class Codes {
 public:
  explicit Codes(const Toolkit& toolkit) : toolkit_(toolkit) {
    const fs::path home = fs::path(toolkit.nvlink).parent_path().parent_path();
    for (const fs::path& place : {home, home / "nvvm"}) {
      if (fs::exists(place / "lib64" / "libnvvm.so")) nvvm_ = place.string();
    }
  }

  [[nodiscard]] bool CanLto() const { return !nvvm_.empty(); }

  // The name of the kernel in a code; copies of the same code differ in it. LTO IR has its name
  // from its copy alone: nvlink believes the member's header.
  static std::string Kernel(CodeKind kind, Arch arch, int copy) {
    if (kind == CodeKind::kNvvm) return Cat("lto_", copy);
    return Cat(kind == CodeKind::kPtx ? "ptx_" : "sass_", NameOf(arch), "_", copy);
  }

  const Bytes& Get(CodeKind kind, Arch arch, int copy) {
    const std::string name = Kernel(kind, arch, copy);
    const auto found = codes_.find(name);
    if (found != codes_.end()) return found->second;
    Bytes code;
    if (kind == CodeKind::kNvvm) {
      code = Compile(name, ".cu", Cat("extern \"C\" __global__ void ", name, "() {}"),
                     {toolkit_.nvcc, "-dc", "-dlto", "-arch=sm_75", "-ltoir"});
    } else {
      const std::string text =
          Cat(".version 9.0\n.target sm_", NameOf(arch), "\n.address_size 64\n.visible .entry ",
              name, "(.param .u64 p) { ret; }\n");
      if (kind == CodeKind::kPtx) {
        code.assign(text.begin(), text.end());
        code.push_back(0);
      } else {
        code = Compile(name, ".ptx", text, {toolkit_.ptxas, "-c", Cat("-arch=", arch.Name())});
      }
    }
    return codes_.emplace(name, std::move(code)).first->second;
  }

  Bytes Member(const CodeCandidate& candidate, int copy) {
    FatbinBuilder member;
    const Bytes& code = Get(candidate.kind, candidate.arch, copy);
    member.kind = candidate.kind;
    member.arch = candidate.arch;
    member.is_64bit = candidate.is_64bit;
    if (candidate.kind == CodeKind::kSass && candidate.has_compat_record) {
      const CubinView view = ViewCubin(code);
      if (const ViewSection* compat = view.Find(".nv.compat"); compat != nullptr) {
        member.compat.assign(compat->data.begin(), compat->data.end());
      }
    }
    return member.Member(code);
  }

  struct Outcome {
    int exit_status = 0;
    std::string messages;
    std::optional<Bytes> cubin;
  };

  // Links the named files of the directory.
  Outcome Link(const std::string& target, CodeChoiceOptions options,
               const std::vector<std::string>& inputs) {
    const std::string output = directory_.File("linked.cubin");
    std::error_code ignored;
    fs::remove(output, ignored);
    std::vector<std::string> command = {toolkit_.nvlink, Cat("-arch=", target), "-o", output};
    if (options.lto) command.insert(command.end(), {"-lto", Cat("-nvvmpath=", nvvm_)});
    for (const std::string& input : inputs) command.push_back(directory_.File(input));
    const ProcessResult run = RunProcess(command);
    return {run.exit_status, run.out + run.err, ReadBytes(output)};
  }

  void Write(const std::string& name, const Bytes& bytes) {
    REQUIRE(WriteBytes(directory_.File(name), bytes));
  }

  [[nodiscard]] std::string Path(const std::string& name) const { return directory_.File(name); }

 private:
  Bytes Compile(const std::string& name, std::string_view extension, const std::string& source,
                std::vector<std::string> command) {
    const std::string input = directory_.File(Cat(name, extension));
    const std::string output = directory_.File(Cat(name, ".out"));
    REQUIRE(WriteText(input, source));
    command.insert(command.end(), {"-o", output, input});
    const ProcessResult run = RunProcess(command);
    CAPTURE(run.err);
    REQUIRE(run.ok());
    return ReadBytes(output).value_or(Bytes{});
  }

  Toolkit toolkit_;
  TemporaryDirectory directory_;
  std::map<std::string, Bytes> codes_;
  std::string nvvm_;
};

constexpr std::string_view kNoLto = "LTO objects found, use -dlto";
constexpr std::string_view kTooLong = "specified arch exceeds buffer length";

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

struct Sweep {
  CodeCandidate candidate;
  CodeChoiceOptions options;
};

// Fat binaries of one member each, all in one link: nvlink warns of those that it finds nothing in.
void CompareWithNvlink(Codes& codes, const Sweep& sweep, Arch target) {
  std::vector<std::string> files;
  std::vector<CodeCandidate> candidates;  // as the reader gives them
  for (const std::string_view name : kArchs) {
    CodeCandidate candidate = sweep.candidate;
    candidate.arch = ArchOf(name);
    files.push_back(Cat("member_", name, ".fatbin"));
    const Bytes bytes = FatbinBuilder::Container({codes.Member(candidate, 0)});
    codes.Write(files.back(), bytes);
    const auto fatbin = Fatbin::Parse(bytes);
    REQUIRE(fatbin.ok());
    REQUIRE(fatbin->members().size() == 1);
    candidates.push_back(fatbin->Candidates().front());
  }
  const std::string target_name =
      Cat(sweep.options.virtual_target ? "compute_" : "sm_", NameOf(target));
  const Codes::Outcome outcome = codes.Link(target_name, sweep.options, files);
  CAPTURE(target_name, outcome.messages);
  for (std::size_t i = 0; i < kArchs.size(); ++i) {
    CAPTURE(static_cast<int>(candidates[i].kind), kArchs[i], sweep.options.lto);
    const bool missing = Has(outcome.messages, Cat("SM Arch ('", target_name, "') not found in '",
                                                   codes.Path(files[i]), "'"));
    CHECK(ChooseCode({&candidates[i], 1}, target, sweep.options).index.has_value() != missing);
  }
}

TEST_CASE("Each member is taken for the targets for which nvlink takes it", "[code_choice]") {
  const auto toolkit = FindToolkit();
  if (!toolkit || toolkit->release != "13.0") DEVLINK_SKIP("no CUDA 13.0 toolkit");
  Codes codes(*toolkit);
  std::vector<Sweep> sweeps = {
      {{CodeKind::kSass, {}, true, true}, {}},
      {{CodeKind::kSass, {}, true, false}, {}},
      {{CodeKind::kPtx, {}, true, true}, {}},
  };
  if (codes.CanLto()) {
    sweeps.push_back({{CodeKind::kSass, {}, true, true}, {.lto = true}});
    sweeps.push_back({{CodeKind::kPtx, {}, true, true}, {.lto = true}});
    // All have the same kernel, and the link fails at its end; the choices were made before.
    sweeps.push_back({{CodeKind::kNvvm, {}, true, true}, {.lto = true}});
    sweeps.push_back({{CodeKind::kNvvm, {}, true, true}, {.lto = true, .virtual_target = true}});
  }
  for (const Sweep& sweep : sweeps) {
    for (const std::string_view target : kArchs) CompareWithNvlink(codes, sweep, ArchOf(target));
  }
  // With the numbers of three digits nvlink itself fails; what it means shows in those of two.
  for (const std::string_view target : {"75", "80", "86", "87", "88", "89", "90", "90a"}) {
    for (const CodeKind kind : {CodeKind::kSass, CodeKind::kPtx, CodeKind::kNvvm}) {
      if (kind == CodeKind::kNvvm && !codes.CanLto()) continue;
      CompareWithNvlink(codes, {{kind, {}, true, true}, {.virtual_target = true}}, ArchOf(target));
      if (!codes.CanLto()) continue;
      CompareWithNvlink(codes, {{kind, {}, true, true}, {.lto = true, .virtual_target = true}},
                        ArchOf(target));
    }
  }
}

TEST_CASE("nvlink fails for virtual targets of three digits", "[code_choice]") {
  const auto toolkit = FindToolkit();
  if (!toolkit || toolkit->release != "13.0") DEVLINK_SKIP("no CUDA 13.0 toolkit");
  Codes codes(*toolkit);
  const CodeCandidate ptx = {CodeKind::kPtx, ArchOf("80"), true, true};
  codes.Write("one.fatbin", FatbinBuilder::Container({codes.Member(ptx, 0)}));
  const Codes::Outcome outcome = codes.Link("compute_100", {}, {"one.fatbin"});
  CHECK(outcome.exit_status == 1);
  CHECK(Has(outcome.messages, kTooLong));
  CHECK(ChooseCode({&ptx, 1}, ArchOf("100"), {.virtual_target = true}).index == 0U);
}

TEST_CASE("What the compatibility record says goes before the header", "[code_choice]") {
  const auto toolkit = FindToolkit();
  if (!toolkit || toolkit->release != "13.0") DEVLINK_SKIP("no CUDA 13.0 toolkit");
  Codes codes(*toolkit);
  const CodeCandidate specific = {CodeKind::kSass, ArchOf("100a"), true, true};
  Bytes bytes = FatbinBuilder::Container({codes.Member(specific, 0)});
  constexpr std::size_t kVariants = 16 + 0x28 + 2;
  REQUIRE(bytes[kVariants] == 0x10);
  bytes[kVariants] = 0;  // sm_100, says the header
  codes.Write("one.fatbin", bytes);
  const auto fatbin = Fatbin::Parse(bytes);
  REQUIRE(fatbin.ok());
  CHECK(fatbin->members().front().arch == ArchOf("100"));
  for (const std::string_view target : {"100", "100f", "103"}) {
    CAPTURE(target);
    const Codes::Outcome outcome = codes.Link(Cat("sm_", target), {}, {"one.fatbin"});
    CHECK(ChooseCode(fatbin->Candidates(), ArchOf(target)).index.has_value() ==
          !Has(outcome.messages, "not found in"));
  }
}

// --- several members ---------------------------------------------------------------------------

struct Candidates {
  std::vector<CodeCandidate> codes;
  std::vector<int> copies;  // which copy of the code each one is
};

class RandomCandidates {
 public:
  RandomCandidates(std::uint32_t seed, bool with_lto) : random_(seed), with_lto_(with_lto) {}

  Arch Target() { return ArchOf(kArchs[random_() % kArchs.size()]); }
  bool Chance(unsigned percent) { return random_() % 100 < percent; }

  // Mostly near the target, often several of the same kind and architecture.
  Candidates Make(Arch target, bool lto) {
    std::vector<std::string_view> pool(kArchs.begin(), kArchs.end());
    if (Chance(70)) {
      std::erase_if(pool, [&](std::string_view name) {
        return std::abs(ArchOf(name).number - target.number) > (target.number >= 90 ? 4 : 10);
      });
    }
    if (Chance(40)) {
      std::shuffle(pool.begin(), pool.end(), random_);
      pool.resize(std::min<std::size_t>(pool.size(), 2));
    }
    Candidates out;
    std::map<std::string, int> used;
    for (unsigned n = 1 + random_() % 7; n > 0; --n) {
      CodeCandidate code;
      code.kind = Chance(50) ? CodeKind::kSass : CodeKind::kPtx;
      if (with_lto_ && Chance(lto ? 30 : 8)) code.kind = CodeKind::kNvvm;
      code.arch = ArchOf(pool[random_() % pool.size()]);
      code.is_64bit = !Chance(5);
      code.has_compat_record =
          code.kind == CodeKind::kSass && code.arch.number >= 100 && !Chance(15);
      int& copy =
          used[code.kind == CodeKind::kNvvm ? "lto" : Codes::Kernel(code.kind, code.arch, 0)];
      if (copy == 3) continue;
      out.codes.push_back(code);
      out.copies.push_back(copy++);
    }
    return out;
  }

 private:
  std::mt19937 random_;
  bool with_lto_;
};

// Names of the kernels in what nvlink wrote.
std::set<std::string> Kernels(const std::optional<Bytes>& cubin) {
  std::set<std::string> out;
  if (!cubin) return out;
  constexpr std::string_view kText = ".text.";
  for (const ViewSection& section : ViewCubin(*cubin).sections) {
    if (section.name.starts_with(kText)) out.insert(section.name.substr(kText.size()));
  }
  return out;
}

std::string Describe(const Candidates& candidates, Arch target, CodeChoiceOptions options) {
  std::string out = Cat(target.Name(), options.lto ? " -lto" : "", ":");
  for (std::size_t i = 0; i < candidates.codes.size(); ++i) {
    const CodeCandidate& code = candidates.codes[i];
    Append(out, " ", Codes::Kernel(code.kind, code.arch, candidates.copies[i]), "/",
           NameOf(code.arch), code.is_64bit ? "" : "/32-bit",
           code.has_compat_record ? "" : "/no record");
  }
  return out;
}

TEST_CASE("Of several members the one is taken that nvlink takes", "[code_choice]") {
  const auto toolkit = FindToolkit();
  if (!toolkit || toolkit->release != "13.0") DEVLINK_SKIP("no CUDA 13.0 toolkit");
  Codes codes(*toolkit);
  RandomCandidates random(20260114, codes.CanLto());
  int taken = 0;
  for (int i = 0; i < 300; ++i) {
    const Arch target = random.Target();
    const CodeChoiceOptions options = {.lto = codes.CanLto() && random.Chance(30)};
    const Candidates candidates = random.Make(target, options.lto);
    if (candidates.codes.empty()) continue;
    std::vector<Bytes> members;
    for (std::size_t m = 0; m < candidates.codes.size(); ++m) {
      members.push_back(codes.Member(candidates.codes[m], candidates.copies[m]));
    }
    const Bytes bytes = FatbinBuilder::Container(members);
    codes.Write("several.fatbin", bytes);
    const auto fatbin = Fatbin::Parse(bytes);
    REQUIRE(fatbin.ok());
    const Codes::Outcome outcome = codes.Link(target.Name(), options, {"several.fatbin"});
    const CodeChoice choice = ChooseCode(fatbin->Candidates(), target, options);
    CAPTURE(Describe(candidates, target, options), outcome.messages);
    std::set<std::string> expected;
    if (choice.index) {
      ++taken;
      const CodeCandidate& code = candidates.codes[*choice.index];
      expected.insert(Codes::Kernel(code.kind, code.arch, candidates.copies[*choice.index]));
    }
    CHECK(Kernels(outcome.cubin) == expected);
    CHECK(Has(outcome.messages, kNoLto) == choice.needs_lto);
    CHECK(Has(outcome.messages, "not found in '") == (!choice.index && !choice.needs_lto));
  }
  CHECK(taken > 100);
}

}  // namespace
}  // namespace devlink::testing
