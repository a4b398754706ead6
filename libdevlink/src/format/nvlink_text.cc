// SPDX-License-Identifier: Apache-2.0
#include "format/nvlink_text.h"

#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace devlink::format::nvlink_text {

using base::Cat;

std::string CouldNotOpen(std::string_view file) {
  return Cat({"Could not open input file '", file, "'"});
}

std::string CouldNotFindFatbin(std::string_view file) {
  return Cat({"Could not find fatbin in '", file, "'"});
}

std::string SkippingIncompatible(std::string_view file, std::string_view library) {
  return Cat({"Skipping incompatible '", file, "' when searching for -l", library});
}

std::string AbiDoesNotMatch(std::string_view file) {
  return Cat({"Input file '", file, "' abi does not match"});
}

std::string Expected64BitObject(std::string_view file) {
  return Cat({"expected 64bit object '", file, "' to have EF_CUDA_64BIT_ADDRESS set"});
}

std::string OutputIsLimited(std::string_view file, std::uint32_t sm) {
  return Cat({"Output is limited to run on SM Arch '", std::to_string(sm),
              "' only due to limitations in input file ", file});
}

std::string ArchDoesNotMatch(std::string_view file, std::string_view target) {
  return Cat({"Input file '", file, "' arch does not match target '", target, "'"});
}

std::string ArchNotFound(std::string_view target, std::string_view file) {
  return Cat({"SM Arch ('", target, "') not found in '", file, "'"});
}

std::string NewerThanToolkit(std::string_view file, unsigned toolkit, unsigned own) {
  return absl::StrCat("Input file '", base::ToAbsl(file), "' newer than toolkit (", toolkit, " vs ",
                      own, ")");
}

std::string MustBeRecompiled(std::string_view file) {
  return Cat({"Input file '", file, "' must be recompiled with toolkit >= Cuda 12.0"});
}

std::string ConflictingOptions(std::string_view one, std::string_view other) {
  return Cat({"Conflicting options '", one, "' and '", other, "'"});
}

std::string PartialLto(std::string_view file) {
  return Cat({"requested LTO but '", file, "' not built for LTO so doing partial LTO"});
}

std::string Disagreement(std::string_view what, std::string_view symbol, std::string_view file,
                         FirstWas was, std::string_view first_file) {
  return Cat({what, " '", symbol, "' in '", file, "', first ",
              was == FirstWas::kDefined ? "defined" : "specified", " in '", first_file, "'"});
}

std::string NotGlobalEverywhere(std::string_view function) {
  return Cat({"Function '", function, "' not declared __global__ in all source files"});
}

std::string ParameterBankSizes(std::string_view function) {
  return Cat({"Duplicate weak parameter bank for '", function, "' is not the same size"});
}

std::string CommonLargerThanInit(std::string_view symbol, std::string_view file) {
  return Cat(
      {"Common symbol '", symbol, "' in file '", file, "' has larger size than initialization"});
}

std::string LimitedToArch(unsigned sm, std::string_view file) {
  return base::Cat({"Output is limited to run on SM Arch '", std::to_string(sm),
                    "' only, due to missing attribute 'ISA_CLASS' in input file '", file, "'"});
}

std::string UndefinedReference(std::string_view symbol, std::string_view file) {
  return Cat({"Undefined reference to '", symbol, "' in '", file, "'"});
}

std::string StackSizeUnknown(std::string_view entry) {
  return Cat({"Stack size for entry function '", entry, "' cannot be statically determined"});
}

std::string TooMuchShared(std::string_view entry, std::uint64_t bytes, std::uint64_t most) {
  return absl::StrCat("Entry function '", base::ToAbsl(entry), "' uses too much shared data (0x",
                      absl::Hex(bytes), " bytes, 0x", absl::Hex(most), " max)");
}

std::string NotForExtensible(std::string_view file) {
  return absl::StrCat("'", base::ToAbsl(file), "': ", base::ToAbsl(kOnlyWithRuntime));
}

std::string NoRoomInKernel(std::string_view variable, std::string_view entry) {
  return absl::StrCat("Cannot link shared object '", base::ToAbsl(variable),
                      "' with partially linked kernel '", base::ToAbsl(entry), "'");
}

std::string TensorMemoryVersions(std::string_view file) {
  return absl::StrCat("Object '", base::ToAbsl(file),
                      "' cannot be linked due to version mismatch. Objects using tcgen05 in 12.x "
                      "cannot be linked with 13.0 or later, they must be rebuilt with latest "
                      "compiler");
}

std::string MixedCtaGroups(std::string_view entry) {
  return absl::StrCat(
      "Function '", base::ToAbsl(entry),
      "' uses single CTA(.cta_group::1) and CTA pair granularity(.cta_group::2) and "
      "that is not allowed.");
}

std::string TooMuchConstant(std::uint64_t bytes, std::uint64_t most) {
  return absl::StrCat("File uses too much global constant data (0x", absl::Hex(bytes), " bytes, 0x",
                      absl::Hex(most), " max)");
}

std::string TooManyCompilerConstants(std::string_view entry) {
  return Cat({"Entry function '", entry,
              "' uses too much data for compiler-generated constants; please recompile with "
              "-Xptxas --disable-optimizer-constants"});
}

std::string TooManyRegisters(std::string_view entry, std::uint32_t limit, std::string_view function,
                             std::uint32_t registers) {
  return absl::StrCat("entry function '", base::ToAbsl(entry), "' with max regcount of ", limit,
                      " calls function '", base::ToAbsl(function), "' with regcount of ",
                      registers);
}

}  // namespace devlink::format::nvlink_text
