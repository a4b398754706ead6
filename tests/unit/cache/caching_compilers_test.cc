// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <filesystem>

#include "assemble/caching_ptx_assembler.h"
#include "cache/serial.h"
#include "devlink/experimental/caching_lto_compiler.h"
#include "devlink/experimental/caching_ptx_assembler.h"
#include "lto/caching_lto_compiler.h"
#include "support/catch.h"
#include "support/process.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Counts {
  std::atomic<int> opened = 0;
  std::atomic<int> worked = 0;
};

class FakeAssembler final : public PtxAssembler {
 public:
  FakeAssembler(Counts& counts, std::string name) : counts_(counts), name_(std::move(name)) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string_view version() const override { return "13.0"; }
  [[nodiscard]] bool matches_nvlink() const override { return true; }
  PtxResult Assemble(const PtxJob& job) const override {
    ++counts_.worked;
    PtxResult result;
    if (job.text.find("bad") != std::string_view::npos) {
      result.status = absl::InvalidArgumentError("bad text");
      return result;
    }
    result.cubin.assign(job.text.begin(), job.text.end());
    result.is_stand_in = job.text.find("full") != std::string_view::npos;
    result.diagnostics.push_back({.code = DiagnosticCode::kPtxAssembly,
                                  .severity = Severity::kWarning,
                                  .text = "ptxas warning : w",
                                  .input = job.name,
                                  .line = 3,
                                  .verbatim = true});
    if (job.report_usage) {
      result.functions.push_back({.name = "k",
                                  .is_entry = true,
                                  .registers = 18,
                                  .barriers = 1,
                                  .stack_bytes = 2,
                                  .spill_store_bytes = 3,
                                  .spill_load_bytes = 4,
                                  .shared_bytes = std::uint64_t{1} << 40});
    }
    return result;
  }

 private:
  Counts& counts_;
  std::string name_;
};

class FakeCompiler final : public LtoCompiler {
 public:
  explicit FakeCompiler(Counts& counts, std::string_view name = "libNVVM")
      : counts_(counts), name_(name) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string_view version() const override { return "2.0"; }
  [[nodiscard]] bool takes_protected() const override { return false; }
  [[nodiscard]] LtoOutput Compile(const LtoJob& job) const override {
    ++counts_.worked;
    LtoOutput output;
    output.backend_name = name();
    if (job.modules.empty()) {
      output.status = absl::InvalidArgumentError("nothing to compile");
      return output;
    }
    output.whole_program = job.modules.size() == 1;
    for (const LtoModule& module : job.modules) {
      output.pieces.emplace_back(module.bytes.begin(), module.bytes.end());
      output.diagnostics.push_back({.code = DiagnosticCode::kPtxAssembly,
                                    .severity = Severity::kInfo,
                                    .text = "about " + module.name,
                                    .input = module.name,
                                    .notes = {"a note"}});
    }
    return output;
  }

 private:
  Counts& counts_;
  std::string_view name_;
};

void CheckSame(const std::vector<Diagnostic>& a, const std::vector<Diagnostic>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].code == b[i].code);
    CHECK(a[i].severity == b[i].severity);
    CHECK(a[i].text == b[i].text);
    CHECK(a[i].symbol == b[i].symbol);
    CHECK(a[i].input == b[i].input);
    CHECK(a[i].notes == b[i].notes);
    CHECK(a[i].line == b[i].line);
    CHECK(a[i].verbatim == b[i].verbatim);
  }
}

struct PtxFixture {
  PtxFixture() {
    options.ptxas_path = directory.File("ptxas");
    REQUIRE(WriteText(options.ptxas_path, "tool 1"));
  }
  std::unique_ptr<CachingPtxAssembler> Make(const std::string& name = "ptxas") {
    return internal::MakeCachingPtxAssembler(
        options, store, [this, name]() -> absl::StatusOr<std::unique_ptr<PtxAssembler>> {
          ++counts.opened;
          return std::make_unique<FakeAssembler>(counts, name);
        });
  }
  TemporaryDirectory directory;
  PtxBackendOptions options;
  std::shared_ptr<CacheStore> store = CreateMemoryCache();
  Counts counts;
};

