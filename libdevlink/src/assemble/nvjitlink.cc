// SPDX-License-Identifier: Apache-2.0
//
// libnvJitLink as an assembler. It has no option that hands out an assembled cubin as it is; what
// -r gives is one that went through its linker (`nvlink -r`), which means the same where
// assemble/early_references.h finds nothing.
#include <string>
#include <utility>

#include "assemble/backend.h"
#include "assemble/early_references.h"
#include "assemble/nvjitlink_api.h"
#include "assemble/ptx_log.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace devlink::internal {

namespace {

// Without the library's own lines: nvlink prints those of its assembler only.
std::string AssemblerLines(std::string_view log) {
  std::string out;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size() - 1) + 1;
    const std::string_view line = log.substr(0, end);
    if (!line.starts_with("ERROR ") && line != "\n") out += line;
    log.remove_prefix(end);
  }
  return out;
}

// Its own -arch and -r, which implies -c; every other word goes to the assembler inside.
absl::StatusOr<std::vector<std::string>> JitOptions(const std::vector<std::string>& arguments) {
  std::vector<std::string> out;
  bool relocatable = false;
  bool has_arch = false;
  for (const std::string& word : arguments) {
    if (!has_arch && word.starts_with("-arch=")) {
      has_arch = true;
      out.push_back(word);
    } else if (word == "-c") {
      relocatable = true;
    } else if (word != "-m64") {
      out.push_back(base::Cat({"-Xptxas=", word}));
    }
  }
  if (!relocatable) {
    return absl::UnimplementedError(
        "libnvJitLink cannot assemble a whole program as ptxas without -c does; use ptxas or "
        "nvPTXCompiler");
  }
  out.emplace_back("-r");
  return out;
}

class NvJitLink final : public Backend {
 public:
  NvJitLink(const PtxBackendOptions& options, LoadedNvJitLink library)
      : Backend("nvJitLink", library.version(), options), library_(std::move(library)) {}

  [[nodiscard]] bool matches_nvlink() const override { return false; }

 protected:
  Output Run(std::string_view text, const std::vector<std::string>& arguments,
             const std::stop_token& /*stop*/) const override {
    Output output;
    const auto jit_options = JitOptions(arguments);
    if (!jit_options.ok()) {
      output.status = jit_options.status();
      return output;
    }
    // Some releases read the text to a NUL.
    const std::string ended(text);
    const NvJitLinkFunctions& functions = library_.functions();
    NvJitLinkHandle linker(functions);
    const int created = linker.Create(*jit_options);
    const bool ok = created == 0 &&
                    functions.add(linker.get(), kNvJitLinkPtx, ended.data(), ended.size(),
                                  std::string(kPtxInputName).c_str()) == 0 &&
                    functions.complete(linker.get()) == 0;
    const std::string errors = linker.ErrorLog();
    output.log =
        MergeLogs(AssemblerLines(linker.InfoLog()), created == 0 ? AssemblerLines(errors) : "");
    std::size_t size = 0;
    if (!ok || functions.cubin_size(linker.get(), &size) != 0 || size == 0) {
      output.status = created == 0 ? Refused(output.log)
                                   : absl::UnimplementedError(base::ToAbsl(base::Cat(
                                         {"libnvJitLink refuses these options: ", errors})));
    } else if (size > options().max_output_bytes) {
      output.status =
          absl::ResourceExhaustedError("the cubin is larger than the bound that was set");
    } else {
      output.cubin.resize(size);
      if (functions.cubin(linker.get(), output.cubin.data()) != 0) {
        output.status = absl::InternalError("libnvJitLink does not hand out its cubin");
      } else {
        output.status = RefuseEarlyReferences(output.cubin);
      }
    }
    return output;
  }

 private:
  LoadedNvJitLink library_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<PtxAssembler>> OpenNvJitLink(const PtxBackendOptions& options) {
  DEVLINK_ASSIGN_OR_RETURN(LoadedNvJitLink library, LoadedNvJitLink::Load(options.nvjitlink_path));
  return std::make_unique<NvJitLink>(options, std::move(library));
}

}  // namespace devlink::internal
