// SPDX-License-Identifier: Apache-2.0
//
// A library in libNVVM's place that does what it is told to, among that what the real one never
// does: it fails at a step of choice or tells sizes that do not fit together.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#define FAULTY_NVVM_API extern "C" __attribute__((visibility("default")))

namespace {

// A name of a fault, empty for none, and what compiling answers; set by the test between calls.
std::string fault;
int answer = 100;

constexpr char kText[] = "abcdefghij";
constexpr int kPieces = 2;
constexpr std::size_t kSizes[kPieces] = {4, 6};

bool Is(const char* what) { return fault == what; }
int Fails(const char* what) { return Is(what) ? 5 : 0; }

int Add(void* /*program*/, const char* /*bytes*/, std::size_t /*size*/, const char* /*name*/) {
  return Is("add") ? 4 : 0;
}

int Count(void* /*program*/, int* count) {
  *count = Is("no pieces")    ? 0
           : Is("huge count") ? 2000000000
           : fault.empty()    ? 1
           : Is("split") || Is("long pieces") || Is("short pieces") || Is("wild pieces") ? kPieces
                                                                                         : 1;
  return Fails("count");
}

int Sizes(void* /*program*/, int count, std::size_t* sizes) {
  for (int i = 0; i < std::min(count, kPieces); ++i) sizes[i] = kSizes[i];
  if (Is("long pieces")) ++sizes[1];
  if (Is("short pieces")) --sizes[1];
  if (Is("wild pieces")) sizes[0] = ~std::size_t{0} - 1;
  return Fails("sizes");
}

}  // namespace

FAULTY_NVVM_API void faultyNvvmSet(const char* new_fault, int new_answer) {
  fault = new_fault;
  answer = new_answer;
}

FAULTY_NVVM_API void* __nvvmHandle(unsigned number) {  // NOLINT(bugprone-reserved-identifier)
  if (number == 0x2080 && !Is("0x2080")) return reinterpret_cast<void*>(&Add);
  if (number == 0xB0BA && !Is("0xB0BA")) return reinterpret_cast<void*>(&Sizes);
  if (number == 0xF00D && !Is("0xF00D")) return reinterpret_cast<void*>(&Count);
  return nullptr;
}

FAULTY_NVVM_API int nvvmCreateProgram(void** program) {
  *program = Is("null program") ? nullptr : &fault;
  return Fails("create");
}
FAULTY_NVVM_API int nvvmDestroyProgram(void** /*program*/) { return Fails("destroy"); }
FAULTY_NVVM_API int nvvmCompileProgram(void* /*program*/, int /*count*/, const char** /*options*/) {
  return answer;
}
FAULTY_NVVM_API int nvvmGetCompiledResultSize(void* /*program*/, std::size_t* size) {
  *size = Is("empty") ? 0 : Is("huge") ? ~std::size_t{0} : sizeof(kText);
  return Fails("size");
}
FAULTY_NVVM_API int nvvmGetCompiledResult(void* /*program*/, char* out) {
  std::memcpy(out, kText, sizeof(kText));
  return Fails("result");
}
FAULTY_NVVM_API int nvvmGetProgramLogSize(void* /*program*/, std::size_t* size) {
  *size = Is("log") || answer == 9 ? 5 : 1;
  return 0;
}
FAULTY_NVVM_API int nvvmGetProgramLog(void* /*program*/, char* out) {
  std::memcpy(out, "said", 5);
  return 0;
}
FAULTY_NVVM_API const char* nvvmGetErrorString(int code) {
  return Is("no text") ? nullptr : code == 9 ? "NVVM_ERROR_COMPILATION" : "NVVM_ERROR_OTHER";
}
