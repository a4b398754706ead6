// SPDX-License-Identifier: Apache-2.0
//
// What documents name exists: types, their members, constants, paths, options and links.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "support/process.h"
#include "unit/tree/rooms.h"
#include "unit/tree/source_tree.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;

// Options of programs that the documents speak of beside devlink, its tests and its scripts.
const std::map<std::string, std::string> kForeignOptions = {
    {"-dlcm", "ptxas"},
    {"-dump-callgraph", "nvlink; not there yet, as docs/compatibility.md says"},
    {"-lNAME", "-l and its value"},
    {"-lq", "-l and its value"},
    {"-print-options", "libNVVM"},
    {"--compress-all", "fatbinary"},
    {"--cuda-path", "clang"},
    {"--offload-new-driver", "clang"},
    {"-hls", "nvcc"},
    {"-nocudainc", "clang"},
    {"-nocudalib", "clang"},
    {"--ident", "fatbinary"},
    {"-Xnvlink", "nvcc"},
};

struct Mention {
  std::string text;
  std::string document;
  int line = 0;
};

std::string PlaceOf(const Mention& mention) {
  return mention.document + ":" + std::to_string(mention.line) + ": `" + mention.text + "`";
}

// What stands between backticks, code blocks aside.
std::vector<Mention> MentionsIn(const std::string& text, const std::string& document) {
  std::vector<Mention> out;
  std::istringstream in(text);
  bool in_block = false;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const bool fence = line.find("```") != std::string::npos;
    if (fence) in_block = !in_block;
    if (fence || in_block) continue;
    std::size_t begin = 0;
    while ((begin = line.find('`', begin)) != std::string::npos) {
      const std::size_t end = line.find('`', begin + 1);
      if (end == std::string::npos) break;
      out.push_back({line.substr(begin + 1, end - begin - 1), document, number});
      begin = end + 1;
    }
  }
  return out;
}

// The changelog names what is gone.
std::vector<fs::path> Documents() {
  std::vector<fs::path> out;
  for (const fs::path& file : TrackedFiles()) {
    const std::string name = NameInTree(file);
    const bool at_root = name.find('/') == std::string::npos && name != "CHANGELOG.md";
    if (file.extension() == ".md" && (at_root || name.starts_with("docs/"))) out.push_back(file);
  }
  return out;
}

std::vector<Mention> AllMentions() {
  std::vector<Mention> out;
  for (const fs::path& file : Documents()) {
    std::vector<Mention> found = MentionsIn(TextOf(file), NameInTree(file));
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

// --- Sources as sets of words --------------------------------------------------------------------

using Words = std::set<std::string, std::less<>>;

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (IsWordCharacter(c)) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, ""));
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

// The words of a file, and those among them that it declares as types or namespaces.
struct WordsOfFile {
  Words all;
  Words declared;
};

class KnownWords {
 public:
  KnownWords() {
    static const Words keywords = {"class", "enum", "namespace", "struct", "using"};
    for (const char* part : {"libdevlink", "apps", "tests", "bench", "examples"}) {
      for (const fs::path& file : SourcesUnder(TreeRoot() / part)) {
        if (NameInTree(file).starts_with("tests/unit/tree/")) continue;
        WordsOfFile& words = files_.emplace_back();
        std::string last;
        for (std::string& word : WordsOf(WithoutCommentsAndLiterals(TextOf(file)))) {
          if (keywords.contains(last)) words.declared.insert(word);
          words.all.insert(word);
          last = std::move(word);
        }
      }
    }
  }

  // Whether there is such a word or, of more than one, a file that declares the first and has the
  // others.
  [[nodiscard]] bool Have(const std::vector<std::string>& name) const {
    return std::any_of(files_.begin(), files_.end(), [&](const WordsOfFile& file) {
      return (name.size() == 1 || file.declared.contains(name.front())) &&
             std::all_of(name.begin(), name.end(),
                         [&](const std::string& word) { return file.all.contains(word); });
    });
  }

 private:
  std::vector<WordsOfFile> files_;
};

// --- Kinds of mentions ---------------------------------------------------------------------------

