// SPDX-License-Identifier: Apache-2.0
//
// PTX text: what it is known by, and how fatbinary stores it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace devlink::format {

// True where a text begins as PTX must: with `.version`, behind blanks and comments. What follows a
// NUL does not count. nvlink recognizes PTX by this.
bool BeginsAsPtx(std::string_view text);

struct PtxVersion {
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
};

// The number behind the first `.version`, wherever that stands: fatbinary looks into comments too,
// and takes one digit behind the point. Nothing where there is none.
std::optional<PtxVersion> FindPtxVersion(std::string_view text);

// Without comments, and with one blank where several stood; the blanks at the beginning of a line
// vanish. Ends of lines stay, but for those within block comments. Text in double quotes is kept,
// and no quote counts behind a backslash. Measured with fatbinary 13.0 on random text.
std::string CompactPtx(std::string_view text);

}  // namespace devlink::format
