// SPDX-License-Identifier: Apache-2.0
//
// The ways to run an assembler for PTX, and what they share.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "devlink/experimental/ptx_assembler.h"

namespace devlink::internal {

// What every form of the assembler calls a text that does not come from a file.
inline constexpr std::string_view kPtxInputName = "application ptx input";

// Checks the text, reads the log and sets the tool record right; Run is what differs.
class Backend : public PtxAssembler {
 public:
  Backend(std::string name, std::string version, PtxBackendOptions options)
      : options_(std::move(options)), name_(std::move(name)), version_(std::move(version)) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string_view version() const override { return version_; }
  [[nodiscard]] bool matches_nvlink() const override { return true; }
  PtxResult Assemble(const PtxJob& job) const final;

 protected:
  struct Output {
    absl::Status status;
    std::vector<std::uint8_t> cubin;
    std::string log;  // whole lines
  };
  // `text` begins as PTX and holds no NUL, but need not be followed by one. Thread-safe.
  virtual Output Run(std::string_view text, const std::vector<std::string>& arguments,
                     const std::stop_token& stop) const = 0;

  [[nodiscard]] const PtxBackendOptions& options() const { return options_; }

  // What the tool said while it refused; the log has the details.
  static absl::Status Refused(std::string_view log);

 private:
  PtxBackendOptions options_;
  std::string name_;
  std::string version_;
};

// Each expects its path in the options to be set.
absl::StatusOr<std::unique_ptr<PtxAssembler>> OpenNvPtxCompiler(const PtxBackendOptions& options);
absl::StatusOr<std::unique_ptr<PtxAssembler>> OpenPtxas(const PtxBackendOptions& options);
absl::StatusOr<std::unique_ptr<PtxAssembler>> OpenNvJitLink(const PtxBackendOptions& options);

struct Way {
  PtxBackend backend;
  std::string_view name;
  std::string PtxBackendOptions::* path;
  bool matches_nvlink;
  absl::StatusOr<std::unique_ptr<PtxAssembler>> (*open)(const PtxBackendOptions&);
};

// The order of kAutomatic. First what makes nvlink's cubins, the faster one first; then what makes
// others, and not of every text.
inline constexpr Way kWays[] = {
    {PtxBackend::kNvPtxCompiler, "nvPTXCompiler", &PtxBackendOptions::nvptxcompiler_path, true,
     OpenNvPtxCompiler},
    {PtxBackend::kPtxas, "ptxas", &PtxBackendOptions::ptxas_path, true, OpenPtxas},
    {PtxBackend::kNvJitLink, "nvJitLink", &PtxBackendOptions::nvjitlink_path, false,
     OpenNvJitLink}};

// Null where no assembler is called so.
const Way* WayNamed(std::string_view name);

}  // namespace devlink::internal
