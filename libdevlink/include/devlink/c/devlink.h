// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/c/devlink.h
//
// The linker for programs in C, and for every language that calls C. C11, and C++. docs/c-api.md is
// the tour; this is the reference.
//
//   dl_session* session = NULL;
//   dl_outcome* linked = NULL;
//   const dl_session_options options = {.size = sizeof options, .target = "sm_90"};
//   dl_status status = dl_session_create(&options, &session, NULL);
//   if (status == DL_OK) status = dl_session_add_bytes(session, "a.cubin", data, size, NULL);
//   if (status == DL_OK) status = dl_session_link(session, &linked, NULL);
//   if (status == DL_OK) use(dl_outcome_cubin(linked));  // valid until the outcome is destroyed
//   dl_outcome_destroy(linked);
//   dl_session_destroy(session);
//
// What holds of every function:
//
// Errors. A function that can fail returns a dl_status. Where its last parameter is a dl_error**,
// it may be NULL; otherwise it receives NULL after success and, after a failure, an error that the
// caller destroys. There may be a status without an error: no memory was left for one. A NULL where
// an object, a text or a place for a result is needed is DL_INVALID_ARGUMENT; results are then, and
// after every failure, NULL or empty unless said otherwise. Memory that runs out is
// DL_RESOURCE_EXHAUSTED. No exception leaves a function. A function that returns a view (dl_text,
// dl_bytes) or a number and is given NULL returns an empty one or 0. dl_X_destroy cannot fail.
//
// Ownership. What dl_X_create or any `dl_X** out` hands out belongs to the caller until
// dl_X_destroy, which takes NULL, too. Objects keep alive what they were made from: a toolchain or
// pool may be destroyed while sessions use it. Views point into the object that was asked and are
// valid until it is destroyed. Texts and bytes that are handed in are copied, and may go when the
// call returns. Callbacks and their `user` pointers are kept, and must outlive the sessions that
// have them; those of a cache are released.
//
// Threads. There is no global state. Pools, toolchains, caches, modules, stops, outcomes,
// diagnostics and errors may be used by any number of threads at once. A session is for one thread
// at a time; any number of sessions may run side by side, also with a pool and a toolchain in
// common. Destroying is for one thread, when no other uses the object any more.
//
// Callbacks must return; they must not throw, jump out, or call the session that calls them.
//
// Structs with a field `size` may grow at their end. Whoever calls sets it to sizeof of the struct
// and everything not used to 0. A smaller size, of an older caller, stands for zeros in what is
// missing; a larger one is taken where what this library does not know is 0, and is
// DL_INVALID_ARGUMENT where it is not, as is one that ends within a field. Structs that are filled
// in get as much as `size` has room for. Fields called `reserved` mean nothing and are 0. `user` is
// the first argument of the callbacks beside it. Numbers of codes never change; codes are added.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// NOLINTBEGIN(modernize-*): this is C

#ifdef DL_EXPORTS  // where libdevlink.so.0 is compiled
#define DL_API __attribute__((visibility("default")))
#else
#define DL_API  // stands before each function that libdevlink.so.0 exports
#endif

// ---- Codes ----

// What a function came to: the numbers and meanings of absl::StatusCode.
typedef int32_t dl_status;
enum {
  // Where nothing is said, as absl::StatusCode has it; docs/diagnostics.md lists what links return.
  DL_OK = 0,
  DL_CANCELLED = 1,  // a dl_stop was requested
  DL_UNKNOWN = 2,
  DL_INVALID_ARGUMENT = 3,
  DL_DEADLINE_EXCEEDED = 4,
  DL_NOT_FOUND = 5,  // a file, a tool, or the definition of a symbol
  DL_ALREADY_EXISTS = 6,
  DL_PERMISSION_DENIED = 7,
  DL_RESOURCE_EXHAUSTED = 8,   // memory, or a limit of the target
  DL_FAILED_PRECONDITION = 9,  // what was given does not go together
  DL_ABORTED = 10,
  DL_OUT_OF_RANGE = 11,
  DL_UNIMPLEMENTED = 12,
  DL_INTERNAL = 13,
  DL_UNAVAILABLE = 14,
  DL_DATA_LOSS = 15,
  DL_UNAUTHENTICATED = 16
};

// How grave a diagnostic is, as nvlink's lines say it: a link with DL_ERROR or DL_FATAL has failed,
// the latter ended it there.
typedef int32_t dl_severity;
enum { DL_INFO = 0, DL_WARNING = 1, DL_ERROR = 2, DL_FATAL = 3 };

