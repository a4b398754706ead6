// SPDX-License-Identifier: Apache-2.0
//
// nvlink as a finalizer: what it is told, how it can fail, and when libnvJitLink has to do its
// work.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "devlink/experimental/caching_mercury_finalizer.h"
#include "devlink/experimental/mercury_finalizer.h"
#include "support/catch.h"
#include "support/linked_file.h"
#include "support/process.h"
#include "support/text.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr const char* kVersion = "Cuda compilation tools, release 13.0, V13.0.88";

// A process in nvlink's place, and one in that of devlink-finalizer, which ends with status 7.
class FakeNvlink {
 public:
  // `script` finds the file to be written in $out, and one that nvlink of `version` would write,
  // had it this name, in $made.
  explicit FakeNvlink(const std::string& script, const std::string& tool = "nvlink",
                      const std::string& version = kVersion)
      : cubin_(WriteLinkedFile({.tool = tool, .version = version})) {
    REQUIRE(WriteText(directory_.File("made"), std::string(cubin_.begin(), cubin_.end())));
    REQUIRE(WriteText(directory_.File("lib.so"), "any library"));
    Program("nvlink", Answer(tool, version) + "made='" + directory_.File("made") +
                          "'\nall=\"$*\"\nwhile [ $# -gt 0 ]; do\n"
                          "  [ \"$1\" != -o ] || out=\"$2\"\n  last=\"$1\"\n  shift\ndone\n" +
                          script);
    Program("worker", "exit 7\n");
  }
  [[nodiscard]] FinalizerOptions options() const {
    return {.backend = FinalizerBackend::kNvlink,
            .nvjitlink_path = directory_.File("lib.so"),
            .worker_path = directory_.File("worker"),
            .nvlink_path = directory_.File("nvlink"),
            .temporary_directory = directory_.path().string()};
  }
  [[nodiscard]] const Bytes& cubin() const { return cubin_; }
  void Program(const std::string& name, const std::string& script) const {
    REQUIRE(WriteText(directory_.File(name), "#!/bin/sh\n" + script));
    std::filesystem::permissions(directory_.File(name), std::filesystem::perms::owner_all);
  }
  // What is left in its directory.
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(directory_.path()),
                         std::filesystem::directory_iterator());
  }

 private:
  // As nvlink says what it is, and as devlink does in its place.
  static std::string Answer(const std::string& tool, const std::string& version) {
    const std::string name = tool == "nvlink" ? "NVIDIA (R) Cuda linker" : "in place of another";
    return "if [ \"$1\" = --version ]; then echo 'nvlink: " + name + "'; echo '" + version +
           "'; exit 0; fi\n";
  }

  TemporaryDirectory directory_;
  Bytes cubin_;
};

bool Says(const absl::Status& status, std::string_view text) {
  return base::FromAbsl(status.message()).find(text) != std::string_view::npos;
}

absl::StatusOr<devlink::Finalized> FinalizeBy(const FinalizerOptions& options,
                                              const FinalizeJob& job = {
                                                  .target = *Arch::Parse("sm_100")}) {
  const auto finalizer = CreateMercuryFinalizer(options);
  REQUIRE(finalizer.ok());
  CHECK((*finalizer)->name() == "nvlink");
  CHECK((*finalizer)->works_at_once());
  return (*finalizer)->Finalize(job);
}

// The same where libnvJitLink may help. The status of that ends with its worker's.
bool IsLeftToLibrary(const FakeNvlink& nvlink,
                     const FinalizeJob& job = {.target = *Arch::Parse("sm_100")}) {
  FinalizerOptions options = nvlink.options();
  options.backend = FinalizerBackend::kAutomatic;
  return Says(FinalizeBy(options, job).status(), "status 7");
}

