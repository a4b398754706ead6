// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/library_search.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/strings.h"
#include "format/make_diagnostic.h"
#include "format/nvlink_text.h"
#include "input/archive.h"
#include "input/host_object.h"
#include "input/recognise.h"

namespace devlink {

namespace nvlink_text = format::nvlink_text;

namespace {

using format::MakeDiagnostic;
using internal::ContentKind;

struct ArchName {
  std::string_view name;
  CpuArch arch;
  std::uint16_t machine;  // e_machine of the ELF specification
};

constexpr std::array<ArchName, 6> kArchNames = {{
    {"X86", CpuArch::kX86, 3},
    {"X86_64", CpuArch::kX86_64, 62},
    {"ARMv7", CpuArch::kArmv7, 40},
    {"AARCH64", CpuArch::kAarch64, 183},
    {"PPC64LE", CpuArch::kPpc64le, 21},
    {"unknown", CpuArch::kX86_64, 62},
}};

std::uint16_t MachineOf(CpuArch arch) {
  for (const ArchName& known : kArchNames) {
    if (known.arch == arch) return known.machine;
  }
  return 0;
}

enum class Verdict { kUsable, kIncompatible, kNoArchive };

// `why` says what is wrong where the verdict alone does not.
Verdict Judge(const std::string& path, base::Bytes bytes, std::uint16_t machine,
              const LibraryProbe& probe, std::string& why) {
  // As many bytes as an archive's magic has: nvlink calls whatever is as short incompatible.
  constexpr std::size_t kMagic = 8;
  if (bytes.size() <= kMagic) return Verdict::kIncompatible;
  const ContentKind kind = internal::Recognise(bytes);
  if (!internal::IsArchive(kind)) {
    why = base::Cat({"'", path, "' is ", internal::Describe(kind)});
    return Verdict::kNoArchive;
  }
  const auto archive = internal::ReadArchive(path, bytes, probe.read);
  // A member of a thin archive is missing: the link will say so when it comes to this library.
  if (absl::IsNotFound(archive.status()) || absl::IsResourceExhausted(archive.status())) {
    return Verdict::kUsable;
  }
  if (!archive.ok()) {
    why = base::FromAbsl(archive.status().message());
    return Verdict::kNoArchive;
  }
  const bool usable =
      std::any_of(archive->members.begin(), archive->members.end(), [&](const auto& member) {
        return internal::IsElf(internal::Recognise(member.bytes)) &&
               internal::ElfMachine(member.bytes) == machine;
      });
  return usable ? Verdict::kUsable : Verdict::kIncompatible;
}

}  // namespace

std::optional<CpuArch> ParseCpuArch(std::string_view name) {
  for (const ArchName& known : kArchNames) {
    if (known.name == name) return known.arch;
  }
  return std::nullopt;
}

FoundLibrary FindLibrary(std::string_view name, const std::vector<std::string>& directories,
                         CpuArch arch, const LibraryProbe& probe) {
  std::vector<std::string> places;
  for (const std::string& directory : directories) {
    if (directory.empty()) continue;
    places.push_back(directory.substr(0, directory.find_last_not_of('/') + 1));
  }
  FoundLibrary out;
  for (const std::string& directory : places) {
    const std::string path = base::Cat({directory, "/lib", name, ".so"});
    if (!probe.exists(path)) continue;
    out.hidden_by = path;
    return out;
  }
  for (const std::string& directory : places) {
    const std::string path = base::Cat({directory, "/lib", name, ".a"});
    if (!probe.exists(path)) continue;
    std::string why;
    Verdict verdict = Verdict::kIncompatible;
    if (const auto bytes = probe.read(path); bytes.ok()) {
      verdict = Judge(path, *bytes, MachineOf(arch), probe, why);
    } else {
      why = base::FromAbsl(bytes.status().message());
    }
    if (verdict == Verdict::kUsable) {
      out.path = path;
      return out;
    }
    if (verdict == Verdict::kNoArchive) {
      out.diagnostics.push_back(MakeDiagnostic(Severity::kFatal, DiagnosticCode::kMalformedInput,
                                               path, std::string(nvlink_text::kUnexpectedArchive)));
      out.diagnostics.push_back(MakeDiagnostic(Severity::kFatal, DiagnosticCode::kMalformedInput,
                                               path, std::string(nvlink_text::kInternalError),
                                               std::move(why)));
      return out;
    }
    out.diagnostics.push_back(MakeDiagnostic(Severity::kWarning, DiagnosticCode::kUnsupportedInput,
                                             path, nvlink_text::SkippingIncompatible(path, name),
                                             why));
  }
  return out;
}

}  // namespace devlink