// What a diagnostic is about; docs/diagnostics.md.
typedef int32_t dl_diagnostic_code;
enum {
  // docs/diagnostics.md says when each is said, under the name that it has in C++
  // (kUndefinedReference).
  DL_UNDEFINED_REFERENCE = 1,
  DL_MULTIPLE_DEFINITION = 2,
  DL_SIZE_MISMATCH = 3,
  DL_SPACE_MISMATCH = 4,
  DL_MANAGED_MISMATCH = 5,
  DL_ARCH_MISMATCH = 6,
  DL_ABI_MISMATCH = 7,
  DL_INPUT_NEWER_THAN_TOOLKIT = 8,
  DL_INPUT_TOO_OLD = 9,
  DL_UNREADABLE_INPUT = 10,
  DL_MALFORMED_INPUT = 11,
  DL_UNSUPPORTED_INPUT = 12,
  DL_MERGE_FAILED = 13,
  DL_STACK_SIZE_UNKNOWN = 14,
  DL_RESOURCE_OVERFLOW = 15,
  DL_UNSUPPORTED_FEATURE = 16,
  DL_USAGE = 17,
  DL_RESOURCE_USAGE = 18,
  DL_RELOCATION_OVERFLOW = 19,
  DL_ENTRY_MISMATCH = 20,
  DL_PROTOTYPE_MISMATCH = 21,
  DL_UNRESOLVABLE_RELOCATION = 22,
  DL_PTX_ASSEMBLY = 40,
  DL_OPTION_MISMATCH = 50,
  DL_LTO_COMPILATION = 51,
  DL_EARLY_REFERENCE = 60,
  DL_FORGOTTEN_ADDRESS = 61,
  DL_NO_DEVICE_CODE = 62
};

// How much of what a link does a line tells; the lower ones are more.
typedef int32_t dl_log_level;
enum { DL_LOG_DEBUG = 0, DL_LOG_INFO = 1 };

// What a link is at, in this order; LTO and PTX are left out by links that have none.
typedef int32_t dl_phase;
enum {
  DL_PHASE_READING = 0,      // inputs are read
  DL_PHASE_LTO_COMPILE = 1,  // libNVVM, or libnvJitLink in its place, compiles LTO IR
  DL_PHASE_ASSEMBLING = 2,   // PTX becomes cubins
  DL_PHASE_LINKING = 3,      // one program is made of all cubins
  DL_PHASE_WRITING = 4       // the output is laid out and written
};

// What a symbol stands for.
typedef int32_t dl_symbol_kind;
enum {
  DL_SYMBOL_UNKNOWN = 0,   // undefined, and the module does not say of what kind it is elsewhere
  DL_SYMBOL_FUNCTION = 1,  // a kernel or a device function
  DL_SYMBOL_VARIABLE = 2,  // of any memory
  DL_SYMBOL_TEXTURE = 3,   // a texture reference
  DL_SYMBOL_SAMPLER = 4,   // a sampler reference
  DL_SYMBOL_SURFACE = 5    // a surface reference
};

// Where a variable lies.
typedef int32_t dl_memory_space;
enum {
  DL_SPACE_NONE = 0,     // not a variable, or in another space
  DL_SPACE_GLOBAL = 1,   // __device__ and __managed__
  DL_SPACE_SHARED = 2,   // __shared__, static or dynamic
  DL_SPACE_CONSTANT = 3  // __constant__, bank 3
};

// Which definition counts: a local one for its own module, a global one for all, and of several
// weak ones one of them.
typedef int32_t dl_binding;
enum { DL_BINDING_LOCAL = 0, DL_BINDING_GLOBAL = 1, DL_BINDING_WEAK = 2 };

// The name of a status without its DL_, such as "NOT_FOUND"; "UNKNOWN" for other numbers. Static.
DL_API const char* dl_status_name(dl_status status);

// ---- Views ----

// A text of `size` bytes, and a NUL behind them that does not count. `data` is never NULL.
typedef struct dl_text {
  const char* data;
  size_t size;
} dl_text;

// `data` may be NULL where `size` is 0.
typedef struct dl_bytes {
  const uint8_t* data;
  size_t size;
} dl_bytes;

// ---- Version and targets ----

// "0.1.0". Static.
DL_API const char* dl_version(void);

// The targets that this library links for, by number: "sm_75", ..., "sm_90", "sm_90a", ... Some
// only as a later toolkit than the default one does ("--toolkit=13.4"). The name is static; NULL
// where `index` is not below the count.
DL_API size_t dl_target_count(void);
// One of them, by its place.
DL_API const char* dl_target_name(size_t index);

// ---- Texts, diagnostics and errors that are objects ----

// A text that was made for the caller.
typedef struct dl_string dl_string;
// The text, for as long as the object lives.
DL_API dl_text dl_string_text(const dl_string* string);
DL_API void dl_string_destroy(dl_string* string);

// One finding. nvlink's own wording is one field; nobody has to parse it.
typedef struct dl_diagnostic {
  size_t size;
  dl_severity severity;     // DL_ERROR and DL_FATAL: the link failed
  dl_diagnostic_code code;  // what it is about
  dl_text text;             // nvlink's wording without tool and severity; may be empty
  dl_text symbol;           // mangled name; empty where none is meant
  dl_text input;            // name of the input; empty where none is meant
  const dl_text* notes;     // what a person needs besides, one line each
  size_t note_count;        // how many texts `notes` has
  int32_t line;             // of the input, from 1; 0 for none
  int32_t verbatim;         // 1: `text` is a whole line, printed as it stands
} dl_diagnostic;

