// SPDX-License-Identifier: Apache-2.0
//
// A weak function with jump tables in several files, of which one body stays: that body's table
// stays with it, in whatever order the files come and whatever the others have. nvlink writes the
// places of a replaced body, or zeros, over it (docs/compatibility.md).
#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devlink-diff/cubin_view.h"
#include "devlink/devlink.h"
#include "random/link_pair.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Body {
  int entries = 0;  // of the table; 0: there is none
  int values = 0;   // that are kept in registers, so that another body may replace it
  int stores = 0;   // before the table is used, which move all that it leads to
};

// The first needs the most registers, the last two the fewest.
constexpr std::array<Body, 5> kBodies = {Body{6, 20, 0}, Body{7, 10, 8}, Body{7, 10, 0},
                                         Body{8, 0, 0}, Body{0, 0, 0}};

std::string TextOf(const Body& body, bool is_kernel, std::string_view target) {
  constexpr std::array<std::string_view, 8> kCases = {
      "mul.lo.s32 x, x, 7", "shl.b32 x, x, 3", "xor.b32 x, x, 77", "popc.b32 x, x",
      "brev.b32 x, x",      "clz.b32 x, x",    "sub.s32 x, 7, x",  "mul.hi.s32 x, x, x"};
  std::string out = Cat(".version 9.0\n.target ", target, "\n.address_size 64\n.weak .",
                        is_kernel ? "entry" : "func", " f(.param .u64 a)\n{\n",
                        " .reg .b32 x, y, v<40>; .reg .b64 b; ld.param.u64 b, [a];\n");
  for (int i = 0; i < body.values; ++i) {
    Append(out, " ld.volatile.global.u32 v", i, ", [b+", 8 + 4 * i, "];\n");
  }
  out += " ld.volatile.global.u32 x, [b]; ld.volatile.global.u32 y, [b+4];\n";
  for (int i = 0; i < body.stores; ++i) {
    Append(out, " st.volatile.global.u32 [b+", 400 + 4 * i, "], x;\n");
  }
  if (body.entries != 0) {
    out += "T: .branchtargets C0";
    for (int i = 1; i < body.entries; ++i) Append(out, ", C", i);
    out += ";\n brx.idx y, T;\n";
  }
  for (int i = 0; i < body.entries; ++i) Append(out, "C", i, ": ", kCases.at(i), "; bra E;\n");
  out += "E: st.volatile.global.u32 [b], x;\n";
  for (int i = 0; i < body.values; ++i) {
    Append(out, " st.volatile.global.u32 [b+", 200 + 4 * i, "], v", i, ";\n");
  }
  return out + " ret;\n}\n";
}

constexpr std::string_view kCaller =
    ".extern .func f(.param .u64 a);\n.visible .entry k(.param .u64 a) {\n .reg .b64 b;\n"
    " ld.param.u64 b, [a];\n { .param .b64 p; st.param.b64 [p], b; call f, (p); }\n ret;\n}\n";

// Code and table of one body, as they are where nothing else is linked.
struct Linked {
  Bytes code;
  Bytes table;
};

class Programs {
 public:
  Programs(const Toolkit& toolkit, std::string target, bool is_kernel)
      : toolkit_(toolkit), target_(std::move(target)), is_kernel_(is_kernel) {
    for (const Body& body : kBodies) bodies_.push_back(Assemble(TextOf(body, is_kernel, target_)));
    if (is_kernel) return;
    caller_ = Assemble(Cat(".version 9.0\n.target ", target_, "\n.address_size 64\n", kCaller));
  }

  // The bodies with these numbers, in this order.
  [[nodiscard]] std::vector<std::string> Files(const std::vector<int>& numbers) const {
    std::vector<std::string> out;
    for (const int number : numbers) out.push_back(bodies_.at(number));
    if (!is_kernel_) out.push_back(caller_);
    return out;
  }

  [[nodiscard]] LinkOutcome Link(const std::vector<std::string>& files, FinalizeMode finalize,
                                 bool relocatable = false) const {
    LinkOptions options;
    options.target = Arch::Parse(target_).value_or(Arch{});
    options.finalize = finalize;
    options.relocatable = relocatable;
    return LinkWithLibrary(options, files);
  }

  [[nodiscard]] bool has_two_views() const { return target_ != "sm_90"; }

  // False where nvlink cannot.
  [[nodiscard]] bool LinkByNvlink(const std::vector<std::string>& files, const std::string& output,
                                  bool relocatable) const {
    std::vector<std::string> command = {toolkit_.nvlink, "-arch", target_, "-o", output};
    if (relocatable) command.emplace_back("-r");
    command.insert(command.end(), files.begin(), files.end());
    return RunProcess(command).ok();
  }

  [[nodiscard]] Linked Read(const Bytes& cubin) const {
    const diff::CubinView view = diff::ViewCubin(cubin);
    const auto data = [&](std::string_view name) {
      const diff::ViewSection* section = view.Find(name);
      return section == nullptr ? Bytes() : Bytes(section->data.begin(), section->data.end());
    };
    return {data(".text.f"), data(is_kernel_ ? ".nv.constant2.f" : ".nv.constant2.k")};
  }

