// SPDX-License-Identifier: Apache-2.0
//
// nvPTXCompiler, the assembler as a library, through the shared object that the build makes of it.
#include <string>
#include <utility>

#include "assemble/backend.h"
#include "assemble/ptx_log.h"
#include "assemble/ptxcompiler_abi.h"
#include "base/dynamic_library.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace devlink::internal {

namespace {

class NvPtxCompiler final : public Backend {
 public:
  NvPtxCompiler(std::string version, const PtxBackendOptions& options, DynamicLibrary library,
                const DevlinkPtxCompilerV1& table)
      : Backend("nvPTXCompiler", std::move(version), options),
        library_(std::move(library)),
        table_(table) {}

 protected:
  Output Run(std::string_view text, const std::vector<std::string>& arguments,
             const std::stop_token& /*stop*/) const override {
    Output output;
    const Compiler compiler(table_, text);
    if (compiler.handle == nullptr) {
      output.status = absl::InternalError("nvPTXCompiler cannot start");
      return output;
    }
    std::vector<const char*> words;
    words.reserve(arguments.size());
    for (const std::string& argument : arguments) words.push_back(argument.c_str());
    const int result =
        table_.compile(compiler.handle, static_cast<int>(words.size()), words.data());
    output.log =
        MergeLogs(FetchLog(compiler.handle, table_.get_info_log_size, table_.get_info_log),
                  FetchLog(compiler.handle, table_.get_error_log_size, table_.get_error_log));
    std::size_t size = 0;
    if (result != 0 || table_.get_cubin_size(compiler.handle, &size) != 0 || size == 0) {
      output.status = Refused(output.log);
    } else if (size > options().max_output_bytes) {
      output.status = absl::ResourceExhaustedError(
          base::Cat({"the cubin is larger than ", std::to_string(options().max_output_bytes),
                     " bytes, the bound that was set"}));
    } else {
      output.cubin.resize(size);
      if (table_.get_cubin(compiler.handle, output.cubin.data()) != 0) {
        output.status = absl::InternalError("nvPTXCompiler does not hand out its cubin");
      }
    }
    return output;
  }

 private:
  struct Compiler {
    Compiler(const DevlinkPtxCompilerV1& functions, std::string_view text) : table(functions) {
      if (table.create(&handle, text.size(), text.data()) != 0) handle = nullptr;
    }
    ~Compiler() {
      if (handle != nullptr) table.destroy(&handle);
    }
    Compiler(const Compiler&) = delete;
    Compiler& operator=(const Compiler&) = delete;

    const DevlinkPtxCompilerV1& table;
    void* handle = nullptr;
  };

  DynamicLibrary library_;
  const DevlinkPtxCompilerV1& table_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<PtxAssembler>> OpenNvPtxCompiler(const PtxBackendOptions& options) {
  DEVLINK_ASSIGN_OR_RETURN(DynamicLibrary library,
                           DynamicLibrary::Load(options.nvptxcompiler_path));
  const DevlinkPtxCompilerV1* (*table)() = nullptr;
  DEVLINK_RETURN_IF_ERROR(library.Find(DEVLINK_PTXCOMPILER_SYMBOL, table));
  unsigned major = 0;
  unsigned minor = 0;
  const DevlinkPtxCompilerV1* functions = table();
  if (functions == nullptr || functions->get_version(&major, &minor) != 0) {
    return absl::FailedPreconditionError(
        base::Cat({"'", options.nvptxcompiler_path, "' does not tell its version"}));
  }
  return std::make_unique<NvPtxCompiler>(
      base::Cat({std::to_string(major), ".", std::to_string(minor)}), options, std::move(library),
      *functions);
}

}  // namespace devlink::internal