// A list of findings, which never changes.
typedef struct dl_diagnostics dl_diagnostics;
// How many there are.
DL_API size_t dl_diagnostics_count(const dl_diagnostics* list);
// Fills in `out`; its texts are the list's. DL_OUT_OF_RANGE where `index` is not below the count.
DL_API dl_status dl_diagnostics_get(const dl_diagnostics* list, size_t index, dl_diagnostic* out);
// The lines that nvlink would print of all of them, each note on a line of its own behind its
// finding, under the name `tool`; NULL stands for "devlink".
DL_API dl_status dl_diagnostics_render(const dl_diagnostics* list, const char* tool,
                                       dl_string** out);
// A JSON object for each, on a line of its own (docs/diagnostics.md).
DL_API dl_status dl_diagnostics_json(const dl_diagnostics* list, dl_string** out);
// A SARIF 2.1.0 document with all of them.
DL_API dl_status dl_diagnostics_sarif(const dl_diagnostics* list, dl_string** out);
DL_API void dl_diagnostics_destroy(dl_diagnostics* list);

// Why a call failed.
typedef struct dl_error dl_error;
// What the call returned; DL_OK of NULL.
DL_API dl_status dl_error_status(const dl_error* error);
// A sentence for a person.
DL_API dl_text dl_error_text(const dl_error* error);
// All that there is to say: of an input that was refused what is wrong with it, of an option that
// is misspelt what may have been meant. Of a link that failed the outcome has it. Part of the
// error.
DL_API const dl_diagnostics* dl_error_diagnostics(const dl_error* error);
DL_API void dl_error_destroy(dl_error* error);

// ---- Stopping ----

// Ends links early. What was asked to stop stays so: a new one is for the next link.
typedef struct dl_stop dl_stop;
// Makes one that was not asked to stop.
DL_API dl_status dl_stop_create(dl_stop** out);
// Links and lists of files of sessions that have it end soon with DL_CANCELLED, and so do those
// that begin later; a single input is still added. From any thread, at any time.
DL_API void dl_stop_request(dl_stop* stop);
DL_API void dl_stop_destroy(dl_stop* stop);

// ---- Modules and pools ----

// A cubin that was read and checked. Immutable, shared.
typedef struct dl_module dl_module;
// Gives up this reference; sessions and pools have their own.
DL_API void dl_module_destroy(dl_module* module);

// What a module says of itself.
typedef struct dl_module_summary {
  size_t size;
  dl_text target;          // "sm_90a"
  uint32_t toolkit;        // release that made it, 130 for 13.0; 0 where it does not say
  int32_t is_relocatable;  // 0: an executable cubin, which no link takes
  uint64_t bytes;          // of the file
  size_t function_count;   // how many dl_module_info_function has
  size_t symbol_count;     // how many dl_module_info_symbol has
} dl_module_summary;

// A function that a module defines. What it does not record is -1.
typedef struct dl_function {
  size_t size;
  dl_text name;       // mangled
  int32_t is_kernel;  // 1: the host can launch it
  int32_t reserved;
  uint64_t code_bytes;       // instructions of its own body
  int64_t registers;         // per thread, of its own body
  int64_t barriers;          // of its own body
  int64_t frame_bytes;       // local memory per thread, of its own body
  int64_t stack_bytes;       // the same with all that it calls, as far as the module knows
  uint64_t shared_bytes;     // of kernels: static, as far as the module has laid it out
  uint64_t constant_bytes;   // banks of its own
  uint64_t parameter_bytes;  // of kernels: the bank of their parameters
} dl_function;

// A named symbol of a module.
typedef struct dl_symbol {
  size_t size;
  dl_text name;           // mangled
  dl_symbol_kind kind;    // DL_SYMBOL_UNKNOWN only of what is undefined
  dl_binding binding;     // local ones concern no other module
  dl_memory_space space;  // of variables
  int32_t is_defined;     // 0: another input of the link must define it
  int32_t is_kernel;      // 1: a function that the host can launch
  int32_t is_managed;     // 1: a __managed__ variable
  uint64_t bytes;         // size; of undefined ones what the module says, or 0
} dl_symbol;

// The tables of a module, read once; a value of its own that outlives the module. Any thread.
typedef struct dl_module_info dl_module_info;
// Reads them. What an executable cubin says that cannot be is left out.
DL_API dl_status dl_module_inspect(const dl_module* module, dl_module_info** out);
// The module as a whole.
DL_API dl_status dl_module_info_summary(const dl_module_info* info, dl_module_summary* out);
// A function, in the order of the module's symbol table. DL_OUT_OF_RANGE behind the last.
DL_API dl_status dl_module_info_function(const dl_module_info* info, size_t index,
                                         dl_function* out);
// A symbol, likewise.
DL_API dl_status dl_module_info_symbol(const dl_module_info* info, size_t index, dl_symbol* out);
DL_API void dl_module_info_destroy(dl_module_info* info);

