// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/compile_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <set>
#include <thread>

#include "cache/cache_client.h"
#include "cache/file_identity.h"
#include "cache/serial.h"
#include "support/catch.h"
#include "support/process.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

CacheKey KeyOf(std::string_view text) { return CacheKeyBuilder("test").Text("t", text).Build(); }

std::shared_ptr<CacheStore> Open(DirectoryCacheOptions options) {
  auto store = CreateDirectoryCache(std::move(options));
  INFO(store.status().ToString());
  REQUIRE(store.ok());
  return *std::move(store);
}

// Empty where it is not there; a test never stores an empty value that way.
Bytes Find(CacheStore& store, const CacheKey& key) {
  const auto found = store.Find(key);
  INFO(found.status().ToString());
  REQUIRE(found.ok());
  return found->value_or(Bytes{});
}

std::vector<fs::path> Entries(const fs::path& directory) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().filename().string().starts_with("llvmcache-")) out.push_back(entry.path());
  }
  return out;
}

std::uint64_t BytesIn(const fs::path& directory) {
  std::uint64_t out = 0;
  for (const fs::path& entry : Entries(directory)) out += fs::file_size(entry);
  return out;
}

TEST_CASE("Different lists of fields have different keys", "[cache]") {
  const Bytes ab = {'a', 'b'};
  const std::vector<CacheKey> keys = {
      CacheKeyBuilder("d").Build(),
      CacheKeyBuilder("e").Build(),
      CacheKeyBuilder("d").Text("", "").Build(),
      CacheKeyBuilder("d").Text("a", "").Build(),
      CacheKeyBuilder("d").Text("", "a").Build(),
      CacheKeyBuilder("d").Text("a", "b").Build(),
      CacheKeyBuilder("d").Text("ab", "").Build(),
      CacheKeyBuilder("d").Text("", "ab").Build(),
      CacheKeyBuilder("d").Bytes("", ab).Build(),
      CacheKeyBuilder("d").Text("", "a").Text("", "b").Build(),
      CacheKeyBuilder("d").Texts("", std::vector<std::string>{"a", "b"}).Build(),
      CacheKeyBuilder("d").Texts("", std::vector<std::string>{"ab"}).Build(),
      CacheKeyBuilder("d").Texts("", std::vector<std::string>{"ab", ""}).Build(),
      CacheKeyBuilder("d").Texts("", std::vector<std::string>{}).Build(),
      CacheKeyBuilder("d").Number("", 0).Build(),
      CacheKeyBuilder("d").Number("", 1).Build(),
      CacheKeyBuilder("d").Number("", 256).Build(),
      CacheKeyBuilder("d").Key("", CacheKey{}).Build(),
      CacheKeyBuilder("d").Bytes("", CacheKey{}.bytes).Build(),
      CacheKeyBuilder("d").Text("x", "1").Text("y", "2").Build(),
      CacheKeyBuilder("d").Text("y", "2").Text("x", "1").Build()};
  CHECK(std::set<CacheKey>(keys.begin(), keys.end()).size() == keys.size());
  CHECK(KeyOf("a") == KeyOf("a"));
  CHECK(KeyOf("a").Hex().size() == 64);
  CHECK(KeyOf("a").Hex() != KeyOf("b").Hex());
  CHECK(CacheKey{{0x01, 0xab}}.Hex().starts_with("01ab00"));
}

