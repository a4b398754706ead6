// SPDX-License-Identifier: Apache-2.0
#include "input/input_record.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "format/elf_cuda.h"
#include "model/module.h"
#include "support/catch.h"
#include "unit/cubin_builder.h"

namespace devlink::internal {
namespace {

using testing::BuildCubin;
using testing::Cubin;
using Strings = std::vector<std::string>;

InputSettings For(const std::string& target, bool warnings_are_errors = false) {
  InputSettings out;
  out.target = *Arch::Parse(target);
  out.target_name = target;
  out.severities.warnings_are_errors = warnings_are_errors;
  return out;
}

// One function for sm_90, with a header as CUDA 12 and earlier wrote it.
constexpr std::uint32_t kFlagsOf90 = 0x5a055a;
constexpr std::uint32_t kFlag64BitAddress = 0x400;
Cubin Old(std::uint32_t flags, std::uint32_t toolkit = 120, std::uint8_t os_abi = 0x33) {
  Cubin out = BuildCubin({.sm = 90, .functions = {{.name = "f"}}});
  format::Ehdr header = {};
  std::memcpy(&header, out.data(), sizeof header);
  header.ident[format::kIdentOsAbi] = os_abi;
  header.ident[format::kIdentAbiVersion] = 7;
  header.version = toolkit;
  header.flags = flags;
  std::memcpy(out.data(), &header, sizeof header);
  return out;
}

// What is said of a cubin, by whatever way it comes in.
std::vector<Diagnostic> Findings(const InputRecord& record) {
  std::vector<Diagnostic> out;
  AppendFindings(record, out);
  return out;
}

Strings Texts(const Cubin& cubin, const InputSettings& settings) {
  Strings out;
  for (const Diagnostic& diagnostic :
       Findings(*ReadCubin("a.cubin", base::Bytes(cubin), {}, settings, nullptr))) {
    out.push_back(diagnostic.text);
  }
  const auto module = Module::Load(cubin);
  if (!module.ok()) return out;
  Strings again;
  for (const Diagnostic& diagnostic : Findings(*RecordModule("a.cubin", *module, {}, settings))) {
    again.push_back(diagnostic.text);
  }
  CHECK(again == out);
  return out;
}

const std::string kExpected64Bit =
    "expected 64bit object 'a.cubin' to have EF_CUDA_64BIT_ADDRESS set";
const std::string kTooOld = "Input file 'a.cubin' must be recompiled with toolkit >= Cuda 12.0";

TEST_CASE("An old cubin without the flag of 64-bit addresses is doubted, and linked", "[input]") {
  CHECK(Texts(Old(kFlagsOf90), For("sm_90")).empty());
  const Cubin doubted = Old(kFlagsOf90 & ~kFlag64BitAddress);
  CHECK(Texts(doubted, For("sm_90")) == Strings{kExpected64Bit});
  const auto record = ReadCubin("a.cubin", base::Bytes(doubted), {}, For("sm_90"), nullptr);
  CHECK(record->status.ok());
  CHECK(Findings(*record)[0].severity == Severity::kWarning);
  const auto strict = ReadCubin("a.cubin", base::Bytes(doubted), {}, For("sm_90", true), nullptr);
  CHECK(Findings(*strict)[0].severity == Severity::kError);
}

TEST_CASE("What is doubted comes before what is refused", "[input]") {
  CHECK(Texts(Old(kFlagsOf90 & ~kFlag64BitAddress), For("sm_100")) ==
        Strings{kExpected64Bit,
                "Output is limited to run on SM Arch '100' only due to limitations in input file "
                "a.cubin",
                "Input file 'a.cubin' arch does not match target 'sm_100'"});
  CHECK(Texts(Old(kFlagsOf90 & ~kFlag64BitAddress, 120, 0x40), For("sm_90")) ==
        Strings{kExpected64Bit, "Input file 'a.cubin' abi does not match"});
}

TEST_CASE("The header of an old cubin says of which toolkit it is, not its note", "[input]") {
  CHECK(Texts(Old(kFlagsOf90, 119), For("sm_90")) == Strings{kTooOld});
  CHECK(Texts(Old(kFlagsOf90, 1), For("sm_90")) == Strings{kTooOld});
}

}  // namespace
}  // namespace devlink::internal
