// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Leave the function with a failed status; bind a value otherwise.
#define DEVLINK_RETURN_IF_ERROR(expression)                                                      \
  do {                                                                                           \
    if (absl::Status devlink_status = (expression); !devlink_status.ok()) return devlink_status; \
  } while (false)

#define DEVLINK_CONCAT_INNER(a, b) a##b
#define DEVLINK_CONCAT(a, b) DEVLINK_CONCAT_INNER(a, b)
#define DEVLINK_ASSIGN_OR_RETURN(declaration, expression) \
  DEVLINK_ASSIGN_OR_RETURN_IMPL(DEVLINK_CONCAT(devlink_or_, __LINE__), declaration, expression)
// `declaration` may not stand in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define DEVLINK_ASSIGN_OR_RETURN_IMPL(result, declaration, expression) \
  auto result = (expression);                                          \
  if (!result.ok()) return std::move(result).status();                 \
  declaration = *std::move(result)
// NOLINTEND(bugprone-macro-parentheses)