TEST_CASE("A directory gives back what it was given, also to others", "[cache]") {
  const TemporaryDirectory directory;
  const std::string path = directory.File("a/b/cache");
  const auto store = Open({.path = path});
  CHECK_FALSE(store->Find(KeyOf("x"))->has_value());
  REQUIRE(store->Store(KeyOf("x"), Bytes{1, 2, 3}).ok());
  REQUIRE(store->Store(KeyOf("y"), Bytes{}).ok());
  REQUIRE(store->Store(KeyOf("x"), Bytes{1, 2, 3, 4}).ok());
  CHECK(Find(*store, KeyOf("x")) == Bytes{1, 2, 3, 4});
  const auto other = Open({.path = path});
  CHECK(Find(*other, KeyOf("x")) == Bytes{1, 2, 3, 4});
  REQUIRE(other->Find(KeyOf("y"))->has_value());
  CHECK(Find(*other, KeyOf("y")).empty());
  CHECK(Entries(path).size() == 2);
  CHECK((fs::status(path).permissions() & fs::perms::all) == fs::perms::owner_all);
}

TEST_CASE("A damaged entry is a miss and is removed", "[cache]") {
  const TemporaryDirectory directory;
  const auto store = Open({.path = directory.File("c"), .max_entry_bytes = 1000});
  const Bytes value(100, 7);
  const CacheKey key = KeyOf("x");
  REQUIRE(store->Store(key, value).ok());
  const fs::path entry = Entries(directory.File("c")).at(0);
  const Bytes whole = *ReadBytes(entry);

  std::vector<Bytes> damaged = {{}, {1}, Bytes(5000, 0)};
  for (std::size_t i = 0; i < whole.size(); i += 3) {
    damaged.push_back(whole);
    damaged.back()[i] ^= 0x10;
    damaged.emplace_back(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i));
  }
  damaged.push_back(whole);
  damaged.back().push_back(0);
  for (const Bytes& bytes : damaged) {
    REQUIRE(WriteBytes(entry, bytes));
    CHECK(Find(*store, key).empty());
    CHECK_FALSE(fs::exists(entry));
  }
  // Whole, but of another key.
  REQUIRE(store->Store(key, value).ok());
  const fs::path other = entry.parent_path() / ("llvmcache-" + KeyOf("y").Hex());
  fs::rename(entry, other);
  CHECK(Find(*store, KeyOf("y")).empty());
  CHECK_FALSE(fs::exists(other));

  REQUIRE(store->Store(key, value).ok());
  CHECK(Find(*store, key) == value);
}

TEST_CASE("What is too large for one user of a directory stays for the others", "[cache]") {
  const TemporaryDirectory directory;
  const auto large = Open({.path = directory.File("c")});
  const auto small = Open({.path = directory.File("c"), .max_entry_bytes = 99});
  REQUIRE(large->Store(KeyOf("x"), Bytes(100, 7)).ok());
  CHECK(Find(*small, KeyOf("x")).empty());
  CHECK(Find(*large, KeyOf("x")) == Bytes(100, 7));
}

TEST_CASE("What is not a file in the place of an entry does no harm", "[cache]") {
  const TemporaryDirectory directory;
  const auto store = Open({.path = directory.File("c")});
  const CacheKey key = KeyOf("x");
  const std::string entry = directory.File("c") + "/llvmcache-" + key.Hex();
  REQUIRE(mkfifo(entry.c_str(), 0600) == 0);
  CHECK(Find(*store, key).empty());  // and does not wait
  fs::create_symlink("/etc/passwd", entry);
  const auto found = store->Find(key);
  CHECK((!found.ok() || !found->has_value()));
  REQUIRE(store->Store(key, Bytes{1}).ok());
  CHECK(Find(*store, key) == Bytes{1});
  CHECK_FALSE(fs::is_symlink(entry));
  fs::remove(entry);
  fs::create_directory(entry);
  CHECK_FALSE(store->Store(key, Bytes{1}).ok());
  const auto in_directory = store->Find(key);
  CHECK((!in_directory.ok() || !in_directory->has_value()));
  CHECK(Entries(directory.File("c")).size() == 1);  // nothing is left behind
}

