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
    return {result.cubin.begin(), result.cubin.end()};
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
  // Files that the caller names are not in the folder of the program.
  CHECK(both.Of("1234", {"--options-file=/proc/self/exe"}) == "library");
}

TEST_CASE("Without a program of the release all texts are the library's", "[ptx]") {
  for (const char* version : {"", "12.9.1", "13.1", "throws"}) {
    CAPTURE(version);
    const Both both(version, absl::OkStatus());
    CHECK(both.Of("1234") == "library");
    CHECK(both.Of("1234") == "library");
    CHECK(both.opened == 1);
  }
}

TEST_CASE("What the program cannot begin is the library's, what it refuses is refused", "[ptx]") {
  CHECK(Both("13.0.88", absl::UnavailableError("no process")).Of("1234") == "library");
  CHECK(Both("13.0.88", absl::InvalidArgumentError("refused")).Of("1234") == "refused");
  CHECK(Both("13.0.88", absl::InternalError("crashed")).Of("1234") == "crashed");
}

}  // namespace
}  // namespace devlink::testing
