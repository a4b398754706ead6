// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "devlink/link_report.h"

namespace devlink::internal {

// One JSON object on several lines; docs/report.md has the schema.
std::string DetailsJson(const LinkDetails& details);

}  // namespace devlink::internal
