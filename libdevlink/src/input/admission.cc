// SPDX-License-Identifier: Apache-2.0
#include "input/admission.h"

#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "devlink/toolkit_profile.h"
#include "format/elf_cuda.h"
#include "format/make_diagnostic.h"
#include "format/nvlink_text.h"
#include "format/sm_traits.h"
#include "format/views.h"
#include "input/recognise.h"

namespace devlink::internal {

namespace {

Diagnostic Fatal(DiagnosticCode code, const std::string& name, std::string text,
                 std::string note = {}) {
  return format::MakeDiagnostic(Severity::kFatal, code, name, std::move(text), std::move(note));
}

}  // namespace

Diagnostic DescribeUnreadable(const std::string& name, const absl::Status& why) {
  return Fatal(DiagnosticCode::kUnreadableInput, name, format::nvlink_text::CouldNotOpen(name),
               std::string(base::FromAbsl(why.message())));
}

Diagnostic DescribeMalformed(const std::string& name, ContentKind content, std::uint64_t size,
                             const absl::Status& why) {
  std::string what =
      base::Cat({"'", name, "' is ", Describe(content), ", where a cubin is expected"});
  if (size < sizeof(format::Ehdr)) {
    return Fatal(DiagnosticCode::kUnreadableInput, name, format::nvlink_text::CouldNotOpen(name),
                 std::move(what));
  }
  if (!IsCudaElf(content)) {
    return Fatal(DiagnosticCode::kUnsupportedInput, name,
                 std::string(IsElf(content) ? format::nvlink_text::kNotADeviceElf
                                            : format::nvlink_text::kNotAnElf),
                 std::move(what));
  }
  if (absl::IsUnimplemented(why)) {
    return Fatal(DiagnosticCode::kUnsupportedInput, name,
                 base::Cat({"Input file '", name, "' is of a kind that is not linked"}),
                 std::string(base::FromAbsl(why.message())));
  }
  Diagnostic out = Fatal(DiagnosticCode::kMalformedInput, name, format::DamagedText(name),
                         std::string(base::FromAbsl(why.message())));
  out.notes.push_back(
      base::Cat({"'", name, "' has ", std::to_string(size), " bytes; make it again"}));
  return out;
}

namespace {

// nvlink looks at the architecture alone.
std::optional<Diagnostic> CheckOldFlags(const std::string& name, const format::Ehdr& header,
                                        const InputSettings& settings) {
  const std::uint32_t unknown = header.flags & ~format::kOldFlagsKnown;
  if (unknown == 0 || settings.compatibility == Compatibility::kNvlink) return std::nullopt;
  return Fatal(DiagnosticCode::kMalformedInput, name, format::DamagedText(name),
               absl::StrCat("its e_flags have bits that mean nothing in cubins of CUDA 12 and "
                            "earlier: ",
                            absl::Hex(unknown, absl::kZeroPad8)));
}

// The low byte of `e_flags` says what kinds of code there are. nvlink looks at one bit of it.
std::optional<Diagnostic> CheckFlags(const std::string& name, const Module& module,
                                     const InputSettings& settings) {
  const format::Ehdr& header = module.header();
  if (format::HasOldAbi(header)) return CheckOldFlags(name, header, settings);
  auto low = static_cast<std::uint8_t>(header.flags & 0xff);
  if (format::HasTwoViews(format::SmOf(header)) && module.toolkit() < format::kCuda13) {
    low &= ~format::kElfFlagOfVariant;
  }
  const std::uint8_t expected = format::ElfFlagsLowByte(format::SmOf(header));
  if (low == expected) return std::nullopt;
  if (settings.compatibility == Compatibility::kNvlink) {
    const bool views_differ = ((low ^ expected) & format::kElfFlagTwoViews) != 0;
    if (!views_differ) return std::nullopt;
    return Fatal(DiagnosticCode::kMalformedInput, name,
                 std::string(format::nvlink_text::kPlainInternalError));
  }
  return Fatal(
      DiagnosticCode::kMalformedInput, name, format::DamagedText(name),
      absl::StrCat("the low byte of its e_flags is ", absl::Hex(low, absl::kZeroPad2), ", and ",
                   absl::Hex(expected, absl::kZeroPad2), " in cubins for its architecture"));
}

// Where inputs are only checked, code for any earlier architecture will do.
bool Goes(Arch member, Purpose purpose, Arch target) {
  if (purpose == Purpose::kLink) return SassLinksFor(member, target);
  return member.number <= target.number && format::TraitsOf(member).number == member.number;
}

std::optional<Diagnostic> CheckArch(const std::string& name, Arch member, Purpose purpose,
                                    const InputSettings& settings) {
  const bool too_long = purpose == Purpose::kCheck && format::IsTooLongForCheck(member.number);
  const bool fails = too_long && settings.compatibility == Compatibility::kNvlink;
  if (Goes(member, purpose, settings.target) && !fails) return std::nullopt;
  const std::string target =
      purpose == Purpose::kCheck ? settings.target.VirtualName() : settings.target.Name();
  Diagnostic out = Fatal(DiagnosticCode::kArchMismatch, name,
                         too_long ? std::string(format::nvlink_text::kArchTooLong)
                                  : format::nvlink_text::ArchDoesNotMatch(name, target));
  out.notes.push_back(
      base::Cat({"it was built for ", member.Name(), "; compile it with -arch=", target}));
  return out;
}

std::optional<Diagnostic> CheckAbi(const std::string& name, const format::Ehdr& header) {
  const std::uint8_t os_abi = header.ident[format::kIdentOsAbi];
  const std::uint8_t version = header.ident[format::kIdentAbiVersion];
  if (os_abi == format::kOsAbiCuda && version == format::kAbiVersion) return std::nullopt;
  if (format::HasOldAbi(header)) return std::nullopt;
  Diagnostic out =
      Fatal(DiagnosticCode::kAbiMismatch, name, format::nvlink_text::AbiDoesNotMatch(name));
  out.notes.push_back(absl::StrCat("its ABI is ", os_abi, ", version ", version, "; expected ",
                                   format::kOsAbiCuda, ", version ", format::kAbiVersion));
  return out;
}

// nvlink believes what `e_flags` says of the place of the CUDA note unless it has no room there,
// and takes a module without one to be of an old toolkit.
std::optional<Diagnostic> CheckAge(const std::string& name, const Module& module) {
  const std::uint32_t note = format::CudaNoteOf(module.header());
  const ModuleView& view = module.sass();
  const bool names_note =
      format::HasOldAbi(module.header()) || note == format::kNoteBehindAll ||
      (note < view.section_count() && view.RoleAt(note) == SectionRole::kCudaNote);
  const std::uint16_t oldest =
      format::TraitsOf(static_cast<std::uint16_t>(module.sm())).oldest_toolkit;
  if (oldest == 0 || (names_note && module.toolkit() >= oldest)) return std::nullopt;
  Diagnostic out =
      Fatal(DiagnosticCode::kInputTooOld, name, format::nvlink_text::MustBeRecompiled(name));
  if (!names_note) {
    out.notes.push_back(absl::StrCat("the first byte of its e_flags names section ", note,
                                     ", which is not .note.nv.cuinfo: it is damaged"));
  }
  return out;
}

}  // namespace

std::optional<Diagnostic> FindHeaderObstacle(const std::string& name, const format::Ehdr& header,
                                             Purpose purpose, const InputSettings& settings) {
  if (auto abi = CheckAbi(name, header)) return abi;
  return CheckArch(name, {static_cast<std::uint16_t>(format::SmOf(header))}, purpose, settings);
}

std::optional<Diagnostic> FindObstacle(const std::string& name, const Module& module,
                                       Purpose purpose, const InputSettings& settings) {
  if (auto abi = CheckAbi(name, module.header())) return abi;
  const Arch member{static_cast<std::uint16_t>(module.sm()),
                    module.architecture_specific() ? 'a' : '\0'};
  if (auto arch = CheckArch(name, member, purpose, settings)) return arch;
  if (auto flags = CheckFlags(name, module, settings)) return flags;
  const bool to_link = purpose == Purpose::kLink;
  if (to_link && !settings.profile.accepts_specific_code_for_plain_target &&
      module.architecture_specific() && settings.target.variant == 0) {
    return Fatal(DiagnosticCode::kArchMismatch, name,
                 std::string(format::nvlink_text::kAcceleratedToPlain));
  }
  if (to_link && !module.relocatable()) {
    // nvlink leaves such a file out without a word, and its code with it.
    Diagnostic out = Fatal(DiagnosticCode::kUnsupportedInput, name,
                           base::Cat({"Input file '", name, "' is not relocatable"}));
    out.notes.emplace_back("it is linked already; compile with nvcc -rdc=true (ptxas -c)");
    return out;
  }
  if (to_link && format::HasTwoViews(settings.target.number) &&
      !module.HasView(format::ViewKind::kMercury)) {
    return Fatal(
        DiagnosticCode::kMalformedInput, name, format::DamagedText(name),
        "it has no Mercury view, which cubins for sm_100 and later have beside their machine code");
  }
  const std::uint16_t toolkit = module.toolkit();
  if (toolkit > settings.profile.release && !settings.accept_newer) {
    Diagnostic out =
        Fatal(DiagnosticCode::kInputNewerThanToolkit, name,
              format::nvlink_text::NewerThanToolkit(name, toolkit, settings.profile.release));
    out.notes.push_back(
        base::Cat({"it was built with CUDA ", ToolkitProfile{.release = toolkit}.ReleaseName(),
                   "; this link writes what CUDA ", settings.profile.ReleaseName(), " writes"}));
    out.notes.emplace_back("--toolkit names another release; --accept-newer links it all the same");
    return out;
  }
  return CheckAge(name, module);
}

}  // namespace devlink::internal