// Keeps modules, so that bytes that were seen before are not parsed again. For all sessions of a
// process: equal bytes are one module, whatever they are called.
typedef struct dl_pool dl_pool;
typedef struct dl_pool_options {
  size_t size;
  // Bound on the bytes of all modules' files, 0 for none: those not used for longest go first, but
  // none that somebody else refers to.
  uint64_t max_bytes;
} dl_pool_options;
typedef struct dl_pool_use {
  size_t size;
  uint64_t modules;    // in the pool now
  uint64_t bytes;      // of their files
  uint64_t hits;       // the module was there
  uint64_t misses;     // it was read
  uint64_t forgotten;  // to stay within the bound
} dl_pool_use;
// Makes an empty pool. `options` may be NULL.
DL_API dl_status dl_pool_create(const dl_pool_options* options, dl_pool** out, dl_error** error);
// Reads and checks a cubin; `out`, if not NULL, receives a reference. DL_INVALID_ARGUMENT, with
// what is wrong and at which offset, for bytes that are no well-formed cubin. They are copied only
// if the pool does not have them yet.
DL_API dl_status dl_pool_add_cubin(dl_pool* pool, const void* data, size_t size, dl_module** out,
                                   dl_error** error);
// Forgets a module; DL_NOT_FOUND where it is not in this pool. The reference stays valid.
DL_API dl_status dl_pool_remove(dl_pool* pool, const dl_module* module);
// Forgets all of them.
DL_API dl_status dl_pool_clear(dl_pool* pool);
// How it was used so far.
DL_API dl_status dl_pool_get_use(const dl_pool* pool, dl_pool_use* out);
DL_API void dl_pool_destroy(dl_pool* pool);

// ---- Caches ----

// Keeps what compilers made of PTX and LTO IR (docs/cache.md). A link is never different or failing
// because of its cache.
typedef struct dl_cache dl_cache;
typedef struct dl_directory_cache_options {
  size_t size;
  const char* path;  // made, for its owner alone, where it is not there
  // Bounds; 0 for those that the library likes (5 GiB, 7 days).
  uint64_t max_bytes;
  uint64_t max_age_seconds;  // since the last use
} dl_directory_cache_options;
// For as long as the object and the toolchains with it live. `max_bytes` 0: 256 MiB.
DL_API dl_status dl_cache_create_in_memory(uint64_t max_bytes, dl_cache** out, dl_error** error);
// A directory that any number of processes may use. DL_NOT_FOUND, DL_PERMISSION_DENIED and others
// with the system's reason where it cannot be made or opened or others may write to it.
DL_API dl_status dl_cache_create_in_directory(const dl_directory_cache_options* options,
                                              dl_cache** out, dl_error** error);
// Takes what a callback hands to the library. Valid during the callback only.
typedef struct dl_receiver dl_receiver;
// The bytes that a cache has under a key; copied.
DL_API dl_status dl_receiver_set_bytes(dl_receiver* receiver, const void* data, size_t size);

// A store of the caller's own, such as a server. Called on any thread, several at once.
typedef struct dl_cache_callbacks {
  size_t size;
  void* user;
  // Hands what was stored under the key, and nothing else, to dl_receiver_set_bytes and returns
  // DL_OK; DL_NOT_FOUND where there is nothing.
  dl_status (*find)(void* user, const uint8_t key[32], dl_receiver* receiver);
  // Keeps a value in place of what is there; it may be lost at any time.
  dl_status (*store)(void* user, const uint8_t key[32], const void* data, size_t size);
  // When neither the cache nor a toolchain with it is left; may be NULL.
  void (*release)(void* user);
} dl_cache_callbacks;
// A cache behind these callbacks. After a failure `release` was not called.
DL_API dl_status dl_cache_create(const dl_cache_callbacks* callbacks, dl_cache** out,
                                 dl_error** error);
DL_API void dl_cache_destroy(dl_cache* cache);

// ---- Toolchains ----

// What assembles PTX, compiles LTO IR and finalizes code for sm_100 and later: opened when a link
// first needs it, and kept open for all sessions. Cubins need none of it.
typedef struct dl_toolchain dl_toolchain;
// The library looks at no environment variable and in no folder but these. Everything may be NULL.
typedef struct dl_toolchain_options {
  size_t size;
  // As PATH: the first of the absolute folders in it that has `ptxas` is the toolkit's, of which
  // libNVVM and libnvJitLink are taken, too. getenv("PATH") is what the program devlink gives.
  const char* search_path;
  // Where this package has the program devlink-finalizer (bin); libdevlink_ptxcompiler.so is looked
  // for in it and in ../lib.
  const char* program_directory;
  // In place of what would be found.
  const char* ptxas;             // the program
  const char* ptxcompiler;       // libdevlink_ptxcompiler.so
  const char* nvvm;              // libNVVM or a folder above it, as for nvlink's -nvvmpath
  const char* nvjitlink;         // libnvJitLink.so.13
  const char* temporary;         // where programs may write; without it none is run
  const char* const* variables;  // NAME=value of those of dl_tool_variable that are set
  size_t variable_count;
  dl_cache* cache;
  // Options of devlink's command that concern tools, each one word: "--ptx-backend=ptxas",
  // "--lto-backend=nvjitlink", "--ptxas-timeout=60", "-nvvmpath=FOLDER".
  const char* const* options;
  size_t option_count;
} dl_toolchain_options;
typedef struct dl_toolchain_use {
  size_t size;
  uint32_t tools_opened;  // assemblers, compilers of LTO IR and finalizers
  uint32_t reserved;
  uint64_t cache_hits;    // results taken from the cache
  uint64_t cache_misses;  // results that it did not have
  uint64_t cache_stored;  // results given to it
  uint64_t cache_faults;  // calls of the cache that failed, and were done without
} dl_toolchain_use;
// `options` may be NULL: then there are no tools. Opens nothing yet: a tool that is not there fails
// the link that needs it.
DL_API dl_status dl_toolchain_create(const dl_toolchain_options* options, dl_toolchain** out,
                                     dl_error** error);
