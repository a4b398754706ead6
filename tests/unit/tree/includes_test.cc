// SPDX-License-Identifier: Apache-2.0
//
// A file includes what it names. Of the headers that are precompiled no compiler checks it.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.h"
#include "unit/tree/source_tree.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;

// A header, and names for which it is the one to include, also where others declare them, too.
struct Declares {
  std::string_view header;
  std::string_view names;
};
constexpr Declares kDeclares[] = {
    {"algorithm",
     "std::adjacent_find std::all_of std::any_of std::binary_search std::clamp std::copy "
     "std::copy_if "
     "std::copy_n std::count std::count_if std::equal std::equal_range std::fill std::fill_n "
     "std::find std::find_if std::find_if_not std::for_each std::generate std::includes "
     "std::is_sorted std::lexicographical_compare std::lower_bound std::max std::max_element "
     "std::merge std::min std::min_element std::minmax std::mismatch std::nth_element "
     "std::partial_sort std::partition std::partition_point std::remove_if std::replace "
     "std::reverse std::rotate "
     "std::search std::shuffle std::stable_partition std::set_difference std::set_intersection "
     "std::set_union std::sort "
     "std::stable_sort std::transform std::unique std::upper_bound"},
    {"array", "std::array std::to_array"},
    {"cstddef", "std::byte std::max_align_t std::ptrdiff_t std::size_t"},
    {"cstdint",
     "std::int16_t std::int32_t std::int64_t std::int8_t std::intptr_t std::uint16_t std::uint32_t "
     "std::uint64_t std::uint8_t std::uintptr_t"},
    {"cstring",
     "std::memchr std::memcmp std::memcpy std::memmove std::memset std::strchr std::strcmp "
     "std::strerror std::strlen std::strncmp std::strrchr std::strstr"},
    {"functional",
     "std::bind std::cref std::equal_to std::function std::greater std::invoke std::less "
     "std::mem_fn std::minus std::plus std::ref std::reference_wrapper"},
    {"iterator",
     "std::back_inserter std::forward_iterator_tag std::input_iterator_tag std::inserter "
     "std::istreambuf_iterator std::make_move_iterator std::make_reverse_iterator "
     "std::ostream_iterator std::random_access_iterator_tag std::reverse_iterator"},
    {"limits", "std::numeric_limits"},
    {"map", "std::map std::multimap"},
    {"memory",
     "std::addressof std::allocator std::enable_shared_from_this std::make_shared std::make_unique "
     "std::make_unique_for_overwrite std::shared_ptr std::unique_ptr std::weak_ptr"},
    {"optional", "std::nullopt std::nullopt_t std::optional"},
    {"span", "std::as_bytes std::as_writable_bytes std::dynamic_extent std::span"},
    {"string", "std::getline std::stoi std::stoul std::stoull std::string std::to_string"},
    {"string_view", "std::string_view"},
    {"utility",
     "std::as_const std::cmp_equal std::cmp_greater std::cmp_less std::declval std::exchange "
     "std::forward std::in_place std::index_sequence "
     "std::integer_sequence std::make_index_sequence std::make_pair std::move std::pair std::swap"},
    {"vector", "std::vector"},
    {"absl/container/flat_hash_map.h", "absl::flat_hash_map"},
    {"absl/status/statusor.h", "absl::StatusOr"},
    {"absl/strings/str_cat.h", "absl::AlphaNum absl::Hex absl::StrAppend absl::StrCat"},
    {"support/catch.h", "CHECK REQUIRE SECTION TEST_CASE"},
};

std::set<std::string> WordsIn(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::set<std::string> out;
  for (std::string word; in >> word;) out.insert(word);
  return out;
}

