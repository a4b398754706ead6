// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/link_options.h
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "devlink/arch.h"
#include "devlink/environment.h"
#include "devlink/experimental/ptxas_options.h"
#include "devlink/toolkit_profile.h"

namespace devlink {

// What a link does with what inputs say of their host code.
enum class HostInfo {
  kDefault,  // kernels that no host code refers to are left out
  kUse,      // nvlink -use-host-info: the same, asked for
  kIgnore,   // nvlink -ignore-host-info: every kernel stays
};

// Whether code for sm_100 and later goes through NVIDIA's finalizer (docs/mercury.md), which is in
// libnvJitLink. Other targets have none.
enum class FinalizeMode {
  kAutomatic,  // where the toolchain has the library, of the release that is followed
  kNever,      // the code stays as the assembler made it
  kAlways,     // without it the link fails
};

// Link-time optimization; docs/lto.md tells what happens in which mode. Every option but
// `partitions` is nvlink's of that name. A plain value.
struct LtoOptions {
  // nvlink -lto. Without it LTO IR is an error. What contradicts its absence is refused by
  // LinkSession::Create; nothing else here has an effect then.
  bool enabled = false;

  // nvlink -force-partial-lto: the result is linked, whatever libNVVM answers. nvlink
  // -force-whole-lto: it is the output, whatever libNVVM answers, unless there is other code.
  bool force_partial = false;
  bool force_whole = false;
  // nvlink -emit-ptx: LinkOutcome::ptx receives what libNVVM made, and nothing is assembled.
  bool emit_ptx = false;
  // nvlink -Ofc; kOff stands for `-Ofc 0`.
  std::optional<FastCompile> fast_compile;
  // nvlink -split-compile-extended: threads, 0 for all of the machine's, 1 for none. With other
  // than 1 libNVVM makes several pieces, which are assembled in parallel and linked.
  int split_compile_extended = 1;
  // nvlink -Xnvvm, each value as written.
  std::vector<std::string> xnvvm;
  // --lto-partitions, which nvlink has not: the modules are cut into at most so many parts, which
  // are compiled at the same time within LinkOptions::parallel, and linked. 0 and 1: they are
  // compiled together. Functions are not inlined from one part into another, so the code is not
  // nvlink's. InvalidArgument if negative, and together with force_whole, emit_ptx or
  // split_compile_extended.
  int partitions = 0;
};

// A name that stands for another one.
struct SymbolAlias {
  std::string name;   // that inputs refer to
  std::string means;  // that is linked in its place
};

// Everything that steers a link. A link's output depends on these values and on the bytes and the
// order of its inputs, on nothing else.
struct LinkOptions {
  Arch target;             // sm_NN of the output
  ToolkitProfile profile;  // the release of nvlink that is followed

  // nvlink -arch=compute_NN, of which `target` is the sm_NN: the inputs are read, code is chosen as
  // for the virtual architecture and PTX is assembled, but nothing is linked: Link() gives an empty
  // cubin. With LTO everything is done as for the sm_NN.
  bool check_only = false;

  // nvlink -g: keeps dead functions and the symbols of shared memory, for the debugger.
  bool debug = false;

  // nvlink -r: writes a relocatable cubin, to be linked again; nothing is laid out or left out, and
  // undefined symbols are not an error (docs/relocatable.md).
  bool relocatable = false;
  // With `relocatable`: whether every reference is left to the next link. Otherwise those to shared
  // memory and constants are resolved although nothing is laid out yet, as by nvlink up to 13.1,
  // and the next link cannot mend them. Not set: they are left, but with Compatibility::kNvlink.
  std::optional<bool> keep_references;

  // Inputs of a later release than `profile` are linked, with a note, instead of refused. What that
  // release's code expects of the linker is not known to the one that is followed.
  bool accept_newer_inputs = false;

  // No warning where an entry's stack cannot be determined.
  bool suppress_stack_size_warning = false;

  // nvlink -suppress-arch-warning: no warning where an input has no code for the target.
  bool suppress_arch_warning = false;

  Compatibility compatibility = Compatibility::kDevlink;  // kNvlink: also where nvlink is wrong
  // nvlink --register-link-binaries: the working directory, of which the ids of inputs that bring
  // none are made. Given, the link leaves out what an earlier link has linked already, as the lists
  // of `nvcc -dlink` say (docs/inputs.md). Not with LTO.
  std::optional<std::string> register_directory;
  // What nvlink has hidden options for. Of code for sm_100 and later the first three and
  // `host_section` keep NVIDIA's finalizer from being used, which does not know them.
  bool allow_undefined_globals = false;     // no error for variables of global memory
  bool reserve_null_pointer = false;        // no shared variable lies at address 0
  bool disable_shared_reservation = false;  // sm_90 and later: what the system keeps of shared
                                            // memory is not counted
  bool force_rela = false;                  // every relocation is written with its addend
  // nvlink -preserve-relocs: relocations that the link resolves are listed in sections
  // `.nv.resolvedrela.*`, with the symbols that they name, and no function is left out. For sm_100
  // and later, of which nvlink itself says that it is not all there, without the finalizer.
  bool preserve_relocations = false;
  // nvlink -nv-host: the bytes of a section `.nv.host`.
  std::optional<std::string> host_section;
  // nvlink -tool-name: what `.note.nv.tkinfo` calls the linker. Not set: devlink.
  std::optional<std::string> recorded_tool;

