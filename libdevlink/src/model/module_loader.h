// SPDX-License-Identifier: Apache-2.0
//
// Turns bytes into a checked Module. Used by Module::Load only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "model/module.h"
#include "model/variable_check.h"

namespace devlink::internal {

class ModuleLoader {
 public:
  explicit ModuleLoader(Module& module)
      : module_(module), reader_(module.bytes_), view_(&module.sass_) {}
  absl::Status Load();

 private:
  absl::Status ReadHeader();
  absl::Status ReadSections();
  absl::Status ReadSection(std::uint32_t index, const format::Shdr& raw, base::Bytes names);
  // What remains of a view once all sections are known.
  absl::Status CheckView();
  absl::Status CheckWhole();
  absl::Status ReadMercuryView();
  absl::Status CheckViewsAgree();
  absl::Status ClassifySection(std::uint32_t index, InputSection& section) const;
  absl::Status ReadSymbolTable();
  // `names`: bytes of the names of all symbols so far.
  absl::Status CheckSymbol(std::uint32_t index, std::uint64_t& names);
  absl::Status CheckSoundSymbol(std::uint32_t index, std::uint64_t& names);
  absl::Status CheckFunctionSymbol(std::uint32_t index, const InputSymbol& symbol);
  [[nodiscard]] std::string_view WrongInVariable(const InputSection& section,
                                                 const InputSymbol& symbol) const;
  [[nodiscard]] std::string_view WrongInTexture(const InputSymbol& symbol) const;
  absl::Status CheckSection(std::uint32_t index);
  absl::Status CheckAttributes(std::uint32_t index) const;
  [[nodiscard]] absl::Status CheckPlaces() const;
  absl::Status CheckRelocations(std::uint32_t index);
  absl::Status CheckCallGraph(std::uint32_t index) const;
  absl::Status CheckPrototypes(std::uint32_t index) const;
  [[nodiscard]] bool IsPrototype(std::uint32_t offset) const;
  absl::Status CheckOwner(std::uint32_t index) const;
  absl::Status CheckCode(std::uint32_t index);
  absl::Status CheckMachineCode(std::uint32_t index) const;
  absl::Status CheckAligned(std::uint32_t index) const;
  absl::Status ReadCudaNote(std::uint32_t index);
  absl::Status ReadCompat(std::uint32_t index);

  // Whether an assembler wrote the file, as its note says, and no partial link. The note, which
  // grows with what -r joins, is read once.
  [[nodiscard]] bool IsFromAssembler();
  [[nodiscard]] bool LostUnnamedShared();
  [[nodiscard]] bool HasTextureSlots() const;
  static absl::Status JoinedExtensible();
  [[nodiscard]] bool NothingIsMissingBehind(std::uint32_t index) const;

  [[nodiscard]] Forms forms() const { return names_tool_ ? Forms::kKnown : Forms::kAny; }

  // The first section of a role; as many as there are where none has it.
  [[nodiscard]] std::uint32_t IndexOf(SectionRole role) const;

  // `section 4 '.text.k': what`.
  [[nodiscard]] absl::Status Bad(std::uint32_t index, std::string_view what) const;
  // `symbol 4 'k': what`.
  [[nodiscard]] absl::Status BadSymbol(std::uint32_t index, std::string_view what) const;

  Module& module_;
  base::BoundedReader reader_;
  ModuleView* view_;                        // the one that is being read
  std::vector<InputSection> sections_;      // its sections, decoded while the checks last
  std::vector<PlacedVariable> variables_;   // of the view, outside of shared memory
  std::vector<std::uint8_t> have_symbols_;  // of the view's sections those that stand for them
  std::optional<bool> from_assembler_;      // where somebody asked
  // The file says what made it. What does not is of an assembler that nobody here knows, and is not
  // held to the forms that NVIDIA's files have throughout.
  bool names_tool_ = false;
  bool two_views_ = false;  // as the header's architecture has
};

}  // namespace devlink::internal
