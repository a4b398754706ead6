// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/spdlog_sink.h
//
// For programs that use spdlog; the library itself does not. Not part of devlink.h.
#pragma once

#include <spdlog/logger.h>

#include <memory>
#include <string_view>
#include <utility>

#include "devlink/sinks.h"

namespace devlink {

// Hands log lines to a logger of the caller's. As thread-safe as that logger.
class SpdlogSink final : public LogSink {
 public:
  explicit SpdlogSink(std::shared_ptr<spdlog::logger> logger) : logger_(std::move(logger)) {}

  [[nodiscard]] bool Wants(LogLevel level) const override {
    return logger_->should_log(LevelOf(level));
  }
  void Write(LogLevel level, std::string_view line) override {
    logger_->log(LevelOf(level), spdlog::string_view_t(line.data(), line.size()));
  }

 private:
  static spdlog::level::level_enum LevelOf(LogLevel level) {
    return level == LogLevel::kDebug ? spdlog::level::debug : spdlog::level::info;
  }
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace devlink
