// SPDX-License-Identifier: Apache-2.0
#include "assemble/ptx_log.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/strings.h"

namespace devlink::internal {

namespace {

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return out;
}

// The number that follows `mark`, or nothing.
std::optional<std::uint64_t> NumberAfter(std::string_view line, std::string_view mark) {
  const std::size_t at = line.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  std::uint64_t value = 0;
  const char* begin = line.data() + at + mark.size();
  const auto [end, error] = std::from_chars(begin, line.data() + line.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

// The number that stands before `mark`: "18 registers".
std::uint64_t NumberBefore(std::string_view line, std::string_view mark) {
  const std::size_t at = line.find(mark);
  if (at == std::string_view::npos) return 0;
  std::size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  std::uint64_t value = 0;
  (void)std::from_chars(line.data() + begin, line.data() + at, value);
  return value;
}

constexpr std::string_view kLineMark = ", line ";

int LineOf(std::string_view line) {
  // "ptxas application ptx input, line 4; error   : ..."; further text may hold anything.
  const std::size_t colon = line.find(" : ");
  const std::size_t stop = line.find("; ");
  if (stop == std::string_view::npos || (colon != std::string_view::npos && colon < stop)) return 0;
  const auto number = NumberAfter(line.substr(0, stop), kLineMark);
  return number.has_value() && *number <= 0x7fffffff ? static_cast<int>(*number) : 0;
}

std::optional<Severity> SeverityOf(std::string_view line) {
  if (!line.starts_with("ptxas ")) return std::nullopt;
  std::string_view rest = line.substr(6);
  if (const std::size_t stop = rest.find("; "); LineOf(line) != 0) rest.remove_prefix(stop + 2);
  if (rest.starts_with("fatal   :")) return Severity::kFatal;
  if (rest.starts_with("error   :")) return Severity::kError;
  if (rest.starts_with("warning :")) return Severity::kWarning;
  if (rest.starts_with("info    :")) return Severity::kInfo;
  return std::nullopt;
}

struct UsageReader {
  std::vector<PtxFunctionUsage>& functions;
  std::string entry;

  static std::string Quoted(std::string_view text) {
    const std::size_t begin = text.find('\'');
    const std::size_t end = text.find('\'', begin + 1);
    if (begin == std::string_view::npos || end == std::string_view::npos) return {};
    return std::string(text.substr(begin + 1, end - begin - 1));
  }

  // True where the line is one that only -v brings about.
  bool Read(std::string_view line) {
    constexpr std::string_view kInfo = "ptxas info    : ";
    if (!line.starts_with(kInfo)) return ReadFrame(line);
    const std::string_view text = line.substr(kInfo.size());
    constexpr std::string_view kProperties = "Function properties for ";
    if (text.starts_with("Compiling entry function '")) {
      entry = Quoted(text);
      return true;
    }
    if (text.starts_with(kProperties)) {
      PtxFunctionUsage& function = functions.emplace_back();
      function.name = text.substr(kProperties.size());
      function.is_entry = function.name == entry;
      return true;
    }
    if (text.starts_with("Used ") && text.find(" registers") != std::string_view::npos) {
      if (!functions.empty()) {
        PtxFunctionUsage& function = functions.back();
        function.registers = static_cast<std::uint32_t>(NumberBefore(text, " registers"));
        function.barriers = static_cast<std::uint32_t>(NumberBefore(text, " barriers"));
        function.shared_bytes = NumberBefore(text, " bytes smem");
      }
      return true;
    }
    return text.starts_with("Compile time = ") ||
           text.starts_with("Overriding maximum register limit ") ||
           (text.find(" bytes gmem") != std::string_view::npos && text[0] >= '0' && text[0] <= '9');
  }

  bool ReadFrame(std::string_view line) {
    if (line.find(" bytes stack frame, ") == std::string_view::npos || !line.starts_with("    ")) {
      return false;
    }
    if (!functions.empty()) {
      PtxFunctionUsage& function = functions.back();
      function.stack_bytes = NumberBefore(line, " bytes stack frame");
      function.spill_store_bytes = NumberBefore(line, " bytes spill stores");
      function.spill_load_bytes = NumberBefore(line, " bytes spill loads");
    }
    return true;
  }
};

}  // namespace

std::string FetchLog(void* handle, int (*get_size)(void*, std::size_t*), int (*get)(void*, char*)) {
  std::size_t size = 0;
  if (handle == nullptr || get_size(handle, &size) != 0 || size == 0) return {};
  std::string log(size + 1, '\0');  // ended, whether or not the size counts the NUL
  if (get(handle, log.data()) != 0) return {};
  log.resize(log.find('\0'));
  return log;
}

std::string MergeLogs(std::string_view infos, std::string_view errors) {
  const std::vector<std::string_view> info = SplitLines(infos);
  const std::vector<std::string_view> error = SplitLines(errors);
  std::string out;
  const auto put = [&out](std::string_view line) { out += base::Cat({line, "\n"}); };
  std::size_t i = 0;
  for (const std::string_view line : error) {
    const int number = LineOf(line);
    for (; i < info.size() && (number == 0 || LineOf(info[i]) <= number); ++i) put(info[i]);
    put(line);
  }
  for (; i < info.size(); ++i) put(info[i]);
  return out;
}

void ReadLog(std::string_view log, std::string_view input, bool hide_verbose, PtxResult& result) {
  UsageReader usage{result.functions, {}};
  Severity severity = Severity::kInfo;
  for (std::string_view line : SplitLines(log)) {
    if (line.starts_with(kContinuationMark)) line.remove_prefix(kContinuationMark.size());
    const bool verbose = usage.Read(line);
    if (const auto own = SeverityOf(line)) severity = *own;
    if (verbose && hide_verbose) continue;
    Diagnostic& diagnostic = result.diagnostics.emplace_back();
    diagnostic.code = DiagnosticCode::kPtxAssembly;
    diagnostic.severity = severity;
    diagnostic.text = line;
    diagnostic.input = input;
    diagnostic.line = LineOf(line);
    diagnostic.verbatim = true;
  }
}

absl::Status WithItsCause(const absl::Status& refused, const std::vector<Diagnostic>& log) {
  if (!absl::IsInvalidArgument(refused)) return refused;
  // Provoked with ptxas 13.0, but for the last text, which stands in the program.
  constexpr std::array<std::pair<std::string_view, absl::StatusCode>, 5> kCauses = {{
      {"Unsupported .version ", absl::StatusCode::kUnimplemented},
      {"Unsupported .target ", absl::StatusCode::kUnimplemented},
      {"is not defined for option 'gpu-name'", absl::StatusCode::kUnimplemented},
      {"Insufficient registers ", absl::StatusCode::kResourceExhausted},
      {"Register allocation failed ", absl::StatusCode::kResourceExhausted},
  }};
  for (const Diagnostic& line : log) {
    if (line.severity != Severity::kFatal && line.severity != Severity::kError) continue;
    for (const auto& [text, code] : kCauses) {
      if (line.text.find(text) != std::string::npos) return {code, refused.message()};
    }
  }
  return refused;
}

std::optional<std::pair<int, int>> LatestPtxIsaIn(const std::vector<Diagnostic>& log) {
  constexpr std::string_view kMark = "current version is '";
  for (const Diagnostic& line : log) {
    const std::size_t at = line.text.find(kMark);
    const std::size_t dot = line.text.find('.', at == std::string::npos ? at : at + kMark.size());
    if (dot == std::string::npos) continue;
    const auto major = NumberAfter(line.text, kMark);
    const auto minor = NumberAfter(std::string_view(line.text).substr(dot), ".");
    constexpr std::uint64_t kMost = 1000;
    if (major && minor && *major < kMost && *minor < kMost) {
      return std::pair(static_cast<int>(*major), static_cast<int>(*minor));
    }
  }
  return std::nullopt;
}

}  // namespace devlink::internal
