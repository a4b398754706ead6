// SPDX-License-Identifier: Apache-2.0
#include "command/kept_script.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "base/visible_text.h"
#include "command/words.h"
#include "devlink/version.h"

namespace devlink::internal {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBegin =
    " with --keep-dir: the steps of a link, each as a command.\n"
    "# What the steps make goes to the folder redo (or $1) and is compared with what was kept.\n"
    "# DEVLINK and PTXAS name the programs; files that were not kept are taken from their places.\n"
    "cd \"$(dirname \"$0\")\" || exit 1\n"
    "mkdir -p \"${1:-redo}\" && redo=$(cd \"${1:-redo}\" && pwd) || exit 1\n"
    "status=0\n"
    "failed() { echo \"$1: the step failed\"; status=1; }\n"
    "same() { cmp \"$1\" \"$redo/$2\" && echo \"$1: the same\" || status=1; }\n";

class Script {
 public:
  explicit Script(const KeptLink& link) : link_(link), command_(link.command) {}

  std::string Text() {
    out_ = absl::StrCat("#!/bin/sh\n# Made by devlink ", base::ToAbsl(Version()),
                        base::ToAbsl(kBegin));
    AddTools();
    AddAssembly(LinkStage::kPtx, LinkStage::kAssembled, "PTX of");
    AddLto();
    AddAssembly(LinkStage::kLtoPtx, LinkStage::kLtoCubin, "what became of the LTO IR,");
    AddLink();
    return out_ + "\nexit $status\n";
  }

 private:
  using File = KeptFileMap::value_type;

  // Others may have a program of the linker's name: iproute2 has.
  void AddTools() {
    const CommandContext& context = link_.context;
    const std::string own = context.program_directory.empty()
                                ? "devlink"
                                : base::Cat({context.program_directory, "/devlink"});
    std::string ptxas = command_.toolchain.ptx.ptxas_path;
    if (ptxas.empty()) ptxas = context.ptxas;
    ptxas = ptxas.empty() ? "ptxas" : (fs::path(context.working_directory) / ptxas).string();
    out_ += base::Cat({"[ -n \"${DEVLINK-}\" ] || DEVLINK=", ForShell(own),
                       "\n[ -n \"${PTXAS-}\" ] || PTXAS=", ForShell(ptxas), "\n"});
  }

  void Comment(std::string_view text) { out_ += base::Cat({"# ", base::VisibleText(text), "\n"}); }

  [[nodiscard]] std::vector<const File*> FilesOf(LinkStage stage) const {
    std::vector<const File*> out;
    for (auto file = link_.files.lower_bound({stage, 0});
         file != link_.files.end() && file->first.first == stage; ++file) {
      out.push_back(&*file);
    }
    return out;
  }

  static std::string Join(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) out += base::Cat({" ", ForShell(word)});
    return out;
  }

  // ptxas with the words that the assembler got. With -g the program records its files, for which
  // the linker's assembler has none.
  void AddAssembly(LinkStage from, LinkStage to, std::string_view what) {
    for (const File* text : FilesOf(from)) {
      const auto& [place, file] = *text;
      out_ += '\n';
      Comment(base::Cat({file.file, ": ", what, " '", file.input, "'"}));
      if (file.tool.empty()) continue;
      const auto made = link_.files.find({to, place.second});
      const bool is_made = made != link_.files.end();
      const std::string cubin = is_made ? made->second.file : file.file + ".cubin";
      out_ += base::Cat({"\"$PTXAS\"", Join(file.arguments), " ", file.file, " -o \"$redo/", cubin,
                         "\" || failed ", file.file, "\n"});
      if (!is_made) {
        Comment("no cubin came of it");
      } else if (RecordsFiles(file.arguments)) {
        Comment("not compared: with -g ptxas records the names of its files");
      } else {
        Compare(cubin, cubin);
      }
    }
  }

  static bool RecordsFiles(const std::vector<std::string>& words) {
    return std::find(words.begin(), words.end(), "-g") != words.end();
  }

  void Compare(const std::string& kept, const std::string& made) {
    out_ += base::Cat({"same ", kept, " ", ForShell(made), "\n"});
  }

  // libNVVM has no program; the linker itself stops where the PTX is there.
  void AddLto() {
    const auto modules = FilesOf(LinkStage::kLtoIr);
    if (modules.empty()) return;
    out_ += '\n';
    for (const File* module : modules) {
      Comment(base::Cat({module->second.file, ": LTO IR of '", module->second.input, "'"}));
    }
    const KeptFile& first = modules.front()->second;
    const bool in_parts = command_.options.lto.partitions > 1 && modules.size() > 1;
    Comment(base::Cat({first.tool, " takes them in this order", in_parts ? ", in parts," : "",
                       " with", Join(first.arguments)}));
    const auto texts = FilesOf(LinkStage::kLtoPtx);
    if (texts.size() != 1 || command_.options.lto.split_compile_extended != 1) {
      Comment("no command makes just these texts of them");
      return;
    }
    const std::string& text = texts.front()->second.file;
    out_ += Original({"--emit-ptx"}, text);
    out_ += base::Cat({" || failed ", text, "\n"});
    Compare(text, text);
  }

