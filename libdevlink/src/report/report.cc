// SPDX-License-Identifier: Apache-2.0
#include "report/report.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/strings.h"
#include "devlink/module.h"
#include "format/elf_cuda.h"
#include "format/sections.h"
#include "model/module.h"
#include "report/details_json.h"

namespace devlink {

std::string ToJson(const LinkReport& report) {
  std::string out = "{\n  \"kernels\": [";
  const char* separator = "\n";
  for (const KernelReport& kernel : report.kernels) {
    absl::StrAppend(
        &out, separator, "    {\"name\": ", base::JsonString(kernel.name),
        ", \"registers\": ", kernel.registers, ", \"barriers\": ", kernel.barriers,
        ", \"stack_bytes\": ", kernel.stack_bytes ? absl::StrCat(*kernel.stack_bytes) : "null",
        ", \"shared_bytes\": ", kernel.shared_bytes,
        ", \"parameter_bytes\": ", kernel.parameter_bytes, "}");
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
                  ",\n  \"inputs\": ", report.inputs);
  if (report.details != nullptr) {
    absl::StrAppend(&out, ",\n  \"details\": ", internal::DetailsJson(*report.details));
  }
  return out + "\n}\n";
}

namespace internal {

namespace {

// The bank of a kernel that has slots for texture, sampler and surface references.
const ConstantBank* TextureBank(const PassResults& linked, FunctionId kernel) {
  for (const ConstantBank& bank : linked.textures.banks) {
    if (bank.kernel == kernel) return &bank;
  }
  return nullptr;
}

std::uint64_t ParameterBytes(const PassResults& linked, FunctionId kernel) {
  if (const ConstantBank* bank = TextureBank(linked, kernel)) return bank->size;
  const Program& program = linked.program;
  std::uint64_t bytes = 0;
  for (const SectionId id : program.functions[kernel].constants) {
    const Section& bank = program.sections[id];
    if (IsParameterBank(bank)) bytes += bank.size;
  }
  return bytes;
}

// What -v says of the slots of a kernel.
std::string DescribeSlots(const PassResults& linked, FunctionId kernel) {
  std::string out;
  if (TextureBank(linked, kernel) == nullptr) return out;
  constexpr std::pair<std::uint8_t, std::string_view> kKinds[] = {
      {format::kSttCudaTexture, " textures"},
      {format::kSttCudaSurface, " surfaces"},
      {format::kSttCudaSampler, " samplers"}};
  for (const auto& kind : kKinds) {
    const auto count = std::count_if(
        linked.textures.slots.begin(), linked.textures.slots.end(), [&](const TextureSlot& slot) {
          return linked.program.symbols[slot.symbol].type == kind.first && slot.IsFilledFor(kernel);
        });
    if (count != 0) absl::StrAppend(&out, ", ", count, base::ToAbsl(kind.second));
  }
  return out;
}

std::uint64_t CompilerConstantBytes(const PassResults& linked, FunctionId kernel) {
  for (const ConstantBank& bank : linked.constants.banks) {
    if (bank.kernel == kernel) return bank.size;
  }
  for (const SectionId id : linked.program.functions[kernel].constants) {
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
    KernelReport& kernel = report.kernels.emplace_back();
    kernel.name = function.name;
    kernel.registers = function.registers.value_or(0);
    kernel.barriers = function.barriers.value_or(0);
    if (function.stack_bytes) kernel.stack_bytes = *function.stack_bytes;
    kernel.shared_bytes = function.shared_bytes;
    kernel.parameter_bytes = function.parameter_bytes;
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
  for (std::size_t i = 0; i < linked.liveness.kernels.size(); ++i) {
    const FunctionId function = linked.liveness.kernels[i];
    KernelReport& kernel = report.kernels.emplace_back();
    kernel.name = program.symbols[program.functions[function].symbol].name;
    kernel.registers = linked.resources.kernels[i].registers;
    kernel.barriers = BarriersOf(program, linked.attributes, function);
    kernel.stack_bytes = linked.resources.kernels[i].stack;
    if (linked.shared.kernels[i].emitted) kernel.shared_bytes = linked.shared.kernels[i].size;
    kernel.parameter_bytes = ParameterBytes(linked, function);
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

namespace {

// Of the kernels of `linked.liveness`. A symbol may be older than its definition.
std::vector<std::size_t> LastDefinedFirst(const PassResults& linked) {
  std::vector<std::size_t> out(linked.liveness.kernels.size());
  std::iota(out.rbegin(), out.rend(), std::size_t{0});
  std::ranges::stable_sort(out, std::greater<>(), [&](std::size_t i) {
    return linked.program.functions[linked.liveness.kernels[i]].text;
  });
  return out;
}

// Of `ptxas -pic`, which leaves pointers there.
std::uint64_t PointerConstantBytes(const Program& program) {
  std::uint64_t bytes = 0;
  for (const Section& section : program.sections) {
    if (section.name == format::section_name::kPointerConstants) bytes += section.size;
  }
  return bytes;
}

}  // namespace

std::vector<Diagnostic> DescribeUsage(const PassResults& linked, const LinkReport& report,
                                      bool two_views) {
  std::vector<Diagnostic> out;
  const auto say = [&out](std::string text, std::string_view symbol) {
    Diagnostic& info = out.emplace_back();
    info.code = DiagnosticCode::kResourceUsage;
    info.severity = Severity::kInfo;
    info.text = std::move(text);
    info.symbol = symbol;
  };
  // Of targets with two views nvlink tells what the Mercury view has, and nothing of constants.
  std::string memory = absl::StrCat(report.global_bytes, " bytes gmem");
  if (report.constant_bytes != 0 && !two_views) {
    absl::StrAppend(&memory, ", ", report.constant_bytes, " bytes cmem[3]");
  }
  if (const std::uint64_t pointers = PointerConstantBytes(linked.program);
      pointers != 0 && !two_views) {
    absl::StrAppend(&memory, ", ", pointers, " bytes cmem[4]");
  }
  say(memory, "");
  for (const std::size_t i : LastDefinedFirst(linked)) {
    const KernelReport& properties = report.kernels[i];
    const FunctionId kernel = linked.liveness.kernels[i];
    const std::uint64_t constants = CompilerConstantBytes(linked, kernel);
    // Of calls without end nvlink counts none.
    const std::uint64_t stack =
        properties.stack_bytes ? *properties.stack_bytes : linked.resources.frames[kernel];
    say(absl::StrCat("Function properties for '", properties.name, "':"), properties.name);
    const std::uint64_t reserved =
        two_views ? std::min(properties.shared_bytes, linked.shared.reserved) : 0;
    std::string usage = absl::StrCat("used ", properties.registers, " registers, used ",
                                     properties.barriers, " barriers, ", stack, " stack, ",
                                     properties.shared_bytes - reserved, " bytes smem, ");
    if (!two_views) {
      absl::StrAppend(&usage, properties.parameter_bytes, " bytes cmem[0], ");
      if (constants != 0) absl::StrAppend(&usage, constants, " bytes cmem[2], ");
    }
    absl::StrAppend(&usage, "0 bytes lmem", two_views ? "" : DescribeSlots(linked, kernel));
    say(usage, properties.name);
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
