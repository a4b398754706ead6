// SPDX-License-Identifier: Apache-2.0
#include "table.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <string_view>

namespace devlink::bench {

namespace {

constexpr double kMebi = 1024.0 * 1024.0;

[[gnu::format(printf, 1, 2)]] std::string Format(const char* format, ...) {
  std::array<char, 512> buffer{};
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer.data(), buffer.size(), format, arguments);
  va_end(arguments);
  return buffer.data();
}

double Mebi(std::uint64_t bytes) { return static_cast<double>(bytes) / kMebi; }

std::string Cell(const Measurement& m) {
  if (m.ok) return Format("%9.4f %7.1f", m.seconds, Mebi(m.peak));
  return Format("%17s", m.failure.empty() ? "-" : "failed");
}

const char* Name(Comparison outputs) {
  switch (outputs) {
    case Comparison::kIdentical:
      return "yes";
    case Comparison::kDifferent:
      return "NO";
    default:
      return "-";
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
  return Format("{\"seconds\": %.6f, \"peak_bytes\": %llu, \"runs\": %d}", m.seconds,
                static_cast<unsigned long long>(m.peak), m.runs);
}

}  // namespace

double Result::Ratio() const {
  return nvlink.ok && devlink.ok ? nvlink.seconds / devlink.seconds : 0;
}

std::string TableText(const std::vector<Result>& results, std::uint64_t baseline) {
  std::string out =
      Format("%-10s %6s %8s %8s %9s %7s %9s %7s %8s %8s %9s\n", "class", "inputs", "MiB in",
             "MiB out", "nvlink s", "MiB", "devlink s", "MiB", "ratio", "cat s", "identical");
  for (const Result& r : results) {
    const std::string ratio =
        r.Ratio() != 0 ? Format("%.*f", r.Ratio() < 10 ? 2 : 1, r.Ratio()) : "-";
    out += Format("%-10s %6zu %8.2f %8.2f %s %s %8s %8.4f %9s\n", r.name.c_str(), r.inputs,
                  Mebi(r.bytes_in), Mebi(r.bytes_out), Cell(r.nvlink).c_str(),
                  Cell(r.devlink).c_str(), ratio.c_str(), r.cat.seconds, Name(r.outputs));
  }
  out += Format(
      "\nMemory of devlink in MiB: in all, beyond the %.1f of a run that links nothing, and the"
      " bound of inputs + 2 x output:\n",
      Mebi(baseline));
  for (const Result& r : results) {
    if (!r.devlink.ok || r.is_ptx) continue;
    const double whole = Mebi(r.devlink.peak);
    const double growth = whole - Mebi(baseline);
    out += Format("%-10s %8.2f %8.2f of %8.2f: %s\n", r.name.c_str(), whole, growth, Bound(r),
                  whole <= Bound(r)    ? "below"
                  : growth <= Bound(r) ? "below, without the program itself"
                                       : "ABOVE");
  }
  for (const Result& r : results) {
    if (!r.nvlink.failure.empty()) out += "\n" + r.name + ": nvlink: " + r.nvlink.failure;
    if (!r.devlink.failure.empty()) out += "\n" + r.name + ": devlink: " + r.devlink.failure;
  }
  if (out.back() != '\n') out.push_back('\n');
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
    out += Format("    {\"class\": %s, \"inputs\": %zu, \"bytes_in\": %llu, \"bytes_out\": %llu",
                  Quoted(r.name).c_str(), r.inputs, static_cast<unsigned long long>(r.bytes_in),
                  static_cast<unsigned long long>(r.bytes_out));
    out += ", \"nvlink\": " + Json(r.nvlink) + ", \"devlink\": " + Json(r.devlink) +
           ", \"cat\": " + Json(r.cat) + ", \"identical\": ";
    out += r.outputs == Comparison::kNotMade     ? "null"
           : r.outputs == Comparison::kIdentical ? "true"
                                                 : "false";
    out += "}";
    separator = ",\n";
  }
  return out + "\n  ]\n}\n";
}

}  // namespace devlink::bench
