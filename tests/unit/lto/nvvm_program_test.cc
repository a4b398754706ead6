// SPDX-License-Identifier: Apache-2.0
//
// libNVVM itself, where there is one, and a library in its place for what the real one does not do
// on request.
#include "devlink/experimental/nvvm_program.h"

#include <dlfcn.h>

#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lto/library_state.h"
#include "support/catch.h"
#include "support/lto_tools.h"
#include "support/process.h"
#include "unit/lto/said.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;
using Words = std::vector<std::string>;

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The real library, loaded once for all tests.
const std::optional<NvvmLibrary>& Real() {
  static const std::optional<NvvmLibrary> library = [] {
    auto loaded = NvvmLibrary::Load(NvvmPlace());
    return loaded.ok() ? std::optional(*std::move(loaded)) : std::nullopt;
  }();
  return library;
}

Bytes Compiled(int sm, std::string_view kernel, std::string_view callee, std::string_view defines) {
  const auto arch = static_cast<std::uint16_t>(sm);
  auto made = MakeLtoIr(*Real(), NvvmModule(sm, kernel, callee, defines), {arch, 0});
  INFO(Message(made.status()));
  REQUIRE(made.ok());
  return *std::move(made);
}

// The library of this project that fails when told to.
void Behave(const char* fault, int answer = 100) {
  void* handle = dlopen(DEVLINK_FAULTY_NVVM, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(handle != nullptr);
  auto* set = reinterpret_cast<void (*)(const char*, int)>(dlsym(handle, "faultyNvvmSet"));
  REQUIRE(set != nullptr);
  set(fault, answer);
  // Stays loaded, with what was set.
}

NvvmResult CompileFaulty(const char* fault, int answer, std::uint64_t max_bytes = 100) {
  Behave("");
  auto library = NvvmLibrary::Load(DEVLINK_FAULTY_NVVM);
  INFO(Message(library.status()));
  REQUIRE(library.ok());
  Behave(fault, answer);
  NvvmProgram program(*library);
  const Bytes bytes(100, 1);
  program.AddLtoIr("a.ltoir", bytes);
  return program.Compile({"-arch=compute_90", "-link-lto"}, max_bytes);
}

TEST_CASE("A place is tried as the library first, then as a toolkit", "[nvvm]") {
  const auto files = NvvmLibraryFiles("/opt/cuda/");
  REQUIRE(files.size() > 2);
  CHECK(files.front() == "/opt/cuda/");
  for (std::size_t i = 1; i < files.size(); ++i) {
    CHECK(files[i].starts_with("/opt/cuda/"));
    CHECK_FALSE(files[i].starts_with("/opt/cuda//"));
  }
  CHECK(NvvmLibraryFiles("/opt/cuda")[1] == files[1]);
  CHECK(NvvmLibraryFiles("").empty());
}

TEST_CASE("A place means the library or a folder that has it", "[nvvm]") {
  const TemporaryDirectory directory;
  const fs::path& root = directory.path();
  const auto find = [](const fs::path& place) {
    const std::string places[] = {"", "/no/such/place", place.string()};
    return FindNvvmLibrary(places).value_or("");
  };
  struct Row {
    const char* file;
    const char* place;
  };
  for (const Row& row : {Row{"a/lib64/libnvvm.so", "a"}, Row{"b/nvvm/lib64/libnvvm.so", "b"},
                         Row{"b/nvvm/lib64/libnvvm.so", "b/nvvm"}, Row{"c/lib/libnvvm.so.4", "c"},
                         Row{"d/libnvvm.so", "d"}, Row{"d/libnvvm.so", "d/libnvvm.so"},
                         Row{"e/nvidia/cu13/lib/libnvvm.so.4", "e"}}) {
    CAPTURE(row.file);
    fs::create_directories((root / row.file).parent_path());
    REQUIRE(WriteText(root / row.file, ""));
    CHECK(find(root / row.place) == (root / row.file).string());
  }
  // The folder that nvcc names in a toolkit made of wheels.
  fs::create_directories(root / "c/nvvm");
  CHECK(fs::equivalent(find(root / "c/nvvm"), root / "c/lib/libnvvm.so.4"));

  const std::string nowhere[] = {root.string()};
  const auto missing = FindNvvmLibrary(nowhere);
  CHECK(absl::IsNotFound(missing.status()));
  CHECK(Has(Message(missing.status()), "no libnvvm.so was found in '" + root.string() + "'"));
}

TEST_CASE("A library that is none is told from a missing one", "[nvvm]") {
  CHECK(absl::IsNotFound(NvvmLibrary::Load("/no/such").status()));
  CHECK(absl::IsNotFound(NvvmLibrary::Load("").status()));
  const TemporaryDirectory directory;
  REQUIRE(WriteText(directory.path() / "libnvvm.so", "this is not a library"));
  const absl::Status garbage = NvvmLibrary::Load(directory.path().string()).status();
  CHECK(absl::IsFailedPrecondition(garbage));
  CHECK(Has(Message(garbage), "cannot load"));

  void* other = dlopen("libm.so.6", RTLD_NOW);
  REQUIRE(other != nullptr);
  const absl::Status wrong = NvvmLibrary::FromHandle(other).status();
  CHECK(absl::IsFailedPrecondition(wrong));
  CHECK(Has(Message(wrong), "has no function nvvmCreateProgram"));
  dlclose(other);
  CHECK_FALSE(NvvmLibrary::FromHandle(nullptr).ok());

  for (const char* number : {"0x2080", "0xB0BA", "0xF00D"}) {
    Behave(number);
    const absl::Status status = NvvmLibrary::Load(DEVLINK_FAULTY_NVVM).status();
    CHECK(absl::IsFailedPrecondition(status));
    CHECK(Has(Message(status), std::string("nothing behind handle ") + number));
  }
}

TEST_CASE("Every failure has its step and nvlink's line", "[nvvm]") {
  struct Row {
    const char* fault;
    int answer;
    NvvmStep step;
    const char* text;
  };
  const char* internal = "nvlink fatal   : elfLink internal error\n";
  for (const Row& row :
       {Row{"create", 0, NvvmStep::kCreate, internal},
        Row{"null program", 0, NvvmStep::kCreate, internal},
        Row{"destroy", 0, NvvmStep::kCreate, internal},
        Row{"add", 0, NvvmStep::kAdd, "nvlink fatal   : elfLink nvvm error\n"},
        Row{"", 9, NvvmStep::kCompile,
            "nvlink info    : saidNVVM_ERROR_COMPILATION\n"
            "nvlink fatal   : elfLink JIT compile failed\n"},
        Row{"no text", 7, NvvmStep::kCompile, "nvlink info    : error 7\n"},
        Row{"", 1, NvvmStep::kCompile, "nvlink info    : NVVM_ERROR_OTHER\n"},
        Row{"size", 0, NvvmStep::kResult, internal}, Row{"result", 0, NvvmStep::kResult, internal},
        Row{"count", 0, NvvmStep::kResult, internal}, Row{"empty", 0, NvvmStep::kResult, internal},
        Row{"huge", 0, NvvmStep::kResult, internal},
        Row{"no pieces", 0, NvvmStep::kResult, internal},
        Row{"huge count", 0, NvvmStep::kResult, internal},
        Row{"long pieces", 0, NvvmStep::kResult, internal},
        Row{"short pieces", 0, NvvmStep::kResult, internal},
        Row{"wild pieces", 0, NvvmStep::kResult, internal}}) {
    const NvvmResult result = CompileFaulty(row.fault, row.answer);
    CAPTURE(row.fault, row.answer, Rendered(result.diagnostics));
    CHECK_FALSE(result.status.ok());
    CHECK(result.step == row.step);
    CHECK(result.pieces.empty());
    REQUIRE_FALSE(result.diagnostics.empty());
    CHECK(result.diagnostics.back().severity == Severity::kFatal);
    CHECK(result.diagnostics.back().code == DiagnosticCode::kLtoCompilation);
    CHECK(Has(Rendered(result.diagnostics), row.text));
    CHECK_FALSE(result.diagnostics.back().notes.empty());
  }
}

TEST_CASE("Codes, log and pieces are those of the library", "[nvvm]") {
  NvvmResult result = CompileFaulty("split", 0);
  CHECK(result.status.ok());
  CHECK(result.code == 0);
  CHECK(result.pieces == Words{"abcd", "efghij"});
  CHECK(result.diagnostics.empty());
  result = CompileFaulty("log", 100);
  CHECK(result.code == 100);
  CHECK(result.pieces == Words{"abcdefghij"});
  CHECK(result.log == "said");
  CHECK(Rendered(result.diagnostics) == "nvlink info    : said\n");
  result = CompileFaulty("", 100, 9);
  CHECK(absl::IsResourceExhausted(result.status));
  CHECK(result.step == NvvmStep::kResult);
  CHECK(CompileFaulty("", 100, 10).status.ok());
}

TEST_CASE("libNVVM makes LTO IR and links it", "[nvvm][live]") {
  if (!Real()) DEVLINK_SKIP("no libNVVM");
  CHECK_FALSE(Real()->version().empty());
  for (const int sm : {75, 80, 90, 100, 120}) {
    CAPTURE(sm);
    const std::string arch = "-arch=compute_" + std::to_string(sm);
    const Bytes kernel = Compiled(sm, "k", "f", "");
    const Bytes function = Compiled(sm, "", "", "f");
    const auto ir = LtoIr::Parse(kernel);
    REQUIRE(ir.ok());
    CHECK(ir->arch.number == sm);
    CHECK(ir->versions.llvm.major == (sm < 100 ? 7 : ir->versions.llvm.major));
    CHECK(ir->Check(ir->arch, *NewestLtoIr(*Real(), ir->arch)).ok());

    NvvmProgram closed(*Real());
    closed.AddLtoIr("kernel", kernel);
    closed.AddLtoIr("function", function);
    const NvvmResult whole = closed.Compile({arch, "-link-lto", "--device-c"});
    REQUIRE(whole.status.ok());
    CHECK(whole.code == 100);
    REQUIRE(whole.pieces.size() == 1);
    CHECK(Has(whole.pieces.front(), ".visible .entry k("));
    CHECK(whole.pieces.front().back() != '\0');
    CHECK(closed.Compile({arch, "-link-lto", "--device-c"}).pieces == whole.pieces);

    NvvmProgram open(*Real());
    open.AddLtoIr("kernel", kernel);
    const NvvmResult part = open.Compile({arch, "-link-lto", "--device-c"});
    CHECK(part.status.ok());
    CHECK(part.code == 0);
  }
}

TEST_CASE("libNVVM compiles NVVM IR as it is", "[nvvm][live]") {
  if (!Real()) DEVLINK_SKIP("no libNVVM");
  const Bytes text = NvvmModule(80, "k", "", "");
  NvvmProgram program(*Real());
  program.AddNvvmIr("text.ll", text);
  const NvvmResult made = program.Compile({"-arch=compute_80"});
  INFO(made.log);
  REQUIRE(made.status.ok());
  REQUIRE(made.pieces.size() == 1);
  CHECK(Has(made.pieces.front(), ".entry k("));
}

TEST_CASE("A handle of the caller's will do", "[nvvm][live]") {
  if (!Real()) DEVLINK_SKIP("no libNVVM");
  void* handle = dlopen(Real()->path().c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(handle != nullptr);
  {
    const auto library = NvvmLibrary::FromHandle(handle);
    REQUIRE(library.ok());
    CHECK(fs::equivalent(library->path(), Real()->path()));
    const Bytes kernel = Compiled(90, "k", "", "");
    NvvmProgram program(*library);
    program.AddLtoIr("k", kernel);
    CHECK(program.Compile({"-arch=compute_90", "-link-lto"}).code == 100);
    CHECK(program.Compile({"-arch=compute_90", "-link-lto", "-inline-info"}).code == 100);
  }
  dlclose(handle);
}

TEST_CASE("What libNVVM refuses is explained", "[nvvm][live]") {
  if (!Real()) DEVLINK_SKIP("no libNVVM");
  const Bytes good = Compiled(90, "k", "", "");
  const auto refused = [](const Bytes& bytes, const char* arch) {
    NvvmProgram program(*Real());
    program.AddLtoIr("x.ltoir", bytes);
    const NvvmResult result = program.Compile({arch, "-link-lto"});
    CHECK(absl::IsInvalidArgument(result.status));
    REQUIRE_FALSE(result.diagnostics.empty());
    REQUIRE_FALSE(result.diagnostics.back().notes.empty());
    return Rendered(result.diagnostics);
  };
  const std::string text = "target triple = \"nvptx64-nvidia-cuda\"\n";
  CHECK(refused({text.begin(), text.end()}, "-arch=compute_90") ==
        "nvlink fatal   : elfLink nvvm error\n"
        "nvlink note    : 'x.ltoir': not LTO IR: it is LLVM IR as text; have libNVVM compile "
        "it with -gen-lto\n");
  Bytes newer = good;
  newer.at(5) += 1;
  CHECK(Has(refused(newer, "-arch=compute_90"), "and this libNVVM reads"));
  CHECK(Has(refused({}, "-arch=compute_90"), "it is empty"));

  const std::string both = refused(Compiled(100, "k", "", ""), "-arch=compute_90");
  CHECK(Has(both, "nvlink fatal   : elfLink JIT compile failed\n"));
  CHECK(Has(both, "targets below sm_100 take code of LLVM 7.0"));

  const std::string cut = refused({good.begin(), good.end() - 200}, "-arch=compute_90");
  CHECK(Has(cut, "nvlink info    : "));
  CHECK(Has(cut, "NVVM_ERROR_COMPILATION\nnvlink fatal   : elfLink JIT compile failed\n"));
}

// One byte of the versions changed at a time: the library is asked, and Check must agree.
TEST_CASE("Check knows what libNVVM refuses", "[nvvm][live]") {
  if (!Real()) DEVLINK_SKIP("no libNVVM");
  for (const Arch target : {kSm90, Arch{100, 0}}) {
    const Bytes good = Compiled(target.number, "k", "", "");
    LtoIrVersions newest = NewestLtoIr(*Real(), target).value();
    newest.llvm = NewestLtoIr(*Real(), {100, 0}).value().llvm;
    for (std::size_t at = 4; at < 12; ++at) {
      for (const int by : {-1, 1, 100}) {
        Bytes bytes = good;
        bytes.at(at) = static_cast<std::uint8_t>(bytes.at(at) + by);
        NvvmProgram program(*Real());
        program.AddLtoIr("x", bytes);
        const NvvmResult result =
            program.Compile({"-arch=compute_" + std::to_string(target.number), "-link-lto"});
        const absl::Status check = LtoIr::Parse(bytes)->Check(target, newest);
        CAPTURE(target.number, at, by, Message(check), Message(result.status));
        // The bitcode is what it was: a wrong version of LLVM that is not refused does no harm.
        if (at < 10) CHECK(check.ok() == result.status.ok());
        if (result.step == NvvmStep::kAdd) CHECK_FALSE(check.ok());
      }
    }
  }
}

// libNVVM alone crashes with some of these.
TEST_CASE("LTO IR with a damaged header is refused by name or compiled", "[nvvm][live][damage]") {
  if (!Real()) DEVLINK_SKIP("no libNVVM");
  const Bytes good = Compiled(90, "k", "", "");
  int refused = 0;
  for (std::size_t at = 0; at < 44; ++at) {
    for (const int flip : {1, 0x41, 0x80, 0xFF}) {
      Bytes bytes = good;
      bytes.at(at) ^= static_cast<std::uint8_t>(flip);
      NvvmProgram program(*Real());
      program.AddLtoIr("x", bytes);
      const NvvmResult result = program.Compile({"-arch=compute_90", "-link-lto"});
      CAPTURE(at, flip);
      CHECK(result.status.ok() == result.diagnostics.empty());
      refused += static_cast<int>(!result.status.ok());
    }
  }
  CHECK(refused > 100);
  for (std::size_t size = 0; size < good.size(); size += size < 60 ? 1 : 97) {
    const Bytes bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    NvvmProgram program(*Real());
    program.AddLtoIr("x", bytes);
    CHECK_FALSE(program.Compile({"-arch=compute_90", "-link-lto"}).status.ok());
  }
}

TEST_CASE("Programs compile side by side as they do alone", "[nvvm][live]") {
  if (!Real()) DEVLINK_SKIP("no libNVVM");
  const Bytes kernel = Compiled(90, "k", "f", "");
  const Bytes function = Compiled(90, "", "", "f");
  const std::vector<Words> choices = {
      {"-arch=compute_90", "-link-lto"},
      {"-arch=compute_80", "-link-lto", "--device-c", "--force-device-c"},
      {"-arch=compute_90", "-link-lto", "-opt=0"},
      {"-arch=compute_75", "-link-lto", "-host-ref-ek=zz"},
      {"-arch=compute_90", "-link-lto", "-ftz=2"},
  };
  const auto compile = [&](const Words& words) {
    NvvmProgram program(*Real());
    program.AddLtoIr("kernel", kernel);
    program.AddLtoIr("function", function);
    return program.Compile(words);
  };
  std::vector<NvvmResult> alone;
  for (const Words& words : choices) alone.push_back(compile(words));
  std::vector<int> wrong(8, 0);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    threads.emplace_back([&, i] {
      for (std::size_t k = 0; k < 40; ++k) {
        const std::size_t which = (i + k) % choices.size();
        const NvvmResult result = compile(choices[which]);
        wrong[i] +=
            static_cast<int>(result.pieces != alone[which].pieces ||
                             result.code != alone[which].code || result.log != alone[which].log);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(8, 0));
}

TEST_CASE("Words that libNVVM keeps do not reach other compilations", "[nvvm][live]") {
  if (!Real()) DEVLINK_SKIP("no libNVVM");
  const Bytes kernel = Compiled(90, "k", "f", "");
  const Bytes function = Compiled(90, "", "", "f");
  NvvmProgram program(*Real());
  program.AddLtoIr("kernel", kernel);
  program.AddLtoIr("function", function);
  const Words plain = {"-arch=compute_90", "-link-lto"};
  const NvvmResult before = program.Compile(plain);
  Words words = plain;
  words.insert(words.end(), {"-Xopt", "-disable-inlining"});
  std::vector<NvvmResult> results(3);
  std::vector<std::thread> threads;
  for (NvvmResult& result : results) {
    threads.emplace_back([&] { result = program.Compile(words); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const NvvmResult& result : results) {
    CHECK(result.status.ok());
    CHECK(result.pieces == results.front().pieces);
    CHECK(result.pieces != before.pieces);
  }
  CHECK(program.Compile(plain).pieces == before.pieces);
}

TEST_CASE("Words are told apart by what they leave behind", "[nvvm]") {
  using internal::LeavesNothingBehind;
  CHECK(LeavesNothingBehind(Words{}));
  CHECK(LeavesNothingBehind(Words{"-arch=compute_90", "-link-lto", "-g", "-host-ref-ek=a,b"}));
  CHECK_FALSE(LeavesNothingBehind(Words{"-g", "-inline-info"}));
  CHECK_FALSE(LeavesNothingBehind(Words{"-Xopt", "-x"}));
  CHECK_FALSE(LeavesNothingBehind(Words{"-some-word-of-a-later-release"}));
  CHECK_FALSE(LeavesNothingBehind(Words{"-gx"}));
}

}  // namespace
}  // namespace devlink::testing
