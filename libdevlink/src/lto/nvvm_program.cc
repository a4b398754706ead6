// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/nvvm_program.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "lto/library_state.h"
#include "lto/loaded_nvvm.h"
#include "lto/lto_messages.h"

namespace devlink {

using internal::LoadedNvvm;
using internal::NvvmFunctions;

namespace {

// A module that both compilers inside libNVVM, the one for targets below sm_100 and the other,
// take.
constexpr std::string_view kSmallestModule =
    "target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-"
    "f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"\n"
    "target triple = \"nvptx64-nvidia-cuda\"\n"
    "!nvvmir.version = !{!0}\n"
    "!0 = !{i32 2, i32 0}\n";

std::string ErrorText(const NvvmFunctions& functions, int code) {
  const char* text = functions.error_text(code);
  return text != nullptr ? text : absl::StrCat("error ", code);
}

// The target that the words name.
std::optional<Arch> TargetOf(const std::vector<std::string>& options) {
  constexpr std::string_view kArch = "-arch=";
  for (const std::string& word : options) {
    if (!word.starts_with(kArch)) continue;
    const auto arch = Arch::ParseVirtual(std::string_view(word).substr(kArch.size()));
    if (arch.ok()) return *arch;
  }
  return std::nullopt;
}

// What is wrong with LTO IR that libNVVM refuses, as far as its header shows; empty where nothing
// is.
std::string Explain(const NvvmLibrary& library, std::span<const std::uint8_t> bytes,
                    const std::vector<std::string>& options) {
  const auto ir = LtoIr::Parse(bytes);
  if (!ir.ok()) return std::string(base::FromAbsl(ir.status().message()));
  const auto target = TargetOf(options);
  if (!target) return {};
  absl::Status check = ir->Check(*target);
  if (check.ok()) return {};
  // By what 13.0 reads; this library may be a later one.
  if (const auto newest = NewestLtoIr(library, *target); newest.ok()) {
    check = ir->Check(*target, *newest);
  }
  return std::string(base::FromAbsl(check.message()));
}

// Fills in how a compilation failed.
void FailAt(NvvmResult& result, NvvmStep step, absl::Status status, std::string_view nvlink_text,
            std::string_view input = {}) {
  result.step = step;
  result.pieces.clear();
  result.diagnostics.push_back(
      internal::LtoFatal(nvlink_text, base::FromAbsl(status.message()), input));
  result.status = std::move(status);
}

// Like nvlink, it does not ask for a log whose size is that of a NUL alone.
std::string LogOf(const NvvmFunctions& functions, void* program) {
  std::size_t size = 0;
  if (functions.log_size(program, &size) != kNvvmSuccess || size <= 1) return {};
  std::string log(size, '\0');
  if (functions.log(program, log.data()) != kNvvmSuccess) return {};
  log.resize(std::min(log.find('\0'), log.size()));
  return log;
}

// The texts that the library made, which it hands out one behind the other and with one NUL at the
// very end. LTO IR, of which there is one piece, has no NUL.
absl::StatusOr<std::vector<std::string>> PiecesOf(const NvvmFunctions& functions, void* program,
                                                  std::uint64_t max_bytes) {
  const auto failed = [](std::string_view what) {
    return absl::InternalError(
        absl::StrCat("libNVVM does not hand out what it compiled: ", base::ToAbsl(what)));
  };
  std::size_t total = 0;
  if (functions.result_size(program, &total) != kNvvmSuccess) return failed("no size");
  if (total == 0) return failed("its size is 0");
  if (total - 1 > max_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "what libNVVM compiled has ", total - 1, " bytes; at most ", max_bytes, " are allowed"));
  }
  int count = 0;
  if (functions.piece_count(program, &count) != kNvvmSuccess) return failed("no number of pieces");
  if (count < 1 || static_cast<std::size_t>(count) > total) {
    return failed(absl::StrCat(total, " bytes cannot be ", count, " pieces"));
  }
  std::vector<std::size_t> sizes(static_cast<std::size_t>(count));
  if (count > 1) {
    if (functions.piece_sizes(program, count, sizes.data()) != kNvvmSuccess) {
      return failed("no sizes of its pieces");
    }
    std::size_t left = total - 1;
    for (const std::size_t size : sizes) {
      if (size > left) return failed("its pieces have more bytes than all of it");
      left -= size;
    }
    if (left != 0) return failed("its pieces have fewer bytes than all of it");
  }
  std::string all(total, '\0');
  if (functions.result(program, all.data()) != kNvvmSuccess) return failed("no text");
  if (all.back() == '\0') all.pop_back();
  if (count == 1) return std::vector<std::string>{std::move(all)};
  std::vector<std::string> pieces;
  pieces.reserve(sizes.size());
  std::size_t at = 0;
  for (const std::size_t size : sizes) {
    pieces.push_back(all.substr(at, size));
    at += size;
  }
  return pieces;
}

