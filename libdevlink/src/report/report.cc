// SPDX-License-Identifier: Apache-2.0
#include "report/report.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/strings.h"
#include "devlink/module.h"
#include "format/elf_cuda.h"
#include "format/sections.h"
#include "model/module.h"

namespace devlink {

std::string ToJson(const LinkReport& report) {
  std::string out = "{\n  \"entries\": [";
  const char* separator = "\n";
  for (const EntryReport& entry : report.entries) {
    absl::StrAppend(
        &out, separator, "    {\"name\": ", base::JsonString(entry.name),
        ", \"registers\": ", entry.registers, ", \"barriers\": ", entry.barriers,
        ", \"stack_bytes\": ", entry.stack_bytes ? absl::StrCat(*entry.stack_bytes) : "null",
        ", \"shared_bytes\": ", entry.shared_bytes,
        ", \"parameter_bytes\": ", entry.parameter_bytes, "}");
    separator = ",\n";
  }
  absl::StrAppend(&out, "\n  ],\n  \"dead_functions\": [");
  separator = "\n    ";
  for (const std::string& name : report.dead_functions) {
    absl::StrAppend(&out, separator, base::JsonString(name));
    separator = ",\n    ";
  }
  absl::StrAppend(&out, "\n  ],\n  \"global_bytes\": ", report.global_bytes,
                  ",\n  \"constant_bytes\": ", report.constant_bytes,
                  ",\n  \"input_bytes\": ", report.input_bytes,
                  ",\n  \"output_bytes\": ", report.output_bytes,
                  ",\n  \"inputs\": ", report.inputs, "\n}\n");
  return out;
}

namespace internal {

namespace {

// The bank of an entry that has slots for texture, sampler and surface references.
const ConstantBank* TextureBank(const PassResults& linked, FunctionId entry) {
  for (const ConstantBank& bank : linked.textures.banks) {
    if (bank.entry == entry) return &bank;
  }
  return nullptr;
}

std::uint64_t ParameterBytes(const PassResults& linked, FunctionId entry) {
  if (const ConstantBank* bank = TextureBank(linked, entry)) return bank->size;
  const Program& program = linked.program;
  std::uint64_t bytes = 0;
  for (const SectionId id : program.functions[entry].constants) {
    const Section& bank = program.sections[id];
    if (IsParameterBank(bank)) bytes += bank.size;
  }
  return bytes;
}

// What -v says of the slots of an entry.
std::string DescribeSlots(const PassResults& linked, FunctionId entry) {
  std::string out;
  if (TextureBank(linked, entry) == nullptr) return out;
  constexpr std::pair<std::uint8_t, std::string_view> kKinds[] = {
      {format::kSttCudaTexture, " textures"},
      {format::kSttCudaSurface, " surfaces"},
      {format::kSttCudaSampler, " samplers"}};
  for (const auto& kind : kKinds) {
    const auto count = std::count_if(
        linked.textures.slots.begin(), linked.textures.slots.end(), [&](const TextureSlot& slot) {
          return linked.program.symbols[slot.symbol].type == kind.first;
        });
    if (count != 0) absl::StrAppend(&out, ", ", count, base::ToAbsl(kind.second));
  }
  return out;
}

std::uint64_t CompilerConstantBytes(const PassResults& linked, FunctionId entry) {
  for (const ConstantBank& bank : linked.constants.banks) {
    if (bank.entry == entry) return bank.size;
  }
  for (const SectionId id : linked.program.functions[entry].constants) {
    const Section& bank = linked.program.sections[id];
    if (bank.bank == format::kCompilerBank) return bank.size;
  }
  return 0;
}

}  // namespace

LinkReport ReportInputs(std::span<const LinkInput> inputs) {
  LinkReport report;
  report.inputs = static_cast<std::uint32_t>(inputs.size());
  for (const LinkInput& input : inputs) report.input_bytes += input.module->bytes().size();
  return report;
}

LinkReport ReportWholeProgram(std::span<const std::uint8_t> cubin) {
  LinkReport report;
  report.output_bytes = cubin.size();
  const auto module = Module::Load({cubin.begin(), cubin.end()});
  if (!module.ok()) return report;
  for (const ModuleFunction& function : InspectModule(*module).functions) {
    if (!function.is_kernel) continue;
    EntryReport& entry = report.entries.emplace_back();
    entry.name = function.name;
    entry.registers = function.registers.value_or(0);
    entry.barriers = function.barriers.value_or(0);
    if (function.stack_bytes) entry.stack_bytes = *function.stack_bytes;
    entry.shared_bytes = function.shared_bytes;
    entry.parameter_bytes = function.parameter_bytes;
  }
  for (const InputSection& section : (*module)->sass().sections()) {
    namespace names = format::section_name;
    if (section.name == names::kGlobal || section.name == names::kGlobalInit) {
      report.global_bytes += section.size;
    } else if (section.name ==
               base::Cat({names::kConstants, std::to_string(format::kVariableBank)})) {
      report.constant_bytes += section.size;
    }
  }
  return report;
}

LinkReport MakeReport(const PassResults& linked, std::span<const LinkInput> inputs) {
  const Program& program = linked.program;
  LinkReport report = ReportInputs(inputs);
  for (std::size_t i = 0; i < linked.liveness.entries.size(); ++i) {
    const FunctionId function = linked.liveness.entries[i];
    EntryReport& entry = report.entries.emplace_back();
    entry.name = program.symbols[program.functions[function].symbol].name;
    entry.registers = linked.resources.entries[i].registers;
    entry.barriers = BarriersOf(program, linked.attributes, function);
    entry.stack_bytes = linked.resources.entries[i].stack;
    if (linked.shared.entries[i].emitted) entry.shared_bytes = linked.shared.entries[i].size;
    entry.parameter_bytes = ParameterBytes(linked, function);
  }
  for (FunctionId f = 0; f < program.functions.size(); ++f) {
    if (!linked.liveness.live[f] && program.IsDefined(f)) {
      report.dead_functions.emplace_back(program.symbols[program.functions[f].symbol].name);
    }
  }
  for (const Section& section : program.sections) {
    if (section.kind == SectionKind::kGlobal || section.kind == SectionKind::kGlobalInit) {
      report.global_bytes += section.size;
    }
  }
  if (program.constant_bank3 != kNone) {
    report.constant_bytes = program.sections[program.constant_bank3].size;
  }
  return report;
}

std::vector<Diagnostic> DescribeUsage(const PassResults& linked, const LinkReport& report) {
  std::vector<Diagnostic> out;
  const auto say = [&out](std::string text, std::string_view symbol) {
    Diagnostic& info = out.emplace_back();
    info.code = DiagnosticCode::kResourceUsage;
    info.severity = Severity::kInfo;
    info.text = std::move(text);
    info.symbol = symbol;
  };
  std::string memory = absl::StrCat(report.global_bytes, " bytes gmem");
  if (report.constant_bytes != 0) {
    absl::StrAppend(&memory, ", ", report.constant_bytes, " bytes cmem[3]");
  }
  say(memory, "");
  for (std::size_t i = report.entries.size(); i-- > 0;) {  // last created first
    const EntryReport& entry = report.entries[i];
    const FunctionId kernel = linked.liveness.entries[i];
    const std::uint64_t constants = CompilerConstantBytes(linked, kernel);
    // Of calls without end nvlink counts none.
    const std::uint64_t stack =
        entry.stack_bytes ? *entry.stack_bytes : linked.resources.frames[kernel];
    say(absl::StrCat("Function properties for '", entry.name, "':"), entry.name);
    std::string usage = absl::StrCat("used ", entry.registers, " registers, used ", entry.barriers,
                                     " barriers, ", stack, " stack, ", entry.shared_bytes,
                                     " bytes smem, ", entry.parameter_bytes, " bytes cmem[0]");
    if (constants != 0) absl::StrAppend(&usage, ", ", constants, " bytes cmem[2]");
    absl::StrAppend(&usage, ", 0 bytes lmem", DescribeSlots(linked, kernel));
    say(usage, entry.name);
  }
  return out;
}

std::optional<Diagnostic> WarnOfEarlyReferences(const Relocated& relocated) {
  if (relocated.early_shared + relocated.early_constants == 0) return std::nullopt;
  Diagnostic out;  // nvlink says nothing
  out.code = DiagnosticCode::kEarlyReference;
  out.severity = Severity::kInfo;
  out.notes.push_back(absl::StrCat(
      relocated.early_shared, " references to shared memory and ", relocated.early_constants,
      " to constants are resolved as nvlink -r does, before the next link lays them out"));
  out.notes.emplace_back("they may be wrong there; --keep-references leaves them to the next link");
  return out;
}

}  // namespace internal

}  // namespace devlink
