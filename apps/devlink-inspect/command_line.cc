// SPDX-License-Identifier: Apache-2.0
#include "devlink-inspect/command_line.h"

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/strings.h"

namespace devlink::inspect {

namespace {

constexpr std::size_t kMostRowsOfSummary = 12;

struct ChoiceOption {
  std::string_view name;
  bool Choice::* member;
};
constexpr std::array kChoices = {
    ChoiceOption{"--headers", &Choice::headers},
    ChoiceOption{"--sections", &Choice::sections},
    ChoiceOption{"--symbols", &Choice::symbols},
    ChoiceOption{"--relocations", &Choice::relocations},
    ChoiceOption{"--attributes", &Choice::attributes},
    ChoiceOption{"--call-graph", &Choice::call_graph},
    ChoiceOption{"--resources", &Choice::resources},
    ChoiceOption{"--notes", &Choice::notes},
};

absl::Status Wrong(std::string_view what, std::string_view word, std::string_view rest) {
  return absl::InvalidArgumentError(base::ToAbsl(base::Cat({what, "'", word, "'", rest})));
}

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& words) : words_(words) {}

  absl::StatusOr<CommandLine> Run() {
    bool only_files = false;
    for (; at_ < words_.size(); ++at_) {
      const std::string& word = words_[at_];
      if (only_files || word.size() < 2 || word.front() != '-') {
        out_.files.push_back(word);
      } else if (word == "--") {
        only_files = true;
      } else if (absl::Status status = Option(word); !status.ok()) {
        return status;
      }
    }
    if (out_.help || out_.version) return std::move(out_);
    return Finish();
  }

 private:
  absl::Status Option(const std::string& word) {
    constexpr std::array<std::pair<std::string_view, bool CommandLine::*>, 7> kFlags = {
        {{"--json", &CommandLine::json},
         {"--html", &CommandLine::html},
         {"--demangle", &CommandLine::demangle},
         {"--force", &CommandLine::force},
         {"--help", &CommandLine::help},
         {"-h", &CommandLine::help},
         {"--version", &CommandLine::version}}};
    for (const auto& [name, member] : kFlags) {
      if (word != name) continue;
      out_.*member = true;
      return absl::OkStatus();
    }
    for (const ChoiceOption& choice : kChoices) {
      if (word != choice.name) continue;
      out_.choice.*choice.member = true;
      any_choice_ = true;
      return absl::OkStatus();
    }
    if (word == "--no-demangle") {
      out_.demangle = false;
    } else if (word == "--all") {
      all_ = true;
    } else if (const auto done = Value(word, "--extract", out_.extract)) {
      return *done;
    } else if (const auto directory = Value(word, "--output", out_.directory)) {
      return *directory;
    } else if (word.starts_with("-o")) {
      if (word != "-o") {
        out_.directory = word.substr(2);
      } else {
        return Next(word, out_.directory);
      }
    } else {
      return Wrong("unknown option ", word, "");
    }
    return absl::OkStatus();
  }

  // `--name VALUE` or `--name=VALUE`; nothing where it is another option.
  std::optional<absl::Status> Value(const std::string& word, std::string_view name,
                                    std::string& out) {
    if (word == name) return Next(word, out);
    if (!word.starts_with(base::Cat({name, "="}))) return std::nullopt;
    out = word.substr(name.size() + 1);
    return out.empty() ? Wrong("", name, " needs a value") : absl::OkStatus();
  }

  absl::Status Next(const std::string& word, std::string& out) {
    if (at_ + 1 == words_.size() || words_[at_ + 1].empty()) {
      return Wrong("", word, " needs a value");
    }
    out = words_[++at_];
    return absl::OkStatus();
  }

  absl::StatusOr<CommandLine> Finish() {
    if (out_.files.empty()) return absl::InvalidArgumentError("no file was given");
    if (out_.extract.empty() != out_.directory.empty()) {
      return absl::InvalidArgumentError("--extract MEMBER and -o DIR belong together");
    }
    if (out_.html && (out_.json || !out_.extract.empty())) {
      return absl::InvalidArgumentError("--html stands without --json and --extract");
    }
    // A page has room for everything.
    if (all_ || (out_.html && !any_choice_)) {
      out_.choice = Choice::Everything();
    } else {
      out_.choice.summary = !any_choice_;
    }
    out_.choice.most_rows = any_choice_ || all_ || out_.html ? 0 : kMostRowsOfSummary;
    return std::move(out_);
  }

  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
  CommandLine out_;
  bool all_ = false;
  bool any_choice_ = false;
};

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& words) {
  return Parser(words).Run();
}

std::string_view HelpText() {
  return R"(usage: devlink-inspect [OPTION...] FILE...

Shows what is in cubins, fat binaries, host objects and programs, archives,
PTX and LTO IR; by default a summary.

  --all            everything below
  --headers        of cubins and their program headers
  --sections       sections by name and type
  --symbols        symbols of both views
  --relocations    relocations by name, with symbol and addend
  --attributes     the records of .nv.info by name
  --call-graph     who calls whom, and prototypes
  --resources      registers, stack, shared memory, constants and barriers
                   of every kernel and function
  --notes          the tools that made it, and what it is compatible with

  --json           for programs (docs/inspect.md)
  --html           one page for a browser, by default with everything
  --no-demangle    names as compilers mangle them

  --extract MEMBER -o DIR   writes a member into DIR, or with `all` every
                            piece of device code, unpacked
  --force          replaces files in DIR

  --help, --version

Exit status: 0, or 1 where a file cannot be read, 2 for a wrong command line.
)";
}

}  // namespace devlink::inspect
