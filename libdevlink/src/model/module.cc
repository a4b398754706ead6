// SPDX-License-Identifier: Apache-2.0
#include "model/module.h"

#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "model/module_loader.h"

namespace devlink::internal {

void ModuleView::GetSections(std::vector<InputSection>& out) const {
  out.clear();
  out.reserve(roles_.size());
  for (std::uint32_t i = 0; i < roles_.size(); ++i) out.push_back(SectionAt(i));
}

InputSection ModuleView::SectionAt(std::uint32_t index) const {
  InputSection section;
  section.role = roles_[index];
  if (index == 0 || section.role == SectionRole::kOtherView) return section;
  const auto raw = base::BoundedReader(headers_).ReadOrZero<format::Shdr>(std::uint64_t{index} *
                                                                          sizeof(format::Shdr));
  format::SectionWords words{
      .name = base::BoundedReader(names_).CString(raw.name).value_or(std::string_view()),
      .type = raw.type,
      .flags = format::FlagsOf(raw)};
  section.lacks_info_link = words.flags != raw.flags;
  if (of_two_) words = format::SectionInView(kind_, words).value_or(words);
  section.name = words.name;
  section.type = words.type;
  section.flags = words.flags;
  if (!format::IsNobitsType(raw.type)) {
    section.data = base::BoundedReader(file_).Slice(raw.offset, raw.size).value_or(base::Bytes());
  }
  section.size = raw.size;
  section.link = raw.link;
  section.info = raw.info;
  if (of_two_ && section.role == SectionRole::kKernelShared) section.info = CodeOf(raw.info);
  section.align = raw.addralign == 0 ? 1 : static_cast<std::uint32_t>(raw.addralign);
  section.entry_size = static_cast<std::uint8_t>(raw.entsize);
  return section;
}

std::uint32_t ModuleView::CodeOf(std::uint32_t text) const {
  if (kind_ == format::ViewKind::kSass) return text;
  const base::BoundedReader headers(headers_);
  const auto code = headers.ReadOrZero<format::Shdr>(std::uint64_t{text} * sizeof(format::Shdr));
  // The views number functions alike.
  return code.info < symbol_count_ ? SymbolAt(code.info).section : 0;
}

InputSymbol ModuleView::SymbolAt(std::uint32_t index) const {
  const base::BoundedReader symbols(symbols_);
  const auto raw = symbols.ReadOrZero<format::Sym>(std::uint64_t{index} * sizeof(format::Sym));
  return {.name = StringAt(raw.name),
          .value = raw.value,
          .size = raw.size,
          .section = WideSection(index, raw.shndx),
          .binding = static_cast<std::uint8_t>(raw.info >> 4),
          .type = static_cast<std::uint8_t>(raw.info & 15),
          .other = raw.other};
}

std::uint32_t ModuleView::WideSection(std::uint32_t index, std::uint32_t section) const {
  if (section == format::kShnXindex) {
    return base::BoundedReader(wide_indices_).ReadOrZero<std::uint32_t>(std::uint64_t{index} * 4);
  }
  return section >= format::kShnLoReserve ? section | format::kReservedSection : section;
}

std::string_view ModuleView::StringAt(std::uint32_t offset) const {
  return base::BoundedReader(strings_).CString(offset).value_or(std::string_view());
}

absl::StatusOr<ModuleRef> Module::Load(std::vector<std::uint8_t> bytes) {
  auto module = std::make_shared<Module>();
  module->bytes_ = std::move(bytes);
  DEVLINK_RETURN_IF_ERROR(ModuleLoader(*module).Load());
  return ModuleRef(std::move(module));
}

absl::StatusOr<ModuleRef> LoadModule(ModulePool* pool, std::vector<std::uint8_t>&& bytes) {
  return pool != nullptr ? pool->AddCubin(std::move(bytes)) : Module::Load(std::move(bytes));
}

absl::StatusOr<ModuleRef> LoadModule(ModulePool* pool, base::Bytes bytes) {
  return pool != nullptr ? pool->AddCubin(bytes) : Module::Load({bytes.begin(), bytes.end()});
}

}  // namespace devlink::internal
