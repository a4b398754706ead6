// SPDX-License-Identifier: Apache-2.0
//
// What the C interface asks its callers: files, threads, memory, definitions, sinks; and stops.
#include "c_api/callbacks.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "devlink/c/devlink.h"
#include "support/catch.h"
#include "unit/c_api/handles.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

// A machine of a test's own.
struct World {
  std::map<std::string, Cubin> files;
  std::mutex mutex;
  std::vector<std::string> read;
  std::uint64_t memory_limit = ~std::uint64_t{0};
  std::atomic<std::uint64_t> reserved = 0;
  std::atomic<int> runs = 0;

  static World& Of(void* user) { return *static_cast<World*>(user); }

  dl_environment Environment() {
    dl_environment out = {};
    out.size = sizeof out;
    out.user = this;
    out.read_file = [](void* user, const char* path, std::uint64_t max_bytes,
                       dl_receiver* receiver) -> dl_status {
      World& world = Of(user);
      const std::lock_guard lock(world.mutex);
      world.read.emplace_back(path);
      const auto found = world.files.find(path);
      if (found == world.files.end()) return DL_NOT_FOUND;
      if (found->second.size() > max_bytes) return DL_RESOURCE_EXHAUSTED;
      return dl_receiver_set_file(receiver, found->second.data(), found->second.size(), 1,
                                  static_cast<std::uint64_t>(found->second.size()));
    };
    out.exists = [](void* user, const char* path) -> std::int32_t {
      return Of(user).files.contains(path) ? 1 : 0;
    };
    out.parallelism = [](void*) -> std::uint32_t { return 3; };
    out.run_workers = [](void* user, std::uint32_t workers, const dl_work* work) {
      ++Of(user).runs;
      std::vector<std::jthread> threads;
      for (std::uint32_t i = 1; i < workers; ++i) {
        threads.emplace_back([work, i] { dl_work_run(work, i); });
      }
      dl_work_run(work, 0);
      dl_work_run(work, workers);  // there is no such worker
    };
    out.reserve_memory = [](void* user, std::uint64_t bytes) -> std::int32_t {
      World& world = Of(user);
      if (world.reserved + bytes > world.memory_limit) return 0;
      world.reserved += bytes;
      return 1;
    };
    out.release_memory = [](void* user, std::uint64_t bytes) { Of(user).reserved -= bytes; };
    return out;
  }
};

CSession SessionIn(const dl_environment& environment) {
  dl_session_options options = OptionsOf("sm_80");
  options.environment = &environment;
  return MakeSession(options);
}

TEST_CASE("Files, threads and memory are those of the caller", "[c_api]") {
  World world;
  std::vector<const char*> paths;
  for (int i = 0; i < 70; ++i) {
    const auto [file, added] = world.files.try_emplace("v/" + std::to_string(i));
    file->second = BuildCubin({.functions = {{.name = file->first}}});
    paths.push_back(file->first.c_str());
  }
  world.files["v/k"] = BuildCubin({.functions = {{.name = "k", .kernel = true}}});
  paths.push_back("v/k");
  CSession session = SessionIn(world.Environment());
  REQUIRE(dl_session_add_files(session.get(), paths.data(), paths.size(), nullptr) == DL_OK);
  CHECK(world.runs == 1);
  CError error;
  CHECK(dl_session_add_file(session.get(), "/etc/passwd", Out(error)) == DL_NOT_FOUND);
  CHECK(world.read.size() == paths.size() + 1);
  CHECK(world.reserved > 0);
  CHECK(dl_outcome_status(Link(session).get()) == DL_OK);
  session.reset();
  CHECK(world.reserved == 0);

  world.memory_limit = 100;
  session = SessionIn(world.Environment());
  CHECK(dl_session_add_file(session.get(), "v/k", nullptr) == DL_RESOURCE_EXHAUSTED);
}

TEST_CASE("Files of options are the caller's, too", "[c_api]") {
  World world;
  const std::string text = "-r -v";
  world.files["options"] = Cubin(text.begin(), text.end());
  const CSession session = SessionIn(world.Environment());
  CHECK(dl_session_set_option(session.get(), "-optf=options", nullptr) == DL_OK);
  CHECK(dl_session_set_option(session.get(), "-optf=/etc/passwd", nullptr) == DL_INVALID_ARGUMENT);
  REQUIRE(Add(session, "a", KernelCubin()) == DL_OK);
  CHECK(dl_outcome_status(Link(session).get()) == DL_OK);  // -r leaves what is undefined
}

