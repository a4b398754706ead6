// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/align.h"
#include "base/bounded_reader.h"
#include "base/demangle.h"
#include "base/dynamic_library.h"
#include "base/edit_distance.h"
#include "base/file.h"
#include "base/strings.h"
#include "devlink/diagnostics.h"
#include "devlink/version.h"
#include "support/catch.h"
#include "support/process.h"

namespace devlink::testing {
namespace {

using base::BoundedReader;

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

TEST_CASE("AlignUp goes to the next multiple", "[base]") {
  CHECK(base::AlignUp(0, 16) == 0);
  CHECK(base::AlignUp(1, 16) == 16);
  CHECK(base::AlignUp(16, 16) == 16);
  CHECK(base::AlignUp(17, 16) == 32);
  CHECK(base::AlignUp(17, 0) == 17);
  CHECK(base::AlignUp(17, 1) == 17);
  CHECK(base::AlignUp(10, 12) == 12);  // not only powers of two
}

TEST_CASE("IsPowerOfTwo", "[base]") {
  CHECK_FALSE(base::IsPowerOfTwo(0));
  CHECK_FALSE(base::IsPowerOfTwo(3));
  CHECK_FALSE(base::IsPowerOfTwo(kMax));
  for (int bit = 0; bit < 64; ++bit) CHECK(base::IsPowerOfTwo(std::uint64_t{1} << bit));
}

TEST_CASE("BoundedReader reads little-endian values within its range", "[base]") {
  const std::array<std::uint8_t, 8> bytes = {1, 2, 3, 4, 5, 6, 7, 8};
  const BoundedReader reader(bytes);
  std::uint32_t word = 0;
  CHECK(reader.Read(0, word));
  CHECK(word == 0x04030201);
  CHECK(reader.Read(4, word));
  CHECK(word == 0x08070605);
  CHECK(reader.Read(1, word));
  CHECK(word == 0x05040302);
}

TEST_CASE("BoundedReader refuses what is not wholly within its range", "[base]") {
  const std::array<std::uint8_t, 8> bytes = {1, 2, 3, 4, 5, 6, 7, 8};
  const BoundedReader reader(bytes);
  std::uint32_t word = 77;
  for (const std::uint64_t offset :
       {std::uint64_t{5}, std::uint64_t{8}, std::uint64_t{9}, kMax - 3, kMax - 2, kMax}) {
    CHECK_FALSE(reader.Read(offset, word));
    CHECK(reader.ReadOrZero<std::uint32_t>(offset) == 0);
  }
  CHECK(word == 77);
  std::uint64_t wide = 0;
  CHECK(reader.Read(0, wide));
  CHECK_FALSE(reader.Read(1, wide));
}

TEST_CASE("BoundedReader slices do not overflow", "[base]") {
  const std::array<std::uint8_t, 4> bytes = {1, 2, 3, 4};
  const BoundedReader reader(bytes);
  REQUIRE(reader.Slice(1, 3));
  CHECK(reader.Slice(1, 3)->front() == 2);
  REQUIRE(reader.Slice(4, 0));
  CHECK(reader.Slice(4, 0)->empty());
  CHECK_FALSE(reader.Slice(4, 1));
  CHECK_FALSE(reader.Slice(5, 0));
  CHECK_FALSE(reader.Slice(1, kMax));
  CHECK_FALSE(reader.Slice(kMax, 1));
  CHECK_FALSE(reader.Slice(kMax, kMax));
  CHECK(BoundedReader({}).Slice(0, 0));
}

TEST_CASE("BoundedReader strings end within its range", "[base]") {
  const std::array<std::uint8_t, 6> bytes = {'a', 'b', 0, 0, 'c', 'd'};
  const BoundedReader reader(bytes);
  CHECK(reader.CString(0) == std::optional<std::string_view>("ab"));
  CHECK(reader.CString(1) == std::optional<std::string_view>("b"));
  CHECK(reader.CString(2) == std::optional<std::string_view>(""));
  CHECK_FALSE(reader.CString(4));  // no NUL behind it
  CHECK_FALSE(reader.CString(6));
  CHECK_FALSE(reader.CString(kMax));
}

TEST_CASE("Cat joins pieces", "[base]") {
  CHECK(base::Cat({}).empty());
  CHECK(base::Cat({"a", "", "bc"}) == "abc");
}

TEST_CASE("StringArena keeps strings where they are", "[base]") {
  base::StringArena arena;
  std::vector<std::string_view> views;
  std::vector<std::string> copies;
  for (int i = 0; i < 20000; ++i) {
    const std::string tail = std::to_string(i);
    views.push_back(arena.Concat(".text.", tail));
    copies.push_back(".text." + tail);
  }
  // Longer than a chunk, in between.
  const std::string long_text(200000, 'x');
  const std::string_view long_view = arena.Concat("y", long_text);
  const std::string_view after = arena.Concat("a", "b");
  CHECK(long_view == "y" + long_text);
  CHECK(after == "ab");
  CHECK(arena.Concat("", "").empty());
  CHECK(std::equal(views.begin(), views.end(), copies.begin(), copies.end()));
}

TEST_CASE("Demangle leaves other names as they are", "[base]") {
  CHECK(base::Demangle("_Z3fooi") == "foo(int)");
  CHECK(base::Demangle("plain") == "plain");
  CHECK(base::Demangle("").empty());
  CHECK(base::Demangle("_Z") == "_Z");
}

TEST_CASE("Diagnostics are told as JSON and SARIF", "[base]") {
  const Diagnostic whole = {.code = DiagnosticCode::kUndefinedReference,
                            .severity = Severity::kError,
                            .text = "Undefined \"f\"",
                            .symbol = "f",
                            .input = "dir/a b.o",
                            .notes = {"one", "two\n"},
                            .line = 3};
  CHECK(ToJson(whole) ==
        R"({"severity": "error", "code": "undefined-reference", "text": "Undefined \"f\"", )"
        R"("symbol": "f", "input": "dir/a b.o", "line": 3, "notes": ["one", "two\u000a"]})");
  CHECK(ToJson(Diagnostic{.severity = Severity::kInfo, .text = "x"}) ==
        R"({"severity": "info", "code": "usage", "text": "x"})");
  CHECK(CodeName(static_cast<DiagnosticCode>(1234)) == "unknown");
  const std::string sarif = ToSarif(std::vector{whole});
  for (const char* part : {R"("version": "2.1.0")", R"("ruleId": "undefined-reference")",
                           R"("level": "error")", R"("uri": "dir/a%20b.o")", R"("startLine": 3)"}) {
    CAPTURE(part);
    CHECK(sarif.find(part) != std::string::npos);
  }
  CHECK(ToSarif({}).find("\"results\": []") != std::string::npos);
}

TEST_CASE("Demangle gives up on names that would take all stack or memory", "[base]") {
  const auto stays = [](const std::string& name) { return base::Demangle(name) == name; };
  const auto repeat = [](std::string_view what, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += what;
    return out;
  };
  CHECK(stays("_Z1f" + repeat("P", 1'000'000) + "i"));
  CHECK(stays("_Z1f" + repeat("P", 2000) + "i"));
  CHECK(base::Demangle("_Z1f" + repeat("P", 100) + "i") == "f(int" + repeat("*", 100) + ")");
  // Each pair holds the one before twice.
  std::string doubling = "_Z1fSt4pairIiiE";
  const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (int i = 0; i < 34; ++i) {
    const std::string last = "S" + std::string(1, digits[i]) + "_";
    doubling += "S_I" + last + last + "E";
    if (i == 3) CHECK(base::Demangle(doubling).size() > 10 * doubling.size());
  }
  CHECK(stays(doubling));
  // A kernel of Thrust: its pack has few elements.
  const std::string agent = base::Demangle(
      "_ZN4core13_kernel_agentIN8__unique11UniqueAgentIN6detail15normal_iteratorINS3_10"
      "device_ptrIiEEEES7_N4cuda8equal_toIiEEiPiEEJS7_S7_SA_SB_iEEEvDpT0_");
  CHECK(agent.starts_with("void core::_kernel_agent<__unique::UniqueAgent<"));
  CHECK(agent.ends_with("cuda::equal_to<int>, int*, int)"));
}

std::size_t SlowDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
      } else {
        table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1,
                                table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      }
    }
  }
  return table[a.size()][b.size()];
}

