// SPDX-License-Identifier: Apache-2.0
//
// A library in libNVVM's place that writes down what a linker asks of it. Built as
// recording_nvvm/lib64/libnvvm.so in the build tree, so that `-nvvmpath=<build>/recording_nvvm`
// finds it. The interface is what nvlink 13.0 uses: eight public functions and, through
// __nvvmHandle, three private ones (docs/lto-options.md).
//
// Steered by the environment, because nvlink hands nothing else through:
//   RECORDING_NVVM_FILE     where calls are appended, one a line; required
//   RECORDING_NVVM_FORWARD  a real libnvvm.so that answers; without it answers are canned
//   RECORDING_NVVM_RC       canned: what nvvmCompileProgram returns. By default 0 (relocatable)
//   with
//                           --device-c among the options, else 100 (whole program)
//   RECORDING_NVVM_PIECES   canned: number of texts that the result consists of, by default 1
//   RECORDING_NVVM_BODY     canned: instructions for each kernel
//   RECORDING_NVVM_LOG      canned: the program's log
//   RECORDING_NVVM_FAIL     canned: a function that fails, or a handle that is missing, such as
//                           `nvvmCreateProgram`, `add`, `0xB0BA`
#include <dlfcn.h>

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidInput = 4;
constexpr int kInvalidProgram = 5;
constexpr int kWholeProgram = 100;

constexpr unsigned kAddModule = 0x2080;
constexpr unsigned kPieceSizes = 0xB0BA;
constexpr unsigned kPieceCount = 0xF00D;

// One that nvlink made. `real` is the forwarded library's own.
struct Program {
  void* real = nullptr;
  std::vector<std::string> pieces;
  std::string log;
};

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool Fails(std::string_view what) { return Environment("RECORDING_NVVM_FAIL") == what; }

// One line of the record; whatever could end a line or a word early is written as \xNN.
void Record(const std::string& line) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  std::FILE* file = std::fopen(Environment("RECORDING_NVVM_FILE").c_str(), "a");
  if (file == nullptr) return;
  std::fprintf(file, "%s\n", line.c_str());
  std::fclose(file);
}

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c > ' ' && c < 0x7f && c != '\\') {
      out += c;
    } else {
      char code[8];
      std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned>(c) & 0xff);
      out += code;
    }
  }
  return out;
}

// FNV-1a, 64 bits: enough to see that two tools hand in the same bytes.
std::string HashOf(const char* bytes, std::size_t size) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::size_t i = 0; i < size; ++i) {
    hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3;
  }
  char text[24];
  std::snprintf(text, sizeof text, "%016" PRIx64, hash);
  return text;
}

void* Real() {
  static void* const library = [] {
    const std::string path = Environment("RECORDING_NVVM_FORWARD");
    return path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }();
  return library;
}

template <typename Function>
Function* RealFunction(const char* name) {
  return reinterpret_cast<Function*>(dlsym(Real(), name));
}

template <typename Function>
Function* RealHandle(unsigned number) {
  return reinterpret_cast<Function*>(RealFunction<void*(unsigned)>("__nvvmHandle")(number));
}

std::string CannedPtx(const std::vector<std::string>& options, std::size_t piece) {
  constexpr std::string_view kArch = "-arch=compute_";
  std::string arch = "75";
  for (const std::string& option : options) {
    if (option.starts_with(kArch)) arch = option.substr(kArch.size());
  }
  const int number = std::atoi(arch.c_str());
  const std::string version = number >= 110 ? "9.0" : number > 90 ? "8.8" : "8.0";
  return ".version " + version + "\n.target sm_" + arch + "\n.address_size 64\n" +
         ".visible .entry recorded_" + std::to_string(piece) + "()\n{\n" +
         Environment("RECORDING_NVVM_BODY") + "  ret;\n}\n";
}

int Add(Program* program, const char* bytes, std::size_t size, const char* name) {
  Record("add " + Escaped(name == nullptr ? "(null)" : name) + " " + std::to_string(size) + " " +
         HashOf(bytes, size));
  if (Fails("add")) return kInvalidInput;
  if (Real() == nullptr) return kSuccess;
  return RealHandle<int(void*, const char*, std::size_t, const char*)>(kAddModule)(
      program->real, bytes, size, name);
}

int PieceSizes(Program* program, int count, std::size_t* sizes) {
  Record("piece-sizes " + std::to_string(count));
  if (Real() != nullptr) {
    return RealHandle<int(void*, int, std::size_t*)>(kPieceSizes)(program->real, count, sizes);
  }
  if (count != static_cast<int>(program->pieces.size())) return kInvalidInput;
  for (int i = 0; i < count; ++i) sizes[i] = program->pieces[static_cast<std::size_t>(i)].size();
  return kSuccess;
}