TEST_CASE("PTX is assembled once, and the tool is not opened again", "[cache]") {
  PtxFixture f;
  PtxJob job{.name = "a.ptx", .text = ".version 9.0", .arguments = {"-arch=sm_90"}};
  const auto first = f.Make();
  CHECK(first->name() == "ptxas");
  CHECK(first->version().empty());
  CHECK(first->matches_nvlink());
  const PtxResult made = first->Assemble(job);
  REQUIRE(made.status.ok());
  CHECK(first->version() == "13.0");

  const auto second = f.Make();
  job.name = "b.ptx";  // a name is not what makes a text another
  const PtxResult found = second->Assemble(job);
  REQUIRE(found.status.ok());
  CHECK(found.cubin == made.cubin);
  CHECK(found.functions.empty());
  CHECK(f.counts.opened == 1);
  CHECK(f.counts.worked == 1);
  auto expected = made.diagnostics;
  expected[0].input = "b.ptx";
  CheckSame(found.diagnostics, expected);
  CHECK(first->cache_use().misses == 1);
  CHECK(first->cache_use().stored == 1);
  CHECK(second->cache_use().hits == 1);
  CHECK(second->cache_use().misses == 0);
  CHECK(second->cache_use().problems.empty());

  job.report_usage = true;
  const PtxResult with_usage = second->Assemble(job);
  CHECK(f.counts.worked == 2);
  const PtxResult again = f.Make()->Assemble(job);
  CHECK(f.counts.worked == 2);
  REQUIRE(again.functions.size() == 1);
  CHECK(again.functions == with_usage.functions);
}

TEST_CASE("Whatever an assembly depends on makes it another", "[cache]") {
  PtxFixture f;
  const PtxJob job{.name = "a", .text = ".version 9.0", .arguments = {"-arch=sm_90", "-c"}};
  REQUIRE(f.Make()->Assemble(job).status.ok());
  int worked = 1;
  const auto differs = [&](const PtxJob& other) {
    REQUIRE(f.Make()->Assemble(other).status.ok());
    CHECK(f.counts.worked == ++worked);
    REQUIRE(f.Make()->Assemble(other).status.ok());
    CHECK(f.counts.worked == worked);
  };
  differs({.name = "a", .text = ".version 9.1", .arguments = job.arguments});
  differs({.name = "a", .text = job.text, .arguments = {"-arch=sm_90-c"}});
  differs({.name = "a", .text = job.text, .arguments = {"-c", "-arch=sm_90"}});
  differs({.name = "a", .text = job.text, .arguments = {"-arch=sm_90", "-c", ""}});
  f.options.environment = {"A=1"};
  differs(job);
  f.options.profile.build_text = "Build another";
  differs(job);
  REQUIRE(WriteText(f.options.ptxas_path, "tool 2"));
  differs(job);
  f.options.nvptxcompiler_path = f.directory.File("none.so");
  differs(job);
  // With -g it is another tool's work.
  const PtxJob debug{.name = "a", .text = job.text, .arguments = {"-c", "-g"}};
  differs(debug);
  f.options.ptxas_from_bytes = 100;
  differs(debug);
  // And what it does not depend on does not.
  f.options.timeout = std::chrono::seconds(7);
  f.options.temporary_directory = "/elsewhere";
  REQUIRE(f.Make()->Assemble(job).status.ok());
  CHECK(f.counts.worked == worked);
  // What follows a NUL is ignored by the tool too.
  const std::string longer = std::string(job.text) + '\0' + "rest";
  REQUIRE(
      f.Make()->Assemble({.name = "a", .text = longer, .arguments = job.arguments}).status.ok());
  CHECK(f.counts.worked == worked);
}

TEST_CASE("What a tool made that stood in for another is not kept", "[cache]") {
  PtxFixture f;
  const PtxJob job{.name = "a", .text = ".version 9.0 // full", .arguments = {"-arch=sm_90"}};
  for (const int worked : {1, 2}) {
    REQUIRE(f.Make()->Assemble(job).status.ok());
    CHECK(f.counts.worked == worked);
  }
}

// Gives out what it is told to.
class LyingStore final : public CacheStore {
 public:
  absl::StatusOr<std::optional<Bytes>> Find(const CacheKey&) override { return answer; }
  absl::Status Store(const CacheKey&, std::span<const std::uint8_t> value) override {
    stored.assign(value.begin(), value.end());
    return absl::OkStatus();
  }
  std::optional<Bytes> answer;
  Bytes stored;
};

