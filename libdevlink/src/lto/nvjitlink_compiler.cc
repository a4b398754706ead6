// SPDX-License-Identifier: Apache-2.0
//
// libnvJitLink as a compiler: `-lto -ptx` with every word of libNVVM behind -Xnvvm gives the PTX
// that nvlink has libNVVM make. It has two things to hide: it compares architectures where nvlink
// does not, and it does not tell what libNVVM thinks of the program.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "assemble/nvjitlink_api.h"
#include "base/bounded_reader.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "base/value_bytes.h"
#include "devlink/experimental/fatbin.h"
#include "devlink/experimental/lto_ir.h"
#include "devlink/toolkit_profile.h"
#include "format/fatbin_format.h"
#include "lto/library_state.h"
#include "lto/lto_backends.h"
#include "lto/lto_messages.h"
#include "lto/probe_module.h"

namespace devlink::internal {

namespace {

constexpr std::string_view kArchWord = "-arch=";
constexpr std::string_view kProbeInput = "devlink's probe";

// A module in the form in which libnvJitLink takes it.
struct Input {
  std::string name;
  int type = kNvJitLinkLtoIr;
  std::vector<std::uint8_t> bytes;
};

struct Request {
  Arch target;  // what libNVVM compiles for
  std::vector<std::string> options;
  std::vector<Input> inputs;
};

// The first -arch names the target, and -link-lto is its own.
Request MakeOptions(const LtoJob& job) {
  Request out;
  out.target = job.target;
  std::vector<std::string> words;
  bool has_arch = false;
  for (const std::string& word : job.arguments) {
    const auto arch = Arch::ParseVirtual(
        word.starts_with(kArchWord) ? std::string_view(word).substr(kArchWord.size()) : "");
    if (!has_arch && arch.ok()) {
      has_arch = true;
      out.target = *arch;
    } else if (!word.empty() && word != "-link-lto") {
      words.push_back(base::Cat({"-Xnvvm=", word}));
    }
  }
  out.options = {base::Cat({"-arch=", out.target.Name()}), "-lto", "-ptx"};
  out.options.insert(out.options.end(), words.begin(), words.end());
  return out;
}

// One blank in place of the options that are stored with a module. libnvJitLink 13.0 does not
// survive it if there is nothing; and what the options said is among the words already.
constexpr std::uint8_t kNoOptions[8] = {' '};

// nvlink compiles what its choice of code found, also for a lower architecture or without the
// suffix. libnvJitLink would refuse or pass over it, so the header says what the target is. The
// code is copied as it is.
absl::Status FitFatbin(Arch target, std::vector<std::uint8_t>& bytes) {
  DEVLINK_ASSIGN_OR_RETURN(const Fatbin fatbin, Fatbin::Parse(bytes));
  if (fatbin.members().size() != 1 || fatbin.members().front().kind != CodeKind::kNvvm) {
    return absl::InvalidArgumentError("a fat binary with LTO IR alone was expected");
  }
  const base::Bytes whole = fatbin.members().front().whole;
  auto header = base::BoundedReader(whole).ReadOrZero<format::FatbinMemberHeader>(0);
  const base::Bytes payload = whole.subspan(header.header_size);
  if (target.variant == 0) {
    header.flags &= ~(format::kFatbinArchSpecific | format::kFatbinFamilySpecific);
  }
  header.ident_offset = header.ident_length = 0;
  header.extension = sizeof(header);
  const format::FatbinExtension options = {sizeof(header) + sizeof(options), 1};
  header.header_size = sizeof(header) + sizeof(options) + sizeof(kNoOptions);
  const format::FatbinHeader container = {format::kFatbinMagic, format::kFatbinVersion,
                                          sizeof(container), header.header_size + payload.size()};
  std::vector<std::uint8_t> out;
  out.reserve(sizeof(container) + container.size);
  base::AppendValue(out, container);
  base::AppendValue(out, header);
  base::AppendValue(out, options);
  base::AppendValue(out, kNoOptions);
  out.insert(out.end(), payload.begin(), payload.end());
  bytes = std::move(out);
  return absl::OkStatus();
}

absl::Status FitContainer(Arch target, std::vector<std::uint8_t>& bytes) {
  DEVLINK_ASSIGN_OR_RETURN(const LtoIr ir, LtoIr::Parse(bytes));
  for (std::size_t i = 0; i < ir.tags.size(); ++i) {
    LtoIrTag tag = ir.tags[i];
    if (tag.tag == LtoIrTag::kArch && ir.arch.number > target.number) {
      tag.value = static_cast<std::uint16_t>(target.number * 10);
    } else if (tag.tag == LtoIrTag::kArchSpecific && target.variant == 0) {
      tag.value = 0;
    } else {
      continue;
    }
    std::memcpy(bytes.data() + ir.tags_offset + (i * sizeof(tag)), &tag, sizeof(tag));
  }
  return absl::OkStatus();
}

void Fail(LtoOutput& output, absl::Status status, std::string_view nvlink_text,
          std::string_view input = {}) {
  output.pieces.clear();
  output.diagnostics.push_back(LtoFatal(nvlink_text, base::FromAbsl(status.message()), input));
  output.status = std::move(status);
}

std::string OneLine(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// What nvlink prints where libNVVM fails: its log and, right behind it, the name of the error.
// libnvJitLink says in its own log
//   13.0:  ERROR in nvvmCompileProgram: NVVM_ERROR_COMPILATION, a line end and libNVVM's log
//   13.5:  libNVVM's log and ERROR NVVM_ERROR_COMPILATION (9) in nvvmCompileProgram callback
std::optional<std::string> NvvmLog(std::string_view log) {
  constexpr std::string_view kBegin = "ERROR in nvvmCompileProgram: ";
  constexpr std::string_view kEnd = "ERROR NVVM_ERROR_";
  if (log.starts_with(kBegin)) {
    log.remove_prefix(kBegin.size());
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view error = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    return base::Cat({log, error});
  }
  const std::size_t at = log.rfind(kEnd);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view error = log.substr(at + kEnd.find("NVVM"));
  error = error.substr(0, error.find(' '));
  return base::Cat({log.substr(0, at), error});
}

// With -split-compile-extended there are several texts, each with the same comment in front.
std::vector<std::string> CutAtHeaders(const std::string& ptx) {
  const std::size_t version = ptx.find(".version");
  if (version == std::string::npos || version == 0) return {ptx};
  const std::string_view header = std::string_view(ptx).substr(0, version);
  std::vector<std::string> out;
  std::size_t begin = 0;
  while (begin < ptx.size()) {
    const std::size_t end = std::min(ptx.find(header, begin + header.size()), ptx.size());
    out.push_back(ptx.substr(begin, end - begin));
    begin = end;
  }
  OrderPieces(out);
  return out;
}

bool IsSplit(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](std::string_view word) {
    return word.starts_with("-split-compile-extended=");
  });
}

bool HasProbe(const LtoOutput& output) {
  return std::any_of(output.pieces.begin(), output.pieces.end(), [](const std::string& ptx) {
    return ptx.find(kProbeName) != std::string::npos;
  });
}

class NvJitLinkCompiler final : public LtoCompiler {
 public:
  NvJitLinkCompiler(LoadedNvJitLink library, std::uint64_t max_output_bytes)
      : library_(std::move(library)), max_output_bytes_(max_output_bytes) {}

