// SPDX-License-Identifier: Apache-2.0
#include "table.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "markdown.h"

namespace devlink::bench {

namespace {

constexpr double kMebi = 1024.0 * 1024.0;

double Mebi(std::uint64_t bytes) { return static_cast<double>(bytes) / kMebi; }

// The median, and the shortest run behind it.
std::string Time(const Measurement& m) {
  if (!m.ok) return m.failure.empty() ? "" : "failed";
  const std::string median = ThreeDigits(m.seconds * 1000);
  return m.runs == 1 ? median : median + " (" + ThreeDigits(m.least * 1000) + ")";
}

std::string Memory(const Measurement& m) { return m.ok ? ThreeDigits(Mebi(m.peak)) : ""; }

const char* Name(Comparison outputs) {
  switch (outputs) {
    case Comparison::kIdentical:
      return "yes";
    case Comparison::kVaries:
      return "nvlink's varies";
    case Comparison::kOtherCode:
      return "other code";
    case Comparison::kDifferent:
      return "NO";
    default:
      return "";
  }
}

double Bound(const Result& result) { return Mebi(result.bytes_in + 2 * result.bytes_out); }

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
  }
  return out + '"';
}

std::string Json(const Measurement& m) {
  if (!m.ok && m.failure.empty()) return "null";
  if (!m.ok) return "{\"failure\": " + Quoted(m.failure) + "}";
  return Format("{\"seconds\": %.6f, \"least_seconds\": %.6f, \"peak_bytes\": %llu, \"runs\": %d}",
                m.seconds, m.least, static_cast<unsigned long long>(m.peak), m.runs);
}

std::string Json(const Result& r) {
  std::string out =
      Format("    {\"class\": %s, \"inputs\": %zu, \"bytes_in\": %llu, \"bytes_out\": %llu",
             Quoted(r.name).c_str(), r.inputs, static_cast<unsigned long long>(r.bytes_in),
             static_cast<unsigned long long>(r.bytes_out));
  out += ", \"nvlink\": " + Json(r.nvlink) + ", \"nvjitlink\": " + Json(r.nvjitlink) +
         ", \"devlink\": " + Json(r.devlink);
  for (std::size_t i = 0; i < kThreads.size(); ++i) {
    out += Format(", \"devlink_threads_%d\": ", kThreads[i]) + Json(r.with_threads[i]);
  }
  out += ", \"floor\": " + Json(r.floor);
  out += r.instructions == 0
             ? std::string(", \"instructions\": null")
             : Format(", \"instructions\": %llu", static_cast<unsigned long long>(r.instructions));
  out += ", \"identical\": ";
  out += r.outputs == Comparison::kIdentical   ? "true"
         : r.outputs == Comparison::kDifferent ? "false"
                                               : "null";
  return out + "}";
}

std::vector<std::string> Row(const Result& r, bool counted) {
  std::vector<std::string> row = {r.name,
                                  std::to_string(r.inputs),
                                  ThreeDigits(Mebi(r.bytes_in)),
                                  ThreeDigits(Mebi(r.bytes_out)),
                                  Time(r.nvlink),
                                  Memory(r.nvlink),
                                  Time(r.nvjitlink),
                                  Memory(r.nvjitlink),
                                  Time(r.devlink),
                                  Memory(r.devlink)};
  for (const Measurement& m : r.with_threads) row.push_back(Time(m));
  row.push_back(r.Ratio() != 0 ? ThreeDigits(r.Ratio()) : "");
  row.push_back(Time(r.floor));
  row.push_back(r.floor.ok ? ThreeDigits(r.devlink.seconds / r.floor.seconds) : "");
  row.emplace_back(Name(r.outputs));
  if (counted) row.push_back(ThreeDigits(static_cast<double>(r.instructions) / 1e6));
  return row;
}

// What devlink takes beside what it has to.
std::string MemoryText(const std::vector<Result>& results, std::uint64_t baseline) {
  MarkdownTable table(
      {"class", "MiB", "beyond a run that links nothing", "inputs + 2 x output", "is"});
  for (const Result& r : results) {
    if (!r.devlink.ok || r.uses_tools) continue;
    const double whole = Mebi(r.devlink.peak);
    const double growth = whole - Mebi(baseline);
    table.Add({r.name, Format("%.2f", whole), Format("%.2f", growth), Format("%.2f", Bound(r)),
               whole <= Bound(r)    ? "below"
               : growth <= Bound(r) ? "below, without the program itself"
                                    : "above"});
  }
  return table.Text();
}

}  // namespace

double Result::Ratio() const {
  return nvlink.ok && devlink.ok ? nvlink.seconds / devlink.seconds : 0;
}

std::string TableText(const std::vector<Result>& results, std::uint64_t baseline) {
  const bool counted = std::any_of(results.begin(), results.end(),
                                   [](const Result& r) { return r.instructions != 0; });
  std::vector<std::string> head = {"class", "inputs",    "MiB in", "MiB out", "nvlink",
                                   "MiB",   "nvJitLink", "MiB",    "devlink", "MiB"};
  for (const int threads : kThreads) {
    head.push_back(std::to_string(threads) + (threads == 1 ? " thread" : " threads"));
  }
  head.insert(head.end(), {"times faster", "floor", "floors", "identical"});
  if (counted) head.emplace_back("M instructions");
  MarkdownTable table(head);
  for (const Result& r : results) table.Add(Row(r, counted));
  std::string out =
      "Milliseconds of whole processes: the median and, in parentheses, the shortest run.\n\n" +
      table.Text() + "\nMemory of devlink:\n\n" + MemoryText(results, baseline);
  for (const Result& r : results) {
    const auto say = [&](const char* who, const Measurement& m) {
      if (!m.failure.empty()) out += "\n" + r.name + ": " + who + ": " + m.failure + "\n";
    };
    say("nvlink", r.nvlink);
    say("nvJitLink", r.nvjitlink);
    say("devlink", r.devlink);
    for (const Measurement& m : r.with_threads) say("devlink", m);
  }
  return out;
}

std::string JsonText(const std::vector<Result>& results, std::uint64_t baseline,
                     const std::string& target) {
  std::string out = "{\n  \"target\": " + Quoted(target) +
                    Format(",\n  \"baseline_bytes\": %llu,\n  \"classes\": [",
                           static_cast<unsigned long long>(baseline));
  std::string_view separator = "\n";
  for (const Result& r : results) {
    out += separator;
    out += Json(r);
    separator = ",\n";
  }
  return out + "\n  ]\n}\n";
}

}  // namespace devlink::bench
