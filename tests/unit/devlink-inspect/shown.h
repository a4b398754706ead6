// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "devlink-inspect/inspect.h"
#include "llvm/Support/JSON.h"

namespace devlink::testing {

struct ShownText {
  std::string text;
  std::uint64_t problems = 0;
};

// A file as the program shows it.
ShownText AsText(std::span<const std::uint8_t> bytes, const inspect::Choice& choice,
                 const std::string& name = "input", bool demangle = true);
ShownText AsJson(std::span<const std::uint8_t> bytes, const inspect::Choice& choice,
                 const std::string& name = "input", bool demangle = true);

// The data of the page, which are JSON.
ShownText AsPageData(std::span<const std::uint8_t> bytes, const inspect::Choice& choice,
                     const std::string& name = "input");

// The one file of a document; fails the test where it is not JSON.
llvm::json::Object FileIn(const std::string& document, bool is_page = false);

// The members of an item, or the rows of a table.
std::vector<llvm::json::Object> ListIn(const llvm::json::Object& item, const std::string& key);

std::string StringIn(const llvm::json::Object& item, const std::string& key);

// A file of tests/golden.
std::vector<std::uint8_t> Golden(const std::string& name);

}  // namespace devlink::testing