// Every beginning of `whole`, and `whole` with one byte changed or added.
std::vector<Bytes> Damaged(const Bytes& whole) {
  std::vector<Bytes> out;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    out.emplace_back(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i));
    out.push_back(whole);
    out.back()[i] ^= 0xff;
  }
  out.push_back(whole);
  out.back().push_back(0);
  return out;
}

TEST_CASE("A store may answer anything", "[cache]") {
  PtxFixture f;
  const auto lying = std::make_shared<LyingStore>();
  f.store = lying;
  const PtxJob job{.name = "a", .text = "text", .report_usage = true};
  REQUIRE(f.Make()->Assemble(job).status.ok());
  const Bytes whole = lying->stored;
  REQUIRE(whole.size() > 100);
  for (const Bytes& bytes : Damaged(whole)) {
    lying->answer = bytes;
    const auto assembler = f.Make();
    CHECK(assembler->Assemble(job).status.ok());
    if (bytes.size() != whole.size()) CHECK(assembler->cache_use().misses == 1);
  }
  lying->answer = whole;
  const int worked = f.counts.worked;
  CHECK(f.Make()->Assemble(job).functions.size() == 1);
  CHECK(f.counts.worked == worked);
}

TEST_CASE("Failures are not kept", "[cache]") {
  PtxFixture f;
  const PtxJob job{.name = "a", .text = "bad"};
  CHECK_FALSE(f.Make()->Assemble(job).status.ok());
  CHECK_FALSE(f.Make()->Assemble(job).status.ok());
  CHECK(f.counts.worked == 2);
}

TEST_CASE("What depends on files that words name is not kept", "[cache]") {
  PtxFixture f;
  const std::string file = f.directory.File("options");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"-optf", file},
                                                {"-optf=" + file},
                                                {"--options-file=x," + file},
                                                {"--options-file", file + ",x"},
                                                {file}}) {
    CAPTURE(words);
    const PtxJob job{.name = "a", .text = ".version 9.0", .arguments = words};
    f.counts.worked = 0;
    REQUIRE(WriteText(file, "-maxrregcount=24"));
    REQUIRE(f.Make()->Assemble(job).status.ok());
    REQUIRE(WriteText(file, "-maxrregcount=40"));
    CHECK_FALSE(f.Make()->Find(job).has_value());
    REQUIRE(f.Make()->Assemble(job).status.ok());
    CHECK(f.counts.worked == 2);
  }
}

TEST_CASE("What tools see of their process makes a result another", "[cache]") {
  PtxFixture f;
  const PtxJob job{.name = "a", .text = ".version 9.0"};
  for (int i = 1; i <= 2; ++i) {
    REQUIRE(f.Make()->Assemble(job).status.ok());
    CHECK(f.counts.worked == i);
    REQUIRE(f.Make()->Assemble(job).status.ok());
    CHECK(f.counts.worked == i);
    f.options.host_environment = {"NVVM_IR_VER_CHK=0"};
  }
}

TEST_CASE("A substitute's results are not kept", "[cache]") {
  PtxFixture f;
  const PtxJob job{.name = "a", .text = "text"};
  CHECK(f.Make("nvJitLink")->Assemble(job).status.ok());
  CHECK(f.Make("nvJitLink")->Assemble(job).status.ok());
  CHECK(f.counts.worked == 2);
}

TEST_CASE("Results of a tool that was replaced meanwhile are not kept", "[cache]") {
  PtxFixture f;
  const PtxJob job{.name = "a", .text = "text"};
  const auto assembler = f.Make();
  REQUIRE(WriteText(f.options.ptxas_path, "the next release"));
  CHECK(assembler->Assemble(job).status.ok());
  CHECK(assembler->cache_use().stored == 0);
  REQUIRE(WriteText(f.options.ptxas_path, "tool 1"));
  CHECK(f.Make()->Assemble(job).status.ok());
  CHECK(f.counts.worked == 2);
  CHECK(f.Make()->Assemble(job).status.ok());
  CHECK(f.counts.worked == 2);
}