TEST_CASE("nvlink is told the job, and its inputs in link order", "[finalize]") {
  const FakeNvlink nvlink(
      "echo \"nvlink warning : $all\"\necho \"last: $(cat \"$last\")\" >&2\ncp \"$made\" "
      "\"$out\"\n");
  const Bytes first = {'a'};
  const Bytes second = {'b'};
  const auto made = FinalizeBy(nvlink.options(), {.target = *Arch::Parse("sm_120a"),
                                                  .debug = true,
                                                  .kernels_used = {"k", "l"},
                                                  .nvlink_options = {"-reserve-null-pointer"},
                                                  .inputs = {{"x", first}, {"y", second}}});
  INFO(made.status().message());
  REQUIRE(made.ok());
  CHECK(made->cubin == nvlink.cubin());
  REQUIRE(made->messages.size() == 2);
  const std::string& told = made->messages[0];
  CHECK(
      told.starts_with("warning : -arch=sm_120a -g -kernels-used=k -kernels-used=l "
                       "-reserve-null-pointer -o "));
  CHECK(told.ends_with("-o out.cubin x y"));  // by the names that inputs have
  CHECK(made->messages[1] == "last: b");
  CHECK(nvlink.files() == 4);  // nothing is left of the work
  CHECK_FALSE(IsLeftToLibrary(nvlink));
}

TEST_CASE("An nvlink that crashes, refuses or leaves nothing ends with a status", "[finalize]") {
  const FakeNvlink crashes("kill -SEGV $$\n");
  const auto crashed = FinalizeBy(crashes.options()).status();
  CHECK(absl::IsUnavailable(crashed));
  CHECK(crashed.message() == "nvlink crashed, signal 11");
  CHECK_FALSE(IsLeftToLibrary(crashes));  // which would crash, too
  CHECK(IsLeftToLibrary(FakeNvlink("kill -SEGV $$\n", "devlink")));

  const FakeNvlink refuses("echo 'nvlink error   : Undefined reference' >&2\nexit 255\n");
  const auto refused = FinalizeBy(refuses.options()).status();
  CHECK(absl::IsInvalidArgument(refused));
  CHECK(refused.message() == "nvlink ends with status 255: error   : Undefined reference");
  CHECK_FALSE(IsLeftToLibrary(refuses));
  CHECK(IsLeftToLibrary(FakeNvlink("echo 'nvlink fatal   : no' >&2\nexit 1\n", "devlink")));
  CHECK(IsLeftToLibrary(FakeNvlink("exit 1\n", "nvlink", "nvlink, release 12.9, V12.9.1")));
  const FakeNvlink talks("yes 'nvlink error   : again' | head -40 >&2\nexit 1\n");
  const std::string talk = std::string(FinalizeBy(talks.options()).status().message());
  CHECK(talk.size() < 300);
  const FakeNvlink names("echo \"nvlink error   : in $last, not $last.other\" >&2\nexit 1\n");
  const auto named = FinalizeBy(
      names.options(), {.target = *Arch::Parse("sm_100"), .inputs = {{"a.o", {}}, {"b.o", {}}}});
  CHECK(named.status().message() == "nvlink ends with status 1: error   : in b.o, not b.o.other");
  const FakeNvlink broken("exit 127\n");
  broken.Program("nvlink", "echo 'env: no such file' >&2\nexit 127\n");
  CHECK(FinalizeBy(broken.options()).status().message() ==
        "nvlink ends with status 127: env: no such file");
  CHECK(IsLeftToLibrary(broken));
  CHECK(FinalizeBy(FakeNvlink("exit 1\n").options()).status().message() ==
        "nvlink ends with status 1: it does not say why");

  const FakeNvlink leaves_nothing("");
  CHECK(FinalizeBy(leaves_nothing.options()).status().message() == "nvlink left no cubin");
  CHECK(IsLeftToLibrary(leaves_nothing));
  const FakeNvlink writes("cp \"$made\" \"$out\"\n");
  FinalizerOptions small = writes.options();
  small.max_output_bytes = 100;
  CHECK_FALSE(FinalizeBy(small).ok());
  CHECK(writes.files() == 4);
}

TEST_CASE("An nvlink that takes too long, or is not wanted any more, is ended", "[finalize]") {
  const FakeNvlink slow("sleep 60\n");
  FinalizerOptions options = slow.options();
  options.timeout = std::chrono::milliseconds(50);
  CHECK(absl::IsDeadlineExceeded(FinalizeBy(options).status()));
  std::stop_source stop;
  stop.request_stop();
  CHECK(absl::IsCancelled(
      FinalizeBy(slow.options(), {.target = *Arch::Parse("sm_100"), .stop = stop.get_token()})
          .status()));
}

