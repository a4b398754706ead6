// SPDX-License-Identifier: Apache-2.0
//
// The PTX among the inputs becomes modules: all texts at once, in parallel.
#pragma once

#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/hash_table.h"
#include "devlink/diagnostics.h"
#include "devlink/link_options.h"
#include "input/input_record.h"
#include "plan/link_context.h"

namespace devlink::internal {

// What became of one text.
struct AssembledText {
  absl::Status status;
  std::vector<Diagnostic> diagnostics;  // the assembler's lines, and why it is refused
  ModuleRef module;                     // where `status` is ok
};

class AssembledPtx {
 public:
  // Texts of the device runtime are left for later: whether it takes part is not known yet.
  // Assembling ends at the first text that fails, as it would one after the other.
  AssembledPtx(std::span<const InputRecordRef> records, const LinkOptions& options,
               const LinkContext& context);

  // Assembles the texts of more records, of which the device runtime's are left in the same way.
  void Add(std::span<const InputRecordRef> records);

  // What became of the text in `code`; null behind one that failed.
  [[nodiscard]] const AssembledText* Find(const CodeRecord& code) const;

  // Assembles the texts of one more object; those that are assembled already stay as they are.
  void Add(const ObjectRecord& object);

 private:
  // A text and the object that it stands in.
  struct Text {
    const ObjectRecord* object = nullptr;
    const CodeRecord* code = nullptr;
  };

  void Collect(const ObjectRecord& object, std::vector<Text>& texts) const;
  void Assemble(const std::vector<Text>& texts);
  // `index` is the text's among all of the link.
  void Take(const Text& text, std::uint32_t index, PtxResult& result);

  const LinkOptions& options_;
  const LinkContext& context_;
  base::HashMap<const CodeRecord*, AssembledText> by_code_;
  std::uint32_t texts_ = 0;  // so far
};

}  // namespace devlink::internal
