// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "devlink-inspect/describe_cubin.h"
#include "devlink-inspect/report.h"

namespace devlink::inspect {

struct InspectOptions {
  Choice choice;
  // Tells the report the bytes of each item as well, and nothing about what they mean.
  bool only_contents = false;
};

// Tells a report what is in a file and in whatever that contains. `name` is how the file was given:
// reports show it, and members of thin archives lie in its folder. What cannot be read is a
// problem of the report. Takes any bytes: what is read and unpacked in all is bounded by a multiple
// of them.
void InspectBytes(const std::string& name, std::span<const std::uint8_t> bytes,
                  const InspectOptions& options, Report& report);

}  // namespace devlink::inspect
