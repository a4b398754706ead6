// SPDX-License-Identifier: Apache-2.0
//
// The program nvlink as a finalizer, one process and one directory for each job. It has what
// libnvJitLink has, starts in a third of the time and takes two thirds (docs/speed.md).
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "assemble/child_process.h"
#include "assemble/elf_tables.h"
#include "assemble/work_directory.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/status_macros.h"
#include "base/stop.h"
#include "base/strings.h"
#include "devlink/experimental/mercury_finalizer.h"
#include "devlink/toolkit_profile.h"
#include "finalize/finalizer_options.h"
#include "format/notes.h"

namespace devlink::internal {

namespace {

constexpr std::string_view kOutput = "out.cubin";
constexpr std::string_view kInputEnd = ".cubin";
constexpr std::string_view kPrefix = "nvlink ";  // of every line that it prints
constexpr std::string_view kVersionBegin = "nvlink: NVIDIA ";
constexpr std::size_t kMaxSaid = std::size_t{1} << 20;

// The record that the tool left first of all; nothing where there is none.
std::optional<format::ToolRecord> RecordOfTool(base::Bytes cubin) {
  const base::BoundedReader file(cubin);
  const auto tables = ReadElfTables(file);
  if (!tables) return std::nullopt;
  for (std::size_t i = 1; i < tables->sections.size(); ++i) {
    const format::Shdr& section = tables->sections[i];
    if (section.type != format::kShtNote ||
        SectionName(file, *tables, i) != format::kToolNoteName) {
      continue;
    }
    const auto bytes = file.Slice(section.offset, section.size);
    if (!bytes) return std::nullopt;
    auto records = format::ReadToolRecords(*bytes);
    if (!records || records->empty()) return std::nullopt;
    return std::move(records->front());
  }
  return std::nullopt;
}

// What it prints without its name.
std::vector<std::string> WhatItSays(std::string_view text) {
  std::vector<std::string> lines = LinesOf(text);
  for (std::string& line : lines) {
    if (line.starts_with(kPrefix)) line.erase(0, kPrefix.size());
  }
  return lines;
}

// `/tmp/devlink.x/3.cubin` becomes the name of the fourth input. What other runs would call
// otherwise has no place in a message.
std::string WithNamesOfInputs(std::string_view text, const WorkDirectory& directory,
                              const FinalizeJob& job) {
  std::string out;
  const std::string folder = directory.File("");
  for (std::size_t at = text.find(folder); at != std::string_view::npos; at = text.find(folder)) {
    out.append(text.substr(0, at));
    text.remove_prefix(at + folder.size());
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
    if (error == std::errc() && number < job.inputs.size() && rest.starts_with(kInputEnd)) {
      out.append(job.inputs[number].name);
      text = rest.substr(kInputEnd.size());
    }
  }
  return out.append(text);
}

// Its first lines, for a message.
std::string WhyItFailed(std::string_view text) {
  constexpr std::size_t kMostLines = 8;
  std::vector<std::string> lines = WhatItSays(text);
  if (lines.size() > kMostLines) lines.resize(kMostLines);
  return InOneLine(lines);
}

class NvlinkFinalizer final : public MercuryFinalizer {
 public:
  NvlinkFinalizer(FinalizerOptions options, OpenOnce<MercuryFinalizer>::Open otherwise)
      : options_(std::move(options)) {
    if (otherwise != nullptr) otherwise_.emplace(std::move(otherwise));
  }

  [[nodiscard]] std::string_view name() const override { return kNvlinkName; }
  [[nodiscard]] std::string_view version() const override { return {}; }
  [[nodiscard]] bool works_at_once() const override { return true; }

  [[nodiscard]] absl::StatusOr<Finalized> Finalize(const FinalizeJob& job) const override {
    return base::Guard([&]() -> absl::StatusOr<Finalized> {
      bool is_up = false;
      auto made = Run(job, is_up);
      if (made.ok() || is_up || !otherwise_) return made;
      const auto library = otherwise_->Get();
      if (!library.ok()) return made;
      auto otherwise = (*library)->Finalize(job);
      if (otherwise.ok()) return otherwise;
      return absl::Status(otherwise.status().code(), absl::StrCat(otherwise.status().message(),
                                                                  "; ", made.status().message()));
    });
  }

 private:
  // `is_up`: it is nvlink of the release, and what came of it is what there is to say of the job.
  [[nodiscard]] absl::StatusOr<Finalized> Run(const FinalizeJob& job, bool& is_up) const {
    DEVLINK_RETURN_IF_ERROR(CheckTexts(job));
    std::vector<std::string> names;
    names.reserve(job.inputs.size());
    for (std::size_t i = 0; i < job.inputs.size(); ++i) {
      names.push_back(absl::StrCat(i, base::ToAbsl(kInputEnd)));
    }
    std::vector<std::string_view> files(names.begin(), names.end());
    files.push_back(kOutput);
    const WorkDirectory directory(options_.temporary_directory, std::move(files));
    bool written = directory.made();
    for (std::size_t i = 0; written && i < names.size(); ++i) {
      written = directory.Write(names[i], job.inputs[i].bytes);
    }
    if (!written) {
      return absl::UnavailableError(base::ToAbsl(
          base::Cat({"cannot write inputs for nvlink into '", options_.temporary_directory,
                     "': ", std::generic_category().message(errno),
                     "; make room there or name another temporary directory"})));
    }
    DEVLINK_ASSIGN_OR_RETURN(ChildResult child, Start(job, directory, names));
    child.text = WithNamesOfInputs(child.text, directory, job);
    if (absl::Status ended = HowItEnded(job, child); !ended.ok()) {
      is_up = child.stopped || child.timed_out || IsNvlink(job, directory);
      return ended;
    }
    auto cubin = base::ReadFile(directory.File(kOutput), options_.max_output_bytes);
    if (absl::IsNotFound(cubin.status())) return absl::UnavailableError("nvlink left no cubin");
    if (!cubin.ok()) return cubin.status();
    DEVLINK_RETURN_IF_ERROR(CheckRecord(job, *cubin));
    return Finalized{.cubin = *std::move(cubin),
                     .messages = WhatItSays(child.text),
                     .tool = std::string(kNvlinkName)};
  }

