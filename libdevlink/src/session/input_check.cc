// SPDX-License-Identifier: Apache-2.0
#include "session/input_check.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "format/elf_cuda.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/BinaryFormat/Magic.h"

namespace devlink::internal {

namespace {

// Toolkits before 12.0 wrote sm_90 code in a form of its own.
constexpr std::uint16_t kOldestToolkit = 120;

Diagnostic Fatal(DiagnosticCode code, const std::string& name, std::string text) {
  Diagnostic out;
  out.code = code;
  out.severity = Severity::kFatal;
  out.text = std::move(text);
  out.input = name;
  return out;
}

// What a file is that is no cubin, as far as its first bytes tell.
std::string_view KindOf(base::Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.empty()) return "an empty file";
  if (text.starts_with("\x50\xed\x55\xba")) return "a fatbin";
  if (text.starts_with("\xed\x43\x4e\x7f")) return "NVVM LTO IR";
  if (text.substr(0, 4096).find(".version") != std::string_view::npos) return "PTX text";
  switch (llvm::identify_magic(llvm::StringRef(text.data(), text.size()))) {
    case llvm::file_magic::archive:
      return "an archive";
    case llvm::file_magic::bitcode:
      return "LLVM bitcode";
    case llvm::file_magic::elf:
    case llvm::file_magic::elf_relocatable:
    case llvm::file_magic::elf_executable:
    case llvm::file_magic::elf_shared_object:
    case llvm::file_magic::elf_core:
      return "an ELF file for the host";
    default:
      return "no kind of file that a device linker knows";
  }
}

std::uint16_t MachineOf(base::Bytes bytes) {
  return base::BoundedReader(bytes).ReadOrZero<std::uint16_t>(offsetof(format::Ehdr, machine));
}

}  // namespace

Diagnostic DescribeUnreadable(const std::string& name, const absl::Status& why) {
  Diagnostic out = Fatal(DiagnosticCode::kUnreadableInput, name,
                         base::Cat({"Could not open input file '", name, "'"}));
  const absl::string_view message = why.message();
  out.notes.emplace_back(message.data(), message.size());
  return out;
}

Diagnostic DescribeMalformed(const std::string& name, base::Bytes bytes, const absl::Status& why) {
  const bool elf = bytes.size() >= 4 && bytes[0] == 0x7f && bytes[1] == 'E' && bytes[2] == 'L' &&
                   bytes[3] == 'F';
  Diagnostic out;
  if (bytes.size() < sizeof(format::Ehdr)) {
    out = Fatal(DiagnosticCode::kUnreadableInput, name,
                base::Cat({"Could not open input file '", name, "'"}));
  } else if (!elf || MachineOf(bytes) != format::kMachineCuda) {
    out = Fatal(DiagnosticCode::kUnsupportedInput, name,
                elf ? "cubin not a device elf?" : "cubin not an elf?");
  } else {
    out = Fatal(DiagnosticCode::kMalformedInput, name,
                base::Cat({"Input file '", name, "' is damaged"}));
    const absl::string_view message = why.message();
    out.notes.emplace_back(message.data(), message.size());
    out.notes.push_back(
        base::Cat({"'", name, "' has ", std::to_string(bytes.size()), " bytes; make it again"}));
    return out;
  }
  out.notes.push_back(base::Cat({"'", name, "' is ", KindOf(bytes)}));
  if (!bytes.empty()) {
    out.notes.push_back("this release links cubins; compile with nvcc -rdc=true -cubin");
  }
  return out;
}

std::optional<Diagnostic> FindObstacle(const std::string& name, const Module& module,
                                       const LinkOptions& options) {
  if (module.os_abi() != format::kOsAbiCuda || module.abi_version() != format::kAbiVersion) {
    Diagnostic out = Fatal(DiagnosticCode::kAbiMismatch, name,
                           base::Cat({"Input file '", name, "' abi does not match"}));
    out.notes.push_back(absl::StrCat("its ABI is ", module.os_abi(), ", version ",
                                     module.abi_version(), "; expected ", format::kOsAbiCuda,
                                     ", version ", format::kAbiVersion));
    return out;
  }
  const Arch member{static_cast<std::uint16_t>(module.sm()),
                    module.architecture_specific() ? 'a' : '\0'};
  if (!SassLinksFor(member, options.target)) {
    Diagnostic out = Fatal(DiagnosticCode::kArchMismatch, name,
                           base::Cat({"Input file '", name, "' arch does not match target '",
                                      options.target.Name(), "'"}));
    out.notes.push_back(base::Cat(
        {"it was built for ", member.Name(), "; compile it with -arch=", options.target.Name()}));
    return out;
  }
  if (!options.profile.accepts_specific_code_for_plain_target && module.architecture_specific() &&
      options.target.variant == 0) {
    return Fatal(DiagnosticCode::kArchMismatch, name,
                 "cannot link accelerated arch to non-accelerated");
  }
  const std::uint16_t toolkit = module.toolkit();
  if (toolkit > options.profile.release) {
    Diagnostic out = Fatal(DiagnosticCode::kInputNewerThanToolkit, name,
                           absl::StrCat("Input file '", name, "' newer than toolkit (", toolkit,
                                        " vs ", options.profile.release, ")"));
    out.notes.push_back(absl::StrCat("it was built with CUDA ", toolkit / 10, ".", toolkit % 10,
                                     "; this link writes what CUDA ", options.profile.release / 10,
                                     ".", options.profile.release % 10, " writes"));
    return out;
  }
  if (options.target.number >= 90 && toolkit < kOldestToolkit) {
    return Fatal(
        DiagnosticCode::kInputTooOld, name,
        base::Cat({"Input file '", name, "' must be recompiled with toolkit >= Cuda 12.0"}));
  }
  if (!module.relocatable()) {
    // nvlink leaves such a file out without a word, and its code with it.
    Diagnostic out = Fatal(DiagnosticCode::kUnsupportedInput, name,
                           base::Cat({"Input file '", name, "' is not relocatable"}));
    out.notes.emplace_back("it is linked already; compile with nvcc -rdc=true (ptxas -c)");
    return out;
  }
  return std::nullopt;
}

}  // namespace devlink::internal
