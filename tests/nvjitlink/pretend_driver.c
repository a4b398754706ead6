// SPDX-License-Identifier: Apache-2.0
//
// A libcuda.so.1 for machines without a GPU, so that the suites of libnvJitLink's clients can be
// run: one device of compute capability PRETEND_CC (90), which does nothing. What is loaded is
// written to the folder PRETEND_DUMP, in order, to be compared.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSuccess = 0, kInvalidValue = 1, kInvalidDevice = 101, kNotSupported = 801 };

static int Number(const char* name, int otherwise) {
  const char* value = getenv(name);
  return value != NULL ? atoi(value) : otherwise;
}

// Objects are known by their addresses, and nothing is kept in them.
static int Make(void** object) {
  *object = malloc(16);
  return kSuccess;
}

static void Dump(const void* image) {
  static int count;
  const char* folder = getenv("PRETEND_DUMP");
  if (folder == NULL || image == NULL || memcmp(image, ELFMAG, SELFMAG) != 0) return;
  Elf64_Ehdr header;
  memcpy(&header, image, sizeof header);
  const uint64_t sections = header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize;
  const uint64_t segments = header.e_phoff + (uint64_t)header.e_phnum * header.e_phentsize;
  char path[4096];
  snprintf(path, sizeof path, "%s/%03d.cubin", folder, count++);
  FILE* file = fopen(path, "wb");
  if (file == NULL) return;
  fwrite(image, 1, sections > segments ? sections : segments, file);
  fclose(file);
}

// ---- The device and its contexts ----

int cuInit(unsigned flags) { return (void)flags, kSuccess; }
int cuDriverGetVersion(int* version) {
  return *version = Number("PRETEND_DRIVER", 13000), kSuccess;
}
int cuDeviceGetCount(int* count) { return *count = 1, kSuccess; }
int cuDeviceGet(int* device, int ordinal) {
  *device = 0;
  return ordinal == 0 ? kSuccess : kInvalidDevice;
}
int cuDeviceGetName(char* name, int size, int device) {
  (void)device;
  snprintf(name, (size_t)size, "pretend");
  return kSuccess;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  enum { kMajor = 75, kMinor = 76 };
  const int capability = Number("PRETEND_CC", 90);
  (void)device;
  *value = attribute == kMajor ? capability / 10 : attribute == kMinor ? capability % 10 : 0;
  return kSuccess;
}
int cuDeviceGetUuid(char* uuid, int device) { return (void)device, memset(uuid, 7, 16), kSuccess; }
int cuDeviceGetUuid_v2(char* uuid, int device) { return cuDeviceGetUuid(uuid, device); }
int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  return (void)device, *bytes = (size_t)1 << 30, kSuccess;
}
int cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  return *free_bytes = *total = (size_t)1 << 30, kSuccess;
}

static char context[16];
static void* current;
int cuCtxCreate_v2(void** out, unsigned flags, int device) {
  return (void)flags, (void)device, current = *out = context, kSuccess;
}
int cuCtxCreate_v4(void** out, void* parameters, unsigned flags, int device) {
  return (void)parameters, cuCtxCreate_v2(out, flags, device);
}
int cuCtxDestroy_v2(void* old) { return (void)old, current = NULL, kSuccess; }
int cuCtxGetCurrent(void** out) { return *out = current, kSuccess; }
int cuCtxSetCurrent(void* next) { return current = next, kSuccess; }
int cuCtxPushCurrent_v2(void* next) { return current = next, kSuccess; }
int cuCtxPopCurrent_v2(void** out) {
  if (out != NULL) *out = current;
  return current = NULL, kSuccess;
}
int cuCtxGetDevice(int* device) { return *device = 0, kSuccess; }
int cuCtxGetDevice_v2(int* device, void* of) { return (void)of, *device = 0, kSuccess; }
int cuCtxSynchronize(void) { return kSuccess; }
int cuDevicePrimaryCtxRetain(void** out, int device) {
  return (void)device, *out = context, kSuccess;
}
int cuDevicePrimaryCtxRelease_v2(int device) { return (void)device, kSuccess; }

int cuGetErrorName(int error, const char** text) {
  return *text = error == kNotSupported ? "CUDA_ERROR_NOT_SUPPORTED" : "CUDA_ERROR", kSuccess;
}
int cuGetErrorString(int error, const char** text) {
  return (void)error, *text = "an error of a driver that only pretends", kSuccess;
}

// ---- Code and memory ----

int cuModuleLoadData(void** module, const void* image) { return Dump(image), Make(module); }
int cuModuleLoadDataEx(void** module, const void* image, unsigned count, void* options,
                       void* values) {
  return (void)count, (void)options, (void)values, cuModuleLoadData(module, image);
}
int cuModuleUnload(void* module) { return free(module), kSuccess; }
int cuModuleGetFunction(void** function, void* module, const char* name) {
  return (void)module, (void)name, Make(function);
}
int cuFuncGetAttribute(int* value, int attribute, void* function) {
  return (void)attribute, (void)function, *value = 0, kSuccess;
}
int cuLibraryLoadData(void** library, const void* code, void* a, void* b, unsigned c, void* d,
                      void* e, unsigned f) {
  (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
  return Dump(code), Make(library);
}
int cuLibraryUnload(void* library) { return free(library), kSuccess; }
int cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  return (void)library, (void)name, Make(kernel);
}
int cuLibraryGetModule(void** module, void* library) { return (void)library, Make(module); }
int cuKernelGetFunction(void** function, void* kernel) { return (void)kernel, Make(function); }
int cuKernelGetAttribute(int* value, int attribute, void* kernel, int device) {
  return (void)attribute, (void)kernel, (void)device, *value = 0, kSuccess;
}
int cuMemAlloc_v2(void** memory, size_t bytes) { return *memory = calloc(1, bytes + 8), kSuccess; }
int cuMemFree_v2(void* memory) { return free(memory), kSuccess; }
int cuMemcpyHtoD_v2(void* to, const void* from, size_t bytes) {
  return memcpy(to, from, bytes), kSuccess;
}
int cuMemcpyDtoH_v2(void* to, const void* from, size_t bytes) {
  return memcpy(to, from, bytes), kSuccess;
}
int cuStreamCreate(void** stream, unsigned flags) { return (void)flags, Make(stream); }
int cuStreamSynchronize(void* stream) { return (void)stream, kSuccess; }
int cuLaunchKernel(void) { return kSuccess; }
int cuLaunchKernelEx(void) { return kSuccess; }

// ---- Everything else is not supported, but is there ----

static int Refuse(void) { return kNotSupported; }
int cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags,
                        int* found) {
  static const char* const suffixes[] = {"_v4", "_v3", "_v2", ""};
  Dl_info own;
  char symbol[200];
  (void)version, (void)flags;
  *function = (void*)Refuse;
  if (found != NULL) *found = 0;
  if (dladdr((void*)cuInit, &own) == 0) return kSuccess;
  void* self = dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  for (int i = 0; self != NULL && i < 4; ++i) {
    snprintf(symbol, sizeof symbol, "%s%s", name, suffixes[i]);
    void* address = dlsym(self, symbol);
    if (address == NULL) continue;
    *function = address;
    break;
  }
  return kSuccess;
}
int cuGetProcAddress(const char* name, void** function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, NULL);
}
int cuGetExportTable(const void** table, const void* uuid) {
  return (void)uuid, *table = NULL, kInvalidValue;
}
