// SPDX-License-Identifier: Apache-2.0
#include "plan/lto_parts.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <stop_token>
#include <utility>

#include "base/guard.h"
#include "base/job_queue.h"
#include "base/stop.h"
#include "base/strings.h"
#include "base/workers.h"
#include "plan/compile_lto.h"

namespace devlink::internal {

namespace {

// A module of nothing has 2 KiB, and costs something all the same.
constexpr std::uint64_t kLeastWeight = std::uint64_t{4} << 10;
// No file is that large; 2^20 modules of this weight do not overflow.
constexpr std::uint64_t kMostWeight = std::uint64_t{1} << 43;

std::uint64_t WeightOf(std::uint64_t bytes) {
  return std::bit_ceil(std::clamp(bytes, kLeastWeight, kMostWeight));
}

std::uint64_t BytesOf(const LtoJob& part) {
  return std::accumulate(
      part.modules.begin(), part.modules.end(), std::uint64_t{0},
      [](std::uint64_t sum, const LtoModule& module) { return sum + module.bytes.size(); });
}

// What libNVVM takes for modules of this size, in bytes, beside the library itself, which all parts
// share. Measured with 13.0: 18 bytes per byte of IR (kernels of some pages), 48 to 65 (thousands
// of small functions). One function of a thousand branches took 390, for which this is too little.
std::uint64_t EstimateMemory(const LtoJob& part) {
  return base::EstimateMemory(BytesOf(part), std::uint64_t{8} << 20, 128);
}

CompiledPart CompileOne(const LtoCompiler& compiler, const LtoJob& part,
                        const LinkContext& context) {
  const TimeSpan span(context.time_trace, "compile LTO IR", part.modules.front().name);
  const std::uint64_t begin = context.environment.NowNanoseconds();
  CompiledPart out{.output = compiler.Compile(part)};
  out.time = std::chrono::nanoseconds(context.environment.NowNanoseconds() - begin);
  return out;
}

// The same for a worker, which has to come back from its job: others wait for it.
CompiledPart CompileGuarded(const LtoCompiler& compiler, const LtoJob& part,
                            const LinkContext& context) {
  CompiledPart out;
  absl::Status ended = base::Guard([&] {
    out = CompileOne(compiler, part, context);
    return absl::OkStatus();
  });
  if (!ended.ok()) out.output.status = std::move(ended);
  return out;
}

}  // namespace

std::vector<std::size_t> CutIntoParts(std::span<const std::uint64_t> sizes, std::size_t most) {
  std::vector<std::uint64_t> before = {0};  // weight of all modules before each
  for (const std::uint64_t size : sizes) before.push_back(before.back() + WeightOf(size));
  const std::size_t parts = std::min(std::max<std::size_t>(most, 1), sizes.size());
  std::vector<std::size_t> begins;
  for (std::size_t part = 0; part < parts; ++part) {
    if (part == 0) {
      begins.push_back(0);
      continue;
    }
    // Where an equal share ends, or the module next to it; each part has one module at least.
    const std::uint64_t goal = before.back() / parts * part;
    const auto first = before.begin() + static_cast<std::ptrdiff_t>(begins.back() + 1);
    const auto last = before.begin() + static_cast<std::ptrdiff_t>(sizes.size() - (parts - part));
    auto at = std::lower_bound(first, last, goal);
    if (at != first && *at > goal && *at - goal > goal - *std::prev(at)) --at;
    begins.push_back(static_cast<std::size_t>(at - before.begin()));
  }
  return begins;
}

std::vector<LtoJob> CutIntoParts(const LtoJob& job, std::size_t most) {
  std::vector<std::uint64_t> sizes;
  sizes.reserve(job.modules.size());
  for (const LtoModule& module : job.modules) sizes.push_back(module.bytes.size());
  std::vector<std::size_t> begins = CutIntoParts(sizes, most);
  const std::size_t parts = begins.size();
  begins.push_back(sizes.size());
  std::vector<LtoJob> out;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto at = [&](std::size_t module) {
      return job.modules.begin() + static_cast<std::ptrdiff_t>(module);
    };
    out.push_back({.target = job.target,
                   .modules = {at(begins[part]), at(begins[part + 1])},
                   .arguments = job.arguments,
                   .stop = job.stop});
  }
  return out;
}

std::string NameOfPart(const LtoJob& part, std::size_t parts) {
  if (parts < 2) return kLtoResultName;
  const std::string& first = part.modules.front().name;
  const std::string& last = part.modules.back().name;
  if (part.modules.size() == 1) return base::Cat({kLtoResultName, " (", first, ")"});
  return base::Cat({kLtoResultName, " (", first, " to ", last, ")"});
}

std::vector<CompiledPart> CompileParts(const LtoCompiler& compiler, std::span<const LtoJob> parts,
                                       const ParallelOptions& parallel,
                                       const LinkContext& context) {
  const Environment& environment = context.environment;
  const auto total = static_cast<std::uint32_t>(parts.size());
  context.Report(LinkPhase::kLtoCompile, 0, total);
  std::vector<CompiledPart> out(parts.size());
  if (parts.size() == 1) {
    out.front() = CompileOne(compiler, parts.front(), context);
    context.Report(LinkPhase::kLtoCompile, 1, total);
    return out;
  }
  // Stays so for a part that is dropped when stopping is asked for.
  for (CompiledPart& part : out) part.output.status = base::Stopped();
  const unsigned elsewhere = compiler.jobs_elsewhere();
  const unsigned workers =
      base::WorkersFor(parts.size(), elsewhere != 0 ? elsewhere : parallel.threads, environment);
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::uint64_t> sizes(parts.size());
  std::transform(parts.begin(), parts.end(), sizes.begin(), BytesOf);
  if (workers > 1) base::LargestFirst(sizes, order);
  // Other machines have memory of their own.
  std::vector<std::uint64_t> estimates(parts.size());
  if (elsewhere == 0) {
    std::transform(parts.begin(), parts.end(), estimates.begin(), EstimateMemory);
  }
  base::JobQueue queue(std::move(estimates), std::move(order), parallel.memory_budget, environment,
                       environment.StopToken());
  out.resize(queue.RunAll(
      workers,
      [&](const base::JobQueue::Grant& grant) {
        CompiledPart& part = out[grant.job];
        if (grant.memory.ok()) {
          part = CompileGuarded(compiler, parts[grant.job], context);
        } else {
          part.output.status = grant.memory.status();
        }
        return part.output.status.ok();
      },
      // The sink is told on the caller's thread alone.
      [&](std::size_t done) {
        context.Report(LinkPhase::kLtoCompile, static_cast<std::uint32_t>(done), total);
      }));
  return out;
}

bool IsLtoResult(std::string_view input) {
  if (!input.starts_with(kLtoResultName)) return false;
  input.remove_prefix(std::string_view(kLtoResultName).size());
  return input.empty() || (input.starts_with(" (") && input.ends_with(')'));
}

}  // namespace devlink::internal
