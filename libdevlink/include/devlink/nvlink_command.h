// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/nvlink_command.h
//
// nvlink's command line as a library: the words of a command become options and inputs, and a
// command can be run. The program `devlink` is a thin shell around this; build tools can read and
// run the same commands within their own process.
//
//   devlink::CommandContext context = ...;  // what the process knows
//   auto command = devlink::ParseNvlinkCommand(words, context);
//   if (!command.ok()) return command.status();  // the message is nvlink's
//   int exit_status = devlink::RunNvlinkCommand(*command, context, sinks);
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/diagnostics.h"
#include "devlink/environment.h"
#include "devlink/experimental/library_search.h"
#include "devlink/experimental/link_passes.h"
#include "devlink/link_options.h"
#include "devlink/sinks.h"
#include "devlink/toolchain.h"

namespace devlink {

// What a command takes from the process that runs it. The library looks at no environment variable
// and at no working directory of its own accord. Everything may be empty. A plain value.
struct CommandContext {
  // The value of PATH: the first folder with `ptxas` is the toolkit's. Entries that are not
  // absolute do not count.
  std::string path;
  std::string library_path;  // the value of LIBRARY_PATH: where -l looks after the folders of -L
  // Absolute. The register file has ids made of it for inputs without ids of their own.
  std::string working_directory;
  std::string temporary_directory;  // where ptxas may write
  // `NAME=value` of those of ToolVariables that are set.
  std::vector<std::string> tool_variables;
  // Places of tools, which count where no option names them: of the program ptxas, of
  // libdevlink_ptxcompiler.so, of libNVVM (a place as for NvvmLibraryFiles), of libnvJitLink.so.13,
  // and of NVIDIA's nvlink, which finalizes. Empty: the tool is looked for.
  std::string ptxas;
  std::string nvptxcompiler;
  std::string nvvm;
  std::string nvjitlink;
  std::string nvlink;
  // `NAME=value` of all that is set, for the host's compiler and linker, which -ghls runs; empty:
  // they have PATH alone.
  std::vector<std::string> variables;
  // What the program is called: as `nvlink` it prints its version as nvlink does.
  std::string program_name = "devlink";
  // Where the running program lies: libdevlink_ptxcompiler.so and libdevlink_network_cache.so are
  // looked for in it and in ../lib.
  std::string program_directory;
  // Reads a file of options (-optf); nothing where it cannot be read. Without it the file system is
  // read.
  std::function<std::optional<std::string>(const std::string& path)> read_options_file;
  // Files and threads of the link, and whether it is to go on; null: Environment::Default.
  // Borrowed.
  const Environment* environment = nullptr;
};

// The environment variables that NVIDIA's compilers look at when they run within this process.
std::span<const std::string_view> ToolVariables();

// Sets what the environment says of tools: `tool_variables`, and the places of tools by
// DEVLINK_PTXAS, DEVLINK_NVPTXCOMPILER, DEVLINK_NVVM, DEVLINK_NVJITLINK and DEVLINK_NVLINK.
// `lookup` is like std::getenv, which the library does not call: null where a variable is not set.
void TakeTools(const std::function<const char*(const char* name)>& lookup, CommandContext& context);

// How the table of options can be printed: for a person, as documents, and for shells to complete
// words.
enum class HelpForm { kTerminal, kMarkdown, kMan, kBash, kZsh, kFish };

// How messages are printed: as nvlink prints them, as JSON objects of a line each, or as one SARIF
// document at the end.
enum class MessageFormat { kText, kJson, kSarif };
enum class UseColor { kAutomatic, kAlways, kNever };

// What -ghls has written in place of a link: a script for the host's linker that puts device code
// behind all else.
enum class HostLinkerScript {
  kNone,        // a link
  kAugmenting,  // lcs-aug: those sections alone, beside a script that is there already
  kWhole,       // lcs-abs: the linker's own script and those sections
};

// What --diagnostics-format asks for, also among words that are wrong. Not in files of options.
MessageFormat MessageFormatOf(std::span<const std::string> words);

// A command that was read. A plain value.
struct NvlinkCommand {
  LinkOptions options;         // all that LinkSession takes
  ToolchainOptions toolchain;  // where tools are, as far as the words say
  // --toolkit was given. Otherwise RunNvlinkCommand follows the release of the toolkit that it
  // finds on the path, where there is a profile of it.
  bool toolkit_given = false;
  std::vector<std::string> inputs;  // in the order in which they are linked
  LibraryQuery libraries;           // -l, -L, -cpu-arch; linked behind all inputs
  // An option was warned of, which is an error with -Werror: inputs are read, nothing is linked.
  bool is_in_error = false;
  std::string output;                  // -o; may be empty where options.check_only
  std::string report;                  // --report: a file, HTML by its name or JSON; empty: none
  std::string map;                     // --map: a file; empty: none
  std::string dependency_file;         // --dependency-file: a file; empty: none
  std::string reproduce;               // --reproduce: an archive; empty: none
  std::string keep_dir;                // --keep-dir: a folder; empty: none
  std::vector<std::string> why_live;   // --why-live: names of functions and variables
  std::vector<std::string> why_input;  // --why-input: names of inputs
  std::vector<std::string> why_registers;  // --why-registers: names of kernels
  bool size_table = false;                 // --size
  std::uint32_t error_limit = 0;           // --error-limit: errors that are said; 0: all
  MessageFormat message_format = MessageFormat::kText;
  UseColor color = UseColor::kAutomatic;  // for whoever prints the messages
  std::string cache;                      // --cache: the folder; empty: none
  std::string remote_cache;               // --remote-cache: an address; empty: none
  std::vector<LinkPass> print_after;      // --print-after: passes whose findings are printed
  std::string time_trace;                 // --time-trace: where the JSON goes; empty: nowhere
  // nvlink's --register-link-binaries, -time, -uidx, -nv-host and -dot: files. An empty name is one
  // that cannot be opened.
  std::optional<std::string> register_file;
  std::optional<std::string> time_table;
  std::optional<std::string> index_file;
  std::optional<std::string> host_file;
  std::optional<std::string> retained_symbols_file;  // read into options.retained_symbols
  std::optional<std::string> dot_file;
  // -tool-name: in whose name the command speaks from the moment that its words are read; not set:
  // the program's own.
  std::optional<std::string> tool_name;
  HelpForm help_form = HelpForm::kTerminal;
  HostLinkerScript host_linker_script =
      HostLinkerScript::kNone;        // nothing is linked where there is
  std::string host_compiler = "gcc";  // -host-ccbin: whose way to link a whole script follows
  bool host_shared = false;           // -shared: the script is for shared libraries
  // Options that change what is linked and how, as they were given, and the files that -optf read.
  std::vector<std::string> words;
  std::vector<std::string> options_files;
  bool help = false;     // -h or -V: nothing is linked, and the rest may be
  bool version = false;  //   incomplete
  bool log = false;      // --log: the caller is asked to pass a LogSink
};

// A message on the words of a command, and the name that the words give to its speaker
// (-tool-name).
struct CommandMessage {
  Diagnostic diagnostic;            // what is to be said
  std::optional<std::string> tool;  // not set: the program's own name
};

// Reads the words of a command, without the program's name: `-name value` or `-name=value` with one
// dash for short names and two for long ones, no abbreviations. Reads files of options, no inputs.
// InvalidArgument with nvlink's message for the first word that is wrong, or else for what is
// missing or contradictory. `messages` receives that message, too, with notes, behind warnings
// about words; those of a good command are its warnings.
absl::StatusOr<NvlinkCommand> ParseNvlinkCommand(std::span<const std::string> words,
                                                 const CommandContext& context,
                                                 std::vector<CommandMessage>* messages = nullptr);

// Where the texts of a command go. Each may be empty or null. All calls come from the thread that
// runs the command.
struct CommandSinks {
  std::function<void(std::string_view text)> out;  // standard output: help, version, --print-after
  std::function<void(const Diagnostic& diagnostic)> say;  // standard error, see RenderDiagnostic
  LogSink* log = nullptr;                                 // lines of --log
  ProgressSink* progress = nullptr;                       // how far the link has come
};

// The lines of a command that speaks as `tool`. Its notes are devlink's own, since nvlink has none.
std::string RenderCommandLine(const Diagnostic& diagnostic, std::string_view tool);

// Runs a command as nvlink would: finds libraries, reads the inputs, links, and writes the output,
// the register file, the report and the time trace; or, with `host_linker_script`, writes that
// script, for which the host's compiler and linker are run. Files are written whole or not at all,
// and of the first three all or none; docs/security.md says what happens to links and modes.
// Returns the exit status: 0, 255 after errors of the link, 1 after anything that ends the run
// early. Any number of commands may run side by side as long as they write different files.
int RunNvlinkCommand(const NvlinkCommand& command, const CommandContext& context,
                     const CommandSinks& sinks);

// What -h prints.
std::string NvlinkHelpText(HelpForm form = HelpForm::kTerminal);
// What -V prints for a program that is called `tool` and follows the release of `profile`: in
// nvlink's shape, which scripts read, if `tool` is another name than devlink.
std::string NvlinkVersionText(const ToolkitProfile& profile = {},
                              std::string_view tool = "devlink");

}  // namespace devlink