// The files that a place may mean beyond itself, relative to it.
constexpr std::string_view kFilesOfPlace[] = {
    "lib64/libnvvm.so",       // what nvlink -nvvmpath takes
    "nvvm/lib64/libnvvm.so",  // a toolkit
    "lib/libnvvm.so",         // a toolkit put together of packages
    "lib/libnvvm.so.4",       // nvidia/cu13 of the wheel nvidia-nvvm
    "libnvvm.so",             // the folder itself
    "libnvvm.so.4",
    "../lib/libnvvm.so",  // `nvvm` beside it, which is what nvcc passes
    "../lib/libnvvm.so.4",
    "nvidia/cu13/lib/libnvvm.so.4",            // site-packages
    "nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so",  // site-packages, CUDA 12
};

}  // namespace

std::vector<std::string> NvvmLibraryFiles(std::string_view place) {
  std::vector<std::string> out;
  if (place.empty()) return out;
  out.emplace_back(place);
  const std::string_view slash = place.ends_with('/') ? "" : "/";
  for (const std::string_view file : kFilesOfPlace) out.push_back(base::Cat({place, slash, file}));
  return out;
}

absl::StatusOr<std::string> FindNvvmLibrary(std::span<const std::string> places) {
  return base::Guard([&]() -> absl::StatusOr<std::string> {
    for (const std::string& place : places) {
      for (std::string& file : NvvmLibraryFiles(place)) {
        if (base::IsFile(file)) return std::move(file);
      }
    }
    std::string tried;
    for (const std::string& place : places) {
      if (place.empty()) continue;
      tried += base::Cat({tried.empty() ? "" : ", ", "'", place, "'"});
    }
    return absl::NotFoundError(absl::StrCat(
        "no libnvvm.so was found", tried.empty() ? "" : " in ", tried,
        "; it comes with the CUDA toolkit (nvvm/lib64) and with the package nvidia-nvvm of PyPI"));
  });
}

absl::StatusOr<NvvmLibrary> NvvmLibrary::Load(std::string_view place) {
  return base::Guard([&]() -> absl::StatusOr<NvvmLibrary> {
    const std::string places[] = {std::string(place)};
    DEVLINK_ASSIGN_OR_RETURN(const std::string file, FindNvvmLibrary(places));
    DEVLINK_ASSIGN_OR_RETURN(internal::DynamicLibrary library,
                             internal::DynamicLibrary::Load(file));
    DEVLINK_ASSIGN_OR_RETURN(auto loaded, LoadedNvvm::Make(std::move(library)));
    return NvvmLibrary(std::move(loaded));
  });
}

absl::StatusOr<NvvmLibrary> NvvmLibrary::FromHandle(void* handle) {
  return base::Guard([&]() -> absl::StatusOr<NvvmLibrary> {
    DEVLINK_ASSIGN_OR_RETURN(internal::DynamicLibrary library,
                             internal::DynamicLibrary::Borrow(handle, "nvvmCreateProgram"));
    DEVLINK_ASSIGN_OR_RETURN(auto loaded, LoadedNvvm::Make(std::move(library)));
    return NvvmLibrary(std::move(loaded));
  });
}

const std::string& NvvmLibrary::path() const { return library_->path(); }
const std::string& NvvmLibrary::version() const { return library_->version(); }

void NvvmProgram::AddLtoIr(std::string name, std::span<const std::uint8_t> bytes) {
  modules_.push_back({std::move(name), bytes, true});
}

void NvvmProgram::AddNvvmIr(std::string name, std::span<const std::uint8_t> bytes) {
  modules_.push_back({std::move(name), bytes, false});
}

bool NvvmProgram::AddAll(const internal::NvvmFunctions& functions, void* program,
                         const std::vector<std::string>& options, NvvmResult& result) const {
  for (const Module& module : modules_) {
    // libNVVM 13.0 follows offsets in a damaged header to wherever they lead.
    if (module.is_lto_ir) {
      const absl::Status damage = LtoIr::Parse(module.bytes).status();
      if (absl::IsOutOfRange(damage)) {
        FailAt(result, NvvmStep::kAdd,
               absl::InvalidArgumentError(absl::StrCat("'", module.name, "': ", damage.message())),
               internal::kModuleRefused, module.name);
        return false;
      }
    }
    auto* add = module.is_lto_ir ? functions.add_lto_ir : functions.add_ir;
    if (add == nullptr) {
      FailAt(result, NvvmStep::kLibrary,
             absl::FailedPreconditionError(
                 absl::StrCat("'", library_.path(), "' has no function nvvmAddModuleToProgram")),
             internal::kLibraryFailed);
      return false;
    }
    result.code = add(program, reinterpret_cast<const char*>(module.bytes.data()),
                      module.bytes.size(), module.name.c_str());
    if (result.code == kNvvmSuccess) continue;
    std::string why = module.is_lto_ir ? Explain(library_, module.bytes, options) : std::string();
    if (why.empty()) why = base::Cat({"libNVVM answers ", ErrorText(functions, result.code)});
    FailAt(result, NvvmStep::kAdd,
           absl::InvalidArgumentError(absl::StrCat("'", module.name, "': ", why)),
           internal::kModuleRefused, module.name);
    return false;
  }
  return true;
}