TEST_CASE("Callbacks that do not keep their word fail the call", "[c_api]") {
  dl_environment environment = {};
  environment.size = sizeof environment;
  environment.read_file = [](void*, const char*, std::uint64_t, dl_receiver*) -> dl_status {
    return DL_OK;  // without a file
  };
  CHECK(SessionIn(environment) == nullptr);  // `exists` is missing
  environment.exists = [](void*, const char*) -> std::int32_t { return 1; };
  CSession session = SessionIn(environment);
  REQUIRE(session != nullptr);
  CHECK(dl_session_add_file(session.get(), "a", nullptr) != DL_OK);
  environment.read_file = [](void*, const char*, std::uint64_t, dl_receiver*) -> dl_status {
    return 4711;
  };
  session = SessionIn(environment);
  CHECK(dl_session_add_file(session.get(), "a", nullptr) != DL_OK);
  environment.reserve_memory = [](void*, std::uint64_t) -> std::int32_t { return 1; };
  CHECK(SessionIn(environment) == nullptr);
}

struct Piecewise {
  std::vector<std::uint8_t> bytes;
  std::uint64_t announced = 0;
  std::size_t limit = ~std::size_t{0};
};

dl_sink SinkOf(Piecewise& pieces) {
  dl_sink sink = {};
  sink.size = sizeof sink;
  sink.user = &pieces;
  sink.begin = [](void* user, std::uint64_t bytes) -> dl_status {
    static_cast<Piecewise*>(user)->announced = bytes;
    return DL_OK;
  };
  sink.append = [](void* user, const void* data, std::size_t size) -> dl_status {
    auto& to = *static_cast<Piecewise*>(user);
    if (to.bytes.size() + size > to.limit) return DL_DATA_LOSS;
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    to.bytes.insert(to.bytes.end(), bytes, bytes + size);
    return DL_OK;
  };
  return sink;
}

TEST_CASE("A sink gets the bytes of the link, and may end it", "[c_api]") {
  const CSession session = MakeSession(OptionsOf("sm_80"));
  REQUIRE(Add(session, "a", KernelCubin()) == DL_OK);
  REQUIRE(Add(session, "b", FunctionCubin()) == DL_OK);
  const COutcome whole = Link(session);
  Piecewise pieces;
  dl_sink sink = SinkOf(pieces);
  COutcome outcome;
  REQUIRE(dl_session_link_to(session.get(), &sink, Out(outcome), nullptr) == DL_OK);
  CHECK(pieces.bytes == Bytes(dl_outcome_cubin(whole.get())));
  CHECK(pieces.announced == pieces.bytes.size());
  CHECK(dl_outcome_cubin(outcome.get()).size == 0);

  sink.begin = nullptr;
  pieces = {};
  CHECK(dl_session_link_to(session.get(), &sink, Out(outcome), nullptr) == DL_OK);
  pieces = {.bytes = {}, .announced = 0, .limit = 10};
  CError error;
  CHECK(dl_session_link_to(session.get(), &sink, Out(outcome), Out(error)) == DL_DATA_LOSS);
  REQUIRE(outcome != nullptr);
  CHECK(dl_outcome_status(outcome.get()) == DL_DATA_LOSS);
  CHECK(Text(dl_error_text(error.get())).find("append") != std::string::npos);
  sink.append = nullptr;
  CHECK(dl_session_link_to(session.get(), &sink, Out(outcome), nullptr) == DL_INVALID_ARGUMENT);
}

TEST_CASE("A stop ends what has it", "[c_api]") {
  CStop stop;
  REQUIRE(dl_stop_create(Out(stop)) == DL_OK);
  dl_session_options options = OptionsOf("sm_80");
  options.stop = stop.get();
  const CSession session = MakeSession(options);
  const CSession other = MakeSession(OptionsOf("sm_80"));
  REQUIRE(Add(session, "b", FunctionCubin()) == DL_OK);
  REQUIRE(Add(other, "b", FunctionCubin()) == DL_OK);
  CHECK(dl_outcome_status(Link(session).get()) == DL_OK);
  dl_stop_request(stop.get());
  stop.reset();
  CHECK(dl_outcome_status(Link(session).get()) == DL_CANCELLED);
  CHECK(dl_outcome_status(Link(other).get()) == DL_OK);
}