  // It splits at commas and looks for pairs of quotes, and what a process is told is bounded.
  static absl::Status CheckTexts(const FinalizeJob& job) {
    constexpr std::size_t kMaxWords = std::size_t{1} << 20;
    std::size_t size = 0;
    for (const auto* texts : {&job.kernels_used, &job.variables_used}) {
      for (const std::string& text : *texts) {
        size += text.size();
        if (text.find_first_of(",\"") != std::string::npos) {
          return absl::UnimplementedError(
              base::ToAbsl(base::Cat({"nvlink would read '", text, "' otherwise"})));
        }
      }
    }
    if (size <= kMaxWords) return absl::OkStatus();
    return absl::UnimplementedError("nvlink cannot be told so many names");
  }

  [[nodiscard]] absl::StatusOr<ChildResult> Start(const FinalizeJob& job,
                                                  const WorkDirectory& directory,
                                                  const std::vector<std::string>& names) const {
    std::vector<std::string> words = FinalizerWords(job);
    words.insert(words.begin(), options_.nvlink_path);
    words.insert(words.end(), job.nvlink_options.begin(), job.nvlink_options.end());
    words.insert(words.end(), {"-o", directory.File(kOutput)});
    for (const std::string& name : names) words.push_back(directory.File(name));
    return RunChild(words, {.name = std::string(kNvlinkName),
                            .environment = Variables(directory),
                            .timeout = TimeFor(options_, job),
                            .stop = job.stop,
                            .max_text = kMaxSaid,
                            .with_stdout = true,
                            .max_file_bytes = options_.max_output_bytes,
                            .writable_folder = directory.path()});
  }

  [[nodiscard]] absl::Status HowItEnded(const FinalizeJob& job, const ChildResult& child) const {
    if (child.stopped) return base::Stopped();
    if (child.timed_out) {
      return absl::DeadlineExceededError(
          absl::StrCat("nvlink did not end within ", TimeFor(options_, job).count(),
                       " ms: it goes on for ever where an input is damaged"));
    }
    if (child.signal != 0) {
      return absl::UnavailableError(absl::StrCat("nvlink crashed, signal ", child.signal));
    }
    if (child.exit_status == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("nvlink ends with status ", child.exit_status, ": ", WhyItFailed(child.text)));
  }

  [[nodiscard]] std::vector<std::string> Variables(const WorkDirectory& directory) const {
    std::vector<std::string> out = options_.host_environment;
    out.push_back(base::Cat({"TMPDIR=", directory.path()}));
    // devlink under its name, in a script that sets PATH, does not start another one.
    out.emplace_back("DEVLINK_NVLINK=/dev/null");
    return out;
  }

  // Whether what refused the job or crashed is NVIDIA's, and of the job's release.
  [[nodiscard]] bool IsNvlink(const FinalizeJob& job, const WorkDirectory& directory) const {
    constexpr std::chrono::seconds kPatience{10};
    const auto told =
        RunChild({options_.nvlink_path, "--version"}, {.name = std::string(kNvlinkName),
                                                       .environment = Variables(directory),
                                                       .timeout = kPatience,
                                                       .stop = job.stop,
                                                       .max_text = kMaxSaid,
                                                       .with_stdout = true,
                                                       .writable_folder = directory.path()});
    return told.ok() && told->exit_status == 0 && told->text.starts_with(kVersionBegin) &&
           told->text.find(ReleaseIn(job)) != std::string::npos;
  }

  // In version texts, `, release 13.0, `.
  static std::string ReleaseIn(const FinalizeJob& job) {
    return base::Cat({", release ", ToolkitProfile{.release = job.release}.ReleaseName(), ", "});
  }

  // Only nvlink of that release may have made it. Where devlink bears its name, the record says so.
  [[nodiscard]] absl::Status CheckRecord(const FinalizeJob& job, base::Bytes cubin) const {
    const auto record = RecordOfTool(cubin);
    if (!record) {
      return absl::UnavailableError(base::ToAbsl(
          base::Cat({"nvlink left a cubin that is cut off; make room in '",
                     options_.temporary_directory, "' or name another temporary directory"})));
    }
    if (record->tool != kNvlinkName) {
      return absl::FailedPreconditionError(base::ToAbsl(
          base::Cat({"'", options_.nvlink_path, "' is not NVIDIA's nvlink; name another one"})));
    }
    if (record->version.find(ReleaseIn(job)) != std::string::npos) return absl::OkStatus();
    return absl::FailedPreconditionError(
        base::ToAbsl(base::Cat({"'", options_.nvlink_path, "' is of another release (",
                                record->version, ") than this link, which writes what CUDA ",
                                ToolkitProfile{.release = job.release}.ReleaseName(),
                                " writes: name nvlink of that release, or another --toolkit"})));
  }

  FinalizerOptions options_;
  mutable std::optional<OpenOnce<MercuryFinalizer>> otherwise_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<MercuryFinalizer>> OpenNvlinkFinalizer(
    const FinalizerOptions& options, OpenOnce<MercuryFinalizer>::Open otherwise) {
  DEVLINK_RETURN_IF_ERROR(CheckProgram(options.nvlink_path, options));
  return std::make_unique<NvlinkFinalizer>(options, std::move(otherwise));
}

}  // namespace devlink::internal
