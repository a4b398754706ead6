// SPDX-License-Identifier: Apache-2.0
//
// libnvJitLink as an assembler. It has no option that hands out an assembled cubin as it is; what
// -r gives is one that went through its linker (`nvlink -r`) and means the same.
#include <string>
#include <utility>

#include "assemble/backend.h"
#include "assemble/ptx_log.h"
#include "base/dynamic_library.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace devlink::internal {

namespace {

// From nvJitLink.h, whose names are the same in all releases of CUDA 12 and 13.
struct Functions {
  int (*version)(unsigned*, unsigned*) = nullptr;
  int (*create)(void**, std::uint32_t, const char**) = nullptr;
  int (*destroy)(void**) = nullptr;
  int (*add)(void*, int, const void*, std::size_t, const char*) = nullptr;
  int (*complete)(void*) = nullptr;
  int (*cubin_size)(void*, std::size_t*) = nullptr;
  int (*cubin)(void*, void*) = nullptr;
  int (*error_size)(void*, std::size_t*) = nullptr;
  int (*error_log)(void*, char*) = nullptr;
  int (*info_size)(void*, std::size_t*) = nullptr;
  int (*info_log)(void*, char*) = nullptr;
};
constexpr int kInputPtx = 2;

absl::Status FindAll(const DynamicLibrary& library, Functions& out) {
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkVersion", out.version));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkCreate", out.create));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkDestroy", out.destroy));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkAddData", out.add));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkComplete", out.complete));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkGetLinkedCubinSize", out.cubin_size));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkGetLinkedCubin", out.cubin));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkGetErrorLogSize", out.error_size));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkGetErrorLog", out.error_log));
  DEVLINK_RETURN_IF_ERROR(library.Find("nvJitLinkGetInfoLogSize", out.info_size));
  return library.Find("nvJitLinkGetInfoLog", out.info_log);
}

struct Linker {
  explicit Linker(const Functions& table) : functions(table) {}
  ~Linker() {
    if (handle != nullptr) functions.destroy(&handle);
  }
  Linker(const Linker&) = delete;
  Linker& operator=(const Linker&) = delete;

  const Functions& functions;
  void* handle = nullptr;
};

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
  NvJitLink(std::string version, const PtxBackendOptions& options, DynamicLibrary library,
            const Functions& functions)
      : Backend("nvJitLink", std::move(version), options),
        library_(std::move(library)),
        functions_(functions) {}

  [[nodiscard]] bool matches_nvlink() const override { return false; }

 protected:
  Output Run(std::string_view text, const std::vector<std::string>& arguments) const override {
    Output output;
    const auto jit_options = JitOptions(arguments);
    if (!jit_options.ok()) {
      output.status = jit_options.status();
      return output;
    }
    std::vector<const char*> words;
    for (const std::string& option : *jit_options) words.push_back(option.c_str());
    // Some releases read the text to a NUL.
    const std::string ended(text);
    Linker linker(functions_);
    const int created =
        functions_.create(&linker.handle, static_cast<std::uint32_t>(words.size()), words.data());
    const bool ok = created == 0 &&
                    functions_.add(linker.handle, kInputPtx, ended.data(), ended.size(),
                                   std::string(kPtxInputName).c_str()) == 0 &&
                    functions_.complete(linker.handle) == 0;
    const std::string errors = FetchLog(linker.handle, functions_.error_size, functions_.error_log);
    output.log = MergeLogs(
        AssemblerLines(FetchLog(linker.handle, functions_.info_size, functions_.info_log)),
        created == 0 ? AssemblerLines(errors) : "");
    std::size_t size = 0;
    if (!ok || functions_.cubin_size(linker.handle, &size) != 0 || size == 0) {
      output.status = created == 0 ? Refused(output.log)
                                   : absl::UnimplementedError(base::ToAbsl(base::Cat(
                                         {"libnvJitLink refuses these options: ", errors})));
    } else if (size > options().max_output_bytes) {
      output.status =
          absl::ResourceExhaustedError("the cubin is larger than the bound that was set");
    } else {
      output.cubin.resize(size);
      if (functions_.cubin(linker.handle, output.cubin.data()) != 0) {
        output.status = absl::InternalError("libnvJitLink does not hand out its cubin");
      }
    }
    return output;
  }

 private:
  DynamicLibrary library_;
  Functions functions_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<PtxAssembler>> OpenNvJitLink(const PtxBackendOptions& options) {
  DEVLINK_ASSIGN_OR_RETURN(DynamicLibrary library, DynamicLibrary::Load(options.nvjitlink_path));
  Functions functions;
  DEVLINK_RETURN_IF_ERROR(FindAll(library, functions));
  unsigned major = 0;
  unsigned minor = 0;
  if (functions.version(&major, &minor) != 0) {
    return absl::FailedPreconditionError(
        base::Cat({"'", options.nvjitlink_path, "' does not tell its version"}));
  }
  return std::make_unique<NvJitLink>(base::Cat({std::to_string(major), ".", std::to_string(minor)}),
                                     options, std::move(library), functions);
}

}  // namespace devlink::internal
