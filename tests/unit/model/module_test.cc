// SPDX-License-Identifier: Apache-2.0
#include "model/module.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "devlink/experimental/cubin_writer.h"
#include "format/elf_cuda.h"
#include "support/catch.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

using internal::Module;

Cubin ModuleSample() {
  return BuildCubin({.functions = {{.name = "kernel",
                                    .calls = {"helper", "elsewhere"},
                                    .kernel = true,
                                    .static_shared = 64},
                                   {.name = "helper", .weak = true, .frame = 16}},
                     .global_bytes = 24});
}

// Reading must end in one of two ways, and never touch bytes outside the file.
void CheckLoad(Cubin bytes) {
  bytes.shrink_to_fit();  // so that a sanitizer sees a read past the end
  const auto module = Module::Load(std::move(bytes));
  if (!module.ok()) {
    // Shared memory that lost its variables is what nvlink -r makes of sound files, too.
    const bool looks_joined =
        module.status().code() == absl::StatusCode::kUnimplemented &&
        module.status().message().find("nvlink -r made it") != std::string::npos;
    const bool code = module.status().code() == absl::StatusCode::kInvalidArgument || looks_joined;
    const bool text = !module.status().message().empty();
    if (!code || !text) FAIL_CHECK(module.status().ToString());
  }
}

TEST_CASE("A written cubin loads", "[model]") {
  const Cubin bytes = ModuleSample();
  const auto module = Module::Load(bytes);
  REQUIRE(module.ok());
  CHECK((*module)->relocatable());
  CHECK((*module)->sm() == 80);
  CHECK((*module)->toolkit() == 130);
  CHECK((*module)->header().ident[format::kIdentOsAbi] == format::kOsAbiCuda);
  CHECK_FALSE((*module)->architecture_specific());
  CHECK((*module)->bytes().size() == bytes.size());
  const internal::ModuleView& view = (*module)->sass();
  std::vector<std::string> functions;
  for (std::uint32_t i = 0; i < view.symbol_count(); ++i) {
    const internal::InputSymbol symbol = view.SymbolAt(i);
    if (symbol.type == format::kSttFunc) functions.emplace_back(symbol.name);
  }
  CHECK(functions == std::vector<std::string>{"helper", "kernel", "elsewhere"});
}

TEST_CASE("Every truncation of a cubin is refused", "[model]") {
  const Cubin bytes = ModuleSample();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto module =
        Module::Load(Cubin(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)));
    if (module.ok() || module.status().code() != absl::StatusCode::kInvalidArgument) {
      FAIL_CHECK("a cubin cut off at " << size << " of " << bytes.size() << " bytes");
    }
  }
}

TEST_CASE("No changed byte of a cubin crashes the reader", "[model]") {
  const Cubin original = ModuleSample();
  for (std::size_t at = 0; at < original.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff, 0x7f}) {
      Cubin bytes = original;
      bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ change);
      CheckLoad(std::move(bytes));
    }
  }
}

TEST_CASE("No extreme number in a header or table crashes the reader", "[model]") {
  const Cubin original = ModuleSample();
  for (std::size_t at = 0; at + 8 <= original.size(); at += 4) {
    for (const std::uint64_t value :
         {std::uint64_t{0}, std::uint64_t{0xffffffff}, ~std::uint64_t{0}, std::uint64_t{1} << 63,
          std::uint64_t{original.size()}, std::uint64_t{0x7fffffff}}) {
      Cubin half = original;
      std::memcpy(half.data() + at, &value, 4);
      CheckLoad(std::move(half));
      Cubin whole = original;
      std::memcpy(whole.data() + at, &value, 8);
      CheckLoad(std::move(whole));
    }
  }
}

TEST_CASE("No symbol changes into one of another type, to be passed over", "[model]") {
  const Cubin original =
      BuildCubin({.functions = {{.name = "k", .calls = {"f"}, .kernel = true}}, .global_bytes = 8});
  const auto module = Module::Load(original);
  REQUIRE(module.ok());
  const internal::ModuleView& view = (*module)->sass();
  std::uint64_t table = 0;
  for (const internal::InputSection& section : view.sections()) {
    if (section.name != ".symtab") continue;
    table = static_cast<std::uint64_t>(section.data.data() - (*module)->bytes().data());
  }
  REQUIRE(table != 0);
  for (std::uint32_t i = 1; i < view.symbol_count(); ++i) {
    const internal::InputSymbol symbol = view.SymbolAt(i);
    if (symbol.type != format::kSttFunc && symbol.type != format::kSttObject) continue;
    for (std::uint8_t type = 0; type < 16; ++type) {
      const bool is_texture = format::IsTextureType(type);
      const bool is_variable = type == format::kSttObject || type == format::kSttCudaObject;
      if (type == symbol.type || (symbol.section == format::kShnUndef && is_texture)) continue;
      // What asks for a variable finds the function, and says so.
      if (is_variable && (symbol.type != format::kSttFunc || symbol.section == 0)) continue;
      Cubin bytes = original;
      bytes[table + 24 * i + 4] =
          static_cast<std::uint8_t>((bytes[table + 24 * i + 4] & 0xf0) | type);
      CAPTURE(symbol.name, int{type});
      const auto changed = Module::Load(std::move(bytes));
      CHECK_FALSE(changed.ok());
    }
  }
}

TEST_CASE("Text and other files are refused", "[model]") {
  const std::string text = ".version 8.0\n.target sm_80\n";
  CheckLoad(Cubin(text.begin(), text.end()));
  CHECK_FALSE(Module::Load({}).ok());
  CHECK_FALSE(Module::Load(Cubin(64, 0)).ok());
  CHECK_FALSE(Module::Load(Cubin(4096, 0xff)).ok());
}

TEST_CASE("A cubin without symbols or sections is refused", "[model]") {
  auto empty = CubinWriter({.sm = 80}).Write();
  REQUIRE(empty.ok());
  CheckLoad(*std::move(empty));
}

TEST_CASE("A cubin with a relocation past the end of its section is refused", "[model]") {
  struct Case {
    std::uint64_t offset;
    std::uint64_t size;  // of the code
    bool is_sound;
  };
  for (const auto& [offset, size, is_sound] :
       {Case{0, 24, true}, Case{16, 24, true}, Case{16, 23, false}, Case{12, 24, true},
        Case{32, 24, false}, Case{~std::uint64_t{15}, 24, false},
        Case{~std::uint64_t{0}, 24, false}}) {
    CubinWriter writer({.sm = 80});
    const auto text = writer.AddSection({.name = ".text.k", .type = 1, .flags = 6, .align = 128});
    const auto symbol =
        writer.AddSymbol({.name = "k", .binding = 1, .type = 2, .section = text, .size = size});
    writer.AppendZeros(text, size);
    const auto rel = writer.AddSection({.name = ".rel.text.k",
                                        .type = format::kShtRel,
                                        .flags = format::kShfInfoLink,
                                        .align = 8,
                                        .entry_size = 16,
                                        .link = kSymbolTable});
    writer.SetInfoSection(rel, text);
    writer.SetInfoSymbol(text, symbol, 8);
    writer.AddRelocation(rel, offset, 0x38, symbol, 0);  // 4 bytes at offset + 4
    auto bytes = writer.Write();
    REQUIRE(bytes.ok());
    CAPTURE(offset, size);
    const bool loads = Module::Load(*std::move(bytes)).ok();
    CHECK(loads == is_sound);
  }
}

}  // namespace
}  // namespace devlink::testing