// `Name`, `kName`, `Name::name`, `name::Name`, with or without a call's brackets; else nothing.
std::vector<std::string> PartsOfName(const std::string& text) {
  static const std::regex single(R"((?:[A-Z][a-z0-9]+){2,}|k[A-Z][A-Za-z0-9]+)");
  static const std::regex qualified(R"(([A-Za-z_]\w*)((?:::~?[A-Za-z_]\w*)+))");
  const std::string name = text.substr(0, text.find('('));
  if (text.find('(') != std::string::npos && !text.ends_with(')')) return {};
  std::vector<std::string> parts;
  if (std::regex_match(name, single)) return {name};
  if (!std::regex_match(name, qualified)) return {};
  if (name.starts_with("std::") || name.starts_with("absl::") || name.starts_with("llvm::")) {
    return {};
  }
  static const Words namespaces = {"devlink", "internal", "base", "format", "testing"};
  parts = WordsOf(name);
  std::erase_if(parts, [](const std::string& part) { return namespaces.contains(part); });
  return parts;
}

// Of paths of this project only: into a folder of the root or of the library, or one file's name.
bool LooksLikePath(const std::string& text, const Rooms& rooms) {
  static const std::regex path(R"([\w.\-]+(/[\w.\-*{},]+)*/?)");
  static const std::regex file(R"([a-z0-9_\-]+\.(cc|h|sh|md|py|cmake|svg))");
  if (!std::regex_match(text, path)) return false;
  if (std::regex_match(text, file)) return true;
  const std::string first = text.substr(0, text.find('/'));
  if (first == text) return false;
  static const std::set<std::string> tops = {
      "apps",    "bench", "cmake",      "docs", "examples",    "tests",   "scripts",
      "include", "src",   "libdevlink", ".ci",  "third_party", ".github", "devlink"};
  return tops.contains(first) || rooms.LevelOf(first) >= 0;
}

bool IsThere(const std::string& text) {
  static const std::regex part_of_group(R"(\{([^{}]*)\})");
  std::string pattern = std::regex_replace(text, std::regex(R"([.+])"), "\\$&");
  std::smatch group;
  while (std::regex_search(pattern, group, part_of_group)) {
    std::string choices = "(" + group[1].str() + ")";
    std::replace(choices.begin(), choices.end(), ',', '|');
    pattern = group.prefix().str() + choices + group.suffix().str();
  }
  pattern = std::regex_replace(pattern, std::regex(R"(\*)"), "[^/]*");
  while (pattern.ends_with('/')) pattern.pop_back();
  const std::regex wanted("(?:.*/)?" + pattern + "(?:/.*)?");
  static const std::vector<fs::path> files = TrackedFiles();
  return std::any_of(files.begin(), files.end(), [&](const fs::path& file) {
    return std::regex_match(NameInTree(file), wanted);
  });
}

// The option that a mention begins with, without a value: `-arch` of `-arch=sm_90`.
std::string OptionOf(const std::string& text) {
  static const std::regex option(R"(^(--?[A-Za-z][A-Za-z0-9\-]*)(?:[= ].*)?$)");
  std::smatch match;
  return std::regex_match(text, match, option) ? match[1].str() : "";
}

// Whether an option is read somewhere here: the command's table has names without dashes, tests and
// scripts have them with.
bool IsRead(const std::string& option) {
  static const std::string text = [] {
    std::string all;
    for (const fs::path& file : TrackedFiles()) {
      const std::string name = NameInTree(file);
      const bool reads_options =
          name.starts_with("apps/") || name.starts_with("scripts/") || name.starts_with("bench/") ||
          name.starts_with("libdevlink/src/") || name.starts_with("tests/random/");
      if (reads_options) all += TextOf(file);
    }
    return all;
  }();
  const std::string bare = option.substr(option.find_first_not_of('-'));
  return text.find('"' + bare + '"') != std::string::npos ||
         text.find('"' + option + '"') != std::string::npos ||
         text.find('"' + option + '=') != std::string::npos ||
         text.find(' ' + option + ' ') != std::string::npos;
}

// --- Tests ---------------------------------------------------------------------------------------

TEST_CASE("Mentions are told apart", "[tree]") {
  const Rooms rooms = Rooms::Read();
  const auto mentions = MentionsIn("a `b c` d\n```\n`no`\n```\n`e`", "x.md");
  REQUIRE(mentions.size() == 2);
  CHECK(mentions[1].text == "e");
  CHECK(mentions[1].line == 5);
  CHECK(PartsOfName("LinkSession") == std::vector<std::string>{"LinkSession"});
  CHECK(PartsOfName("LinkSession::Link()") == std::vector<std::string>{"LinkSession", "Link"});
  CHECK(PartsOfName("devlink::internal::Merge") == std::vector<std::string>{"Merge"});
  CHECK(PartsOfName("std::span").empty());
  CHECK(PartsOfName("nvlink").empty());
  CHECK(PartsOfName("Undefined reference to").empty());
  CHECK(LooksLikePath("docs/design.md", rooms));
  CHECK(LooksLikePath("merge/merge*.cc", rooms));
  CHECK(LooksLikePath("expand.h", rooms));
  CHECK_FALSE(LooksLikePath("/usr/lib", rooms));
  CHECK_FALSE(LooksLikePath("lib64/libnvvm.so", rooms));
  CHECK_FALSE(LooksLikePath("sm_75/sm_80", rooms));
  CHECK(OptionOf("--report=FILE") == "--report");
  CHECK(OptionOf("-arch sm_90") == "-arch");
  CHECK(OptionOf("- what").empty());
}