TEST_CASE("EditDistance counts changes up to its limit", "[base]") {
  std::mt19937 random(7);
  const auto word = [&] {
    std::string out;
    for (unsigned n = random() % 9; n > 0; --n)
      out.push_back(static_cast<char>('a' + random() % 3));
    return out;
  };
  for (int i = 0; i < 20000; ++i) {
    const std::string a = word();
    const std::string b = word();
    const std::size_t limit = random() % 8;
    if (base::EditDistance(a, b, limit) != std::min(SlowDistance(a, b), limit)) {
      FAIL_CHECK(a << " " << b << " " << limit);
    }
  }
  // Names that nothing has in common are told apart by their beginnings.
  const std::string a(1'000'000, 'a');
  const std::string b(1'000'000, 'b');
  CHECK(base::EditDistance(a, b, 50) == 50);
}

TEST_CASE("ReadFile reads regular files up to a size", "[base]") {
  const TemporaryDirectory directory;
  const std::string path = directory.File("file");
  const std::vector<std::uint8_t> content = {1, 2, 3};
  REQUIRE(WriteBytes(path, content));
  const auto whole = base::ReadFile(path, 3);
  REQUIRE(whole.ok());
  CHECK(*whole == content);
  CHECK(base::ReadFile(path, 2).status().code() == absl::StatusCode::kResourceExhausted);
  CHECK(base::ReadFile(directory.File("none"), 9).status().code() == absl::StatusCode::kNotFound);
  CHECK(base::ReadFile(directory.path().string(), 9).status().code() ==
        absl::StatusCode::kNotFound);
  CHECK(base::ReadFile("/dev/zero", 9).status().code() == absl::StatusCode::kNotFound);
  CHECK(base::ReadFile("/dev/null", 9)->empty());
  const std::string pipe = directory.File("pipe");  // that nobody ever writes to
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(base::ReadFile(pipe, 9).status().code() == absl::StatusCode::kNotFound);
  REQUIRE(WriteBytes(path, {}));
  const auto empty = base::ReadFile(path, 0);
  REQUIRE(empty.ok());
  CHECK(empty->empty());
}

