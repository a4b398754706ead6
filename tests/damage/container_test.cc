// SPDX-License-Identifier: Apache-2.0
//
// Damage to what lies around device code: archives, fat binaries, host objects, LTO containers.
// Each byte in turn, and each length. What is damaged is refused with a message, or linked to the
// same output as the whole file; a link that differs says why.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "devlink/devlink.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/fatbin_builder.h"
#include "support/host_object.h"
#include "support/lto_container.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

constexpr int kSm = 80;

Cubin Code() { return BuildCubin({.functions = {{.name = "k", .kernel = true}}}); }

struct Result {
  bool refused = false;  // by Add, or by the link
  bool told = false;     // there is something to read
  std::vector<std::uint8_t> cubin;
};

// By a name that promises device code: what is not recognised any more is an error then.
std::string_view NameOf(std::string_view what) {
  if (what == "fatbin") return "damaged.fatbin";
  return what == "LTO IR" ? "damaged.ltoir" : "damaged.o";
}

Result LinkOf(std::string_view what, ByteVector bytes) {
  bytes.shrink_to_fit();  // so that a sanitizer sees a read past the end
  // As the command: a note that there is no device code in it would tell of every loss.
  LinkOptions options = {.target = {.number = kSm}, .end_at_rejected_input = true};
  options.pass_over_silently = true;
  auto session = LinkSession::Create(options);
  Result out;
  out.refused = !session->AddInput(NameOf(what), std::move(bytes)).ok();
  LinkOutcome outcome = session->Link();
  out.refused |= !outcome.ok();
  out.told = !outcome.diagnostics.empty();
  out.cubin = std::move(outcome.cubin);
  return out;
}

ByteVector Fatbin() {
  const FatbinBuilder cubin{.kind = CodeKind::kSass, .arch = {.number = kSm}};
  const FatbinBuilder other{.kind = CodeKind::kSass, .arch = {.number = 75}};
  return FatbinBuilder::Container({other.Member(Cubin(16, 0x75)), cubin.Member(Code())});
}

std::map<std::string, ByteVector> Containers() {
  const Cubin code = Code();
  const ByteVector fatbin = Fatbin();
  // Without lists of references: damage there is a list of something else.
  const ByteVector object = MakeHostObjectWithFatbin(fatbin, {});
  std::map<std::string, ByteVector> out;
  out["fatbin"] = fatbin;
  out["host object"] = object;
  out["archive"] = BuildArchive({{"t.o", BuildElf({{".text", "host"}})}, {"h.o", object}});
  out["archive of cubins"] = BuildArchive({{"k.cubin", code}});
  return out;
}

// Where the cubin for the target lies: what changes in there is another program, perhaps. In an
// archive all of the fat binary: a member for other targets is passed over there without a word.
std::pair<std::size_t, std::size_t> CodeIn(std::string_view what, const ByteVector& container) {
  const ByteVector code = what == "archive" ? Fatbin() : Code();
  const auto found = std::search(container.begin(), container.end(), code.begin(), code.end());
  REQUIRE(found != container.end());
  const auto begin = static_cast<std::size_t>(found - container.begin());
  return {begin, begin + code.size()};
}

void Check(const Result& whole, const Result& damaged, std::string_view what, std::size_t at,
           int bit) {
  const bool silent = damaged.refused && !damaged.told;
  const bool lost = !damaged.refused && !damaged.told && damaged.cubin != whole.cubin;
  if (silent || lost) {
    FAIL_CHECK(what << ", byte " << at << ", bit " << bit << ": "
                    << (silent ? "refused without a word" : "another output without a word"));
  }
}

TEST_CASE("Any bit around device code may be wrong", "[damage]") {
  for (const auto& [what, container] : Containers()) {
    const Result whole = LinkOf(what, container);
    REQUIRE_FALSE(whole.refused);
    REQUIRE_FALSE(whole.told);
    const auto [begin, end] = CodeIn(what, container);
    for (std::size_t at = 0; at < container.size(); ++at) {
      if (at >= begin && at < end) continue;
      for (int bit = 0; bit < 8; ++bit) {
        ByteVector bytes = container;
        bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ (1U << bit));
        Check(whole, LinkOf(what, std::move(bytes)), what, at, bit);
      }
    }
  }
}

TEST_CASE("What holds device code may end anywhere", "[damage]") {
  for (const auto& [what, container] : Containers()) {
    const Result whole = LinkOf(what, container);
    // Lengths that matter lie around the code, not in it.
    const auto [begin, end] = CodeIn(what, container);
    for (std::size_t size = 0; size < container.size(); ++size) {
      if (size > begin + 8 && size + 8 < end) size = std::min(size + 36, container.size() - 1);
      const ByteVector bytes(container.begin(),
                             container.begin() + static_cast<std::ptrdiff_t>(size));
      const Result damaged = LinkOf(what, bytes);
      // An archive that ends behind a member is a whole archive; no bytes are nothing to link.
      if (size == 0 || (what.starts_with("archive") && !damaged.told)) continue;
      Check(whole, damaged, what, size, -1);
    }
  }
}

TEST_CASE("Containers of LTO IR are refused or taken, whatever is wrong in them", "[damage]") {
  const ByteVector whole = MakeLtoContainer(Arch{.number = kSm}, "not bitcode");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const std::uint8_t value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      ByteVector bytes = whole;
      bytes[at] = value;
      // Without -lto it is an error, and so is what is not LTO IR any more.
      const Result result = LinkOf("LTO IR", std::move(bytes));
      if (!result.told) FAIL_CHECK("byte " << at << " to " << int{value});
    }
  }
}

}  // namespace
}  // namespace devlink::testing
