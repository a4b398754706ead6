// SPDX-License-Identifier: Apache-2.0
//
// Stands before a libnvJitLink.so.13 (in LD_PRELOAD, this one first) and writes down what a program
// asks of it and what it answers: a line for every call in the file `calls` of the folder
// RECORD_CALLS, and what was linked in files beside it, numbered in order. Handles are numbered,
// and inputs told by size and hash, so that the lines of two libraries can be compared.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kLive = 4096, kLine = 1 << 16 };

// The plain name and that which the header of 13.0 gives it.
#define BOTH_NAMES(name, parameters) \
  int __nvJitLink##name##_13_0 parameters __attribute__((alias("nvJitLink" #name)));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  void* handle;
  int number;
} live[kLive];
static int created;

static int NumberOf(void* handle) {
  for (int i = 0; i < kLive; ++i) {
    if (live[i].handle == handle && handle != NULL) return live[i].number;
  }
  return 0;
}

static int Keep(void* handle) {
  for (int i = 0; i < kLive; ++i) {
    if (live[i].handle != NULL) continue;
    live[i].handle = handle;
    return live[i].number = ++created;
  }
  return 0;
}

static void Forget(void* handle) {
  for (int i = 0; i < kLive; ++i) {
    if (live[i].handle == handle) live[i].handle = NULL;
  }
}

// A line of text, that grows no further when it is full.
typedef struct {
  char text[kLine];
  size_t size;
} Line;

static void Put(Line* line, const char* text, size_t size) {
  for (size_t i = 0; i < size && line->size + 5 < kLine; ++i) {
    const unsigned char c = (unsigned char)text[i];
    if (c >= ' ' && c < 127 && c != '\\') {
      line->text[line->size++] = (char)c;
    } else {
      line->size += (size_t)sprintf(line->text + line->size, "\\x%02x", c);
    }
  }
}

static void PutWord(Line* line, const char* word) {
  line->text[line->size++] = ' ';
  if (word == NULL) word = "(null)";
  Put(line, word, strlen(word));
}

static void PutNumber(Line* line, const char* name, uint64_t value) {
  char text[64];
  Put(line, text, (size_t)snprintf(text, sizeof text, " %s %" PRIu64, name, value));
}

static void PutData(Line* line, const void* data, size_t size) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; data != NULL && i < size; ++i) {
    hash = (hash ^ ((const unsigned char*)data)[i]) * 1099511628211u;
  }
  PutNumber(line, "size", size);
  PutNumber(line, "hash", hash);
}

static void Begin(Line* line, const char* call, void* handle) {
  line->size = 0;
  Put(line, call, strlen(call));
  PutNumber(line, "of", (uint64_t)NumberOf(handle));
}

static void End(Line* line, int result) {
  const char* folder = getenv("RECORD_CALLS");
  char path[4096];
  if (folder == NULL) return;
  PutNumber(line, "->", (uint64_t)result);
  line->text[line->size++] = '\n';
  snprintf(path, sizeof path, "%s/calls", folder);
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  if (write(file, line->text, line->size) < 0) perror(path);
  close(file);
}

static void Save(Line* line, const char* ending, const void* data, size_t size) {
  static int count;
  const char* folder = getenv("RECORD_CALLS");
  char path[4096];
  if (folder == NULL) return;
  snprintf(path, sizeof path, "%s/%04d.%s", folder, count, ending);
  FILE* file = fopen(path, "wb");
  if (file == NULL) return;
  fwrite(data, 1, size, file);
  fclose(file);
  PutNumber(line, "file", (uint64_t)count++);
}

typedef int (*Create)(void**, uint32_t, const char**);
typedef int (*OfHandle)(void*);
typedef int (*OfPlace)(void**);
typedef int (*AddFile)(void*, int, const char*);
typedef int (*AddData)(void*, int, const void*, size_t, const char*);
typedef int (*Size)(void*, size_t*);
typedef int (*Get)(void*, void*);

int nvJitLinkCreate(void** handle, uint32_t count, const char** options) {
  Line line;
  const int result = ((Create)dlsym(RTLD_NEXT, "nvJitLinkCreate"))(handle, count, options);
  pthread_mutex_lock(&lock);
  const int made = handle != NULL && *handle != NULL ? Keep(*handle) : 0;
  Begin(&line, "create", NULL);
  PutNumber(&line, "handle", (uint64_t)made);
  for (uint32_t i = 0; options != NULL && i < count; ++i) PutWord(&line, options[i]);
  End(&line, result);
  pthread_mutex_unlock(&lock);
  return result;
}