// How it was used so far.
DL_API dl_status dl_toolchain_get_use(const dl_toolchain* toolchain, dl_toolchain_use* out);
DL_API void dl_toolchain_destroy(dl_toolchain* toolchain);
// Names of the environment variables that NVIDIA's compilers look at within this process; a cache
// has to know of them. NULL behind the last. Static.
DL_API const char* dl_tool_variable(size_t index);

// ---- Callbacks ----

// The bytes of a file, copied, and which file it is: two paths of one file have equal numbers.
// nvlink links an archive once, however often it is named, and goes by this.
DL_API dl_status dl_receiver_set_file(dl_receiver* receiver, const void* data, size_t size,
                                      uint64_t device, uint64_t inode);
// An input that defines undefined symbols; may be called several times. `data` is copied.
DL_API dl_status dl_receiver_add_input(dl_receiver* receiver, const char* name, const void* data,
                                       size_t size);

// A piece of parallel work.
typedef struct dl_work dl_work;
// Does the work of one worker; `worker` is below the number given to run_workers.
DL_API void dl_work_run(const dl_work* work, uint32_t worker);

// How a link reaches the world. Each may be NULL: then it is files, threads and memory of this
// machine. Called on any thread, several at once.
typedef struct dl_environment {
  size_t size;
  void* user;
  // Hands a whole file to dl_receiver_set_file and returns DL_OK; DL_NOT_FOUND where it cannot be
  // read, DL_RESOURCE_EXHAUSTED where it has more than `max_bytes`.
  dl_status (*read_file)(void* user, const char* path, uint64_t max_bytes, dl_receiver* receiver);
  // 1 where there is anything at the path. To be given with read_file.
  int32_t (*exists)(void* user, const char* path);
  // How many workers run at a time if the caller leaves it open; at least 1.
  uint32_t (*parallelism)(void* user);
  // Calls dl_work_run(work, 0) on this thread and, as far as there are threads for it, 1 to
  // workers - 1 on others at the same time; returns when all calls have returned. All but 0 may
  // come late or be left out; none is run twice.
  void (*run_workers)(void* user, uint32_t workers, const dl_work* work);
  // Leave to use memory for something large: 1 where there is, which release_memory gives back with
  // the same number. Both or none.
  int32_t (*reserve_memory)(void* user, uint64_t bytes);
  void (*release_memory)(void* user, uint64_t bytes);
} dl_environment;

// Lines about what the link does. On the thread that runs the session.
typedef void (*dl_log_callback)(void* user, dl_log_level level, dl_text line);

// How far a link has come.
typedef struct dl_progress {
  size_t size;
  dl_phase phase;  // what it is at
  uint32_t done;   // steps of the phase: inputs, texts, programs
  uint32_t total;  // 0 where it is not known
  uint32_t reserved;
  dl_text subject;  // the input or piece that the next step is about; may be empty
} dl_progress;
// Told when a phase begins and whenever some of its steps are done. On the thread that runs the
// session.
typedef void (*dl_progress_callback)(void* user, const dl_progress* progress);

// A symbol that inputs refer to and none defines.
typedef struct dl_undefined_symbol {
  dl_text name;         // mangled
  dl_symbol_kind kind;  // DL_SYMBOL_UNKNOWN where no input says
  uint32_t reserved;
  const dl_text* inputs;  // names of those that refer to it
  size_t input_count;     // how many names `inputs` has
} dl_undefined_symbol;
// Hands inputs that define some of these to dl_receiver_add_input, or none. Asked again for what
// those lack, each name once in a link; they take part in this link alone. A status other than
// DL_OK ends the link and becomes its status.
typedef dl_status (*dl_undefined_callback)(void* user, const dl_undefined_symbol* symbols,
                                           size_t count, dl_receiver* receiver);

// ---- Where the time goes ----

// Spans of time that sessions record, from the making of the object on. Any thread.
typedef struct dl_time_trace dl_time_trace;
// Makes one without spans.
DL_API dl_status dl_time_trace_create(dl_time_trace** out);
// All spans that have ended, for Chrome's about:tracing, Perfetto and Speedscope.
DL_API dl_status dl_time_trace_json(const dl_time_trace* trace, dl_string** out);
DL_API void dl_time_trace_destroy(dl_time_trace* trace);

// ---- Sessions ----