// Where a function of the C library's mathematics comes from; the test program itself may use it.
std::string MathLibrary() {
  void* handle = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  Dl_info info = {};
  const bool found = handle != nullptr && dladdr(dlsym(handle, "fegetround"), &info) != 0;
  return found ? info.dli_fname : "";
}

TEST_CASE("A copy of a library is another one than the library", "[base]") {
  using internal::DynamicLibrary;
  const std::string path = MathLibrary();
  REQUIRE_FALSE(path.empty());
  const auto first = DynamicLibrary::Load(path);
  const auto second = DynamicLibrary::Load(path);
  const auto copy = DynamicLibrary::LoadCopy(path);
  const auto other_copy = DynamicLibrary::LoadCopy(path);
  std::array<int (*)(), 4> addresses = {};
  std::size_t i = 0;
  for (const auto* library : {&first, &second, &copy, &other_copy}) {
    REQUIRE(library->ok());
    CHECK((*library)->path() == path);
    REQUIRE((*library)->Find("fegetround", addresses.at(i)).ok());
    CHECK(addresses.at(i)() == 0);
    ++i;
  }
  CHECK(addresses[0] == addresses[1]);
  CHECK(addresses[2] != addresses[0]);
  CHECK(addresses[2] != addresses[3]);
  int (*none)() = nullptr;
  CHECK_FALSE(copy->Find("no_such_function", none).ok());
  CHECK(absl::IsNotFound(DynamicLibrary::LoadCopy("/no/such").status()));
  const TemporaryDirectory directory;
  REQUIRE(WriteText(directory.File("text"), "no library"));
  CHECK(absl::IsFailedPrecondition(DynamicLibrary::LoadCopy(directory.File("text")).status()));
}

TEST_CASE("A borrowed library stays open and knows its path", "[base]") {
  using internal::DynamicLibrary;
  void* handle = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  REQUIRE(handle != nullptr);
  {
    const auto library = DynamicLibrary::Borrow(handle, "fegetround");
    REQUIRE(library.ok());
    CHECK(library->path() == MathLibrary());
  }
  CHECK(dlsym(handle, "fegetround") != nullptr);
  CHECK_FALSE(DynamicLibrary::Borrow(handle, "no_such_function").ok());
  CHECK_FALSE(DynamicLibrary::Borrow(nullptr, "fegetround").ok());
  dlclose(handle);
}

TEST_CASE("The version is three numbers", "[base]") {
  CHECK(std::count(Version().begin(), Version().end(), '.') == 2);
  CHECK(Version().find_first_not_of("0123456789.") == std::string_view::npos);
}

}  // namespace
}  // namespace devlink::testing