int nvJitLinkDestroy(void** handle) {
  Line line;
  void* old = handle != NULL ? *handle : NULL;
  const int result = ((OfPlace)dlsym(RTLD_NEXT, "nvJitLinkDestroy"))(handle);
  pthread_mutex_lock(&lock);
  Begin(&line, "destroy", old);
  Forget(old);
  End(&line, result);
  pthread_mutex_unlock(&lock);
  return result;
}

int nvJitLinkAddData(void* handle, int type, const void* data, size_t size, const char* name) {
  Line line;
  const int result =
      ((AddData)dlsym(RTLD_NEXT, "nvJitLinkAddData"))(handle, type, data, size, name);
  pthread_mutex_lock(&lock);
  Begin(&line, "data", handle);
  PutNumber(&line, "type", (uint64_t)type);
  PutData(&line, data, size);
  PutWord(&line, name);
  End(&line, result);
  pthread_mutex_unlock(&lock);
  return result;
}

int nvJitLinkAddFile(void* handle, int type, const char* path) {
  Line line;
  const int result = ((AddFile)dlsym(RTLD_NEXT, "nvJitLinkAddFile"))(handle, type, path);
  pthread_mutex_lock(&lock);
  Begin(&line, "file", handle);
  PutNumber(&line, "type", (uint64_t)type);
  PutWord(&line, path);
  End(&line, result);
  pthread_mutex_unlock(&lock);
  return result;
}

int nvJitLinkComplete(void* handle) {
  Line line;
  const int result = ((OfHandle)dlsym(RTLD_NEXT, "nvJitLinkComplete"))(handle);
  pthread_mutex_lock(&lock);
  Begin(&line, "complete", handle);
  End(&line, result);
  pthread_mutex_unlock(&lock);
  return result;
}

static int RecordSize(const char* function, const char* call, void* handle, size_t* size) {
  Line line;
  const int result = ((Size)dlsym(RTLD_NEXT, function))(handle, size);
  pthread_mutex_lock(&lock);
  Begin(&line, call, handle);
  if (size != NULL && result == 0) PutNumber(&line, "size", *size);
  End(&line, result);
  pthread_mutex_unlock(&lock);
  return result;
}

// `ending` names the files for what is fetched; a log goes to the line itself.
static int RecordGet(const char* function, const char* call, const char* ending, void* handle,
                     void* out) {
  Line line;
  char size_function[64];
  size_t size = 0;
  snprintf(size_function, sizeof size_function, "%sSize", function);
  const int result = ((Get)dlsym(RTLD_NEXT, function))(handle, out);
  ((Size)dlsym(RTLD_NEXT, size_function))(handle, &size);
  pthread_mutex_lock(&lock);
  Begin(&line, call, handle);
  if (result == 0 && out != NULL) {
    if (ending != NULL) {
      Save(&line, ending, out, size);
    } else {
      line.text[line.size++] = ' ';
      Put(&line, out, size > 0 ? size - 1 : 0);
    }
  }
  End(&line, result);
  pthread_mutex_unlock(&lock);
  return result;
}

#define RECORDED(name, call, ending)                                         \
  int nvJitLink##name##Size(void* handle, size_t* size) {                    \
    return RecordSize("nvJitLink" #name "Size", call " size", handle, size); \
  }                                                                          \
  int nvJitLink##name(void* handle, void* out) {                             \
    return RecordGet("nvJitLink" #name, call, ending, handle, out);          \
  }                                                                          \
  BOTH_NAMES(name##Size, (void*, size_t*))                                   \
  BOTH_NAMES(name, (void*, void*))

RECORDED(GetLinkedCubin, "cubin", "cubin")
RECORDED(GetLinkedPtx, "ptx", "ptx")
RECORDED(GetErrorLog, "error log", NULL)
RECORDED(GetInfoLog, "info log", NULL)
BOTH_NAMES(Create, (void**, uint32_t, const char**))
BOTH_NAMES(Destroy, (void**))
BOTH_NAMES(AddData, (void*, int, const void*, size_t, const char*))
BOTH_NAMES(AddFile, (void*, int, const char*))
BOTH_NAMES(Complete, (void*))
