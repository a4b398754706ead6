// SPDX-License-Identifier: Apache-2.0
//
// Runs a linker with the stand-in for libNVVM (support/recording_nvvm) and tells what it was asked.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "link/lto_case.h"
#include "support/process.h"
#include "support/toolkit.h"

namespace devlink::testing {

struct LtoRecording {
  bool crashed = false;
  bool ok = false;
  std::vector<std::string> calls;     // lines of the record, see support/recording_nvvm
  std::vector<std::uint8_t> output;   // empty where none was written
  std::vector<std::string> messages;  // lines on stderr, under devlink's name, without notes

  // The words of the call of nvvmCompileProgram, as in the record; empty where there was none.
  [[nodiscard]] std::string CompileLine() const;
};

// A directory with the files of one case at a time. Not for several threads.
class LtoStage {
 public:
  explicit LtoStage(Toolkit toolkit) : toolkit_(std::move(toolkit)) {}

  // Writes the inputs. False where a tool or the disk fails.
  bool Prepare(const LtoCase& link);
  // Links what was prepared.
  LtoRecording Run(const std::string& program, const LtoCase& link,
                   const std::vector<std::string>& more_options = {});

 private:
  std::string Cubin(Arch arch);

  Toolkit toolkit_;
  TemporaryDirectory directory_{"devlink-lto"};
  std::map<std::string, std::string> cubins_;
  std::vector<std::string> files_;
};

// A word of a vector as it stands in a record.
std::string AsRecorded(std::string_view word);

}  // namespace devlink::testing