// A list of inputs and the options to link them with.
typedef struct dl_session dl_session;
typedef struct dl_session_options {
  size_t size;
  const char* target;  // "sm_90"; NULL: the option text -arch names it. Of both -arch counts
  // nvlink's option texts, as dl_session_set_option takes them.
  const char* const* options;
  size_t option_count;
  // Shared with other sessions; NULL: no tools, no pool, nothing that stops it.
  dl_toolchain* toolchain;
  dl_pool* pool;
  dl_stop* stop;
  const dl_environment* environment;  // copied
  dl_log_callback log;
  void* log_user;
  dl_log_level log_level;         // the lowest level that is wanted
  int32_t end_at_rejected_input;  // 1: as with nvlink, an input that cannot be used ends the link
  dl_progress_callback progress;
  void* progress_user;
  dl_undefined_callback undefined;  // not with -r and -lto
  void* undefined_user;
  // What has no option text. 0 stands for what the library likes.
  uint32_t threads;           // jobs at a time; 0: environment.parallelism
  int32_t read_thin_members;  // 1: a thin archive from memory may name files to be read
  uint64_t memory_budget;     // estimated bytes of jobs that run at a time (2 GiB)
  uint64_t max_input_bytes;   // of one file or input from memory (4 GiB); nothing larger is copied
  uint64_t max_memory_bytes;  // of all inputs together (8 GiB)
  // What is made where it is asked for.
  dl_time_trace* time_trace;  // where the time of inputs and links is recorded
  // The working directory, for dl_outcome_register_file: ids are made of it and of names. Given, a
  // link leaves out what an earlier link has linked already (docs/inputs.md).
  const char* register_directory;
  int32_t details;         // 1: for dl_outcome_report_html, dl_outcome_map and dl_outcome_why_live
  int32_t call_graph_dot;  // 1: for dl_outcome_call_graph_dot
} dl_session_options;

// DL_INVALID_ARGUMENT, with nvlink's sentence, for options that are wrong or contradict each other,
// DL_UNIMPLEMENTED for what this release does not do. Without a target what contradicts is found by
// the first use.
DL_API dl_status dl_session_create(const dl_session_options* options, dl_session** out,
                                   dl_error** error);
// Gives the session one of nvlink's options as one word: "-maxrregcount=64", "-lto", "-g", "-lm",
// "-L/usr/lib"; docs/cli.md has them all. DL_INVALID_ARGUMENT with nvlink's sentence for one that
// is unknown or wrong; the session is then as before. Options that contradict each other are
// refused by the first add or link, since one may be missing yet. Options that name files which the
// command writes or questions that it answers (--report and others) are refused, with the name of
// the function that has the same, and so are those of tools, which dl_toolchain_create takes. Of -o
// the name counts, which stands in the output with -g; what -dump-callgraph prints is in the
// diagnostics of the outcome. DL_FAILED_PRECONDITION once there was an add or a link.
DL_API dl_status dl_session_set_option(dl_session* session, const char* option, dl_error** error);

// Each adds one input of any kind, behind those before: a cubin, PTX, LTO IR, a fat binary, a host
// object with device code, or an archive of them. A failure leaves the input out, and the session
// goes on; the error has the diagnostics, and so has dl_session_diagnostics. DL_NOT_FOUND for a
// file that cannot be read, DL_INVALID_ARGUMENT for one that is damaged, DL_FAILED_PRECONDITION for
// one that is not for this target, DL_RESOURCE_EXHAUSTED for one beyond a bound, and where memory
// runs out, after which every link of the session fails. What is no device code and has none in it
// is no failure, and is passed over; a diagnostic (DL_NO_DEVICE_CODE) says so, but not of an
// archive that is a file nor with --compat=nvlink. 1 to 55 bytes that are none are damaged
// (docs/inputs.md).
DL_API dl_status dl_session_add_file(dl_session* session, const char* path, dl_error** error);
// `name` is how messages call it. PTX needs no NUL at its end; `size` counts.
DL_API dl_status dl_session_add_bytes(dl_session* session, const char* name, const void* data,
                                      size_t size, dl_error** error);
// The same for a cubin alone: nothing is copied where the pool has these bytes already.
DL_API dl_status dl_session_add_cubin(dl_session* session, const char* name, const void* data,
                                      size_t size, dl_error** error);
// A module that a pool gave out; it need not be the session's pool.
DL_API dl_status dl_session_add_module(dl_session* session, const char* name,
                                       const dl_module* module, dl_error** error);

// Many files at once, in this order, read in parallel. All of them are added, with
// dl_session_options.end_at_rejected_input none behind the first that failed; the status is that
// one's. DL_CANCELLED adds none.
DL_API dl_status dl_session_add_files(dl_session* session, const char* const* paths, size_t count,
                                      dl_error** error);

// One input of several from memory. `data` is copied; `name` is how messages call it.
typedef struct dl_input {
  const char* name;
  const void* data;
  size_t size;
} dl_input;
// The same from memory.
DL_API dl_status dl_session_add_all_bytes(dl_session* session, const dl_input* inputs, size_t count,
                                          dl_error** error);

