// SPDX-License-Identifier: Apache-2.0
#include "link/lto_recording.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <span>
#include <sstream>

#include "support/elf_builder.h"
#include "support/fatbin_builder.h"
#include "support/host_object.h"
#include "support/lto_container.h"
#include "support/text.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::string TextPtx(Arch arch) {
  return Cat(".version 8.0\n.target ", arch.Name(),
             "\n.address_size 64\n.visible .entry other()\n{\n  ret;\n}\n");
}

Bytes FatbinOf(CodeKind kind, Arch arch, const std::string& options, const Bytes& code) {
  FatbinBuilder member;
  member.kind = kind;
  member.arch = arch;
  member.options = options;
  return FatbinBuilder::Container({member.Member(code)});
}

std::vector<ElfSection> SectionsOf(const LtoInput& input) {
  std::vector<ElfSection> out;
  if (!input.lists.has_value()) return out;
  for (const auto& [name, texts] : *input.lists) {
    out.push_back({Cat(".nvHR", name), ListBytes(texts)});
  }
  return out;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

}  // namespace

std::string AsRecorded(std::string_view word) {
  std::string out;
  for (const char c : word) {
    if (c > ' ' && c < 0x7f && c != '\\') {
      out += c;
    } else {
      Append(out, "\\x", Hex(static_cast<unsigned char>(c), 2));
    }
  }
  return out;
}

std::string LtoRecording::CompileLine() const {
  constexpr std::string_view kCompile = "compile ";
  for (const std::string& call : calls) {
    if (call.starts_with(kCompile)) return call.substr(kCompile.size());
  }
  return "";
}

std::string LtoStage::Cubin(Arch arch) {
  const std::string name = arch.Name();
  auto [at, is_new] = cubins_.try_emplace(name);
  if (is_new) {
    const std::string source = directory_.File(name + ".ptx.txt");
    at->second = directory_.File(name + ".cubin.bin");
    WriteText(source, TextPtx(arch));
    RunProcess({toolkit_.ptxas, Cat("-arch=", name), "-c", source, "-o", at->second});
  }
  return at->second;
}

bool LtoStage::Prepare(const LtoCase& link) {
  files_.clear();
  for (std::size_t i = 0; i < link.inputs.size(); ++i) {
    const LtoInput& input = link.inputs[i];
    const Bytes container = MakeLtoContainer(link.arch, Cat("the bitcode of module ", i));
    Bytes bytes;
    switch (input.kind) {
      case LtoInputKind::kLtoir:
        bytes = container;
        break;
      case LtoInputKind::kPtx:
        bytes = ToBytes(TextPtx(link.arch));
        break;
      case LtoInputKind::kFatbin:
      case LtoInputKind::kObject:
      case LtoInputKind::kRuntimeLtoIr:
        bytes = FatbinOf(CodeKind::kNvvm, link.arch, input.options, container);
        break;
      case LtoInputKind::kSassObject:
      case LtoInputKind::kSassFatbin:
      case LtoInputKind::kCubin:
      case LtoInputKind::kRuntime:
      case LtoInputKind::kRuntimeArchive: {
        const auto cubin = ReadBytes(Cubin(link.arch));
        if (!cubin.has_value()) return false;
        bytes = input.kind == LtoInputKind::kCubin
                    ? *cubin
                    : FatbinOf(CodeKind::kSass, link.arch, "", *cubin);
        break;
      }
    }
    const bool is_object =
        input.kind == LtoInputKind::kObject || input.kind == LtoInputKind::kSassObject ||
        input.kind == LtoInputKind::kRuntime || input.kind == LtoInputKind::kRuntimeLtoIr ||
        input.kind == LtoInputKind::kRuntimeArchive;
    if (is_object) bytes = MakeHostObjectWithFatbin(bytes, SectionsOf(input));
    if (input.kind == LtoInputKind::kRuntimeArchive) bytes = BuildArchive({{"runtime.o", bytes}});
    files_.push_back(directory_.File(link.FileName(i)));
    if (!WriteBytes(files_.back(), bytes)) return false;
  }
  return true;
}

LtoRecording LtoStage::Run(const std::string& program, const LtoCase& link,
                           const std::vector<std::string>& more_options) {
  const std::string record = directory_.File("record");
  std::error_code ignored;
  const std::string output = directory_.File("output");
  std::filesystem::remove(record, ignored);
  std::filesystem::remove(output, ignored);
  std::vector<std::string> command = {"env", Cat("RECORDING_NVVM_FILE=", record)};
  command.insert(command.end(), link.environment.begin(), link.environment.end());
  command.push_back(program);
  for (const std::string& option : link.Options()) command.push_back(option);
  command.insert(command.end(), more_options.begin(), more_options.end());
  command.push_back(Cat("-nvvmpath=", DEVLINK_RECORDING_NVVM));
  command.insert(command.end(), files_.begin(), files_.end());
  command.insert(command.end(), {"-o", output});
  const ProcessResult result = RunProcess(command, std::chrono::seconds(20));

  LtoRecording out;
  out.crashed = result.signal != 0 || result.timed_out || result.exit_status > 2;
  out.ok = result.ok();
  out.output = ReadBytes(output).value_or(Bytes{});
  out.calls = Lines(ReadText(record).value_or(""));
  for (const std::string& line : Lines(result.err + result.out)) {
    constexpr std::string_view kNvlink = "nvlink ";
    if (line.empty() || line.starts_with("devlink note    :")) continue;
    out.messages.push_back(line.starts_with(kNvlink) ? Cat("devlink ", line.substr(kNvlink.size()))
                                                     : line);
  }
  return out;
}

}  // namespace devlink::testing
