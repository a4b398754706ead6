// SPDX-License-Identifier: Apache-2.0
//
// What a link works with, beside its inputs and options. Nothing of it shows in the output.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/visible_text.h"
#include "devlink/environment.h"
#include "devlink/experimental/link_intermediates.h"
#include "devlink/experimental/link_passes.h"
#include "devlink/experimental/time_trace.h"
#include "devlink/module.h"
#include "devlink/sinks.h"
#include "devlink/toolchain.h"

namespace devlink::internal {

// All borrowed, but for the budget.
struct LinkContext {
  const Environment& environment;
  std::shared_ptr<MemoryBudget> memory;  // that inputs spend
  ModulePool* pool;
  Toolchain& toolchain;
  DefinitionProvider* definitions = nullptr;
  LogSink* log = nullptr;
  ProgressSink* progress = nullptr;
  PassObserver* passes = nullptr;
  TimeTrace* time_trace = nullptr;
  IntermediateSink* intermediates = nullptr;
  std::vector<CompilerRun>* compiler_runs = nullptr;  // of the link

  // `text` is a function that returns the line; it is called only where somebody listens.
  template <typename Text>
  void Log(const Text& text) const {
    if (log != nullptr && log->Wants(LogLevel::kDebug)) {
      log->Write(LogLevel::kDebug, base::VisibleText(text()));
    }
  }

  void Keep(const LinkIntermediate& intermediate) const {
    if (intermediates != nullptr) intermediates->Take(intermediate);
  }

  void Report(LinkPhase phase, std::uint32_t done = 0, std::uint32_t total = 0,
              std::string_view subject = {}) const {
    if (progress == nullptr) return;
    progress->Report({.phase = phase, .done = done, .total = total, .subject = subject});
  }
};

}  // namespace devlink::internal