TEST_CASE("A result that is too large now is made anew", "[cache]") {
  PtxFixture f;
  const PtxJob job{.name = "a", .text = "a text"};
  CHECK(f.Make()->Assemble(job).status.ok());
  f.options.max_output_bytes = 3;
  CHECK(f.Make()->Assemble(job).status.ok());
  CHECK(f.counts.worked == 2);
}

TEST_CASE("What cannot be opened is told by the job that needs it", "[cache]") {
  PtxFixture f;
  REQUIRE(f.Make()->Assemble({.name = "a", .text = "text"}).status.ok());
  const auto assembler = internal::MakeCachingPtxAssembler(
      f.options, f.store, []() -> absl::StatusOr<std::unique_ptr<PtxAssembler>> {
        return absl::FailedPreconditionError("cannot be loaded");
      });
  CHECK(assembler->Assemble({.name = "a", .text = "text"}).status.ok());
  CHECK(assembler->Assemble({.name = "a", .text = "other"}).status.code() ==
        absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("Caching needs a store and a tool", "[cache]") {
  const TemporaryDirectory directory;
  CHECK_FALSE(CreateCachingPtxAssembler({.ptxas_path = "/bin/sh"}, nullptr).ok());
  CHECK(CreateCachingPtxAssembler({}, CreateMemoryCache()).status().code() ==
        absl::StatusCode::kNotFound);
  CHECK_FALSE(
      CreateCachingPtxAssembler({.ptxas_path = directory.File("x")}, CreateMemoryCache()).ok());
  CHECK_FALSE(CreateCachingLtoCompiler({}, nullptr).ok());
  CHECK(CreateCachingLtoCompiler({}, CreateMemoryCache()).status().code() ==
        absl::StatusCode::kNotFound);
  CHECK_FALSE(
      CreateCachingLtoCompiler({.nvvm_path = directory.path().string()}, CreateMemoryCache()).ok());
}

TEST_CASE("Many texts at once: one that changed is assembled", "[cache]") {
  PtxFixture f;
  std::vector<std::string> texts;
  for (int i = 0; i < 40; ++i) texts.push_back("text " + std::to_string(i));
  const auto run = [&] {
    std::vector<PtxJob> jobs;
    for (const std::string& text : texts) jobs.push_back({.name = "n", .text = text});
    const auto results = AssembleAll(*f.Make(), jobs, {.threads = 8});
    REQUIRE(results.size() == texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      CHECK(results[i].cubin == Bytes(texts[i].begin(), texts[i].end()));
    }
  };
  run();
  CHECK(f.counts.worked == 40);
  run();
  CHECK(f.counts.worked == 40);
  CHECK(f.counts.opened == 1);
  texts[17] = "changed";
  run();
  CHECK(f.counts.worked == 41);
}

struct LtoFixture {
  LtoFixture() {
    options.nvvm_path = directory.File("libnvvm.so");
    REQUIRE(WriteText(options.nvvm_path, "library 1"));
    job.target = {.number = 90};
    job.modules = {{.name = "a.ltoir", .bytes = a}, {.name = "b.ltoir", .bytes = b}};
    job.arguments = {"-arch=compute_90", "-link-lto"};
  }
  LtoOutput Compile() {
    const auto compiler = internal::MakeCachingLtoCompiler(
        options, store, [this]() -> absl::StatusOr<std::unique_ptr<LtoCompiler>> {
          ++counts.opened;
          return std::make_unique<FakeCompiler>(counts);
        });
    CHECK(compiler->name() == "libNVVM");
    CHECK_FALSE(compiler->takes_protected());
    return compiler->Compile(job);
  }
  const Bytes a = {1, 2, 3};
  const Bytes b = {4, 5};
  TemporaryDirectory directory;
  LtoBackendOptions options;
  LtoJob job;
  std::shared_ptr<CacheStore> store = CreateMemoryCache();
  Counts counts;
};

TEST_CASE("LTO IR is compiled once, with all that is said about it", "[cache]") {
  LtoFixture f;
  const LtoOutput made = f.Compile();
  REQUIRE(made.status.ok());
  const LtoOutput found = f.Compile();
  CHECK(f.counts.opened == 1);
  CHECK(f.counts.worked == 1);
  CHECK(found.status.ok());
  CHECK(found.pieces == made.pieces);
  CHECK(found.whole_program == made.whole_program);
  CHECK(found.backend_name == "libNVVM");
  CheckSame(found.diagnostics, made.diagnostics);
  f.job.modules.pop_back();
  CHECK(f.Compile().whole_program);
  CHECK(f.Compile().whole_program);
  CHECK(f.counts.worked == 2);
}

TEST_CASE("libnvJitLink is no substitute where there is no libNVVM", "[cache]") {
  LtoFixture f;
  f.options.nvjitlink_path = f.options.nvvm_path;
  f.options.nvvm_path = f.directory.File("nowhere");
  for (int i = 0; i < 2; ++i) {
    const auto compiler = internal::MakeCachingLtoCompiler(
        f.options, f.store, [&f]() -> absl::StatusOr<std::unique_ptr<LtoCompiler>> {
          return std::make_unique<FakeCompiler>(f.counts, "libnvJitLink");
        });
    CHECK(compiler->name() == "libnvJitLink");
    CHECK(compiler->Compile(f.job).status.ok());
  }
  CHECK(f.counts.worked == 1);
}

TEST_CASE("Results of a library that was replaced meanwhile are not kept", "[cache]") {
  LtoFixture f;
  const auto compiler = internal::MakeCachingLtoCompiler(
      f.options, f.store, [&f]() -> absl::StatusOr<std::unique_ptr<LtoCompiler>> {
        return std::make_unique<FakeCompiler>(f.counts);
      });
  REQUIRE(WriteText(f.options.nvvm_path, "the next release"));
  CHECK(compiler->Compile(f.job).status.ok());
  CHECK(compiler->cache_use().stored == 0);
}

TEST_CASE("LTO IR compiled with words that name files is not kept", "[cache]") {
  LtoFixture f;
  const std::string file = f.directory.File("options");
  REQUIRE(WriteText(file, "x"));
  f.job.arguments.push_back("-some-list=" + file);
  for (int i = 1; i <= 2; ++i) {
    REQUIRE(f.Compile().status.ok());
    CHECK(f.counts.worked == i);
  }
}

TEST_CASE("A store may answer anything about LTO IR", "[cache]") {
  LtoFixture f;
  const auto lying = std::make_shared<LyingStore>();
  f.store = lying;
  REQUIRE(f.Compile().status.ok());
  const Bytes whole = lying->stored;
  for (const Bytes& bytes : Damaged(whole)) {
    const int worked = f.counts.worked;
    lying->answer = bytes;
    CHECK(f.Compile().status.ok());
    if (bytes.size() != whole.size()) CHECK(f.counts.worked == worked + 1);
  }
  // No compiler succeeds with nothing.
  internal::FieldWriter nothing;
  nothing.U8(1);
  nothing.Text("libNVVM");
  nothing.U64(0);
  internal::WriteDiagnostics({}, {}, nothing);
  lying->answer = nothing.bytes();
  CHECK_FALSE(f.Compile().pieces.empty());
}

TEST_CASE("Whatever a compilation depends on makes it another", "[cache]") {
  LtoFixture f;
  REQUIRE(f.Compile().status.ok());
  int worked = 1;
  const auto differs = [&] {
    REQUIRE(f.Compile().status.ok());
    CHECK(f.counts.worked == ++worked);
    REQUIRE(f.Compile().status.ok());
    CHECK(f.counts.worked == worked);
  };
  f.job.modules[0].name = "c.ltoir";
  differs();
  f.job.modules[0].bytes = f.b;
  differs();
  std::swap(f.job.modules[0], f.job.modules[1]);
  differs();
  f.job.modules[0].is_protected = true;
  differs();
  f.job.arguments.emplace_back("-opt=1");
  differs();
  f.job.target = {.number = 90, .variant = 'a'};
  differs();
  REQUIRE(WriteText(f.options.nvvm_path, "library 2"));
  differs();
  f.options.nvjitlink_path = f.directory.File("libnvJitLink.so.13");
  REQUIRE(WriteText(f.options.nvjitlink_path, "library 3"));
  f.options.backend = LtoBackend::kNvvm;
  differs();
  f.job.modules.clear();
  CHECK_FALSE(f.Compile().status.ok());
  CHECK_FALSE(f.Compile().status.ok());
  CHECK(f.counts.worked == worked + 2);
}

}  // namespace
}  // namespace devlink::testing