// A store of a test's own.
struct Shelf {
  std::map<std::string, std::vector<std::uint8_t>> values;
  dl_status status = DL_OK;
  bool sets_nothing = false;
  int released = 0;

  static Shelf& Of(void* user) { return *static_cast<Shelf*>(user); }
  static std::string Name(const std::uint8_t* key) { return {key, key + 32}; }

  dl_cache_callbacks Callbacks() {
    dl_cache_callbacks out = {};
    out.size = sizeof out;
    out.user = this;
    out.find = [](void* user, const std::uint8_t* key, dl_receiver* receiver) -> dl_status {
      if (Of(user).status != DL_OK || Of(user).sets_nothing) return Of(user).status;
      const auto found = Of(user).values.find(Name(key));
      if (found == Of(user).values.end()) return DL_NOT_FOUND;
      return dl_receiver_set_bytes(receiver, found->second.data(), found->second.size());
    };
    out.store = [](void* user, const std::uint8_t* key, const void* data,
                   std::size_t size) -> dl_status {
      const auto* bytes = static_cast<const std::uint8_t*>(data);
      Of(user).values[Name(key)].assign(bytes, bytes + size);
      return Of(user).status;
    };
    out.release = [](void* user) { ++Of(user).released; };
    return out;
  }
};

TEST_CASE("A cache may be the caller's own", "[c_api]") {
  Shelf shelf;
  dl_cache_callbacks callbacks = shelf.Callbacks();
  CCache cache;
  REQUIRE(dl_cache_create(&callbacks, Out(cache), nullptr) == DL_OK);
  CacheKey key;
  key.bytes[31] = 7;
  const std::vector<std::uint8_t> value = {1, 2, 3};
  CHECK_FALSE(cache->cache->Find(key)->has_value());
  CHECK(cache->cache->Store(key, value).ok());
  CHECK(**cache->cache->Find(key) == value);
  shelf.sets_nothing = true;
  CHECK(absl::IsInternal(cache->cache->Find(key).status()));
  shelf.status = DL_UNAVAILABLE;
  CHECK(absl::IsUnavailable(cache->cache->Find(key).status()));
  CHECK(absl::IsUnavailable(cache->cache->Store(key, value)));

  // A toolchain keeps it; whoever is last releases it.
  dl_toolchain_options options = {};
  options.size = sizeof options;
  options.cache = cache.get();
  CToolchain tools;
  REQUIRE(dl_toolchain_create(&options, Out(tools), nullptr) == DL_OK);
  cache.reset();
  CHECK(shelf.released == 0);
  tools.reset();
  CHECK(shelf.released == 1);

  callbacks.find = nullptr;
  CHECK(dl_cache_create(&callbacks, Out(cache), nullptr) == DL_INVALID_ARGUMENT);
  CHECK(shelf.released == 1);
}

// What a session asked for, and what it was told.
struct Library {
  std::map<std::string, Cubin> cubins;
  std::vector<std::string> asked;
  dl_status status = DL_OK;
};

dl_status Define(void* user, const dl_undefined_symbol* symbols, std::size_t count,
                 dl_receiver* receiver) {
  auto& library = *static_cast<Library*>(user);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = Text(symbols[i].name);
    library.asked.push_back(name);
    CHECK(symbols[i].kind == DL_SYMBOL_FUNCTION);
    CHECK(symbols[i].input_count == 1);
    CHECK(Text(symbols[i].inputs[0]) == "a");
    const auto found = library.cubins.find(name);
    if (found == library.cubins.end()) continue;
    CHECK(dl_receiver_add_input(receiver, name.c_str(), found->second.data(),
                                found->second.size()) == DL_OK);
  }
  return library.status;
}

TEST_CASE("What is undefined is asked for", "[c_api]") {
  Library library{.cubins = {{"f", FunctionCubin()}}, .asked = {}};
  dl_session_options options = OptionsOf("sm_80");
  options.undefined = Define;
  options.undefined_user = &library;
  const CSession session = MakeSession(options);
  REQUIRE(Add(session, "a", KernelCubin()) == DL_OK);
  CHECK(dl_outcome_status(Link(session).get()) == DL_OK);
  CHECK(library.asked == std::vector<std::string>{"f"});
  library.cubins.clear();
  CHECK(dl_outcome_status(Link(session).get()) == DL_NOT_FOUND);
  library.status = DL_UNAVAILABLE;
  CHECK(dl_outcome_status(Link(session).get()) == DL_UNAVAILABLE);
}

