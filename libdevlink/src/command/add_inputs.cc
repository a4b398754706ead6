// SPDX-License-Identifier: Apache-2.0
#include "command/add_inputs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"
#include "command/words.h"
#include "format/nvlink_text.h"
#include "input/recognise.h"

namespace devlink::internal {

namespace {

namespace nvlink_text = format::nvlink_text;

absl::Status GaveUp(std::string_view part) {
  return absl::InvalidArgumentError(base::ToAbsl(part));
}

// The part of nvlink that looks for code in the file. Empty where nvlink reads the file itself.
std::string_view PartThatReads(const Environment& files, const std::string& path,
                               std::uint64_t max_bytes) {
  const auto file = files.ReadFile(path, max_bytes);
  if (!file.ok()) return {};
  const ContentKind kind = Recognise(file->bytes);
  if (kind == ContentKind::kPtx || kind == ContentKind::kFatbin)
    return nvlink_text::kFatbinaryError;
  const bool is_host = IsElf(kind) && !IsCudaElf(kind);
  return is_host || IsArchive(kind) ? nvlink_text::kInternalError : std::string_view();
}

// Whether a search has a file to look into, of whatever kind. What it says of them is not kept.
bool LooksIntoLibraries(LinkSession session, const LibraryQuery& query) {
  const std::size_t said = session.diagnostics().size();
  const auto found = session.FindLibraries(query);
  return !found.ok() || !found->empty() || session.diagnostics().size() > said;
}

class Adder {
 public:
  Adder(const NvlinkCommand& command, const InputPlaces& places, LinkSession& session)
      : command_(command), places_(places), session_(session), is_in_error_(command.is_in_error) {}

  AddedInputs Run() {
    AddedInputs out;
    out.status = AddAll();
    out.libraries = std::move(libraries_);
    out.is_in_error = is_in_error_;
    return out;
  }

 private:
  [[nodiscard]] LibraryQuery Query() const {
    LibraryQuery query = command_.libraries;
    for (std::string& directory : SplitPath(places_.library_path)) {
      query.directories.push_back(std::move(directory));
    }
    return query;
  }

  // As with nvlink, no part that looks for code in files goes on after an error.
  absl::Status AddAll() {
    const LibraryQuery query = Query();
    if (is_in_error_ && LooksIntoLibraries(session_, query)) {
      return GaveUp(nvlink_text::kInternalError);
    }
    auto libraries = session_.FindLibraries(query);
    if (!libraries.ok()) return absl::OkStatus();
    libraries_ = *std::move(libraries);
    const std::vector<Diagnostic> said = session_.diagnostics();
    is_in_error_ |= std::any_of(said.begin(), said.end(), [](const Diagnostic& diagnostic) {
      return diagnostic.severity == Severity::kError;
    });
    DEVLINK_RETURN_IF_ERROR(places_.open_time_table());
    if (places_.lacks_lto_library) return GaveUp(nvlink_text::kLibraryLoadError);
    if (is_in_error_ && command_.options.lto.enabled) return GaveUp(nvlink_text::kInternalError);
    DEVLINK_RETURN_IF_ERROR(places_.option_files);
    std::span<const std::string> paths = command_.inputs;
    std::vector<std::string> with_libraries;
    if (!libraries_.empty()) {
      with_libraries = command_.inputs;
      with_libraries.insert(with_libraries.end(), libraries_.begin(), libraries_.end());
      paths = with_libraries;
    }
    if (!is_in_error_) {
      // What is wrong with an input is in its diagnostics.
      session_.AddFiles(paths).IgnoreError();
      return absl::OkStatus();
    }
    for (const std::string& path : paths) {
      if (!session_.AddFile(path).ok()) break;
      const auto part = PartThatReads(places_.files, path, command_.options.max_input_bytes);
      if (!part.empty()) return GaveUp(part);
    }
    return absl::OkStatus();
  }

  const NvlinkCommand& command_;
  const InputPlaces& places_;
  LinkSession& session_;
  std::vector<std::string> libraries_;
  bool is_in_error_;
};

}  // namespace

AddedInputs AddInputs(const NvlinkCommand& command, const InputPlaces& places,
                      LinkSession& session) {
  return Adder(command, places, session).Run();
}

}  // namespace devlink::internal