// Names in one section of a host object. An entry is a pattern of a mangled name in which `*`
// stands for any characters ("_Z5scale*"); variables stand there without it.
typedef struct dl_name_list {
  const char* const* names;  // each with a NUL behind it
  size_t count;              // how many texts `names` has
  int32_t present;           // 1: the section is there, be it without names
  int32_t reserved;
} dl_name_list;
// What the host code of one input refers to, as nvcc records it: names that other files can see,
// and static ones. Kernels that no list names are left out, unless an input has no list at all and
// so says nothing (docs/host-references.md).
typedef struct dl_host_references {
  size_t size;
  dl_name_list kernels_external;    // .nvHRKE
  dl_name_list kernels_internal;    // .nvHRKI
  dl_name_list variables_external;  // .nvHRDE
  dl_name_list variables_internal;  // .nvHRDI
  dl_name_list constants_external;  // .nvHRCE
  dl_name_list constants_internal;  // .nvHRCI
} dl_host_references;
// dl_session_add_cubin with what the host code that the cubin belongs to refers to.
DL_API dl_status dl_session_add_cubin_with_references(dl_session* session, const char* name,
                                                      const void* data, size_t size,
                                                      const dl_host_references* references,
                                                      dl_error** error);
// The same of a module that a pool gave out.
DL_API dl_status dl_session_add_module_with_references(dl_session* session, const char* name,
                                                       const dl_module* module,
                                                       const dl_host_references* references,
                                                       dl_error** error);
// What host code refers to that brings no device code into this link.
DL_API dl_status dl_session_add_host_references(dl_session* session,
                                                const dl_host_references* references,
                                                dl_error** error);
// What the inputs of a session say of their host code, whoever gave the lists.
typedef struct dl_reference_lists dl_reference_lists;
// Of the inputs so far, in their order; the caller destroys it.
DL_API dl_status dl_session_host_references(const dl_session* session, dl_reference_lists** out);
// How many there are: one for each object with device code, and for each without that counts.
DL_API size_t dl_reference_lists_count(const dl_reference_lists* lists);
// Fills in `out`, and the name of the input in `input`, which may be NULL; both are the object's.
// DL_OUT_OF_RANGE behind the last.
DL_API dl_status dl_reference_lists_get(const dl_reference_lists* lists, size_t index,
                                        dl_text* input, dl_host_references* out);
DL_API void dl_reference_lists_destroy(dl_reference_lists* lists);

// A session with the same options and inputs that goes its own way.
DL_API dl_status dl_session_copy(const dl_session* session, dl_session** out, dl_error** error);

// What options and inputs so far gave rise to; the caller destroys it.
DL_API dl_status dl_session_diagnostics(const dl_session* session, dl_diagnostics** out);

// What came of one link. Never changes, and outlives its session.
typedef struct dl_outcome dl_outcome;

// Links what was added; libraries that -l names are found and linked behind it. Any number of
// times, with further inputs between. Returns the status of the link: DL_NOT_FOUND for undefined
// references, DL_ALREADY_EXISTS for multiple definitions, DL_FAILED_PRECONDITION for other
// contradictions, DL_RESOURCE_EXHAUSTED for limits of the target, DL_CANCELLED. Of a link that
// fails, too, there is an outcome, with diagnostics; NULL only where none could be made. No inputs
// make an empty cubin.
DL_API dl_status dl_session_link(dl_session* session, dl_outcome** out, dl_error** error);

// Takes a file from its first byte to its last, on the thread that links. A status other than DL_OK
// ends the link and becomes its status; what was appended until then is not a file.
typedef struct dl_sink {
  size_t size;
  void* user;
  dl_status (*begin)(void* user, uint64_t bytes);  // once, with the size; may be NULL
  // The next bytes, few or megabytes; valid during the call.
  dl_status (*append)(void* user, const void* data, size_t size);
} dl_sink;
// The same, but the cubin goes to `sink` in pieces: it is never whole in memory. Nothing is
// appended before the link is known to succeed.
DL_API dl_status dl_session_link_to(dl_session* session, const dl_sink* sink, dl_outcome** out,
                                    dl_error** error);
DL_API void dl_session_destroy(dl_session* session);

// ---- Outcomes ----

// What dl_session_link returned.
DL_API dl_status dl_outcome_status(const dl_outcome* outcome);
// The sentence to it; empty for DL_OK.
DL_API dl_text dl_outcome_message(const dl_outcome* outcome);
// The cubin; empty after a failure, where a sink has it, and with -emit-ptx.
DL_API dl_bytes dl_outcome_cubin(const dl_outcome* outcome);
// With -emit-ptx the PTX; otherwise empty.
DL_API dl_text dl_outcome_ptx(const dl_outcome* outcome);
// All that there is to say, in nvlink's order. Part of the outcome.
DL_API const dl_diagnostics* dl_outcome_diagnostics(const dl_outcome* outcome);