// Words of C++, with the names of the namespaces that they stand behind.
std::set<std::string> NamesIn(std::string_view code) {
  constexpr std::string_view kOfNames =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:";
  std::set<std::string> out;
  for (std::size_t at = 0; (at = code.find_first_of(kOfNames, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(code.find_first_not_of(kOfNames, at), code.size());
    const std::string_view name = code.substr(at, end - at);
    out.emplace(name);
    // std::string of std::string::npos.
    const std::size_t inner = name.find("::", name.find("::") + 2);
    if (inner != std::string_view::npos) out.emplace(name.substr(0, inner));
    at = end;
  }
  return out;
}

// Files of this tree by the names that they are included by.
class Includes {
 public:
  // All that a file includes, itself and through others of this tree.
  std::set<std::string> AllOf(const fs::path& file) {
    std::set<std::string> out;
    std::set<fs::path> seen = {file};
    std::vector<fs::path> open = {file};
    while (!open.empty()) {
      const fs::path at = open.back();
      open.pop_back();
      for (const std::string& name : Of(at)) {
        out.insert(name);
        const fs::path own = Find(at.parent_path(), name);
        if (!own.empty() && seen.insert(own).second) open.push_back(own);
      }
    }
    return out;
  }

 private:
  const std::vector<std::string>& Of(const fs::path& file) {
    const auto [place, is_new] = of_.try_emplace(file);
    if (is_new) {
      for (IncludeLine& line : IncludesOf(file)) place->second.push_back(line.path);
    }
    return place->second;
  }

  static fs::path Find(const fs::path& folder, const std::string& name) {
    const fs::path& root = TreeRoot();
    for (const fs::path& from : {folder, root / "libdevlink" / "include", LibrarySources(),
                                 root / "tests", root / "apps", root / "bench"}) {
      if (fs::is_regular_file(from / name)) return (from / name).lexically_normal();
    }
    return {};
  }

  std::map<fs::path, std::vector<std::string>> of_;
};

// What is named in `code` and not included, a text for each header.
std::vector<std::string> MissingIn(std::string_view code, const std::set<std::string>& included) {
  const std::set<std::string> names = NamesIn(code);
  std::vector<std::string> out;
  for (const Declares& declares : kDeclares) {
    if (included.contains(std::string(declares.header))) continue;
    for (const std::string& name : WordsIn(declares.names)) {
      if (!names.contains(name)) continue;
      out.push_back(name + " without " + std::string(declares.header));
      break;
    }
  }
  return out;
}

TEST_CASE("A header that is missing is found", "[tree]") {
  const std::string code =
      "std::vector<std::string::size_type> a = std::move(b);\nabsl::StrCat(1);";
  CHECK(MissingIn(code, {"vector", "utility"}) ==
        std::vector<std::string>{"std::string without string",
                                 "absl::StrCat without absl/strings/str_cat.h"});
  CHECK(MissingIn(code, {"vector", "utility", "string", "absl/strings/str_cat.h"}).empty());
  CHECK(MissingIn("own::vector v; restd::vector w;", {}).empty());
  // Itself, and through a header of this tree.
  const std::set<std::string> included =
      Includes().AllOf(TreeRoot() / "tests" / "unit" / "tree" / "includes_test.cc");
  CHECK(included.contains("sstream"));
  CHECK(included.contains("unit/tree/source_tree.h"));
  CHECK_FALSE(included.contains("support/process.h"));
  CHECK(included.contains("catch2/catch.hpp"));
}

TEST_CASE("Every header that is precompiled is known by its names", "[tree]") {
  const std::string text = TextOf(TreeRoot() / "cmake" / "DevlinkPrecompiled.cmake");
  const std::size_t begin = text.find("set(devlink_precompiled\n");
  REQUIRE(begin != std::string::npos);
  const std::string list = text.substr(begin, text.find(')', begin) - begin);
  std::set<std::string> precompiled;
  for (std::size_t at = list.find('<'); at < list.size(); at = list.find('<', at)) {
    const std::size_t end = list.find('>', at);
    REQUIRE(end != std::string::npos);
    precompiled.insert(list.substr(at + 1, end - at - 1));
    at = end;
  }
  precompiled.insert("support/catch.h");  // with tests
  std::set<std::string> known;
  for (const Declares& declares : kDeclares) known.emplace(declares.header);
  CHECK(precompiled == known);
}

TEST_CASE("A file includes what it names of what is precompiled", "[tree]") {
  Includes includes;
  std::size_t checked = 0;
  for (const char* part : {"libdevlink", "apps", "tests", "bench", "examples"}) {
    for (const fs::path& file : SourcesUnder(TreeRoot() / part)) {
      if (file.filename() == "precompiled.cc") continue;
      const std::string code = WithoutCommentsAndLiterals(TextOf(file));
      for (const std::string& wrong : MissingIn(code, includes.AllOf(file))) {
        FAIL_CHECK(NameInTree(file) << " names " << wrong);
      }
      ++checked;
    }
  }
  CHECK(checked > 500);
}

}  // namespace
}  // namespace devlink::testing
