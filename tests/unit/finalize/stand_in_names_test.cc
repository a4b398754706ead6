// SPDX-License-Identifier: Apache-2.0
#include "finalize/stand_in_names.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devlink/experimental/cubin_writer.h"
#include "format/elf_cuda.h"
#include "support/catch.h"
#include "support/mercury_golden.h"
#include "support/text.h"

namespace devlink::testing {
namespace {

using internal::StandInNames;
using Bytes = std::vector<std::uint8_t>;

bool HasBytes(const Bytes& bytes, std::string_view text) {
  return std::search(bytes.begin(), bytes.end(), text.begin(), text.end()) != bytes.end();
}

// A cubin with functions of these names.
Bytes CubinOf(const std::vector<std::string>& names) {
  std::vector<std::string> sections;  // which the writer borrows
  for (const std::string& name : names) sections.push_back(Cat(".text.", name));
  CubinWriter w({.sm = 100});
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const auto text = w.AddSection({.name = sections[i], .flags = 6, .align = 128});
    w.AppendZeros(text, 128);
    w.AddSymbol({.name = name, .binding = 1, .type = 2, .section = text, .size = 128});
  }
  const auto bytes = w.Write();
  REQUIRE(bytes.ok());
  return *bytes;
}

TEST_CASE("Symbols and sections lose the name and get it back", "[finalize]") {
  const Bytes cubin = CubinOf({"scale", "scale2", "my_scale2"});
  const auto names = StandInNames::For({"scale2"});
  REQUIRE(names);
  const auto hidden = names->Hide(cubin);
  INFO(hidden.status().message());
  REQUIRE(hidden.ok());
  CHECK(hidden->size() == cubin.size());
  CHECK(HasBytes(*hidden, ".text.scale"));
  CHECK_FALSE(HasBytes(*hidden, ".text.scale2"));
  CHECK(HasBytes(*hidden, "my_scale2"));
  const auto restored = names->Restore(*hidden);
  REQUIRE(restored.ok());
  CHECK(*restored == cubin);
}

TEST_CASE("Both views lose the name", "[finalize]") {
  const Bytes cubin = MercuryGolden("first.cubin");
  REQUIRE_FALSE(cubin.empty());
  REQUIRE(HasBytes(cubin, ".nv.merc.nv.info._Z6Unusedi"));
  const auto names = StandInNames::For({"_Z6Unusedi"});
  const auto hidden = names->Hide(cubin);
  INFO(hidden.status().message());
  REQUIRE(hidden.ok());
  CHECK_FALSE(HasBytes(*hidden, "_Z6Unusedi"));
  CHECK(names->Restore(*hidden).value_or(Bytes()) == cubin);
}

TEST_CASE("Names of one length have names of their own, the same in every run", "[finalize]") {
  std::vector<std::string> many;
  for (int i = 0; i < 256; ++i) many.push_back(Cat(char('a' + i % 16), char('a' + i / 16)));
  std::vector<std::string_view> views(many.begin(), many.end());
  const auto names = StandInNames::For(views);
  REQUIRE(names);
  const Bytes cubin = CubinOf(many);
  const auto hidden = names->Hide(cubin);
  REQUIRE(hidden.ok());
  CHECK(*names->Hide(cubin) == *StandInNames::For(views)->Hide(cubin));
  CHECK(names->Restore(*hidden).value_or(Bytes()) == cubin);
  views.emplace_back("zz");  // of two of sixteen characters there are no more
  CHECK_FALSE(StandInNames::For(views));
}

TEST_CASE("What cannot be told apart later is refused", "[finalize]") {
  const auto names = StandInNames::For({"k2"});
  CHECK(names->Changes("k2"));
  CHECK(names->Changes("x.k2"));
  CHECK_FALSE(names->Changes("xk2"));
  CHECK_FALSE(names->Changes("2"));
  CHECK_FALSE(names->Hide(CubinOf({"k2", "??"})).ok());  // that is what k2 would be called
  CHECK_FALSE(names->Hide({}).ok());
  const Bytes whole = CubinOf({"k2"});
  for (std::size_t size = 0; size < whole.size(); size += 5) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    (void)names->Hide(cut);
    (void)names->Restore(cut);
  }
}

// The name of the last symbol becomes the end of the one before it.
Bytes WithinAnother(Bytes cubin) {
  format::Ehdr header = {};
  std::memcpy(&header, cubin.data(), sizeof(header));
  for (std::uint64_t i = 0; i < header.shnum; ++i) {
    format::Shdr section = {};
    std::memcpy(&section, cubin.data() + header.shoff + i * sizeof(section), sizeof(section));
    if (section.type != format::kShtSymtab) continue;
    std::uint8_t* const last = cubin.data() + section.offset + section.size - sizeof(format::Sym);
    std::uint32_t name = 0;
    std::memcpy(&name, last - sizeof(format::Sym), sizeof(name));
    ++name;
    std::memcpy(last, &name, sizeof(name));
  }
  return cubin;
}

TEST_CASE("A name that lies within one that goes is not broken", "[finalize]") {
  const Bytes cubin = CubinOf({"k2", "b"});
  const auto names = StandInNames::For({"k2"});
  REQUIRE(names->Hide(cubin).ok());
  const auto hidden = names->Hide(WithinAnother(cubin));
  CHECK(hidden.status().code() == absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace devlink::testing