TEST_CASE("What does not exist is not found", "[tree]") {
  const KnownWords sources;
  CHECK(sources.Have({"LinkSession"}));
  CHECK_FALSE(sources.Have({"UnknownLinkOption"}));
  CHECK(sources.Have({"LinkSession", "AddCubin"}));
  CHECK_FALSE(sources.Have({"LinkSession", "CreatePtxAssembler"}));
  CHECK(IsThere("merge/merge*.{cc,h}"));
  CHECK(IsThere("tests/unit"));
  CHECK(IsThere("design.md"));
  CHECK_FALSE(IsThere("merge/mergex*.{cc,h}"));
  CHECK(IsRead("-arch"));
  CHECK_FALSE(IsRead("-no-such-option"));
}

TEST_CASE("Names in documents are names in the sources", "[tree]") {
  const KnownWords sources;
  const std::vector<Mention> mentions = AllMentions();
  if (Documents().empty()) DEVLINK_SKIP("not in a git working tree");
  REQUIRE(mentions.size() > 500);
  for (const Mention& mention : mentions) {
    const std::vector<std::string> parts = PartsOfName(mention.text);
    if (parts.empty()) continue;
    if (sources.Have(parts)) continue;
    FAIL_CHECK(PlaceOf(mention) << " is not in the sources");
  }
}

TEST_CASE("Paths in documents exist", "[tree]") {
  const Rooms rooms = Rooms::Read();
  for (const Mention& mention : AllMentions()) {
    if (!LooksLikePath(mention.text, rooms) || IsThere(mention.text)) continue;
    FAIL_CHECK(PlaceOf(mention) << " does not exist");
  }
}

TEST_CASE("Options in documents are read by something", "[tree]") {
  for (const Mention& mention : AllMentions()) {
    const std::string option = OptionOf(mention.text);
    if (option.empty() || IsRead(option) || kForeignOptions.contains(option)) continue;
    FAIL_CHECK(
        PlaceOf(mention) << " is an option of nothing here: correct the document, or list an "
                            "option of another program in kForeignOptions");
  }
}

TEST_CASE("Links in documents lead somewhere", "[tree]") {
  static const std::regex link(R"(\]\(([^)#\s]+)(#[^)]*)?\))");
  for (const fs::path& file : Documents()) {
    const std::string text = TextOf(file);
    for (auto it = std::sregex_iterator(text.begin(), text.end(), link);
         it != std::sregex_iterator(); ++it) {
      const std::string target = (*it)[1];
      if (target.starts_with("http")) continue;
      if (!fs::exists(file.parent_path() / target)) {
        FAIL_CHECK(NameInTree(file) << " links to " << target << ", which does not exist");
      }
    }
  }
}

TEST_CASE("The design describes every room, in order", "[tree]") {
  const std::string design = TextOf(TreeRoot() / "docs" / "design.md");
  const Rooms rooms = Rooms::Read();
  std::size_t last = 0;
  for (const std::string& room : rooms.names()) {
    const std::size_t row = design.find("\n| `" + room + "` |");
    CAPTURE(room);
    if (row == std::string::npos) {
      FAIL_CHECK("docs/design.md has no row for this room");
    } else if (row < last) {
      FAIL_CHECK("docs/design.md has this room's row in another place than libdevlink/rooms.txt");
    } else {
      last = row;
    }
  }
}

TEST_CASE("The picture of the rooms is the one that is drawn now", "[tree]") {
  const ProcessResult drawn =
      RunProcess({(TreeRoot() / "scripts" / "draw-architecture").string(), "--print"});
  INFO(drawn.err);
  REQUIRE(drawn.ok());
  if (drawn.out != TextOf(TreeRoot() / "docs" / "architecture.svg")) {
    FAIL_CHECK("docs/architecture.svg is out of date: run scripts/draw-architecture");
  }
}

}  // namespace
}  // namespace devlink::testing