// What is in the output, and what is not. Of a failed link too, as far as it came.
typedef struct dl_report {
  size_t size;
  size_t kernel_count;         // how many dl_outcome_kernel has
  size_t dead_function_count;  // how many dl_outcome_dead_function has
  uint64_t global_bytes;       // .nv.global and .nv.global.init
  uint64_t constant_bytes;     // .nv.constant3: what __constant__ variables take
  uint64_t input_bytes;        // of all that was linked, as cubins or LTO IR
  uint64_t output_bytes;       // of the file, 0 after a failure
  uint32_t input_count;        // cubins, or modules of a whole program of LTO IR, that took part
  int32_t is_whole_program;    // 1: what LTO made is the output, and was not linked
  size_t registered_count;     // how many dl_outcome_registered_input has
  size_t compiler_run_count;   // how many dl_outcome_compiler_run has
  int32_t inputs_accepted;     // 1: no input was in error, so that there is a register file
  int32_t dropped_device_runtime;  // 1: libcudadevrt was given, and nothing needs it
} dl_report;
// Resources of one kernel, everything it calls included.
typedef struct dl_kernel {
  size_t size;
  dl_text name;              // mangled
  uint32_t registers;        // per thread
  uint32_t barriers;         // named barriers per block
  int64_t stack_bytes;       // per thread; -1 where recursion leaves it open
  uint64_t shared_bytes;     // static, per block
  uint64_t parameter_bytes;  // constant bank 0
} dl_kernel;
// The report but for its lists.
DL_API dl_status dl_outcome_report(const dl_outcome* outcome, dl_report* out);
// A kernel of the report, in the order of the inputs. DL_OUT_OF_RANGE behind the last.
DL_API dl_status dl_outcome_kernel(const dl_outcome* outcome, size_t index, dl_kernel* out);
// The mangled name of a function that no kernel reaches; empty behind the last.
DL_API dl_text dl_outcome_dead_function(const dl_outcome* outcome, size_t index);
// The report as one JSON object, which is only ever extended (docs/report.md). With
// dl_session_options.details it has sections, functions with their callees, variables and why each
// is there.
DL_API dl_status dl_outcome_report_json(const dl_outcome* outcome, dl_string** out);

// Who calls whom, for Graphviz, with dl_session_options.call_graph_dot; otherwise, and of a link
// that failed before its inputs were one program, empty.
DL_API dl_text dl_outcome_call_graph_dot(const dl_outcome* outcome);

// Each of these is made of the details: DL_FAILED_PRECONDITION without dl_session_options.details.
//
// The report and the diagnostics as one page that needs nothing else; `title` heads it.
DL_API dl_status dl_outcome_report_html(const dl_outcome* outcome, const char* title,
                                        dl_string** out, dl_error** error);
// All inputs, sections, kernels, functions and variables, as linkers for hosts write it.
DL_API dl_status dl_outcome_map(const dl_outcome* outcome, dl_string** out, dl_error** error);
// Bytes by kind of section, input, function and template, and what copies of one function cost.
DL_API dl_status dl_outcome_sizes(const dl_outcome* outcome, dl_string** out, dl_error** error);
// The way from a kernel to a function, or why there is none. A name is as the inputs have it or as
// C++ spells it; DL_NOT_FOUND, with names that are close, for what nothing is called.
DL_API dl_status dl_outcome_why_live(const dl_outcome* outcome, const char* symbol, dl_string** out,
                                     dl_error** error);
// What comes of an input and who needs it, or why it is not linked.
DL_API dl_status dl_outcome_why_input(const dl_outcome* outcome, const char* input, dl_string** out,
                                      dl_error** error);
// Which of the functions that a kernel calls sets its registers, its stack and its barriers.
DL_API dl_status dl_outcome_why_registers(const dl_outcome* outcome, const char* kernel,
                                          dl_string** out, dl_error** error);

// A run of a compiler that ended well, as nvlink -time lists it.
typedef struct dl_compiler_run {
  size_t size;
  dl_text compiler;      // "ptxas", or "cicc" for what compiles LTO IR
  dl_text source;        // what was compiled and what came out
  dl_text input;         // the file that was compiled; may be empty
  dl_text output;        // the file that came out
  uint64_t nanoseconds;  // from its start to its end
} dl_compiler_run;
// One of them, in the order of their inputs. DL_OUT_OF_RANGE behind the last.
DL_API dl_status dl_outcome_compiler_run(const dl_outcome* outcome, size_t index,
                                         dl_compiler_run* out);

// An input as nvlink's --register-link-binaries lists it.
typedef struct dl_registered_input {
  size_t size;
  dl_text name;        // as it was added
  const dl_text* ids;  // of the modules in it; none: an id is made of its name
  size_t id_count;     // how many texts `ids` has
  int32_t left_out;    // 1: an earlier link has linked it already
  int32_t reserved;
} dl_registered_input;
// One of them, in link order. DL_OUT_OF_RANGE behind the last.
DL_API dl_status dl_outcome_registered_input(const dl_outcome* outcome, size_t index,
                                             dl_registered_input* out);
// The text of the register file, of a link that failed, too. DL_FAILED_PRECONDITION without
// dl_session_options.register_directory, and where an input was in error.
DL_API dl_status dl_outcome_register_file(const dl_outcome* outcome, dl_string** out,
                                          dl_error** error);
// 1 where a register file with these bytes stays as it is: nvcc links once for each architecture.
DL_API int32_t dl_outcome_keeps_register_file(const dl_outcome* outcome, const void* existing,
                                              size_t size);
DL_API void dl_outcome_destroy(dl_outcome* outcome);

// NOLINTEND(modernize-*)

#ifdef __cplusplus
}  // extern "C"
#endif
