// SPDX-License-Identifier: Apache-2.0
#include "finalize/without_gaps.h"

#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "base/bounded_reader.h"
#include "format/elf_cuda.h"
#include "format/views.h"

namespace devlink::internal {

namespace {

constexpr std::uint64_t kPeriod = 128;

// Bytes that stay, and where they go.
struct Run {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t place = 0;
};

bool HasRun(const format::Shdr& section) {
  return section.size != 0 && format::HasBytes(section.type, section.flags);
}

// In the order of the file, none over another. Places begin at `first`.
std::vector<Run> RunsOf(const std::vector<format::Shdr>& sections, std::uint64_t first) {
  std::vector<Run> all;
  for (const format::Shdr& section : sections) {
    if (HasRun(section)) all.push_back({section.offset, section.offset + section.size});
  }
  std::ranges::sort(all, {}, &Run::begin);
  std::vector<Run> out;
  for (const Run& run : all) {
    if (!out.empty() && run.begin <= out.back().end) {
      out.back().end = std::max(out.back().end, run.end);
    } else {
      out.push_back(run);
    }
  }
  std::uint64_t end = first;
  for (Run& run : out) {
    run.place = base::AlignUp(end, kPeriod) + run.begin % kPeriod;
    if (run.place >= end + kPeriod) run.place -= kPeriod;
    end = run.place + (run.end - run.begin);
  }
  return out;
}

bool ReadSections(base::BoundedReader file, const format::Ehdr& header,
                  std::vector<format::Shdr>& out) {
  out.resize(header.shnum);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!file.Read(header.shoff + i * sizeof(format::Shdr), out[i])) return false;
    if (HasRun(out[i]) && !file.Slice(out[i].offset, out[i].size)) return false;
  }
  return !out.empty();
}

}  // namespace

std::vector<std::uint8_t> WithoutGaps(std::vector<std::uint8_t> file) {
  format::Ehdr header = {};
  std::vector<format::Shdr> sections;
  const base::BoundedReader reader(file);
  if (!reader.Read(0, header) || header.phnum != 0 || header.shoff > file.size() ||
      !ReadSections(reader, header, sections)) {
    return file;
  }
  const std::vector<Run> runs = RunsOf(sections, sizeof(header));
  const std::uint64_t end =
      runs.empty() ? sizeof(header) : runs.back().place + (runs.back().end - runs.back().begin);
  header.shoff = base::AlignUp(end, std::uint64_t{8});
  std::vector<std::uint8_t> out(header.shoff + sections.size() * sizeof(format::Shdr));
  std::memcpy(out.data(), &header, sizeof(header));
  for (const Run& run : runs) {
    std::memcpy(out.data() + run.place, file.data() + run.begin, run.end - run.begin);
  }
  for (std::size_t i = 0; i < sections.size(); ++i) {
    format::Shdr& section = sections[i];
    if (HasRun(section)) {
      const auto after = std::ranges::upper_bound(runs, section.offset, {}, &Run::begin);
      section.offset += (after - 1)->place - (after - 1)->begin;
    } else if (i != 0) {
      section.offset = sizeof(header);
    }
    std::memcpy(out.data() + header.shoff + i * sizeof(format::Shdr), &section, sizeof(section));
  }
  return out;
}

}  // namespace devlink::internal
