// SPDX-License-Identifier: Apache-2.0
//
// The value that nvlink leaves in the null symbol where kernels are selected and there are
// constants (merge/constant_packing.h); and what it writes where there is no device code at all.
// The links have no two equal pieces with data behind them, which nvlink writes to the wrong place:
// those are in host_references_test.cc.
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "devlink-diff/cubin_diff.h"
#include "devlink/devlink.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

using diff::ExplainDifference;

constexpr auto kToolLimit = std::chrono::seconds(20);

using Bytes = std::vector<std::uint8_t>;

class Links {
 public:
  Links(const Toolkit& toolkit, std::string arch) : toolkit_(toolkit), arch_(std::move(arch)) {}

  // Assembles a text that has no .target yet.
  void Add(const std::string& body) {
    AddText(Cat(".version 9.0\n.target ", arch_, "\n.address_size 64\n", body));
  }

  void AddText(const std::string& text) {
    const std::string source = directory_.File("source.ptx");
    files_.push_back(directory_.File(Cat("f", files_.size(), ".cubin")));
    WriteText(source, text);
    const ProcessResult result =
        RunProcess({toolkit_.ptxas, "-c", "-arch", arch_, source, "-o", files_.back()});
    INFO(result.err);
    REQUIRE(result.ok());
  }

  // What differs; empty where nothing does.
  std::string Check(const std::vector<std::string>& kernels) {
    const std::string output = directory_.File("out.cubin");
    std::vector<std::string> command = {toolkit_.nvlink, "-arch", arch_, "-o", output};
    LinkOptions options;
    options.target = Arch::Parse(arch_).value_or(Arch{});
    if (!kernels.empty()) {
      command.insert(command.end(), {"-kernels-used", Join(kernels, ",")});
      options.kernels_used = kernels;
      options.recorded_options = Cat("-arch ", arch_, " -kernels-used ", Join(kernels, ","), " ");
    }
    command.insert(command.end(), files_.begin(), files_.end());
    if (files_.empty()) {
      command.push_back(directory_.File("nothing.o"));
      WriteText(command.back(), std::string(100, ' '));
    }
    const ProcessResult expected = RunProcess(command, kToolLimit);
    if (!expected.ok()) return Cat("nvlink: ", expected.err);
    auto session = LinkSession::Create(options);
    if (!session.ok()) return session.status().ToString();
    for (const std::string& file : files_) {
      if (const auto added = session->AddFile(file); !added.ok()) return added.ToString();
    }
    const LinkOutcome actual = session->Link();
    if (!actual.ok()) return actual.status.ToString();
    return ExplainDifference(ReadBytes(output).value_or(Bytes{}), actual.cubin);
  }

 private:
  const Toolkit& toolkit_;
  std::string arch_;
  TemporaryDirectory directory_{"devlink-packing"};
  std::vector<std::string> files_;
};

TEST_CASE("constants of links that select kernels") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  constexpr std::array kArchs = {"sm_75", "sm_80", "sm_90"};
  constexpr std::array kSizes = {1, 2, 4, 4, 4, 8, 8, 12, 16, 16, 20, 24, 28, 32, 40, 48, 64, 72};
  constexpr std::array kAlignments = {1, 2, 4, 4, 4, 4, 8, 8, 16, 32};
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    std::mt19937_64 random(seed);
    const auto one_of = [&random](const auto& values) { return values[random() % values.size()]; };
    Links links(*toolkit, one_of(kArchs));
    links.Add(".visible .entry wanted() { ret; }\n.visible .entry other() { ret; }");
    const std::size_t count = 1 + random() % 5;
    for (std::size_t i = 0; i < count; ++i) {
      std::string body;
      for (std::uint64_t variables = random() % 3 + 1, j = 0; j < variables; ++j) {
        body += Cat(".visible .const .align ", one_of(kAlignments), " .b8 v", i, "_", j, "[",
                    one_of(kSizes), "] = {", random() % 3, "};\n");
      }
      links.Add(body);
    }
    INFO("seed " << seed);
    CHECK(links.Check({"wanted"}) == "");
    CHECK(links.Check({}) == "");
  }
}

TEST_CASE("constants of a discarded copy beside constants of selected kernels") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  Links links(*toolkit, "sm_75");
  for (int i = 1; i <= 4; ++i) {
    const auto text =
        ReadBytes(Cat(DEVLINK_TEST_SOURCE, "/link/cases/weak_replaced_constants.", i, ".ptx"));
    REQUIRE(text.has_value());
    links.AddText(std::string(text->begin(), text->end()));
  }
  CHECK(links.Check({"k"}) == "");
  links.Add(".visible .const .align 4 .b8 forty[40] = {7};");
  CHECK(links.Check({"k"}) == "");
  links.Add(".visible .const .align 4 .b8 twelve[12] = {7};");
  CHECK(links.Check({"k"}) == "");
  CHECK(links.Check({}) == "");
}

TEST_CASE("a link without device code") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  for (const char* arch : {"sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a"}) {
    INFO(arch);
    CHECK(Links(*toolkit, arch).Check({}) == "");
  }
}

}  // namespace
}  // namespace devlink::testing