  // A place before `end` at which the Mercury view wants two things; or nothing. Beyond are tables
  // that no code reads.
  [[nodiscard]] static std::string Contradiction(const Bytes& cubin, std::uint64_t end) {
    const diff::CubinView view = diff::ViewCubin(cubin);
    for (const diff::ViewSection& section : view.sections) {
      if (!section.name.starts_with(".nv.merc.rela.nv.constant.optimizer.")) continue;
      std::map<std::uint64_t, std::int64_t> places;
      Elf64_Rela entry = {};
      for (std::size_t at = 0; at + sizeof(entry) <= section.data.size(); at += sizeof(entry)) {
        std::memcpy(&entry, section.data.data() + at, sizeof(entry));
        if (entry.r_offset >= end) continue;
        const auto known = places.try_emplace(entry.r_offset, entry.r_addend).first;
        if (known->second != entry.r_addend) return Cat(section.name, ", ", entry.r_offset);
      }
    }
    return {};
  }

  [[nodiscard]] std::string File(std::string_view name) const { return directory_.File(name); }

 private:
  std::string Assemble(const std::string& text) {
    const std::string source = directory_.File("source.ptx");
    std::string out = directory_.File(Cat("f", ++assembled_, ".cubin"));
    WriteText(source, text);
    const ProcessResult result =
        RunProcess({toolkit_.ptxas, "-c", "-arch", target_, source, "-o", out});
    INFO(result.err);
    REQUIRE(result.ok());
    return out;
  }

  const Toolkit& toolkit_;
  const std::string target_;
  const bool is_kernel_;
  TemporaryDirectory directory_{"devlink-tables"};
  std::vector<std::string> bodies_;
  std::string caller_;
  int assembled_ = 0;
};

// What is wrong with a linked program; empty where nothing is.
std::string Wrong(const Programs& programs, const std::vector<Linked>& alone,
                  const LinkOutcome& outcome) {
  if (!outcome.ok) return Cat("does not link: ", outcome.messages);
  const Linked linked = programs.Read(outcome.cubin);
  const auto body = std::ranges::find(alone, linked.code, &Linked::code);
  if (body == alone.end()) return "the code is that of no body";
  if (linked.table.size() < body->table.size() ||
      !std::equal(body->table.begin(), body->table.end(), linked.table.begin())) {
    return Cat("body ", body - alone.begin(), " has another table");
  }
  return Programs::Contradiction(outcome.cubin, body->table.size());
}

enum class Way : std::uint8_t { kAtOnce, kTwice, kTwiceByNvlink };

// By way of nvlink's -r, which overwrites tables in machine code, what only the finalizer can mend
// is refused without it. False where nvlink cannot.
bool CheckByNvlink(const Programs& programs, const std::vector<Linked>& alone,
                   const std::vector<std::string>& files, FinalizeMode finalize) {
  const std::string partial = programs.File("nvlink.cubin");
  if (!programs.LinkByNvlink(files, partial, /*relocatable=*/true)) return false;
  const LinkOutcome outcome = programs.Link({partial}, finalize);
  const bool refused =
      outcome.messages.find("nvlink -r has overwritten the jump table of") != std::string::npos;
  if (finalize == FinalizeMode::kNever && refused) {
    CHECK_FALSE(outcome.ok);
  } else {
    CHECK(Wrong(programs, alone, outcome) == "");
  }
  return true;
}

void Check(const Programs& programs, FinalizeMode finalize, Way way) {
  std::vector<Linked> alone;
  for (int i = 0; i < static_cast<int>(kBodies.size()); ++i) {
    const LinkOutcome outcome = programs.Link(programs.Files({i}), finalize);
    INFO(outcome.messages);
    REQUIRE(outcome.ok);
    alone.push_back(programs.Read(outcome.cubin));
  }
  std::vector<int> order = {0, 1, 2, 3, 4};
  int by_nvlink = 0;
  do {
    // Three of them; the others are in an order that came before.
    if (order[3] > order[4]) continue;
    const std::vector<int> three(order.begin(), order.begin() + 3);
    const std::vector<std::string> files = programs.Files(three);
    INFO("bodies " << three[0] << " " << three[1] << " " << three[2]);
    if (way == Way::kTwiceByNvlink) {
      if (CheckByNvlink(programs, alone, files, finalize)) ++by_nvlink;
      continue;
    }
    if (way == Way::kAtOnce) {
      CHECK(Wrong(programs, alone, programs.Link(files, finalize)) == "");
      continue;
    }
    const LinkOutcome first = programs.Link(files, finalize, /*relocatable=*/true);
    INFO(first.messages);
    REQUIRE(first.ok);
    const std::string partial = programs.File("partial.cubin");
    WriteBytes(partial, first.cubin);
    CHECK(Wrong(programs, alone, programs.Link({partial}, finalize)) == "");
    if (programs.has_two_views()) {
      CHECK(programs.LinkByNvlink({partial}, programs.File("whole.cubin"), /*relocatable=*/false));
    }
  } while (std::ranges::next_permutation(order).found);
  CHECK((by_nvlink > 0) == (way == Way::kTwiceByNvlink));
}

TEST_CASE("The body that stays keeps its jump table", "[mercury]") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  for (const std::string_view target : {"sm_90", "sm_100", "sm_120"}) {
    for (const bool is_kernel : {true, false}) {
      const Programs programs(*toolkit, std::string(target), is_kernel);
      for (const FinalizeMode finalize : {FinalizeMode::kNever, FinalizeMode::kAutomatic}) {
        for (const Way way : {Way::kAtOnce, Way::kTwice, Way::kTwiceByNvlink}) {
          INFO(target << (is_kernel ? ", kernels" : ", functions")
                      << (finalize == FinalizeMode::kNever ? ", without the finalizer" : "")
                      << (way == Way::kAtOnce ? "" : ", by way of -r")
                      << (way == Way::kTwiceByNvlink ? " of nvlink" : ""));
          Check(programs, finalize, way);
        }
      }
    }
  }
}

}  // namespace
}  // namespace devlink::testing
