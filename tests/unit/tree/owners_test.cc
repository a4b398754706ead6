// SPDX-License-Identifier: Apache-2.0
//
// A fact has one owner. What is easily written a second time (a number, a name of a section, a
// sentence of nvlink's) is looked for here in every source file but its owner's.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "support/process.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = DEVLINK_SOURCE_ROOT;

struct Source {
  std::string name;                   // from the root of the tree
  std::string code;                   // without comments, literals empty
  std::vector<std::string> literals;  // as they are written, neighbours joined
};

// Where the literal that begins at `i` ends: at its closing quote.
std::size_t EndOfLiteral(const std::string& text, std::size_t i) {
  for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\' ? 1 : 0;
  return std::min(i, text.size());
}

Source Read(const fs::path& file) {
  Source out{.name = file.lexically_relative(kRoot).string(), .code = {}, .literals = {}};
  const std::string text = ReadText(file).value_or("");
  bool joins = false;  // only blanks since the last literal
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
      out.code += '\n';
    } else if (text[i] == '\'' && i + 2 < text.size() && text[i + 1] == '"') {
      i += 2;
    } else if (text[i] == '"') {
      const std::size_t end = EndOfLiteral(text, i);
      const std::string literal = text.substr(i + 1, end - i - 1);
      if (joins) {
        out.literals.back() += literal;
      } else {
        out.literals.push_back(literal);
        out.code += "\"\"";
      }
      joins = true;
      i = end;
    } else {
      joins = joins && std::isspace(static_cast<unsigned char>(text[i])) != 0;
      out.code += text[i];
    }
  }
  return out;
}

const std::vector<Source>& Sources() {
  static const std::vector<Source> sources = [] {
    std::vector<Source> out;
    // devlink-diff reads cubins on its own: it is there to find what the library has wrong.
    for (const char* folder :
         {"libdevlink/src", "libdevlink/include", "apps/devlink", "apps/process"}) {
      for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
        const auto extension = entry.path().extension();
        if (extension == ".cc" || extension == ".h") out.push_back(Read(entry.path()));
      }
    }
    std::sort(out.begin(), out.end(),
              [](const Source& a, const Source& b) { return a.name < b.name; });
    return out;
  }();
  return sources;
}

enum class Where { kCode, kLiterals };

struct Rule {
  std::string_view fact;
  Where where;
  const char* pattern;
  // The owner first; others with the reason why they may say it, too. A name that ends with a
  // slash stands for a folder.
  std::vector<std::pair<std::string, std::string_view>> allowed;
};

std::vector<Rule> RulesOfNumbers() {
  return {
      {"reserved shared memory",
       Where::kCode,
       R"(\b0x400\b)",
       {{"libdevlink/src/format/sm_traits.cc", "owner"}}},
      {"what differs between architectures",
       Where::kCode,
       R"(\b((arch|target|member)_?\.number|sm(\(\))?)\s*[<>=!]=?\s*\d{2,3}\b)",
       {}},
      {"limits of a device",
       Where::kCode,
       R"(\b0x(c000|10000)\b)",
       {{"libdevlink/src/format/sm_traits.h", "owner"},
        {"libdevlink/src/format/fatbin_format.h", "a flag of a fat binary"},
        {"libdevlink/src/format/relocations.h", "where Mercury's relocation types begin"},
        {"libdevlink/src/format/relocations.cc", "Mercury's relocation types"}}},
      {"where 16 bits are no longer a section's index",
       Where::kCode,
       R"((>=?|<=?|==|=)\s*0xff00\b)",
       {{"libdevlink/src/format/elf_cuda.h", "owner"}}},
      {"what files begin with, as words",
       Where::kCode,
       R"(\b0x(464c457f|ba55ed50|7f4e43ed|dec04342|0b17c0de)\b)",
       {{"libdevlink/src/lto/probe_module.cc", "the words of a whole module"}}},
      {"what differs between releases",
       Where::kCode,
       R"(\brelease\s*[<>=!]=?\s*13\d\b)",
       {{"libdevlink/include/devlink/toolkit_profile.h", "owner: the default release"}}},
      {"relocation types",
       Where::kCode,
       R"(\bkReloc\w+\s*=\s*0x)",
       {{"libdevlink/src/format/relocations.h", "owner"}}},
      {"tags of records and attributes", Where::kCode, R"(\.id\s*==\s*(0x)?[0-9a-f]+\b)", {}},
      {"lists of the call graph", Where::kCode, R"(\blist\s*==\s*\d)", {}},
  };
}

