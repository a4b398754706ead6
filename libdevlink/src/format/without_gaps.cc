// SPDX-License-Identifier: Apache-2.0
#include "format/without_gaps.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/align.h"
#include "base/bounded_reader.h"
#include "format/elf_cuda.h"
#include "format/views.h"

namespace devlink::format {

namespace {

// What no alignment of a cubin exceeds.
constexpr std::uint64_t kMostAlign = 128;

// Bytes that stay, and where they go.
struct Run {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t align = 1;
  std::uint64_t place = 0;
};

std::uint64_t AlignOf(const Shdr& section) {
  if (section.addralign == 0) return 1;  // it has none
  return std::has_single_bit(section.addralign) ? std::min(section.addralign, kMostAlign)
                                                : kMostAlign;
}

bool HasRun(const Shdr& section) {
  return section.size != 0 && HasBytes(section.type, section.flags);
}

// In the order of the file, none over another. Places begin at `first`.
std::vector<Run> RunsOf(const std::vector<Shdr>& sections, std::uint64_t first) {
  std::vector<Run> all;
  for (const Shdr& section : sections) {
    if (!HasRun(section)) continue;
    all.push_back({section.offset, section.offset + section.size, AlignOf(section)});
  }
  std::ranges::sort(all, {}, &Run::begin);
  std::vector<Run> out;
  for (const Run& run : all) {
    if (!out.empty() && run.begin < out.back().end) {
      out.back().end = std::max(out.back().end, run.end);
      out.back().align = std::max(out.back().align, run.align);
    } else {
      out.push_back(run);
    }
  }
  std::uint64_t end = first;
  for (Run& run : out) {
    run.place = base::AlignUp(end, run.align) + run.begin % run.align;
    if (run.place >= end + run.align) run.place -= run.align;
    end = run.place + (run.end - run.begin);
  }
  return out;
}

bool ReadSections(base::BoundedReader file, const Ehdr& header, std::vector<Shdr>& out) {
  Shdr first = {};
  if (!file.Read(header.shoff, first)) return false;
  const std::uint64_t count = SectionCountOf(header, first);
  if (count > (file.size() - header.shoff) / sizeof(Shdr)) return false;
  out.resize(count);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!file.Read(header.shoff + i * sizeof(Shdr), out[i])) return false;
    if (HasRun(out[i]) && !file.Slice(out[i].offset, out[i].size)) return false;
  }
  return !out.empty();
}

}  // namespace

std::vector<std::uint8_t> WithoutGaps(std::vector<std::uint8_t> file) {
  Ehdr header = {};
  std::vector<Shdr> sections;
  const base::BoundedReader reader(file);
  if (!reader.Read(0, header) || header.phnum != 0 || header.shoff > file.size() ||
      !ReadSections(reader, header, sections)) {
    return file;
  }
  const std::vector<Run> runs = RunsOf(sections, sizeof(header));
  const std::uint64_t end =
      runs.empty() ? sizeof(header) : runs.back().place + (runs.back().end - runs.back().begin);
  header.shoff = base::AlignUp(end, std::uint64_t{8});
  std::vector<std::uint8_t> out(header.shoff + sections.size() * sizeof(Shdr));
  std::memcpy(out.data(), &header, sizeof(header));
  for (const Run& run : runs) {
    std::memcpy(out.data() + run.place, file.data() + run.begin, run.end - run.begin);
  }
  for (std::size_t i = 0; i < sections.size(); ++i) {
    Shdr& section = sections[i];
    if (HasRun(section)) {
      const auto after = std::ranges::upper_bound(runs, section.offset, {}, &Run::begin);
      section.offset += (after - 1)->place - (after - 1)->begin;
    } else if (i != 0) {
      section.offset = sizeof(header);
    }
    std::memcpy(out.data() + header.shoff + i * sizeof(Shdr), &section, sizeof(section));
  }
  return out;
}

}  // namespace devlink::format