TEST_CASE("What a callback hands out is bounded before it is copied", "[c_api]") {
  // Both say that there is a terabyte, which nobody may read.
  static dl_status said = DL_OK;
  dl_session_options options = OptionsOf("sm_80");
  options.max_input_bytes = KernelCubin().size();
  options.undefined = [](void*, const dl_undefined_symbol*, std::size_t,
                         dl_receiver* receiver) -> dl_status {
    said = dl_receiver_add_input(receiver, "huge", "x", std::size_t{1} << 40);
    return said;
  };
  const CSession session = MakeSession(options);
  REQUIRE(Add(session, "a", KernelCubin()) == DL_OK);
  CHECK(dl_outcome_status(Link(session).get()) == DL_RESOURCE_EXHAUSTED);
  CHECK(said == DL_RESOURCE_EXHAUSTED);

  dl_environment environment = {};
  environment.size = sizeof environment;
  environment.exists = [](void*, const char*) -> std::int32_t { return 1; };
  environment.read_file = [](void*, const char*, std::uint64_t,
                             dl_receiver* receiver) -> dl_status {
    said = dl_receiver_set_file(receiver, "x", std::size_t{1} << 40, 0, 0);
    return said;
  };
  said = DL_OK;
  const CSession files = SessionIn(environment);
  CHECK(dl_session_add_file(files.get(), "huge", nullptr) == DL_RESOURCE_EXHAUSTED);
  CHECK(said == DL_RESOURCE_EXHAUSTED);
}

struct Told {
  std::vector<std::string> lines;
  std::vector<dl_phase> phases;
};

TEST_CASE("Log and progress reach the caller", "[c_api]") {
  Told told;
  dl_session_options options = OptionsOf("sm_80");
  options.log = [](void* user, dl_log_level level, dl_text line) {
    CHECK((level == DL_LOG_DEBUG || level == DL_LOG_INFO));
    CHECK(line.data[line.size] == '\0');
    static_cast<Told*>(user)->lines.push_back(Text(line));
  };
  options.log_user = &told;
  options.progress = [](void* user, const dl_progress* progress) {
    CHECK(progress->size == sizeof *progress);
    static_cast<Told*>(user)->phases.push_back(progress->phase);
  };
  options.progress_user = &told;
  const CSession session = MakeSession(options);
  REQUIRE(Add(session, "b", FunctionCubin()) == DL_OK);
  REQUIRE(dl_outcome_status(Link(session).get()) == DL_OK);
  CHECK_FALSE(told.lines.empty());
  REQUIRE_FALSE(told.phases.empty());
  CHECK(told.phases.back() == DL_PHASE_WRITING);

  const std::size_t all = told.lines.size();
  told.lines.clear();
  options.log_level = DL_LOG_INFO + 1;
  const CSession quiet = MakeSession(options);
  REQUIRE(Add(quiet, "b", FunctionCubin()) == DL_OK);
  CHECK(dl_outcome_status(Link(quiet).get()) == DL_OK);
  CHECK(told.lines.size() < all);
}

TEST_CASE("Sessions on many threads share a pool and a toolchain", "[c_api]") {
  CPool pool;
  CToolchain tools;
  REQUIRE(dl_pool_create(nullptr, Out(pool), nullptr) == DL_OK);
  REQUIRE(dl_toolchain_create(nullptr, Out(tools), nullptr) == DL_OK);
  dl_session_options options = OptionsOf("sm_80");
  options.pool = pool.get();
  options.toolchain = tools.get();
  const CSession first = MakeSession(options);
  REQUIRE(Add(first, "a", KernelCubin()) == DL_OK);
  REQUIRE(Add(first, "b", FunctionCubin()) == DL_OK);
  const std::vector<std::uint8_t> expected = Bytes(dl_outcome_cubin(Link(first).get()));
  REQUIRE_FALSE(expected.empty());
  std::atomic<int> equal = 0;
  constexpr int kThreads = 8;
  constexpr int kLinks = 20;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < kLinks; ++n) {
          const CSession session = MakeSession(options);
          Add(session, "a", KernelCubin());
          Add(session, "b", FunctionCubin());
          const COutcome outcome = Link(session);
          if (Bytes(dl_outcome_cubin(outcome.get())) == expected) ++equal;
        }
      });
    }
  }
  CHECK(equal == kThreads * kLinks);
}

}  // namespace
}  // namespace devlink::testing