std::vector<Rule> RulesOfTexts() {
  return {
      {"names of virtual architectures",
       Where::kLiterals,
       R"(^(-arch=)?compute_$)",
       {{"libdevlink/src/format/arch.cc", "owner"}}},
      {"names of a cubin's sections",
       Where::kLiterals,
       R"(^\.(nv\.|nv_debug|text\b|note\.|rela?\b|debug|symtab|strtab|shstrtab))",
       {{"libdevlink/src/format/sections.h", "owner"},
        {"libdevlink/src/format/notes.h", "owner of the notes"},
        {"libdevlink/src/format/views.cc", "owner of the names of the Mercury view"},
        {"libdevlink/src/format/driver_names.cc", "the beginning of symbols' names"},
        {"libdevlink/src/input/host_object.cc", "tables of an object for the host"}}},
      {"what files begin with",
       Where::kLiterals,
       R"(^(\\x7f|\\177)|^\\x50\\xed|^\\x[eE][dD]\\x43|^!<(arch|thin)>|^BC\\x)",
       {{"libdevlink/src/format/magics.h", "owner"}}},
      {"the name of the device runtime",
       Where::kLiterals,
       R"(cudadevrt)",
       {{"libdevlink/src/format/driver_names.h", "owner"},
        {"libdevlink/src/format/nvlink_text.h", "sentences of nvlink's"},
        {"libdevlink/src/command/option_table.cc", "help"}}},
      {"names of releases",
       Where::kLiterals,
       R"(\b13\.\d)",
       {{"libdevlink/src/format/toolkit_profile.cc", "owner"},
        {"libdevlink/include/devlink/toolkit_profile.h", "owner: the default release"},
        {"libdevlink/src/format/nvlink_text.cc", "a sentence of nvlink's"},
        {"libdevlink/src/command/option_table.cc", "help"}}},
  };
}

const std::vector<Rule>& Rules() {
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> out = RulesOfNumbers();
    for (Rule& rule : RulesOfTexts()) out.push_back(std::move(rule));
    return out;
  }();
  return rules;
}

bool Says(const Source& source, const Rule& rule) {
  const std::regex pattern(rule.pattern, std::regex::ECMAScript | std::regex::icase);
  if (rule.where == Where::kCode) return std::regex_search(source.code, pattern);
  return std::any_of(source.literals.begin(), source.literals.end(),
                     [&](const std::string& text) { return std::regex_search(text, pattern); });
}

TEST_CASE("Facts have one owner", "[architecture]") {
  for (const Rule& rule : Rules()) {
    for (const Source& source : Sources()) {
      const auto allowed =
          std::find_if(rule.allowed.begin(), rule.allowed.end(), [&](const auto& owner) {
            return owner.first.ends_with('/') ? source.name.starts_with(owner.first)
                                              : source.name == owner.first;
          });
      CAPTURE(rule.fact, source.name);
      // What is allowed is used: a list of exceptions must not outlive them.
      if (allowed == rule.allowed.end()) {
        CHECK_FALSE(Says(source, rule));
      } else if (allowed->first == source.name) {
        CHECK(Says(source, rule));
      }
    }
  }
}

TEST_CASE("nvlink's sentences stand in one file", "[architecture]") {
  constexpr std::size_t kSentence = 17;  // shorter ones may be anybody's words
  std::set<std::string> sentences;
  for (const Source& source : Sources()) {
    if (!source.name.starts_with("libdevlink/src/format/nvlink_text.")) continue;
    for (const std::string& text : source.literals) {
      const bool is_path = text.find('/') != std::string::npos && text.find(' ') == text.npos;
      if (text.size() >= kSentence && !is_path) sentences.insert(text);
    }
  }
  REQUIRE(sentences.size() > 30);
  for (const Source& source : Sources()) {
    if (source.name.starts_with("libdevlink/src/format/nvlink_text.")) continue;
    for (const std::string& text : source.literals) {
      for (const std::string& sentence : sentences) {
        CAPTURE(source.name, text, sentence);
        CHECK(text.find(sentence) == std::string::npos);
      }
    }
  }
}

}  // namespace
}  // namespace devlink::testing