TEST_CASE("Only what NVIDIA's nvlink of the release wrote is taken", "[finalize]") {
  const std::string writes = "cp \"$made\" \"$out\"\n";
  const FakeNvlink devlink(writes, "devlink");
  const auto other_tool = FinalizeBy(devlink.options()).status();
  CHECK(absl::IsFailedPrecondition(other_tool));
  CHECK(Says(other_tool, "is not NVIDIA's nvlink"));
  CHECK(IsLeftToLibrary(devlink));

  const FakeNvlink newer(writes, "nvlink", "Cuda compilation tools, release 13.5, V13.5.1");
  const auto other_release = FinalizeBy(newer.options()).status();
  CHECK(absl::IsFailedPrecondition(other_release));
  CHECK(Says(other_release, "release 13.5"));
  CHECK(IsLeftToLibrary(newer));
  CHECK(FinalizeBy(newer.options(), {.target = *Arch::Parse("sm_100"), .release = 135}).ok());

  const FakeNvlink nonsense("echo nonsense > \"$out\"\n");
  CHECK(Says(FinalizeBy(nonsense.options()).status(), "cut off"));
  CHECK(IsLeftToLibrary(nonsense));
}

TEST_CASE("What nvlink would read otherwise it is not told", "[finalize]") {
  const FakeNvlink nvlink("cp \"$made\" \"$out\"\n");
  FinalizeJob job{.target = *Arch::Parse("sm_100")};
  for (const char* text : {"f<1,2>", "a\"b"}) {
    job.kernels_used = {text};
    CHECK(absl::IsUnimplemented(FinalizeBy(nvlink.options(), job).status()));
    CHECK(IsLeftToLibrary(nvlink, job));
  }
  job.kernels_used.clear();
  job.variables_used = {std::string(std::size_t{2} << 20, 'x')};
  CHECK(absl::IsUnimplemented(FinalizeBy(nvlink.options(), job).status()));
  CHECK(IsLeftToLibrary(nvlink, job));
}

TEST_CASE("Where there is no nvlink, libnvJitLink is the finalizer, unless nvlink is asked for",
          "[finalize]") {
  const FakeNvlink nvlink("");
  FinalizerOptions options = nvlink.options();
  options.nvlink_path += ".none";
  CHECK(absl::IsNotFound(CreateMercuryFinalizer(options).status()));
  options.nvlink_path.clear();
  const auto none = CreateMercuryFinalizer(options).status();
  CHECK(absl::IsNotFound(none));
  CHECK(Says(none, "no nvlink was named"));
  for (const char* path : {"", "/no/such/nvlink"}) {
    options.nvlink_path = path;
    options.backend = FinalizerBackend::kAutomatic;
    const auto finalizer = CreateMercuryFinalizer(options);
    REQUIRE(finalizer.ok());
    CHECK((*finalizer)->name() == "nvJitLink");
    const auto cached = CreateCachingMercuryFinalizer(options, CreateMemoryCache());
    REQUIRE(cached.ok());
    CHECK((*cached)->name() == "nvJitLink");
  }
  options = nvlink.options();
  options.backend = FinalizerBackend::kNvJitLink;
  CHECK((*CreateMercuryFinalizer(options))->name() == "nvJitLink");
  options = nvlink.options();
  options.temporary_directory.clear();
  CHECK(absl::IsFailedPrecondition(CreateMercuryFinalizer(options).status()));
}

TEST_CASE("What nvlink made is found again until it is another nvlink", "[finalize]") {
  const FakeNvlink nvlink("cp \"$made\" \"$out\"\n");
  const std::shared_ptr<CacheStore> store = CreateMemoryCache();
  const FinalizeJob job{.target = *Arch::Parse("sm_100")};
  const auto count = [&] {
    const auto cached = CreateCachingMercuryFinalizer(nvlink.options(), store);
    REQUIRE(cached.ok());
    CHECK((*cached)->name() == "nvlink");
    CHECK((*cached)->works_at_once());
    const auto made = (*cached)->Finalize(job);
    return made.ok() && made->cubin == nvlink.cubin()
               ? static_cast<int>((*cached)->cache_use().hits)
               : -1;
  };
  CHECK(count() == 0);
  CHECK(count() == 1);
  nvlink.Program("nvlink", "exit 3\n");
  CHECK(count() == -1);
}

}  // namespace
}  // namespace devlink::testing
