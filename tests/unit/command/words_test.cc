// SPDX-License-Identifier: Apache-2.0
#include "command/words.h"

#include <string>
#include <vector>

#include "support/catch.h"

namespace devlink::internal {
namespace {

using Words = std::vector<std::string>;

Words Split(std::string_view text) {
  const auto words = SplitWords(text);
  REQUIRE(words.ok());
  return *words;
}

TEST_CASE("Words of a file end at blanks, tabs and ends of lines", "[command]") {
  CHECK(Split("").empty());
  CHECK(Split(" \t\n ").empty());
  CHECK(Split("-arch sm_80\n\t-g\r\n a.cubin") == Words{"-arch", "sm_80", "-g", "a.cubin"});
  CHECK(Split("a\vb\fc") == Words{"a\vb\fc"});
  CHECK(Split(std::string_view("a b\0c d", 7)) == Words{"a", "b"});
}

TEST_CASE("Double quotes and backslashes protect white space in a file", "[command]") {
  CHECK(Split("'a b' \"c d\" e\\ f") == Words{"'a", "b'", "c d", "e f"});
  CHECK(Split("sm_\"80\" x\"\"y a\\\nb") == Words{"sm_80", "xy", "a\nb"});
  CHECK(Split("\"it's\" \"\" \\\\") == Words{"it's", "", "\\"});
}

TEST_CASE("A double quote behind a backslash protects nothing and is lost", "[command]") {
  CHECK(Split("\"a\\\"b c\\\" d\" e") == Words{"ab c d", "e"});
  CHECK(Split("a\\\"b c") == Words{"ab", "c"});
}

TEST_CASE("A file must not end within quotes or with a backslash", "[command]") {
  CHECK(SplitWords("a \"b c").status().message() == "Stray '\"' character");
  CHECK(SplitWords("a \\").status().message() == "Stray '' character");
}

TEST_CASE("Files of options have no comments", "[command]") {
  CHECK(Split("-g # debug\n-r") == Words{"-g", "#", "debug", "-r"});
}

Words List(std::string_view text) {
  const auto items = ReadList(text);
  REQUIRE(items.ok());
  return *items;
}

TEST_CASE("Items of a list end at commas", "[command]") {
  CHECK(List("").empty());
  CHECK(List(",, ,").empty());
  CHECK(List("a,b,,c") == Words{"a", "b", "c"});
  CHECK(List(" a b ,\tc ") == Words{"a b", "c"});
}

TEST_CASE("Double quotes keep commas in an item", "[command]") {
  CHECK(List("\"a,b\",c") == Words{"a,b", "c"});
  CHECK(List("a\"b\"c") == Words{"abc"});
  CHECK(List("'a,b'") == Words{"'a", "b'"});
  CHECK(List("\"a\\\"b\"") == Words{"a\\\"b"});
  CHECK(ReadList("a,\"b").status().message() == "Stray '\"' character");
}

TEST_CASE("Numbers are decimal, octal or hexadecimal", "[command]") {
  CHECK(*ReadNumber("32") == 32);
  CHECK(*ReadNumber("-3") == -3);
  CHECK(*ReadNumber("010") == 8);
  CHECK(*ReadNumber("0x20") == 32);
  CHECK(*ReadNumber("2147483647") == 2147483647);
}

TEST_CASE("What is not a number of 32 bits is named", "[command]") {
  for (const std::string text : {"", "abc", "1x", "1 ", "1.5"}) {
    CHECK(ReadNumber(text).status().message() == "'" + text + "': expected a number");
  }
  for (const std::string text : {"2147483648", "-2147483649", "99999999999999999999"}) {
    CHECK(ReadNumber(text).status().message() ==
          "32-bit integer value (" + text + ") out of range");
  }
}

TEST_CASE("Empty entries of a search path do not count", "[command]") {
  CHECK(SplitPath("").empty());
  CHECK(SplitPath(":/a::b:") == Words{"/a", "b"});
}

TEST_CASE("A path is a folder and a name in it", "[command]") {
  CHECK(FolderOf("/usr/bin/ptxas") == "/usr/bin");
  CHECK(FolderOf(FolderOf("/usr/bin/ptxas")) == "/usr");
  CHECK(FolderOf("/ptxas") == "/");
  CHECK(FolderOf("/") == "/");
  CHECK(FolderOf("bin/") == "bin");
  CHECK(FolderOf("ptxas") == ".");
  CHECK(FolderOf("") == ".");
  CHECK(Within("/usr/bin", "ptxas") == "/usr/bin/ptxas");
  CHECK(Within("/usr/bin/", "ptxas") == "/usr/bin/ptxas");
  CHECK(Within("/", "ptxas") == "/ptxas");
}

}  // namespace
}  // namespace devlink::internal
