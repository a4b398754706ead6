// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/strings.h"
#include "command/help.h"
#include "devlink/version.h"

namespace devlink::internal {

namespace {

std::string Replaced(std::string_view text,
                     std::initializer_list<std::pair<absl::string_view, absl::string_view>> pairs) {
  return absl::StrReplaceAll(base::ToAbsl(text), pairs);
}

// In single quotes, as all three shells read them.
std::string Quoted(std::string_view text) {
  return base::Cat({"'", Replaced(text, {{"'", "'\\''"}}), "'"});
}

// `-o` and `--output-file`: every way to write it.
std::vector<std::string> Spellings(const Option& option) {
  std::vector<std::string> out;
  if (!option.short_name.empty()) out.push_back(base::Cat({"-", option.short_name}));
  out.push_back(base::Cat({"--", option.long_name}));
  return out;
}

// What a shell can complete of a value: names of files, of folders, or nothing.
bool NamesFiles(const Option& option) {
  return option.value.starts_with("file") || option.value.starts_with("folder") ||
         option.value == "program";
}

}  // namespace

std::string MarkdownHelp() {
  std::string out =
      "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
      "<!-- Written by `devlink --help-as=markdown`; change "
      "libdevlink/src/command/option_table.cc. "
      "-->\n"
      "# The command line\n\n"
      "    devlink -arch sm_NN -o output.cubin input.cubin...\n\n"
      "Names with one dash and names with two are different names: `-o` or `--output-file`. A "
      "value "
      "follows\nbehind a blank or `=`; behind `-l`, `-L` and `-m` it may follow at once. Items of "
      "a "
      "list are separated by\ncommas, and lists that are given again add up. Of other values the "
      "last "
      "counts. What begins with no dash is\nan input.\n\n"
      "`@FILE` and `-optf FILE` put the words of a file in their place: blanks, tabs and ends of "
      "lines separate\nthem, double quotes and backslashes protect them. `devlink --help-as=FORM` "
      "writes this page, a manual page\n(`man`) or what `bash`, `zsh` and `fish` need to complete "
      "options.\n";
  for (const HelpGroup& group : HelpGroups()) {
    absl::StrAppend(&out, "\n## ", base::ToAbsl(group.title),
                    "\n\n| option | meaning |\n|---|---|\n");
    ForEachOption(group.group, [&](const Option& option) {
      absl::StrAppend(&out, "| `", OptionNames(option), "` | ",
                      Replaced(option.help, {{"|", "\\|"}, {"<", "\\<"}}), " |\n");
    });
  }
  return out;
}

std::string ManPage() {
  const auto plain = [](std::string_view text) {
    return Replaced(text, {{"\\", "\\e"}, {"-", "\\-"}});
  };
  std::string out = base::Cat(
      {".TH DEVLINK 1 \"\" \"libdevlink ", Version(),
       "\"\n.SH NAME\ndevlink \\- open device linker for CUDA\n.SH SYNOPSIS\n.B devlink\n"
       "\\-arch sm_NN \\-o output.cubin input.cubin...\n.SH DESCRIPTION\nLinks relocatable device "
       "code of CUDA as nvlink does. Inputs are cubins, PTX, fat binaries, LTO IR, host objects "
       "and "
       "archives; @FILE stands for the words of a file.\n"});
  for (const HelpGroup& group : HelpGroups()) {
    absl::StrAppend(&out, ".SS ", base::ToAbsl(group.title), "\n");
    ForEachOption(group.group, [&](const Option& option) {
      absl::StrAppend(&out, ".TP\n.B ", plain(OptionNames(option)), "\n", plain(option.help), "\n");
    });
  }
  out +=
      ".SH EXIT STATUS\n0 where the link is good, 255 after errors of the link, 1 after anything "
      "that ends it early.\n";
  return out;
}

std::string BashCompletion() {
  std::vector<std::string> words;
  std::vector<std::string> of_files;
  std::vector<std::string> of_values;
  for (const Option& option : Options()) {
    for (const std::string& spelling : Spellings(option)) {
      words.push_back(spelling);
      if (option.takes == Takes::kNothing) continue;
      (NamesFiles(option) ? of_files : of_values).push_back(spelling);
    }
  }
  return absl::StrCat(
      "# bash completion for devlink; written by `devlink --help-as=bash`\n"
      "_devlink() {\n"
      "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD - 1]}\"\n"
      "  COMPREPLY=()\n"
      "  case \"$before\" in\n"
      "    ",
      absl::StrJoin(of_values, " | "),
      ") return ;;\n"
      "    ",
      absl::StrJoin(of_files, " | "),
      ") mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return ;;\n"
      "  esac\n"
      "  if [[ $word == -* ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W '",
      absl::StrJoin(words, " "),
      "' -- \"$word\")\n"
      "  else\n"
      "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
      "  fi\n"
      "}\n"
      "complete -o filenames -F _devlink devlink\n");
}

std::string ZshCompletion() {
  std::string out =
      "#compdef devlink\n"
      "# zsh completion for devlink; written by `devlink --help-as=zsh`\n"
      "_arguments \\\n";
  for (const Option& option : Options()) {
    const std::string help =
        Replaced(option.help, {{"\\", "\\\\"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}});
    const std::string value = option.takes == Takes::kNothing
                                  ? ""
                                  : absl::StrCat(":", Replaced(option.value, {{":", "\\:"}}), ":",
                                                 NamesFiles(option) ? "_files" : "");
    for (const std::string& spelling : Spellings(option)) {
      absl::StrAppend(&out, "  ", Quoted(base::Cat({"*", spelling, "[", help, "]", value})),
                      " \\\n");
    }
  }
  return out + "  '*:input:_files'\n";
}

std::string FishCompletion() {
  std::string out = "# fish completion for devlink; written by `devlink --help-as=fish`\n";
  for (const Option& option : Options()) {
    out += "complete -c devlink";
    if (option.short_name.size() == 1) {
      absl::StrAppend(&out, " -s ", base::ToAbsl(option.short_name));
    } else if (!option.short_name.empty()) {
      absl::StrAppend(&out, " -o ", base::ToAbsl(option.short_name));
    }
    absl::StrAppend(&out, " -l ", base::ToAbsl(option.long_name));
    if (option.takes != Takes::kNothing) out += NamesFiles(option) ? " -r" : " -x";
    absl::StrAppend(&out, " -d ", Quoted(option.help), "\n");
  }
  return out;
}

}  // namespace devlink::internal