void NvvmProgram::CompileAll(const internal::NvvmFunctions& functions, void* program,
                             const std::vector<std::string>& options, std::uint64_t max_bytes,
                             NvvmResult& result) const {
  std::vector<const char*> words;
  words.reserve(options.size());
  for (const std::string& option : options) words.push_back(option.c_str());
  result.code = functions.compile(program, static_cast<int>(words.size()), words.data());
  const bool failed = result.code != kNvvmSuccess && result.code != kNvvmWholeProgram;
  // In nvlink's order.
  const std::string error = failed ? ErrorText(functions, result.code) : std::string();
  result.log = LogOf(functions, program);
  if (failed) {
    internal::AddLtoLog(result.log + error, result.diagnostics);
    FailAt(result, NvvmStep::kCompile,
           absl::InvalidArgumentError(absl::StrCat("libNVVM answers ", error)),
           internal::kCompilationFailed);
    for (const Module& module : modules_) {
      const std::string why = module.is_lto_ir ? Explain(library_, module.bytes, options) : "";
      if (!why.empty()) {
        result.diagnostics.back().notes.push_back(base::Cat({"'", module.name, "': ", why}));
      }
    }
    return;
  }
  if (!result.log.empty()) internal::AddLtoLog(result.log, result.diagnostics);
  auto pieces = PiecesOf(functions, program, max_bytes);
  if (pieces.ok()) {
    result.pieces = *std::move(pieces);
  } else {
    FailAt(result, NvvmStep::kResult, pieces.status(), internal::kInternalError);
  }
}

NvvmResult NvvmProgram::Compile(const std::vector<std::string>& options,
                                std::uint64_t max_bytes) const {
  NvvmResult result;
  std::shared_ptr<const LoadedNvvm> library = library_.library_;
  if (!internal::LeavesNothingBehind(options)) {
    auto copy = library->Copy();
    if (!copy.ok()) {
      FailAt(result, NvvmStep::kLibrary, copy.status(), internal::kLibraryFailed);
      return result;
    }
    library = *std::move(copy);
  }
  const NvvmFunctions& functions = library->functions();
  void* program = nullptr;
  result.code = functions.create(&program);
  if (result.code != kNvvmSuccess || program == nullptr) {
    FailAt(result, NvvmStep::kCreate,
           absl::InternalError(
               absl::StrCat("libNVVM creates no program: ", ErrorText(functions, result.code))),
           internal::kInternalError);
    return result;
  }
  if (AddAll(functions, program, options, result)) {
    CompileAll(functions, program, options, max_bytes, result);
  }
  const int destroyed = functions.destroy(&program);
  if (destroyed != kNvvmSuccess && result.status.ok()) {
    result.code = destroyed;
    FailAt(result, NvvmStep::kCreate,
           absl::InternalError(absl::StrCat("libNVVM does not destroy its program: ",
                                            ErrorText(functions, destroyed))),
           internal::kInternalError);
  }
  return result;
}

absl::StatusOr<std::vector<std::uint8_t>> MakeLtoIr(const NvvmLibrary& library,
                                                    std::span<const std::uint8_t> nvvm_ir,
                                                    Arch target) {
  return base::Guard([&]() -> absl::StatusOr<std::vector<std::uint8_t>> {
    NvvmProgram program(library);
    program.AddNvvmIr("module", nvvm_ir);
    const NvvmResult result =
        program.Compile({base::Cat({"-arch=", target.VirtualName()}), "-gen-lto"});
    if (!result.status.ok()) {
      return absl::Status(
          result.status.code(),
          absl::StrCat(result.status.message(), result.log.empty() ? "" : ": ", result.log));
    }
    const std::string& code = result.pieces.front();
    return std::vector<std::uint8_t>(code.begin(), code.end());
  });
}

absl::StatusOr<LtoIrVersions> NewestLtoIr(const NvvmLibrary& library, Arch target) {
  return base::Guard([&]() -> absl::StatusOr<LtoIrVersions> {
    const std::vector<std::uint8_t> module(kSmallestModule.begin(), kSmallestModule.end());
    DEVLINK_ASSIGN_OR_RETURN(const std::vector<std::uint8_t> code,
                             MakeLtoIr(library, module, target));
    DEVLINK_ASSIGN_OR_RETURN(const LtoIr ir, LtoIr::Parse(code));
    return ir.versions;
  });
}

}  // namespace devlink
