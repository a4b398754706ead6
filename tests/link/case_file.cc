// SPDX-License-Identifier: Apache-2.0
#include "link/case_file.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "support/process.h"
#include "support/text.h"

namespace devlink::testing {
namespace {

// What the comment at the head of a file says.
struct Head {
  std::string purpose;
  std::optional<std::vector<std::string>> flags;
  std::vector<std::string> archs;
  std::vector<std::string> link_flags;
  Expectation expectation = Expectation::kOk;
  std::vector<std::string> exemptions;
};

std::vector<std::string> Words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

Expectation ParseExpectation(const std::vector<std::string>& words) {
  const std::string word = words.empty() ? std::string() : words.front();
  if (word == "warning") return Expectation::kWarning;
  if (word == "error") return Expectation::kError;
  return word == "any" ? Expectation::kAny : Expectation::kOk;
}

std::optional<Exemption> ParseExemption(std::string_view word) {
  const std::size_t at = word.find('@');
  const std::string_view name = word.substr(0, at);
  const std::string arch(at == std::string_view::npos ? std::string_view() : word.substr(at + 1));
  if (name == "two-steps") return Exemption{Comparison::kTwoSteps, arch};
  if (name == "two-steps-constants") return Exemption{Comparison::kTwoStepsConstants, arch};
  if (name == "nvlink-r") return Exemption{Comparison::kNvlinkRelocatable, arch};
  if (name == "again") return Exemption{Comparison::kAgain, arch};
  return std::nullopt;
}

Head ReadHead(const std::filesystem::path& path) {
  Head head;
  std::istringstream in(ReadText(path).value_or(""));
  constexpr std::string_view kComment = "// ";
  for (std::string line; std::getline(in, line) && line.starts_with(kComment);) {
    const std::string text = line.substr(kComment.size());
    const std::size_t colon = text.find(": ");
    const std::string key = colon == std::string::npos ? std::string() : text.substr(0, colon);
    const std::vector<std::string> words =
        Words(colon == std::string::npos ? text : text.substr(colon + 1));
    if (key == "SPDX-License-Identifier") continue;
    if (key == "flags") {
      head.flags = words;
    } else if (key == "archs") {
      head.archs = words;
    } else if (key == "link-flags") {
      head.link_flags = words;
    } else if (key == "expect") {
      head.expectation = ParseExpectation(words);
    } else if (key == "exempt") {
      head.exemptions = words;
    } else if (head.purpose.empty()) {
      head.purpose = text;
    }
  }
  return head;
}

// "globals.12.cu" -> "globals", 12; "globals.cu" -> "globals", 0.
std::pair<std::string, int> SplitName(const std::filesystem::path& path) {
  const std::string stem = path.stem().string();
  const std::size_t dot = stem.rfind('.');
  if (dot == std::string::npos || dot + 1 == stem.size()) return {stem, 0};
  int number = 0;
  for (const char c : stem.substr(dot + 1)) {
    if (c < '0' || c > '9') return {stem, 0};
    number = number * 10 + (c - '0');
  }
  return {stem.substr(0, dot), number};
}

LinkCase MakeCase(const std::string& name, const std::map<int, std::filesystem::path>& paths) {
  LinkCase out;
  out.name = name;
  const std::filesystem::path& first = paths.begin()->second;
  const Head head = ReadHead(first);
  out.purpose = head.purpose;
  out.archs = head.archs.empty() ? std::vector<std::string>{"75", "80", "90"} : head.archs;
  out.link_flags = head.link_flags;
  out.expectation = head.expectation;
  for (const std::string& word : head.exemptions) {
    if (const auto exemption = ParseExemption(word)) {
      out.exemptions.push_back(*exemption);
    } else {
      out.unknown_word = word;
    }
  }
  for (const std::string& flag : head.link_flags) {
    if (std::ranges::find(kLinkFlags, flag) == std::end(kLinkFlags)) out.unknown_word = flag;
  }
  for (const auto& [number, path] : paths) {
    const std::optional<std::vector<std::string>> own = ReadHead(path).flags;
    const bool same_kind = path.extension() == first.extension();
    CaseFile file;
    file.path = path;
    file.flags = own         ? *own
                 : same_kind ? head.flags.value_or(std::vector<std::string>{})
                             : std::vector<std::string>{};
    out.files.push_back(std::move(file));
  }
  return out;
}

bool IsNumber(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::vector<LinkCase> FindCases(const std::filesystem::path& directory) {
  std::map<std::string, std::map<int, std::filesystem::path>> groups;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() != ".cu" && path.extension() != ".ptx") continue;
    const auto [name, number] = SplitName(path);
    groups[name][number] = path;
  }
  std::vector<LinkCase> cases;
  cases.reserve(groups.size());
  for (const auto& [name, paths] : groups) cases.push_back(MakeCase(name, paths));
  return cases;
}

const CaseCompiler::Ptx& CaseCompiler::PtxOf(const CaseFile& file, std::vector<std::string> command,
                                             std::string_view arch) {
  Append(command.emplace_back("-arch=compute_"), arch);
  command.push_back(file.path.string());
  Ptx* ptx = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    ptx = &ptx_[command];
    if (ptx->path.empty()) ptx->path = directory_.File(Cat(ptx_.size(), ".ptx"));
  }
  std::call_once(ptx->made, [&] {
    command.insert(command.end(), {"-ptx", "-o", ptx->path});
    ptx->result = RunProcess(command);
  });
  return *ptx;
}

ProcessResult CaseCompiler::Compile(const LinkCase& program, const CaseFile& file,
                                    std::string_view arch, const std::string& output,
                                    FrontEnd front_end,
                                    const std::vector<std::string>& more_flags) {
  std::vector<std::string> flags = file.flags;
  flags.insert(flags.end(), more_flags.begin(), more_flags.end());
  // A file that names its architecture is about exactly that.
  const bool has_arch =
      std::ranges::any_of(flags, [](const std::string& f) { return f.starts_with("-arch="); });
  std::string input = file.path.string();
  std::vector<std::string> command = {toolkit_.ptxas, "-c"};
  if (file.path.extension() != ".ptx") {
    command = {toolkit_.nvcc, "-w", "-rdc=true", "-std=c++17"};
    const std::string& first = program.archs.front();
    // PTX for a variant (sm_90a) is for nothing else.
    if (front_end == FrontEnd::kOnce && !has_arch && IsNumber(first)) {
      std::vector<std::string> front = command;
      front.insert(front.end(), flags.begin(), flags.end());
      const Ptx& ptx = PtxOf(file, std::move(front), first);
      if (!ptx.result.ok()) return ptx.result;
      input = ptx.path;
    }
    command.emplace_back("-cubin");
  }
  if (!has_arch) Append(command.emplace_back("-arch=sm_"), arch);
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {input, "-o", output});
  return RunProcess(command);
}

}  // namespace devlink::testing