int PieceCount(Program* program, int* count) {
  Record("piece-count");
  if (Real() != nullptr) return RealHandle<int(void*, int*)>(kPieceCount)(program->real, count);
  *count = static_cast<int>(program->pieces.size());
  return kSuccess;
}

}  // namespace

#define RECORDING_NVVM_API extern "C" __attribute__((visibility("default")))

// NOLINTNEXTLINE(bugprone-reserved-identifier): libNVVM's name
RECORDING_NVVM_API void* __nvvmHandle(unsigned number) {
  char name[16];
  std::snprintf(name, sizeof name, "0x%X", number);
  Record(std::string("handle ") + name);
  if (Fails(name)) return nullptr;
  switch (number) {
    case kAddModule:
      return reinterpret_cast<void*>(&Add);
    case kPieceSizes:
      return reinterpret_cast<void*>(&PieceSizes);
    case kPieceCount:
      return reinterpret_cast<void*>(&PieceCount);
    default:
      return nullptr;
  }
}

RECORDING_NVVM_API int nvvmCreateProgram(void** program) {
  Record("create");
  if (Fails("nvvmCreateProgram")) return kInvalidProgram;
  auto* made = new Program;
  if (Real() != nullptr) {
    const int rc = RealFunction<int(void**)>("nvvmCreateProgram")(&made->real);
    if (rc != kSuccess) {
      delete made;
      return rc;
    }
  }
  *program = made;
  return kSuccess;
}

RECORDING_NVVM_API int nvvmDestroyProgram(void** program) {
  Record("destroy");
  auto* own = static_cast<Program*>(*program);
  const int rc =
      Real() == nullptr ? kSuccess : RealFunction<int(void**)>("nvvmDestroyProgram")(&own->real);
  delete own;
  *program = nullptr;
  return Fails("nvvmDestroyProgram") ? kInvalidProgram : rc;
}

RECORDING_NVVM_API int nvvmCompileProgram(Program* program, int count, const char** options) {
  std::vector<std::string> words(options, options + count);
  std::string line = "compile";
  for (const std::string& word : words) line += " " + Escaped(word);
  Record(line);
  if (Real() != nullptr) {
    return RealFunction<int(void*, int, const char**)>("nvvmCompileProgram")(program->real, count,
                                                                             options);
  }
  program->log = Environment("RECORDING_NVVM_LOG");
  const std::string pieces = Environment("RECORDING_NVVM_PIECES");
  const int wanted = pieces.empty() ? 1 : std::atoi(pieces.c_str());
  for (int i = 0; i < wanted; ++i) {
    program->pieces.push_back(CannedPtx(words, static_cast<std::size_t>(i)));
  }
  const std::string rc = Environment("RECORDING_NVVM_RC");
  if (!rc.empty()) return std::atoi(rc.c_str());
  for (const std::string& word : words) {
    if (word == "--device-c") return kSuccess;
  }
  return kWholeProgram;
}

RECORDING_NVVM_API int nvvmGetCompiledResultSize(Program* program, std::size_t* size) {
  Record("result-size");
  if (Real() != nullptr) {
    return RealFunction<int(void*, std::size_t*)>("nvvmGetCompiledResultSize")(program->real, size);
  }
  *size = 1;
  for (const std::string& piece : program->pieces) *size += piece.size();
  return kSuccess;
}

RECORDING_NVVM_API int nvvmGetCompiledResult(Program* program, char* buffer) {
  Record("result");
  if (Real() != nullptr) {
    return RealFunction<int(void*, char*)>("nvvmGetCompiledResult")(program->real, buffer);
  }
  for (const std::string& piece : program->pieces) {
    std::memcpy(buffer, piece.data(), piece.size());
    buffer += piece.size();
  }
  *buffer = '\0';
  return kSuccess;
}

RECORDING_NVVM_API int nvvmGetProgramLogSize(Program* program, std::size_t* size) {
  Record("log-size");
  if (Real() != nullptr) {
    return RealFunction<int(void*, std::size_t*)>("nvvmGetProgramLogSize")(program->real, size);
  }
  *size = program->log.size() + 1;
  return kSuccess;
}

RECORDING_NVVM_API int nvvmGetProgramLog(Program* program, char* buffer) {
  Record("log");
  if (Real() != nullptr) {
    return RealFunction<int(void*, char*)>("nvvmGetProgramLog")(program->real, buffer);
  }
  std::memcpy(buffer, program->log.c_str(), program->log.size() + 1);
  return kSuccess;
}

RECORDING_NVVM_API const char* nvvmGetErrorString(int rc) {
  Record("error-string " + std::to_string(rc));
  if (Real() != nullptr) return RealFunction<const char*(int)>("nvvmGetErrorString")(rc);
  return rc == 7 ? "NVVM_ERROR_INVALID_OPTION" : "NVVM_ERROR";
}
