// SPDX-License-Identifier: Apache-2.0
//
// --keep-dir: a folder with what a link had in hand on its way to the output, and a script that
// repeats its steps one by one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "command/kept_script.h"
#include "command/output_file.h"
#include "devlink/experimental/link_intermediates.h"
#include "devlink/link_session.h"
#include "devlink/nvlink_command.h"
#include "devlink/sinks.h"

namespace devlink::internal {

// What a file of an input's name is called within the folder: the last part of the name, with
// nothing in it that means something to a file system or a shell, of at most 80 characters.
std::string KeptName(std::string_view input);

// Writes each file as soon as it is told of it, whole or not at all. What is in the folder from
// earlier links and has another name stays there.
class KeptFiles final : public IntermediateSink, public OutputSink {
 public:
  // Both are borrowed.
  KeptFiles(const NvlinkCommand& command, const CommandContext& context)
      : command_(command), context_(context) {}

  // Makes the folder. Unavailable, with the system's reason in a line of its own, where it cannot.
  absl::Status Open() const;
  void Take(const LinkIntermediate& intermediate) override;

  // What a link writes into the folder goes to `output`, too, which is borrowed.
  OutputSink& Follow(OutputSink& output);
  void Expect(std::uint64_t about) override { output_->Expect(about); }
  absl::Status Begin(std::uint64_t size) override;
  absl::Status Append(std::span<const std::uint8_t> bytes) override;

  // The link is done: writes the script. The first file that could not be written is the error.
  absl::Status Finish(const LinkOutcome& outcome);

 private:
  [[nodiscard]] std::string PathOf(const std::string& file) const;
  void Note(const absl::Status& status);
  [[nodiscard]] std::string OutputName() const;

  const NvlinkCommand& command_;
  const CommandContext& context_;
  absl::Status status_;
  KeptFileMap files_;
  OutputSink* output_ = nullptr;
  std::optional<OutputFile> copy_;  // of the output
};

}  // namespace devlink::internal
