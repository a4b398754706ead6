// SPDX-License-Identifier: Apache-2.0
#include "command/kept_files.h"

#include <array>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "command/words.h"

namespace devlink::internal {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 80;

struct StageName {
  std::string_view prefix;
  std::string_view extension;
};

// In the order of LinkStage.
constexpr std::array kStages = {
    StageName{"1-ptx", ".ptx"},         StageName{"2-assembled", ".cubin"},
    StageName{"3-lto-ir", ".ltoir"},    StageName{"4-lto-ptx", ".ptx"},
    StageName{"5-lto-cubin", ".cubin"}, StageName{"6-linked", ".cubin"},
    StageName{"7-finalized", ".cubin"},
};
constexpr std::string_view kOutput = "8-output-";

bool IsHarmless(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
}

// What was made of all inputs has no input's name.
bool IsOfAll(LinkStage stage) {
  return stage == LinkStage::kLtoPtx || stage == LinkStage::kLtoCubin ||
         stage == LinkStage::kFinalized;
}

std::string FileOf(const LinkIntermediate& made) {
  const StageName& stage = kStages[static_cast<std::size_t>(made.stage)];
  const std::string_view extension = made.is_fat_binary ? ".fatbin" : stage.extension;
  std::string name = IsOfAll(made.stage) ? "" : base::Cat({"-", KeptName(made.name)});
  if (!name.ends_with(extension)) name += extension;
  return absl::StrCat(base::ToAbsl(stage.prefix), absl::StrFormat("-%04u", made.index + 1), name);
}

}  // namespace

std::string KeptName(std::string_view input) {
  std::string out = BaseName(std::string(input));
  // The end says what it is.
  if (out.size() > kLongestName) out.erase(0, out.size() - kLongestName);
  char before = 0;
  for (char& c : out) {
    if (!IsHarmless(c) || (c == '.' && before == '.')) c = '_';
    before = c;
  }
  return out;
}

std::string KeptFiles::PathOf(const std::string& file) const {
  return (fs::path(command_.keep_dir) / file).string();
}

std::string KeptFiles::OutputName() const {
  return base::Cat({kOutput, KeptName(command_.output)});
}

void KeptFiles::Note(const absl::Status& status) {
  if (status_.ok()) status_ = status;
}

absl::Status KeptFiles::Open() const {
  std::error_code error;
  fs::create_directories(command_.keep_dir, error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("Could not make the folder '", command_.keep_dir, "'\n", error.message()));
}

void KeptFiles::Take(const LinkIntermediate& intermediate) {
  const LinkStage stage = intermediate.stage;
  if (stage == LinkStage::kLtoIr && intermediate.index == 0) {
    // A second attempt.
    files_.erase(files_.lower_bound({LinkStage::kLtoIr, 0}),
                 files_.lower_bound({LinkStage::kLinked, 0}));
  }
  KeptFile& kept = files_[{stage, intermediate.index}];
  kept = {.file = FileOf(intermediate),
          .input = std::string(intermediate.name),
          .tool = std::string(intermediate.tool),
          .arguments = {intermediate.arguments.begin(), intermediate.arguments.end()}};
  OutputFile file(PathOf(kept.file));
  absl::Status written = file.Begin(intermediate.bytes.size());
  if (written.ok()) written = file.Append(intermediate.bytes);
  if (written.ok()) written = file.Commit();
  Note(written);
}

OutputSink& KeptFiles::Follow(OutputSink& output) {
  output_ = &output;
  return *this;
}

absl::Status KeptFiles::Begin(std::uint64_t size) {
  DEVLINK_RETURN_IF_ERROR(output_->Begin(size));
  copy_.emplace(PathOf(OutputName()));
  const absl::Status begun = copy_->Begin(size);
  if (!begun.ok()) copy_.reset();
  Note(begun);
  return absl::OkStatus();
}

absl::Status KeptFiles::Append(std::span<const std::uint8_t> bytes) {
  DEVLINK_RETURN_IF_ERROR(output_->Append(bytes));
  if (!copy_) return absl::OkStatus();
  const absl::Status appended = copy_->Append(bytes);
  if (!appended.ok()) copy_.reset();
  Note(appended);
  return absl::OkStatus();
}

absl::Status KeptFiles::Finish(const LinkOutcome& outcome) {
  if (copy_ && outcome.ok()) Note(copy_->Commit());
  copy_.reset();
  if (outcome.ok() && !outcome.ptx.empty()) {
    Note(WriteTextFile(PathOf(OutputName()), outcome.ptx));
  }
  const std::string output = OutputName();
  Note(WriteTextFile(PathOf("redo.sh"), KeptScript({.command = command_,
                                                    .context = context_,
                                                    .outcome = outcome,
                                                    .files = files_,
                                                    .output = output})));
  return status_;
}

}  // namespace devlink::internal