  // The command as it was given, in its folder, with another output.
  [[nodiscard]] std::string Original(const std::vector<std::string>& more,
                                     const std::string& output) const {
    const CommandContext& context = link_.context;
    std::string out = "(";
    if (!context.working_directory.empty()) {
      out += base::Cat({"cd ", ForShell(context.working_directory), " && "});
    }
    if (!context.library_path.empty()) {
      out += base::Cat({"LIBRARY_PATH=", ForShell(context.library_path), " "});
    }
    out += base::Cat({"\"$DEVLINK\"", Join(command_.words), Join(more)});
    const auto add_list = [&out](std::string_view option, const std::vector<std::string>& items) {
      for (const std::string& item : items) {
        const bool has_comma = item.find(',') != std::string::npos;
        const std::string_view quote = has_comma ? "\"" : "";
        out += base::Cat({" ", ForShell(base::Cat({option, "=", quote, item, quote}))});
      }
    };
    add_list("-L", command_.libraries.directories);
    add_list("-l", command_.libraries.names);
    const auto add_file = [&out](std::string_view option, const std::string& path) {
      out += base::Cat({" ", option, "=\"$redo\"/", ForShell(BaseName(path))});
    };
    if (command_.register_file) add_file("--register-link-binaries", *command_.register_file);
    if (command_.time_table && *command_.time_table != "-") add_file("-time", *command_.time_table);
    if (command_.host_file) out += base::Cat({" --nv-host=", ForShell(*command_.host_file)});
    if (command_.index_file) out += base::Cat({" --uidx-file=", ForShell(*command_.index_file)});
    if (command_.retained_symbols_file) {
      out += base::Cat({" --retain-symbols-file=", ForShell(*command_.retained_symbols_file)});
    }
    out += base::Cat({" -o \"$redo\"/", ForShell(output), Join(command_.inputs), ")"});
    return out;
  }

  // Whether the kept cubins alone make the output again: nothing that host code says chooses
  // kernels, and the output's record names neither files nor libraries.
  [[nodiscard]] bool CubinsSuffice() const {
    const LinkOptions& options = command_.options;
    const auto& details = link_.outcome.report.details;
    if (details == nullptr || details->kernel_choice == KernelChoice::kHostReferences) return false;
    if (!options.recorded_object.empty()) return false;
    // For code -variables-used alone means another thing than for LTO IR.
    if (options.lto.partitions > 1 && !options.variables_used.empty()) return false;
    // In what was kept, references have their other names already.
    if (!options.wrapped_symbols.empty() || !options.symbol_aliases.empty()) return false;
    if (!command_.libraries.names.empty() || !command_.libraries.directories.empty()) return false;
    // Without LTO IR there is a warning.
    return !options.lto.enabled ||
           (!options.warnings_are_errors && options.compatibility == Compatibility::kDevlink);
  }

  [[nodiscard]] std::string FromCubins(const std::vector<const File*>& cubins,
                                       const std::string& output) const {
    std::vector<std::string> words = command_.words;
    const auto add_file = [&](std::string_view option, const std::optional<std::string>& file) {
      if (!file) return;
      const fs::path whole = fs::path(link_.context.working_directory) / *file;
      words.push_back(base::Cat({option, whole.string()}));
    };
    add_file("--nv-host=", command_.host_file);
    add_file("--retain-symbols-file=", command_.retained_symbols_file);
    std::string out = base::Cat({"\"$DEVLINK\"", Join(words), " -o \"$redo\"/", ForShell(output)});
    for (const File* cubin : cubins) out += base::Cat({" \\\n  ", cubin->second.file});
    return out;
  }

  void AddLink() {
    const LinkOptions& options = command_.options;
    const auto cubins = FilesOf(LinkStage::kLinked);
    out_ += '\n';
    for (const File* cubin : cubins) {
      Comment(base::Cat({cubin->second.file, ": '", cubin->second.input, "' as it is linked"}));
    }
    for (const File* file : FilesOf(LinkStage::kFinalized)) {
      Comment(base::Cat({file->second.file, ": what the finalizer in ", file->second.input,
                         " made of them; the link takes it over"}));
    }
    if (options.check_only && !options.lto.enabled) return Comment("there is no output");
    const std::string output = BaseName(command_.output);
    const bool suffices = !cubins.empty() && CubinsSuffice();
    Comment(base::Cat({link_.output, ": the output, '", command_.output, "'"}));
    out_ += suffices ? FromCubins(cubins, output) : Original({}, output);
    out_ += base::Cat({" || failed ", link_.output, "\n"});
    if (link_.outcome.ok()) {
      Compare(link_.output, output);
    } else {
      Comment("the link failed");
    }
  }

  const KeptLink& link_;
  const NvlinkCommand& command_;
  std::string out_;
};

}  // namespace

std::string KeptScript(const KeptLink& link) { return Script(link).Text(); }

}  // namespace devlink::internal
