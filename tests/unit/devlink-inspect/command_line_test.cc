// SPDX-License-Identifier: Apache-2.0
#include "devlink-inspect/command_line.h"

#include <string>
#include <vector>

#include "base/readable_names.h"
#include "support/catch.h"

namespace devlink::inspect {
namespace {

using Words = std::vector<std::string>;

TEST_CASE("Without options there is a summary of a screen", "[inspect]") {
  const auto command = ParseCommandLine({"a.cubin", "b.o"});
  REQUIRE(command.ok());
  CHECK(command->files == Words{"a.cubin", "b.o"});
  CHECK(command->choice.summary);
  CHECK(command->choice.most_rows > 0);
  CHECK_FALSE(command->choice.symbols);
  CHECK(command->demangle);
}

TEST_CASE("Choices take the summary's place", "[inspect]") {
  const auto command = ParseCommandLine({"--symbols", "a", "--call-graph", "--no-demangle"});
  REQUIRE(command.ok());
  CHECK(command->choice.symbols);
  CHECK(command->choice.call_graph);
  CHECK_FALSE(command->choice.summary);
  CHECK_FALSE(command->choice.notes);
  CHECK_FALSE(command->demangle);
  const auto all = ParseCommandLine({"a", "--all", "--json"});
  REQUIRE(all.ok());
  CHECK(all->choice.summary);
  CHECK(all->choice.notes);
  CHECK(all->choice.most_rows == 0);
  CHECK(all->json);
}

TEST_CASE("A page has everything, or what is asked for", "[inspect]") {
  const auto all = ParseCommandLine({"--html", "a"});
  REQUIRE(all.ok());
  CHECK(all->html);
  CHECK(all->choice.symbols);
  CHECK(all->choice.most_rows == 0);
  const auto some = ParseCommandLine({"--html", "a", "--notes"});
  REQUIRE(some.ok());
  CHECK_FALSE(some->choice.symbols);
}

TEST_CASE("Values stand behind an option or in it", "[inspect]") {
  for (const Words& words :
       {Words{"--extract", "all", "-o", "dir", "a"}, Words{"--extract=all", "-odir", "a"},
        Words{"a", "--output=dir", "--extract=all"}}) {
    const auto command = ParseCommandLine(words);
    REQUIRE(command.ok());
    CHECK(command->extract == "all");
    CHECK(command->directory == "dir");
    CHECK(command->files == Words{"a"});
  }
}

TEST_CASE("Behind two dashes all words are files", "[inspect]") {
  const auto command = ParseCommandLine({"--", "--all", "-o"});
  REQUIRE(command.ok());
  CHECK(command->files == Words{"--all", "-o"});
}

TEST_CASE("Wrong command lines are told", "[inspect]") {
  for (const Words& words :
       {Words{}, Words{"--bogus", "a"}, Words{"a", "--extract"}, Words{"a", "--extract="},
        Words{"a", "--extract", "b"}, Words{"a", "-o", "b"}, Words{"--json"},
        Words{"--json", "--html", "a"}, Words{"--html", "--extract", "all", "-o", "d", "a"}}) {
    CHECK_FALSE(ParseCommandLine(words).ok());
  }
  CHECK(ParseCommandLine({"--help"}).ok());
  CHECK(ParseCommandLine({"--version"})->version);
}

TEST_CASE("The help names every option", "[inspect]") {
  const std::string help(HelpText());
  for (const char* option :
       {"--all", "--headers", "--sections", "--symbols", "--relocations", "--attributes",
        "--call-graph", "--resources", "--notes", "--json", "--html", "--no-demangle", "--extract",
        "-o", "--force", "--help", "--version"}) {
    CHECK(help.find(option) != std::string::npos);
  }
}

TEST_CASE("Names are demangled until that is too much", "[inspect]") {
  base::ReadableNames names(true, 12);
  CHECK(names.Readable("_Z1fi") == "f(int)");
  CHECK(names.Readable("main") == "main");
  CHECK(names.Readable("_Z1fi") == "f(int)");
  CHECK(names.Readable("_Z1fi") == "_Z1fi");
  CHECK(base::ReadableNames(false).Readable("_Z1fi") == "_Z1fi");
}

}  // namespace
}  // namespace devlink::inspect
