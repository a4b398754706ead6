// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "base/bounded_reader.h"
#include "devlink-inspect/report.h"

namespace devlink::inspect {

// What is shown of each cubin.
struct Choice {
  bool summary = false;  // kernels, functions, variables and what is undefined
  bool headers = false;  // of the file and its segments
  bool sections = false;
  bool symbols = false;
  bool relocations = false;
  bool attributes = false;
  bool call_graph = false;
  bool resources = false;
  bool notes = false;
  std::size_t most_rows = 0;  // of a table of the summary in a text; 0: all

  // All that there is.
  static constexpr Choice Everything() {
    return {.summary = true,
            .headers = true,
            .sections = true,
            .symbols = true,
            .relocations = true,
            .attributes = true,
            .call_graph = true,
            .resources = true,
            .notes = true};
  }
};

// Tells a report the headline, fields and tables of one cubin, whose item was begun. Takes any
// bytes; damaged ones are described as far as they can be read, with the problems.
void DescribeCubin(base::Bytes bytes, const Choice& choice, Report& report);

}  // namespace devlink::inspect