TEST_CASE("A directory that others can change is not used", "[cache]") {
  const TemporaryDirectory directory;
  const std::string path = directory.File("c");
  fs::create_directory(path);
  for (const fs::perms more : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(path, fs::perms::owner_all | more);
    const auto store = CreateDirectoryCache({.path = path});
    CHECK(store.status().code() == absl::StatusCode::kPermissionDenied);
    CHECK(store.status().ToString().find("others may write to it") != std::string::npos);
  }
  fs::permissions(path, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec);
  const auto store = CreateDirectoryCache({.path = path});
  REQUIRE(store.ok());
  // An entry from a time when it was open to others.
  const CacheKey key = KeyOf("x");
  REQUIRE((*store)->Store(key, Bytes{1}).ok());
  CHECK(Find(**store, key) == Bytes{1});
  fs::permissions(path + "/llvmcache-" + key.Hex(), fs::perms::all);
  CHECK(Find(**store, key).empty());
}

TEST_CASE("A directory of another user is not used", "[cache]") {
  if (geteuid() != 0) DEVLINK_SKIP("only root can make one");
  const TemporaryDirectory directory;
  const std::string path = directory.File("c");
  fs::create_directory(path);
  fs::permissions(path, fs::perms::owner_all);
  constexpr uid_t kSomebody = 65534;
  REQUIRE(chown(path.c_str(), kSomebody, kSomebody) == 0);
  const auto store = CreateDirectoryCache({.path = path});
  CHECK(store.status().code() == absl::StatusCode::kPermissionDenied);
  CHECK(store.status().ToString().find("belongs to somebody else") != std::string::npos);
}

