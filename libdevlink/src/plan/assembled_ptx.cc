// SPDX-License-Identifier: Apache-2.0
#include "plan/assembled_ptx.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "base/text_bytes.h"
#include "input/admission.h"
#include "plan/assembler_lines.h"
#include "plan/settings.h"

namespace devlink::internal {

AssembledPtx::AssembledPtx(std::span<const InputRecordRef> records, const LinkOptions& options,
                           const LinkContext& context)
    : options_(options), context_(context) {
  Add(records);
}

void AssembledPtx::Add(std::span<const InputRecordRef> records) {
  std::vector<Text> texts;
  for (const InputRecordRef& record : records) {
    for (const ObjectRecord& object : record->objects) {
      if (!IsOptional(object, options_)) Collect(object, texts);
    }
  }
  Assemble(texts);
}

void AssembledPtx::Collect(const ObjectRecord& object, std::vector<Text>& texts) const {
  for (const SectionRecord& section : object.sections) {
    for (const CodeRecord& code : section.code) {
      if (code.kind != CodeKind::kPtx || code.rejection || by_code_.contains(&code)) continue;
      texts.push_back({&object, &code});
    }
  }
}

void AssembledPtx::Add(const ObjectRecord& object) {
  std::vector<Text> texts;
  Collect(object, texts);
  Assemble(texts);
}

const AssembledText* AssembledPtx::Find(const CodeRecord& code) const {
  const auto found = by_code_.find(&code);
  return found == by_code_.end() ? nullptr : &found->second;
}

void AssembledPtx::Assemble(const std::vector<Text>& texts) {
  if (texts.empty()) return;
  AssembledText& first = by_code_[texts.front().code];
  auto assembler = OpenAssembler(texts.front().object->name, options_, context_, first.diagnostics);
  if (!assembler.ok()) {
    first.status = assembler.status();
    return;
  }
  std::vector<PtxJob> jobs;
  for (const Text& text : texts) {
    PtxasOptionBuilder builder = AssemblerOptions(options_, options_.target);
    if (text.code->options) builder.MemberOptions(*text.code->options);
    AssembledText& out = by_code_[text.code];
    auto arguments = builder.Build(&out.diagnostics);
    if (!arguments.ok()) {
      out.status = arguments.status();
      if (text.code->options && !out.diagnostics.empty()) {
        Diagnostic& fatal = out.diagnostics.back();
        fatal.input = text.object->name;
        fatal.notes.push_back(base::Cat({"the PTX is that of '", text.object->name, "'"}));
      }
      break;
    }
    jobs.push_back({.name = text.object->name,
                    .text = base::TextOf(text.code->bytes),
                    .arguments = *std::move(arguments)});
  }
  const std::uint32_t first_index = texts_;
  for (const PtxJob& job : jobs) {
    context_.Keep({.stage = LinkStage::kPtx,
                   .index = texts_++,
                   .name = job.name,
                   .bytes = base::BytesOf(job.text),
                   .tool = (*assembler)->name(),
                   .arguments = job.arguments});
  }
  context_.Log([&] {
    return absl::StrCat("assembling ", jobs.size(), " texts with ",
                        base::ToAbsl((*assembler)->name()));
  });
  const TimeSpan span(context_.time_trace, "assemble PTX");
  std::vector<PtxResult> results =
      AssembleAll(**assembler, jobs, options_.parallel, context_.progress, context_.environment);
  for (std::size_t i = 0; i < results.size(); ++i) {
    Take(texts[i], first_index + static_cast<std::uint32_t>(i), results[i]);
  }
}

void AssembledPtx::Take(const Text& text, std::uint32_t index, PtxResult& result) {
  const std::string& name = text.object->name;
  AssembledText& out = by_code_[text.code];
  out.status = TakeAssemblerLines(name, base::Cat({"the PTX is that of '", name, "'"}), result,
                                  out.diagnostics);
  if (!out.status.ok()) return;
  context_.Keep(
      {.stage = LinkStage::kAssembled, .index = index, .name = name, .bytes = result.cubin});
  auto module = LoadModule(context_.pool, std::move(result.cubin));
  if (!module.ok()) {
    out.status = module.status();
    return;
  }
  if (auto obstacle = FindObstacle(name, **module, Purpose::kLink, InputSettingsOf(options_))) {
    const Rejection rejection{*std::move(obstacle), absl::StatusCode::kFailedPrecondition};
    out.status = rejection.ToStatus();
    out.diagnostics.push_back(rejection.diagnostic);
    return;
  }
  out.module = *std::move(module);
  if (context_.compiler_runs == nullptr) return;
  // Texts of host objects have options, and no name of their own.
  const bool is_file = !text.code->options;
  context_.compiler_runs->push_back({.compiler = "ptxas",
                                     .source = is_file ? name : "ptx",
                                     .input = name,
                                     .output = is_file ? "" : "cubin",
                                     .time = result.time});
}

}  // namespace devlink::internal