  // As of the host's linkers; nvlink has nothing like them. Names are as in symbol tables, C++ ones
  // mangled. For code, not for LTO IR: InvalidArgument with `lto.enabled`.
  //
  // --wrap: a reference to S in an input that does not define it means `__wrap_S`, and one to
  // `__real_S` means S.
  std::vector<std::string> wrapped_symbols;
  // --defsym: what `name` means where an input refers to it and does not define it. An input that
  // defines `name` fails the link.
  std::vector<SymbolAlias> symbol_aliases;
  // --undefined: functions that stay, with what they call, although nobody asks for them. A name
  // that no input defines is warned of.
  std::vector<std::string> kept_functions;
  // --icf=safe: of device functions that are the same in code, references and attributes, one
  // stays. Not kernels, and none whose address is taken: no program can tell. Debuggers and
  // profilers see the one that stays. Nothing is done with `debug`; InvalidArgument with
  // `relocatable`, and Unimplemented for sm_100 and later.
  bool fold_identical_functions = false;
  // --retain-symbols-file: of variables, the symbol table has those named here and those that a
  // relocation or record names. Not set: all. Memory is the same. Refused as the one before.
  std::optional<std::vector<std::string>> retained_symbols;

  // nvlink -dump-callgraph: LinkOutcome::diagnostics have the graph, as verbatim lines.
  bool dump_call_graph = false;
  // nvlink -dot: LinkOutcome::call_graph_dot has it for Graphviz.
  bool dot_call_graph = false;

  // LinkReport::details: what is in the output, where it came from and why it is there. Takes a
  // second walk over the program and a copy of the output.
  bool details = false;

  // nvlink -keep-system-libraries: links libcudadevrt although nothing needs it.
  bool keep_system_libraries = false;

  // How many texts are assembled, or parts of LTO IR compiled, at a time (0: as many as the
  // environment likes), within which memory.
  ParallelOptions parallel;

  // Not nvlink's: it always finalizes.
  FinalizeMode finalize = FinalizeMode::kAutomatic;
  // --finalizer-parts: in how many parts, each a process of its own; 1: at once. 0: as many as the
  // size of the code makes worth it, where the finalizer is not in this process, and without code
  // that goes where that is much. The output is the same.
  int finalizer_parts = 0;

  // Options of the assembler, each nvlink's of that name; docs/ptx-assembly.md.
  int max_registers = 0;
  std::vector<std::string> xptxas;  // as written
  std::optional<bool> stack_protector;
  int split_compile = 1;  // of libNVVM, too
  bool suppress_debug_info = false;

  LtoOptions lto;  // nothing of it counts unless lto.enabled

  // An input that cannot be used ends the link, as it does with nvlink; otherwise it is left out,
  // after its Add has failed.
  bool end_at_rejected_input = false;

  // An input that is no device code and has none in it, such as a text or an object of the host's
  // compiler, is passed over without a word, as by nvlink. Otherwise a note of
  // DiagnosticCode::kNoDeviceCode names it, unless it is an archive that is a file.
  bool pass_over_silently = false;

  // nvlink -disable-infos, which in spite of its name silences warnings.
  bool suppress_warnings = false;

  // nvlink -Werror: warnings become errors.
  bool warnings_are_errors = false;

  // nvlink -v: resource usage of every entry as info diagnostics.
  bool verbose = false;

  // nvlink -report-arch: every line ends with ` (target: sm_80)`.
  bool report_arch = false;

  HostInfo host_info = HostInfo::kDefault;  // which kernels stay
  // nvlink -kernels-used: the kernels that stay are those with one of these texts in their mangled
  // names, whatever host code refers to. Empty texts do not count.
  std::vector<std::string> kernels_used;
  // nvlink -variables-used. No variable is ever left out, but a link that is given only these
  // leaves out every kernel, as nvlink does.
  std::vector<std::string> variables_used;

  // The options text kept in `.note.nv.tkinfo`. Empty: what nvlink records for these options,
  // "-arch sm_90 " for a plain link.
  std::string recorded_options;
  // The output's name in the same record, which nvlink keeps with -g only.
  std::string recorded_object;

  // A thin archive that AddInput was given may name files to be read. Off, since whoever made the
  // bytes would choose which files of this machine are opened. AddFile always reads them.
  bool read_thin_members = false;

  // Bound on the size of one input, be it a file or from memory, so that a hostile one cannot
  // exhaust memory. One that is larger is ResourceExhausted, and nothing of it is copied.
  std::uint64_t max_input_bytes = std::uint64_t{4} << 30;

  // Bound on the memory, in bytes, that all inputs of a session and of its copies take together:
  // what is read, and what is decompressed or copied out of it. An input that needs more is
  // ResourceExhausted. A few kilobytes of compressed code can ask for gigabytes. The copies of
  // constants that a link makes for each kernel may take as much once more.
  std::uint64_t max_memory_bytes = std::uint64_t{8} << 30;
};

}  // namespace devlink