TEST_CASE("A directory that cannot be used says why", "[cache]") {
  const TemporaryDirectory directory;
  REQUIRE(WriteText(directory.File("file"), "x"));
  CHECK(CreateDirectoryCache({}).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(CreateDirectoryCache({.path = directory.File("file")}).status().code() ==
        absl::StatusCode::kNotFound);
  const auto below = CreateDirectoryCache({.path = directory.File("file/c")});
  CHECK(below.status().code() == absl::StatusCode::kNotFound);
  CHECK(below.status().ToString().find(directory.File("file/c")) != std::string::npos);

  const auto store = Open({.path = directory.File("c"), .max_entry_bytes = 10});
  CHECK(store->Store(KeyOf("x"), Bytes(11)).code() == absl::StatusCode::kResourceExhausted);
  CHECK(store->Store(KeyOf("x"), Bytes(10)).ok());
  // Removed under us.
  fs::remove_all(directory.File("c"));
  CHECK_FALSE(store->Store(KeyOf("y"), Bytes(10)).ok());
  CHECK_FALSE(store->Find(KeyOf("x"))->has_value());
}

TEST_CASE("The size of a directory is bounded, and what is used stays", "[cache]") {
  const TemporaryDirectory directory;
  const std::string path = directory.File("c");
  const auto store = Open({.path = path, .max_bytes = 100'000});
  const auto age = [&](const CacheKey& key, int hours) {
    const std::string entry = path + "/llvmcache-" + key.Hex();
    const timespec time = {.tv_sec = std::time(nullptr) - hours * 3600, .tv_nsec = 0};
    const timespec times[2] = {time, time};
    REQUIRE(utimensat(AT_FDCWD, entry.c_str(), times, 0) == 0);
  };
  REQUIRE(store->Store(KeyOf("used"), Bytes(5000, 1)).ok());
  age(KeyOf("used"), 100);
  for (int i = 0; i < 100; ++i) {
    const CacheKey key = KeyOf(std::to_string(i));
    REQUIRE(store->Store(key, Bytes(5000, 2)).ok());
    age(key, 90 - i / 2);
    CHECK(Find(*store, KeyOf("used")).size() == 5000);
  }
  CHECK(BytesIn(path) < 120'000);
  CHECK(Entries(path).size() > 5);
  CHECK(Find(*store, KeyOf("0")).empty());
}

TEST_CASE("What was not used for long goes, also leavings of a crash", "[cache]") {
  const TemporaryDirectory directory;
  const std::string path = directory.File("c");
  const auto store = Open(
      {.path = path, .max_age = std::chrono::hours(1), .prune_interval = std::chrono::seconds(0)});
  REQUIRE(store->Store(KeyOf("old"), Bytes(10, 1)).ok());
  REQUIRE(WriteText(path + "/llvmcache-" + KeyOf("z").Hex() + ".1.2.3", "half"));
  REQUIRE(WriteText(path + "/README", "not ours"));
  const timespec time = {.tv_sec = std::time(nullptr) - 7200, .tv_nsec = 0};
  const timespec times[2] = {time, time};
  for (const auto& entry : fs::directory_iterator(path)) {
    REQUIRE(utimensat(AT_FDCWD, entry.path().c_str(), times, 0) == 0);
  }
  REQUIRE(store->Store(KeyOf("new"), Bytes(10, 1)).ok());
  CHECK(Entries(path).size() == 1);
  CHECK(Find(*store, KeyOf("new")) == Bytes(10, 1));
  CHECK(fs::exists(path + "/README"));
}

Bytes ValueOf(int key) {
  return Bytes(static_cast<std::size_t>(1000 + key * 777), static_cast<std::uint8_t>(key));
}

// Stores and looks up, and looks at everything it is given. 0 where all is well.
int Hammer(const std::string& path, unsigned seed) {
  auto store = CreateDirectoryCache(
      {.path = path, .max_bytes = 60'000, .prune_interval = std::chrono::seconds(0)});
  if (!store.ok()) return 1;
  int hits = 0;
  for (int i = 0; i < 200; ++i) {
    seed = seed * 1664525U + 1013904223U;
    const int key = static_cast<int>((seed >> 16) % 20);
    if ((seed >> 28) % 2 == 0) {
      if (!(*store)->Store(KeyOf(std::to_string(key)), ValueOf(key)).ok()) return 2;
    } else {
      const auto found = (*store)->Find(KeyOf(std::to_string(key)));
      if (!found.ok()) return 3;
      if (found->has_value() && **found != ValueOf(key)) return 4;
      hits += found->has_value() ? 1 : 0;
    }
  }
  return hits > 0 ? 0 : 5;
}

TEST_CASE("Processes and threads share a directory", "[cache]") {
  const TemporaryDirectory directory;
  const std::string path = directory.File("c");
  constexpr int kProcesses = 6;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(Hammer(path, 77U + static_cast<unsigned>(i)));
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  const auto store = Open({.path = path});
  std::vector<std::thread> threads;
  std::vector<int> wrong(8, -1);
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    threads.emplace_back([&, i] {
      wrong[i] = 0;
      for (int n = 0; n < 60; ++n) {
        const int key = (n + static_cast<int>(i)) % 5;
        if (!store->Store(KeyOf(std::to_string(key)), ValueOf(key)).ok()) ++wrong[i];
        const auto found = store->Find(KeyOf(std::to_string(key)));
        if (!found.ok() || found->value_or(ValueOf(key)) != ValueOf(key)) ++wrong[i];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(wrong.size(), 0));
  for (const fs::path& entry : Entries(path)) {
    CHECK(entry.filename().string().size() == 10 + 64);  // no half entries are left
  }
}

TEST_CASE("A cache in memory forgets what was not used for longest", "[cache]") {
  const auto store = CreateMemoryCache(100);
  REQUIRE(store->Store(KeyOf("a"), Bytes(40, 1)).ok());
  REQUIRE(store->Store(KeyOf("b"), Bytes(40, 2)).ok());
  CHECK(Find(*store, KeyOf("a")) == Bytes(40, 1));
  REQUIRE(store->Store(KeyOf("c"), Bytes(40, 3)).ok());
  CHECK(Find(*store, KeyOf("b")).empty());
  CHECK(Find(*store, KeyOf("a")) == Bytes(40, 1));
  REQUIRE(store->Store(KeyOf("a"), Bytes(10, 4)).ok());
  CHECK(Find(*store, KeyOf("a")) == Bytes(10, 4));
  CHECK(Find(*store, KeyOf("c")) == Bytes(40, 3));
  CHECK_FALSE(store->Store(KeyOf("d"), Bytes(101)).ok());
  CHECK(Find(*store, KeyOf("c")) == Bytes(40, 3));
}

// Counts, and can be told to fail.
class CountingStore final : public CacheStore {
 public:
  absl::StatusOr<std::optional<Bytes>> Find(const CacheKey& key) override {
    if (broken) return absl::UnavailableError("the store is broken");
    auto found = inner_->Find(key);
    hits += found.ok() && found->has_value() ? 1 : 0;
    return found;
  }
  absl::Status Store(const CacheKey& key, std::span<const std::uint8_t> value) override {
    if (broken) return absl::UnavailableError("the store is broken");
    ++stored;
    return inner_->Store(key, value);
  }
  bool broken = false;
  int hits = 0;
  int stored = 0;

 private:
  std::shared_ptr<CacheStore> inner_ = CreateMemoryCache();
};

void MakeOld(const std::string& path, int seconds) {
  const timespec time = {.tv_sec = std::time(nullptr) - seconds, .tv_nsec = 0};
  const timespec times[2] = {time, time};
  REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

TEST_CASE("The contents of a file have a key, whatever its name and times", "[cache]") {
  const TemporaryDirectory directory;
  CountingStore store;
  absl::Status problem;
  const auto key_of = [&](const std::string& path) {
    return internal::FileContentKey(path, &store, problem);
  };
  const std::string a = directory.File("a");
  const std::string b = directory.File("b");
  REQUIRE(WriteBytes(a, Bytes(3'000'000, 1)));
  REQUIRE(WriteBytes(b, Bytes(3'000'000, 1)));
  REQUIRE(key_of(a).ok());
  CHECK(*key_of(a) == *key_of(b));
  // Changed just now: not remembered, since it may change again within the same tick.
  CHECK(store.stored == 0);
  MakeOld(b, 1000);
  REQUIRE(WriteBytes(b, Bytes(3'000'000, 2)));
  MakeOld(b, 1000);
  CHECK(*key_of(a) != *key_of(b));
  CHECK(key_of(directory.File("none")).status().code() == absl::StatusCode::kNotFound);
  CHECK(key_of(directory.path().string()).status().code() == absl::StatusCode::kNotFound);
  CHECK(problem.ok());
}

TEST_CASE("The key of a file that rests is remembered", "[cache]") {
  // Something that nobody changes while the test runs.
  const std::string file = "/proc/self/exe";
  const std::string path = fs::canonical(file).string();
  struct stat info = {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  if (info.st_ctim.tv_sec + 5 > std::time(nullptr)) DEVLINK_SKIP("the test was built just now");
  CountingStore store;
  absl::Status problem;
  const auto first = internal::FileContentKey(path, &store, problem);
  REQUIRE(first.ok());
  CHECK(store.stored == 1);
  CHECK(store.hits == 0);
  const auto second = internal::FileContentKey(path, &store, problem);
  CHECK(store.hits == 1);
  CHECK(store.stored == 1);
  CHECK(*first == *second);
  store.broken = true;
  const auto third = internal::FileContentKey(path, &store, problem);
  CHECK(*first == *third);
  CHECK_FALSE(problem.ok());
}

TEST_CASE("In the memory of a process a file that rests is told by its state", "[cache]") {
  const std::string path = fs::canonical("/proc/self/exe").string();
  const auto state = internal::SettledFileStateKey(path);
  if (!state) DEVLINK_SKIP("the test was built just now");
  CHECK(*state == internal::FileStateKey(path));
  const auto content_of = [](const std::string& file) {
    absl::Status problem;
    return *internal::FileContentKey(file, nullptr, problem);
  };
  CHECK(CreateMemoryCache()->IsOfThisProcess());
  internal::CacheClient in_memory(CreateMemoryCache());
  CHECK(in_memory.KeyOfFile(path) == *state);
  // What others see has its contents.
  CHECK_FALSE(CountingStore().IsOfThisProcess());
  internal::CacheClient elsewhere(std::make_shared<CountingStore>());
  CHECK(elsewhere.KeyOfFile(path) == content_of(path));
  internal::CacheClient tiered(
      CreateTieredCache(CreateMemoryCache(), std::make_shared<CountingStore>()));
  CHECK(tiered.KeyOfFile(path) == content_of(path));

  // A file that was changed just now may change again without its times showing it.
  const TemporaryDirectory directory;
  const std::string changing = directory.File("a");
  REQUIRE(WriteBytes(changing, Bytes(100, 1)));
  CHECK_FALSE(internal::SettledFileStateKey(changing).has_value());
  CHECK(in_memory.KeyOfFile(changing) == content_of(changing));
  CHECK_FALSE(internal::SettledFileStateKey(directory.path().string()).has_value());
  // Of what is there and cannot be read, as some programs, no two have one key.
  const TemporaryDirectory another;
  for (internal::CacheClient* client : {&in_memory, &elsewhere}) {
    const CacheKey unread = client->KeyOfFile(directory.path().string());
    CHECK(unread == client->KeyOfFile(directory.path().string()));
    CHECK(unread != client->KeyOfFile(another.path().string()));
    CHECK(unread != client->KeyOfFile(directory.File("none")));
  }
  CHECK_FALSE(internal::SettledFileStateKey(directory.File("none")).has_value());
}

TEST_CASE("A store that does not work is told once, and does not matter", "[cache]") {
  const auto store = std::make_shared<CountingStore>();
  store->broken = true;
  internal::CacheClient client(store);
  for (int i = 0; i < 3; ++i) {
    CHECK_FALSE(client.Find(KeyOf("x")).has_value());
    client.Store(KeyOf("x"), Bytes{1});
  }
  const CacheUse use = client.Read();
  CHECK(use.stored == 0);
  CHECK(use.faults == 6);
  CHECK(use.problems == std::vector<std::string>{"the store is broken"});
}

TEST_CASE("A store that has given up is no fault any more, and keeps nothing", "[cache]") {
  class GivenUp final : public CacheStore {
   public:
    absl::StatusOr<std::optional<Bytes>> Find(const CacheKey& /*key*/) override {
      return std::nullopt;
    }
    absl::Status Store(const CacheKey& /*key*/, std::span<const std::uint8_t> /*value*/) override {
      return absl::CancelledError("long ago");
    }
  };
  internal::CacheClient client(std::make_shared<GivenUp>());
  client.Store(KeyOf("x"), Bytes{1});
  CHECK(client.Read().stored == 0);
  CHECK(client.Read().faults == 0);
  CHECK(client.Read().problems.empty());
  const auto local = std::make_shared<CountingStore>();
  internal::CacheClient tiered(CreateTieredCache(local, std::make_shared<GivenUp>()));
  tiered.Store(KeyOf("x"), Bytes{1});
  CHECK(tiered.Read().stored == 1);
}

TEST_CASE("What a shared store has is kept in the one in front of it", "[cache]") {
  const auto local = std::make_shared<CountingStore>();
  const auto shared = std::make_shared<CountingStore>();
  const auto both = CreateTieredCache(local, shared);
  CHECK_FALSE(both->Find(KeyOf("x"))->has_value());
  REQUIRE(both->Store(KeyOf("x"), Bytes{1}).ok());
  CHECK(local->stored == 1);
  CHECK(shared->stored == 1);
  CHECK(Find(*both, KeyOf("x")) == Bytes{1});
  CHECK(shared->hits == 0);
  REQUIRE(shared->Store(KeyOf("y"), Bytes{2}).ok());
  for (int i = 0; i < 3; ++i) CHECK(Find(*both, KeyOf("y")) == Bytes{2});
  CHECK(shared->hits == 1);
  CHECK(Find(*local, KeyOf("y")) == Bytes{2});
  CHECK(both->OfThisMachine() == local.get());
}

TEST_CASE("Of two stores one may be broken", "[cache]") {
  for (const bool local_breaks : {false, true}) {
    CAPTURE(local_breaks);
    const auto local = std::make_shared<CountingStore>();
    const auto shared = std::make_shared<CountingStore>();
    const auto both = CreateTieredCache(local, shared);
    REQUIRE(both->Store(KeyOf("x"), Bytes{1}).ok());
    (local_breaks ? local : shared)->broken = true;
    CHECK(Find(*both, KeyOf("x")) == Bytes{1});
    CHECK_FALSE(both->Find(KeyOf("y")).ok());
    CHECK_FALSE(both->Store(KeyOf("z"), Bytes{2}).ok());
    CHECK(Find(*both, KeyOf("z")) == Bytes{2});
  }
}

TEST_CASE("Without a store of this machine a file is read each time", "[cache]") {
  const TemporaryDirectory directory;
  const std::string path = directory.File("a");
  REQUIRE(WriteBytes(path, Bytes(100, 1)));
  MakeOld(path, 1000);
  absl::Status problem;
  const auto first = internal::FileContentKey(path, nullptr, problem);
  const auto second = internal::FileContentKey(path, nullptr, problem);
  REQUIRE(first.ok());
  CHECK(*first == *second);
  CHECK(problem.ok());
}

TEST_CASE("Values come back as they were written, or not at all", "[cache]") {
  internal::FieldWriter writer;
  writer.U8(200);
  writer.U64(~std::uint64_t{0});
  writer.Text("text");
  const std::vector<Diagnostic> diagnostics = {
      {.code = DiagnosticCode::kPtxAssembly,
       .severity = Severity::kWarning,
       .text = "ptxas warning : x",
       .symbol = "s",
       .input = "own",
       .notes = {"n1", ""},
       .line = 7,
       .verbatim = true},
      {.severity = Severity::kInfo, .text = "t", .input = "other"}};
  internal::WriteDiagnostics(diagnostics, "own", writer);
  const Bytes& bytes = writer.bytes();

  internal::FieldReader reader(bytes);
  CHECK(reader.U8() == 200);
  CHECK(reader.U64() == ~std::uint64_t{0});
  CHECK(reader.Text() == "text");
  const auto read = internal::ReadDiagnostics(reader, "renamed");
  CHECK(reader.AtEnd());
  REQUIRE(read.size() == 2);
  CHECK(read[0].code == DiagnosticCode::kPtxAssembly);
  CHECK(read[0].severity == Severity::kWarning);
  CHECK(read[0].text == "ptxas warning : x");
  CHECK(read[0].symbol == "s");
  CHECK(read[0].input == "renamed");
  CHECK(read[0].notes == std::vector<std::string>{"n1", ""});
  CHECK(read[0].line == 7);
  CHECK(read[0].verbatim);
  CHECK(read[1].input == "other");
  CHECK_FALSE(read[1].verbatim);

  for (std::size_t size = 0; size < bytes.size(); ++size) {
    internal::FieldReader part({bytes.data(), size});
    part.U8();
    part.U64();
    part.Text();
    internal::ReadDiagnostics(part, "");
    CHECK_FALSE(part.AtEnd());
    CHECK_FALSE(part.ok());
  }
  // A length that nothing stands behind.
  internal::FieldWriter huge;
  huge.U64(std::uint64_t{1} << 60);
  internal::FieldReader no_list(huge.bytes());
  CHECK(internal::ReadDiagnostics(no_list, "").empty());
  CHECK_FALSE(no_list.ok());
}

}  // namespace
}  // namespace devlink::testing
