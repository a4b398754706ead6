// SPDX-License-Identifier: Apache-2.0
#include "assemble/backend.h"

#include <algorithm>
#include <utility>

#include "assemble/executing_ptx_assembler.h"
#include "assemble/ptx_log.h"
#include "assemble/ptxas_for_long_texts.h"
#include "assemble/tool_note.h"
#include "base/guard.h"
#include "base/stop.h"
#include "base/strings.h"
#include "format/ptx_text.h"

namespace devlink {

namespace internal {

namespace {

// The libraries say this where the programs have the build.
constexpr std::string_view kNoBuild = "Build system must define TOOLS_VERSION_EXTENDED";

void Erase(std::string& text, std::string_view piece) {
  if (const std::size_t at = text.find(piece); at != std::string::npos) {
    text.erase(at, piece.size());
  }
}

void CorrectRecord(const ToolkitProfile& profile, bool added_verbose, format::ToolRecord& record) {
  if (record.tool != "ptxas") return;
  // The same tool from the same release; what another one's program would have said is not known.
  if (record.build == kNoBuild && record.version == profile.version_text) {
    record.build = profile.build_text;
  }
  // With -g the program also records its files, for which nvlink's assembler has none.
  const std::string input = base::Cat({kPtxInputName, " "});
  if (record.options.starts_with(input)) {
    record.options.erase(0, input.size());
    Erase(record.options, "-o elf.o ");
  }
  if (added_verbose) Erase(record.options, "-v  ");
}

}  // namespace

const Way* WayNamed(std::string_view name) {
  for (const Way& way : kWays) {
    if (way.name == name) return &way;
  }
  return nullptr;
}

absl::Status Backend::Refused(std::string_view log) {
  // The first line that says why.
  for (const std::string_view kind : {"error   : ", "fatal   : "}) {
    const std::size_t at = log.find(kind);
    if (at == std::string_view::npos) continue;
    const std::size_t line = log.rfind('\n', at) + 1;  // npos + 1 is 0
    const std::string_view text = log.substr(line, log.find('\n', at) - line);
    return absl::InvalidArgumentError(base::ToAbsl(text));
  }
  return absl::InvalidArgumentError(
      "the PTX assembler made no cubin and did not say why; among its arguments may be one that "
      "asks for something else, such as -h or -V");
}

PtxResult Backend::Assemble(const PtxJob& job) const {
  PtxResult result;
  if (!format::BeginsAsPtx(job.text)) {
    result.status = absl::InvalidArgumentError(
        base::Cat({"'", job.name,
                   "' is not PTX: after blanks and comments it does not begin with .version"}));
    return result;
  }
  std::vector<std::string> arguments = job.arguments;
  const auto is_verbose = [](const std::string& word) {
    return word == "-v" || word == "--verbose";
  };
  const bool add_verbose =
      job.report_usage && std::none_of(arguments.begin(), arguments.end(), is_verbose);
  // In front, where no option before it can take it for its value.
  if (add_verbose) arguments.insert(arguments.begin(), "-v");
  for (const std::string& word : arguments) {
    if (word.find('\0') == std::string::npos) continue;
    result.status = absl::InvalidArgumentError("an argument for the PTX assembler holds a NUL");
    return result;
  }
  if (result.status = base::CheckStop(job.stop); !result.status.ok()) return result;
  Output output = Run(job.text.substr(0, job.text.find('\0')), arguments, job.stop);
  result.status = std::move(output.status);
  ReadLog(output.log, job.name, add_verbose, result);
  if (!job.report_usage) result.functions.clear();
  if (result.status.ok()) {
    auto cubin = ChangeToolRecords(std::move(output.cubin), [&](format::ToolRecord& record) {
      CorrectRecord(options_.profile, add_verbose, record);
    });
    if (cubin.ok()) {
      result.cubin = *std::move(cubin);
    } else {
      result.status = absl::InternalError(cubin.status().message());
    }
  }
  if (!result.status.ok()) {
    const std::string text =
        base::Cat({"'", job.name, "': ", base::FromAbsl(result.status.message())});
    result.status = absl::Status(result.status.code(), base::ToAbsl(text));
  }
  return result;
}

}  // namespace internal

namespace {

std::unique_ptr<PtxAssembler> WithProgram(const PtxBackendOptions& options,
                                          const internal::Way& way,
                                          std::unique_ptr<PtxAssembler> opened) {
  if (way.backend != PtxBackend::kNvPtxCompiler || options.ptxas_path.empty() ||
      !internal::MayUseProgram(options)) {
    return opened;
  }
  return internal::MakePtxasForLongTexts(options, std::move(opened),
                                         [options] { return internal::OpenPtxas(options); });
}

absl::StatusOr<std::unique_ptr<PtxAssembler>> OpenAssembler(const PtxBackendOptions& options) {
  std::string tried;
  std::unique_ptr<PtxAssembler> other;  // of another release, but the first that there is
  const bool automatic = options.backend == PtxBackend::kAutomatic;
  for (const internal::Way& way : internal::kWays) {
    if (!automatic && options.backend != way.backend) continue;
    if ((options.*way.path).empty()) {
      tried += base::Cat({"; no path is given for ", way.name});
      continue;
    }
    if (other != nullptr && !way.matches_nvlink) continue;
    auto opened = way.open(options);
    if (!automatic) return opened;
    if (opened.ok()) {
      if (options.profile.IsReleaseOf((*opened)->version())) {
        return WithProgram(options, way, *std::move(opened));
      }
      if (other == nullptr) other = *std::move(opened);
      continue;
    }
    tried += base::Cat({"; ", base::FromAbsl(opened.status().message())});
  }
  if (other != nullptr) return other;
  return absl::NotFoundError(base::ToAbsl(
      base::Cat({"there is no assembler for PTX", tried,
                 ". Install a CUDA toolkit, or build devlink where libnvptxcompiler_static.a is",
                 options.advice.empty() ? "" : "; ", options.advice})));
}

}  // namespace

absl::StatusOr<std::unique_ptr<PtxAssembler>> CreatePtxAssembler(const PtxBackendOptions& options) {
  return base::Guard([&]() -> absl::StatusOr<std::unique_ptr<PtxAssembler>> {
    auto opened = OpenAssembler(options);
    if (!opened.ok() || options.executor == nullptr) return opened;
    return internal::MakeExecutingPtxAssembler(options, *std::move(opened));
  });
}

}  // namespace devlink
