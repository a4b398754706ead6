// SPDX-License-Identifier: Apache-2.0
#include "command/host_linker_script.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "assemble/child_process.h"
#include "assemble/work_directory.h"
#include "base/status_macros.h"
#include "base/stop.h"
#include "base/strings.h"
#include "base/text_bytes.h"
#include "command/output_file.h"
#include "command/words.h"

namespace devlink::internal {

namespace {

// Where a host's linker puts device code: behind all else, so that it does not come between code
// and data that refer to each other over short distances. The blank is nvlink's.
constexpr std::string_view kDeviceSections =
    "SECTIONS\n"
    "{\n"
    "\t.nvFatBinSegment : { *(.nvFatBinSegment) }\n"
    "\t__nv_relfatbin : { *(__nv_relfatbin) } \n"
    "\t.nv_fatbin : { *(.nv_fatbin) }\n"
    "}\n";

constexpr std::size_t kMaxText = std::size_t{16} << 20;
constexpr std::string_view kScriptName = "script.lds";

std::vector<std::string> SplitBlanks(std::string_view text) {
  return absl::StrSplit(base::ToAbsl(text), absl::ByAnyChar(" \t\n"), absl::SkipEmpty());
}

absl::Status Failed(std::initializer_list<std::string_view> reason) {
  return absl::UnavailableError(
      base::Cat({"Host linker script creation failed.\n", base::Cat(reason)}));
}

std::string FirstLine(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

bool CanRun(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

// The compiler and the linker of the host.
class HostTools {
 public:
  HostTools(const CommandContext& context, const std::string& folder) : path_(context.path) {
    if (context.environment != nullptr) stop_ = context.environment->StopToken();
    environment_ = context.variables;
    // What is read of their texts is English, and their files go with the folder.
    std::erase_if(environment_, [](const std::string& variable) {
      return variable.starts_with("LC_ALL=") || variable.starts_with("LANGUAGE=") ||
             variable.starts_with("TMPDIR=");
    });
    if (context.variables.empty()) environment_.push_back(base::Cat({"PATH=", path_}));
    environment_.emplace_back("LC_ALL=C");
    environment_.push_back(base::Cat({"TMPDIR=", folder}));
  }

  // As a shell finds it, but for folders whose names are relative. Nothing where there is none.
  [[nodiscard]] std::optional<std::string> Find(const std::string& name) const {
    if (name.find('/') != std::string::npos) {
      return CanRun(name) ? std::optional(name) : std::nullopt;
    }
    for (const std::string& folder : SplitPath(path_)) {
      std::string program = base::Cat({folder, "/", name});
      if (folder.starts_with('/') && CanRun(program)) return program;
    }
    return std::nullopt;
  }

  // The first word is a path. The text is all that the program prints.
  [[nodiscard]] absl::StatusOr<ChildResult> Run(const std::vector<std::string>& words) const {
    auto ran = RunChild(
        words,
        {.environment = environment_, .stop = stop_, .max_text = kMaxText, .with_stdout = true});
    if (!ran.ok()) return Failed({base::FromAbsl(ran.status().message())});
    if (ran->stopped) return base::Stopped();
    if (ran->text.size() == kMaxText) return Failed({words[0], " prints without end"});
    return ran;
  }

 private:
  const std::string path_;
  std::stop_token stop_;
  std::vector<std::string> environment_;
};

class WholeScript {
 public:
  WholeScript(const NvlinkCommand& command, const CommandSinks& sinks, const HostTools& tools)
      : command_(command), sinks_(sinks), tools_(tools) {}

  absl::StatusOr<std::string> Make(const WorkDirectory& folder) {
    SayFirst();
    const auto linker = tools_.Find("ld");
    if (!linker) return Failed({"there is no linker 'ld' on PATH; install one, such as binutils'"});
    DEVLINK_ASSIGN_OR_RETURN(std::vector<std::string> words, WordsForLinker());
    words.insert(words.begin(), {*linker, "--verbose"});
    DEVLINK_ASSIGN_OR_RETURN(const ChildResult printed, tools_.Run(words));
    DEVLINK_ASSIGN_OR_RETURN(const ChildResult version, tools_.Run({*linker, "-V"}));
    std::string script = ScriptIn(printed.text, version.text);
    if (printed.exit_status != 0 || script.empty()) {
      return Failed({"'", absl::StrJoin(words, " "), "' prints no script, as GNU ld does",
                     printed.text.empty() ? "" : ": ", FirstLine(printed.text)});
    }
    script += kDeviceSections;
    DEVLINK_RETURN_IF_ERROR(Check(*linker, script, folder));
    return script;
  }

 private:
  // What nvlink has a shell do.
  void SayFirst() const {
    static constexpr std::string_view kRestOfFirst =
        " -m64  2>&1 | grep collect2  | grep -wo -e -pie -e \"-z [^[:space:]]*\" -e "
        "\"-m [^[:space:]]*\" -e -r -e -shared  | tr \"\\n\" \" \" ) | grep -Fvx -e "
        "\"$(ld -V)\" | sed '1,2d;$d' > ";
    const std::string_view mode = Mode();
    Say({"#$ ld --verbose $(", command_.host_compiler, " -### /dev/null ", mode.empty() ? "" : " ",
         mode, mode.empty() ? "" : " ", kRestOfFirst,
         command_.output.empty() ? "/dev/stdout" : command_.output});
  }

  void Say(std::initializer_list<std::string_view> line) const {
    if (!command_.options.verbose || !sinks_.say) return;
    Diagnostic said;
    said.severity = Severity::kInfo;
    said.text = base::Cat(line);
    said.verbatim = true;
    sinks_.say(said);
  }

  [[nodiscard]] std::string_view Mode() const {
    if (command_.host_shared) return "-shared";
    return command_.options.relocatable ? "-r" : "";
  }

  // As nvlink, which goes on with what `ld` does by itself where the compiler says nothing.
  absl::StatusOr<std::vector<std::string>> WordsForLinker() const {
    std::vector<std::string> words = SplitBlanks(command_.host_compiler);
    const auto compiler = words.empty() ? std::nullopt : tools_.Find(words[0]);
    std::vector<std::string> out;
    if (compiler) {
      words[0] = *compiler;
      words.insert(words.end(), {"-###", "/dev/null"});
      if (!Mode().empty()) words.emplace_back(Mode());
      words.emplace_back("-m64");
      DEVLINK_ASSIGN_OR_RETURN(const ChildResult printed, tools_.Run(words));
      out = WordsThatChooseScript(printed.text);
    }
    if (out.empty() && command_.options.compatibility != Compatibility::kNvlink && sinks_.say) {
      Diagnostic note;
      note.severity = Severity::kInfo;
      note.notes.push_back(
          base::Cat({"'", command_.host_compiler,
                     compiler ? "' does not say how it" : "' cannot be run to say how it",
                     " links, so the script is what ld uses by itself; -host-ccbin names a gcc"}));
      sinks_.say(note);
    }
    return out;
  }

  absl::Status Check(const std::string& linker, const std::string& script,
                     const WorkDirectory& folder) const {
    if (!command_.output.empty()) {
      Say({"#$ ld -T ", command_.output, " 2>&1 | grep 'no input files' > /dev/null"});
    }
    if (!folder.Write(kScriptName, base::BytesOf(script))) {
      return Failed({"cannot write into '", folder.path(), "', where the script is tried"});
    }
    DEVLINK_ASSIGN_OR_RETURN(const ChildResult tried,
                             tools_.Run({linker, "-T", folder.File(kScriptName)}));
    // It has read the script and then misses what to link.
    if (tried.text.find("no input files") != std::string::npos) return absl::OkStatus();
    return Failed({"'", linker, "' does not take its own script: ", FirstLine(tried.text)});
  }

  const NvlinkCommand& command_;
  const CommandSinks& sinks_;
  const HostTools& tools_;
};

absl::StatusOr<std::string> MakeWholeScript(const NvlinkCommand& command,
                                            const CommandContext& context,
                                            const CommandSinks& sinks) {
  const WorkDirectory folder(context.temporary_directory, {kScriptName});
  if (!folder.made()) {
    return Failed({"cannot make a folder in '", context.temporary_directory,
                   "'; name another temporary directory"});
  }
  const HostTools tools(context, folder.path());
  return WholeScript(command, sinks, tools).Make(folder);
}

}  // namespace

std::vector<std::string> WordsThatChooseScript(std::string_view printed) {
  std::vector<std::string> out;
  for (const absl::string_view line : absl::StrSplit(base::ToAbsl(printed), '\n')) {
    if (line.find("collect2") == absl::string_view::npos) continue;
    const std::vector<std::string> words = SplitBlanks(base::FromAbsl(line));
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      const bool has_value = (word == "-z" || word == "-m") && i + 1 < words.size();
      if (has_value) {
        out.push_back(word);
        out.push_back(words[++i]);
      } else if (word == "-pie" || word == "-r" || word == "-shared") {
        out.push_back(word);
      }
    }
  }
  return out;
}

std::string ScriptIn(std::string_view printed, std::string_view version) {
  const std::vector<absl::string_view> of_version = absl::StrSplit(base::ToAbsl(version), '\n');
  std::set<absl::string_view> known(of_version.begin(), of_version.end());
  known.erase("");
  std::vector<absl::string_view> lines = absl::StrSplit(base::ToAbsl(printed), '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  std::erase_if(lines, [&](absl::string_view line) { return known.contains(line); });
  // A sentence and a line of `=` in front, another behind.
  constexpr std::size_t kBefore = 2;
  if (lines.size() <= kBefore + 1 || lines[1].empty() ||
      lines[1].find_first_not_of('=') != absl::string_view::npos || lines.back() != lines[1]) {
    return {};
  }
  std::string out;
  for (const absl::string_view line :
       absl::MakeConstSpan(lines).subspan(kBefore, lines.size() - kBefore - 1)) {
    out += base::FromAbsl(line);
    out += '\n';
  }
  return out;
}

absl::Status WriteHostLinkerScript(const NvlinkCommand& command, const CommandContext& context,
                                   const CommandSinks& sinks) {
  if (command.host_linker_script == HostLinkerScript::kAugmenting) {
    if (!command.output.empty()) return WriteTextFile(command.output, kDeviceSections);
    if (sinks.out) sinks.out(kDeviceSections);
    return absl::OkStatus();
  }
  DEVLINK_ASSIGN_OR_RETURN(const std::string script, MakeWholeScript(command, context, sinks));
  if (command.output.empty()) {
    if (sinks.out) sinks.out(script);
    return absl::OkStatus();
  }
  const absl::Status written = WriteTextFile(command.output, script);
  if (written.ok()) return absl::OkStatus();
  // nvlink's words are those of its shell; the place of the line stands in ours.
  const std::string_view why = base::FromAbsl(written.message());
  return Failed({why.substr(0, why.find('\n')), ": ", why.substr(why.find('\n') + 1)});
}

}  // namespace devlink::internal
