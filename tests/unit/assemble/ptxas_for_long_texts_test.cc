// SPDX-License-Identifier: Apache-2.0
#include "assemble/ptxas_for_long_texts.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/catch.h"

namespace devlink::testing {
namespace {

using internal::MakePtxasForLongTexts;

// Says by its cubin which it is.
class Pretended final : public PtxAssembler {
 public:
  Pretended(std::string name, std::string version, absl::Status status = absl::OkStatus())
      : name_(std::move(name)), version_(std::move(version)), status_(std::move(status)) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string_view version() const override { return version_; }
  [[nodiscard]] bool matches_nvlink() const override { return true; }
  PtxResult Assemble(const PtxJob&) const override {
    PtxResult out{.status = status_};
    if (status_.ok()) out.cubin.assign(name_.begin(), name_.end());
    return out;
  }

 private:
  std::string name_;
  std::string version_;
  absl::Status status_;
};

struct Both {
  int opened = 0;
  std::unique_ptr<PtxAssembler> assembler;

  Both(const std::string& version, const absl::Status& status) {
    PtxBackendOptions options;
    options.ptxas_from_bytes = 4;
    options.ptxas_path = "/bin/ptxas";
    options.profile = *ToolkitProfile::ForRelease("13.0");
    assembler =
        MakePtxasForLongTexts(options, std::make_unique<Pretended>("library", "13.0"),
                              [=, this]() -> absl::StatusOr<std::unique_ptr<PtxAssembler>> {
                                ++opened;
                                if (version == "throws") throw std::runtime_error("no");
                                if (version.empty()) return absl::NotFoundError("none");
                                return std::make_unique<Pretended>("program", version, status);
                              });
  }

  [[nodiscard]] std::string Of(std::string_view text, std::vector<std::string> words = {}) const {
    const PtxResult result =
        assembler->Assemble({.name = "a", .text = text, .arguments = std::move(words)});
    if (!result.status.ok()) return std::string(result.status.message());
    std::string out(result.cubin.begin(), result.cubin.end());
    if (result.is_stand_in) out += " this time";
    for (const Diagnostic& said : result.diagnostics) {
      for (const std::string& note : said.notes) out += "; " + note;
    }
    return out;
  }
};

TEST_CASE("Long texts go to the program, which the first of them opens", "[ptx]") {
  const Both both("13.0.88", absl::OkStatus());
  CHECK(both.Of("123") == "library");
  CHECK(both.opened == 0);
  CHECK(both.Of("1234") == "program");
  CHECK(both.Of("12345") == "program");
  CHECK(both.opened == 1);
  CHECK(both.assembler->name() == "library");
  CHECK(both.assembler->version() == "13.0");
  CHECK(both.Of("1", {"-m64", "-g"}) == "program");
  CHECK(both.Of("1", {"--device-debug"}) == "program");
}

TEST_CASE("Without a program of the release all texts are the library's", "[ptx]") {
  for (const char* version : {"", "12.9.1", "13.1"}) {
    CAPTURE(version);
    const Both both(version, absl::OkStatus());
    CHECK(both.Of("1234") == "library");
    CHECK(both.Of("1234") == "library");
    CHECK(both.opened == 1);
  }
  CHECK(Both("throws", absl::OkStatus()).Of("1234") == "library this time");
}

TEST_CASE("What the program cannot do or refuses is the library's", "[ptx]") {
  for (const auto& status :
       {absl::UnavailableError("no room"), absl::InvalidArgumentError("refused")}) {
    const Both both("13.0.88", status);
    CHECK(both.Of("1234") == "library this time");
    CHECK(both.Of("123") == "library");
  }
  // The library would crash, too, and this process with it.
  CHECK(Both("13.0.88", absl::InternalError("crashed")).Of("1234") == "crashed");
  CHECK(Both("13.0.88", absl::CancelledError("stopped")).Of("1234") == "stopped");
  CHECK(Both("13.0.88", absl::DeadlineExceededError("too long")).Of("1234") == "too long");
}

TEST_CASE("A note says where the library stands in and may make other code", "[ptx]") {
  constexpr const char* kNote =
      "; 'a' was assembled by library, which with -g does not always make the code that ptxas "
      "makes: ";
  CHECK(Both("13.0.88", absl::UnavailableError("no room")).Of("1", {"-g"}) ==
        "library this time" + (kNote + std::string("no room")));
  CHECK(Both("", absl::OkStatus()).Of("1", {"-g"}) ==
        "library this time" + (kNote + std::string("none")));
  CHECK(Both("13.1", absl::OkStatus()).Of("1", {"-g"}) ==
        "library this time" + (kNote + std::string("'/bin/ptxas' is of release 13.1")));
}

}  // namespace
}  // namespace devlink::testing