  [[nodiscard]] std::string_view name() const override { return kNvJitLinkName; }
  [[nodiscard]] std::string_view version() const override { return library_.version(); }
  [[nodiscard]] bool takes_protected() const override { return true; }
  [[nodiscard]] LtoOutput Compile(const LtoJob& job) const override;

 private:
  [[nodiscard]] LtoOutput Once(const Request& request, bool is_split) const;
  void Link(const NvJitLinkFunctions& functions, const Request& request, bool is_split,
            LtoOutput& output) const;
  [[nodiscard]] LtoOutput CompileWithProbe(Request request, bool is_split) const;

  LoadedNvJitLink library_;
  std::uint64_t max_output_bytes_;
};

void NvJitLinkCompiler::Link(const NvJitLinkFunctions& functions, const Request& request,
                             bool is_split, LtoOutput& output) const {
  NvJitLinkHandle linker(functions);
  if (const int code = linker.Create(request.options); code != 0) {
    return Fail(output,
                absl::InvalidArgumentError(absl::StrCat("libnvJitLink refuses its options: error ",
                                                        code, ": ", OneLine(linker.ErrorLog()))),
                kInternalError);
  }
  for (const Input& input : request.inputs) {
    const int code = functions.add(linker.get(), input.type, input.bytes.data(), input.bytes.size(),
                                   input.name.c_str());
    if (code == 0) continue;
    const bool was_opened = input.type != kNvJitLinkFatbin || code == kNvJitLinkOutdated;
    return Fail(output,
                absl::InvalidArgumentError(absl::StrCat(
                    "'", input.name, "': libnvJitLink refuses it: ", OneLine(linker.ErrorLog()))),
                was_opened ? kModuleRefused : kFatbinRefused, input.name);
  }
  const int code = functions.complete(linker.get());
  const std::string log = linker.ErrorLog();
  if (code != 0) {
    if (const auto said = NvvmLog(log)) AddLtoLog(*said, output.diagnostics);
    return Fail(output,
                absl::InvalidArgumentError(
                    absl::StrCat("libnvJitLink answers error ", code, ": ", OneLine(log))),
                kCompilationFailed);
  }
  if (!log.empty()) AddLtoLog(log, output.diagnostics);
  std::size_t size = 0;
  if (functions.ptx_size(linker.get(), &size) != 0 || size == 0) {
    return Fail(output, absl::InternalError("libnvJitLink hands out no PTX"), kInternalError);
  }
  if (size - 1 > max_output_bytes_) {
    return Fail(
        output,
        absl::ResourceExhaustedError(absl::StrCat("the PTX has ", size - 1, " bytes; at most ",
                                                  max_output_bytes_, " are allowed")),
        kInternalError);
  }
  std::string ptx(size, '\0');
  if (functions.ptx(linker.get(), ptx.data()) != 0) {
    return Fail(output, absl::InternalError("libnvJitLink hands out no PTX"), kInternalError);
  }
  ptx.resize(std::min(ptx.find('\0'), ptx.size()));
  output.pieces = is_split ? CutAtHeaders(ptx) : std::vector<std::string>{std::move(ptx)};
}

LtoOutput NvJitLinkCompiler::Once(const Request& request, bool is_split) const {
  LtoOutput output;
  output.backend_name = name();
  std::vector<std::string> words;
  constexpr std::string_view kPrefix = "-Xnvvm=";
  for (const std::string& option : request.options) {
    if (option.starts_with(kPrefix)) words.push_back(option.substr(kPrefix.size()));
  }
  if (LeavesNothingBehind(words)) {
    Link(library_.functions(), request, is_split, output);
    return output;
  }
  const auto copy = LoadedNvJitLink::LoadCopy(library_.path());
  if (copy.ok()) {
    Link(copy->functions(), request, is_split, output);
  } else {
    Fail(output, copy.status(), kLibraryFailed);
  }
  return output;
}

// For a link in which libNVVM decides: --device-c alone.
LtoOutput NvJitLinkCompiler::CompileWithProbe(Request request, bool is_split) const {
  auto probe = MakeProbeModule(request.target);
  LtoOutput output;
  if (!probe.ok()) {
    output.backend_name = name();
    Fail(output, probe.status(), kInternalError);
    return output;
  }
  const auto profile = ToolkitProfile::ForRelease(version());
  const bool harmless = profile.ok() && profile->added_module_leaves_lto_ptx && !is_split;
  if (!harmless) {
    output = Once(request, is_split);
    if (output.pieces.size() != 1) return output;
  }
  request.inputs.push_back({std::string(kProbeInput), kNvJitLinkLtoIr, *std::move(probe)});
  LtoOutput probed = Once(request, is_split);
  if (!probed.status.ok()) return probed;
  const bool is_whole = !HasProbe(probed);
  if (harmless) {
    request.inputs.pop_back();
    output = is_whole ? std::move(probed) : Once(request, false);
  }
  output.whole_program = is_whole && output.status.ok();
  return output;
}

LtoOutput NvJitLinkCompiler::Compile(const LtoJob& job) const {
  Request request = MakeOptions(job);
  for (const LtoModule& module : job.modules) {
    Input input{.name = module.name, .bytes = {module.bytes.begin(), module.bytes.end()}};
    if (module.is_protected) input.type = kNvJitLinkFatbin;
    const absl::Status fits = module.is_protected ? FitFatbin(request.target, input.bytes)
                                                  : FitContainer(request.target, input.bytes);
    if (!fits.ok()) {
      LtoOutput output;
      output.backend_name = name();
      Fail(output, absl::Status(fits.code(), absl::StrCat("'", module.name, "': ", fits.message())),
           kModuleRefused, module.name);
      return output;
    }
    request.inputs.push_back(std::move(input));
  }
  const bool is_split = IsSplit(job.arguments);
  const bool is_forced = IsForcedPartial(job.arguments);
  if (!is_forced && HasWord(job.arguments, "--device-c")) {
    return CompileWithProbe(std::move(request), is_split);
  }
  LtoOutput output = Once(request, is_split);
  output.whole_program = output.status.ok() && !is_forced && output.pieces.size() == 1;
  return output;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LtoCompiler>> OpenNvJitLinkCompiler(
    const LtoBackendOptions& options) {
  DEVLINK_ASSIGN_OR_RETURN(LoadedNvJitLink library, LoadedNvJitLink::Load(options.nvjitlink_path));
  return std::make_unique<NvJitLinkCompiler>(std::move(library), options.max_output_bytes);
}

}  // namespace devlink::internal
