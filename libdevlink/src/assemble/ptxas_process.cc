// SPDX-License-Identifier: Apache-2.0
//
// The program ptxas, one process and one directory for each text.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/str_replace.h"
#include "assemble/backend.h"
#include "assemble/child_process.h"
#include "assemble/elf_tables.h"
#include "assemble/work_directory.h"
#include "base/file.h"
#include "base/stop.h"
#include "base/strings.h"
#include "base/text_bytes.h"

namespace devlink::internal {

namespace {

constexpr std::size_t kMaxLog = std::size_t{64} << 20;

std::string Message(int error) { return std::generic_category().message(error); }

// The name that ptxas records where it is given none.
constexpr std::string_view kPtxOutputName = "elf.o";

// Called as nvlink calls its text: then messages about it need little change.
std::string InputIn(const WorkDirectory& directory) { return directory.File(kPtxInputName); }

std::string OutputIn(const WorkDirectory& directory) { return directory.File(kPtxOutputName); }

// nvlink's assembler takes -o and ignores it; here it would send the cubin elsewhere.
std::vector<std::string> WithoutOutputOption(const std::vector<std::string>& arguments) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "-o" || word == "--output-file") {
      ++i;
    } else if (!word.starts_with("-o=") && !word.starts_with("--output-file=")) {
      out.push_back(word);
    }
  }
  return out;
}

// The text as nvlink prints it.
std::string NvlinkLog(std::string text, const std::string& input) {
  text = absl::StrReplaceAll(text, {{input, base::ToAbsl(kPtxInputName)}});
  // Of a version that is too new only the program says that it goes no further.
  constexpr std::string_view kAborted = "ptxas fatal   : Ptx assembly aborted due to errors\n";
  if (text.find("fatal   : Unsupported .version ") != std::string::npos &&
      text.ends_with(kAborted)) {
    text.resize(text.size() - kAborted.size());
  }
  return text;
}

class PtxasProcess final : public Backend {
 public:
  PtxasProcess(std::string version, const PtxBackendOptions& options)
      : Backend("ptxas", std::move(version), options) {}

 protected:
  Output Run(std::string_view text, const std::vector<std::string>& arguments,
             const std::stop_token& stop) const override {
    Output output;
    const WorkDirectory directory(options().temporary_directory, {kPtxInputName, kPtxOutputName});
    if (!directory.made() || !directory.Write(kPtxInputName, base::BytesOf(text))) {
      output.status = absl::UnavailableError(base::Cat(
          {"cannot write the text for ptxas into '", options().temporary_directory,
           "': ", Message(errno), "; make room there or name another temporary directory"}));
      return output;
    }
    // Files first: an option at the end that lacks its value must not find one in them.
    std::vector<std::string> argv = {options().ptxas_path, InputIn(directory), "-o",
                                     OutputIn(directory)};
    const std::vector<std::string> rest = WithoutOutputOption(arguments);
    argv.insert(argv.end(), rest.begin(), rest.end());
    // ptxas has files of its own, whose names can be guessed, and leaves them where it is killed.
    std::vector<std::string> environment = options().environment;
    std::erase_if(environment, [](const std::string& v) { return v.starts_with("TMPDIR="); });
    environment.push_back(base::Cat({"TMPDIR=", directory.path()}));
    // The record that it leaves of itself begins with its name, whatever its file is called.
    auto child = RunChild(argv, {.name = "ptxas",
                                 .environment = std::move(environment),
                                 .timeout = options().timeout,
                                 .stop = stop,
                                 .max_text = kMaxLog,
                                 .max_file_bytes = options().max_output_bytes,
                                 .writable_folder = directory.path()});
    if (!child.ok()) {
      output.status = child.status();
      return output;
    }
    output.log = NvlinkLog(std::move(child->text), InputIn(directory));
    if (child->stopped) {
      output.status = base::Stopped();
    } else if (child->timed_out) {
      output.status = absl::DeadlineExceededError(base::Cat(
          {"ptxas was stopped after ", std::to_string(options().timeout.count()), " ms"}));
    } else if (child->signal != 0) {
      output.status = absl::InternalError(
          base::Cat({"ptxas was ended by signal ", std::to_string(child->signal)}));
    } else if (child->exit_status != 0) {
      output.status = Refused(output.log);
    } else if (auto cubin = base::ReadFile(OutputIn(directory), options().max_output_bytes);
               cubin.ok()) {
      output.cubin = *std::move(cubin);
      // It does not look whether what it writes finds room.
      if (!ReadElfTables(base::BoundedReader(output.cubin))) {
        output.status = absl::UnavailableError(
            base::Cat({"ptxas left a cubin that is cut off; make room in '",
                       options().temporary_directory, "' or name another temporary directory"}));
      }
    } else {
      output.status = cubin.status().code() == absl::StatusCode::kResourceExhausted
                          ? cubin.status()
                          : Refused(output.log);
    }
    return output;
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<PtxAssembler>> OpenPtxas(const PtxBackendOptions& options) {
  struct stat found{};
  if (stat(options.ptxas_path.c_str(), &found) != 0 || !S_ISREG(found.st_mode) ||
      access(options.ptxas_path.c_str(), X_OK) != 0) {
    return absl::NotFoundError(
        base::Cat({"there is no program '", options.ptxas_path, "' that can be run as ptxas"}));
  }
  if (options.temporary_directory.empty()) {
    return absl::FailedPreconditionError("ptxas needs a temporary directory, and none is named");
  }
  constexpr std::chrono::seconds kPatience{20};
  const auto told = RunChild({options.ptxas_path, "--version"}, {.environment = options.environment,
                                                                 .timeout = kPatience,
                                                                 .max_text = kMaxLog,
                                                                 .with_stdout = true});
  if (!told.ok()) return told.status();
  // "Cuda compilation tools, release 13.0, V13.0.88"
  constexpr std::string_view kMark = ", V";
  const std::size_t at = told->text.find(kMark);
  if (told->exit_status != 0 || at == std::string::npos) {
    return absl::FailedPreconditionError(
        base::Cat({"'", options.ptxas_path, "' does not answer --version as ptxas does"}));
  }
  const std::size_t begin = at + kMark.size();
  return std::make_unique<PtxasProcess>(
      told->text.substr(begin, told->text.find('\n', begin) - begin), options);
}

}  // namespace devlink::internal
