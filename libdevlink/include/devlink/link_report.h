// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/link_report.h
//
// What came out of a link, as data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace devlink {

// Resources of one kernel, everything it calls included.
struct KernelReport {
  std::string name;                          // mangled
  std::uint32_t registers = 0;               // per thread
  std::uint32_t barriers = 0;                // named barriers per block
  std::optional<std::uint64_t> stack_bytes;  // per thread; empty where recursion leaves it open
  std::uint64_t shared_bytes = 0;            // static, per block
  std::uint64_t parameter_bytes = 0;         // constant bank 0
};

// Index in a list of LinkDetails; none.
inline constexpr std::uint32_t kNoIndex = 0xffffffff;

// How a cubin came into a link.
enum class InputOrigin : std::uint8_t {
  kFile,           // an input that was named, or an object that holds several
  kArchiveMember,  // of an archive or library; every member is linked
  kDeviceRuntime,  // libcudadevrt, which is linked because something needs it
  kCompiled,       // what link-time optimization made of all LTO IR
  kProvided,       // from the caller's DefinitionProvider
};

// A cubin that took part in a link.
struct InputDetails {
  std::string name;                         // as diagnostics call it
  InputOrigin origin = InputOrigin::kFile;  // how it came into the link
  std::uint64_t bytes = 0;                  // of the cubin
};

// An object that was given and is not linked.
struct LeftOutInput {
  std::string name;    // as diagnostics call it
  std::string reason;  // a half-sentence: "an earlier link has linked it already"
};

// A section of the output.
struct SectionDetails {
  std::string name;              // such as `.text._Z1kPi`
  std::uint64_t bytes = 0;       // in memory
  std::uint64_t file_bytes = 0;  // in the file; 0 for memory that is only reserved
  std::uint64_t align = 1;       // in bytes, a power of two
};

// Why a function is in the output.
enum class LiveReason : std::uint8_t {
  kDead,                  // it is not
  kKernel,                // LinkDetails::kernel_choice says why
  kCalled,                // by `reached_from`
  kCalledThroughPointer,  // by `reached_from`, which calls functions of that type
  kAddressTaken,          // by `reached_from`, or by a variable's initial value
  kKeptAll,   // -g, -r and -preserve-relocs leave out nothing; or a compiler made the whole program
  kAskedFor,  // LinkOptions::kept_functions names it, or what it names comes to it
};

// A function that an input defines. `input`, `reached_from` and `callees` are indices.
struct FunctionDetails {
  std::string name;                    // mangled
  std::uint32_t input = kNoIndex;      // that defines it; of several weak copies the one that stays
  bool is_kernel = false;              // the host can launch it
  bool is_address_taken = false;       // code or a variable holds a pointer to it
  LiveReason why = LiveReason::kDead;  // kDead: it is left out
  // One step nearer to a kernel on a shortest way, or to what a pointer leads to.
  std::uint32_t reached_from = kNoIndex;
  std::uint64_t code_bytes = 0;   // instructions of its own body
  std::uint32_t registers = 0;    // of its own body; KernelReport has those of all that it calls
  std::uint32_t barriers = 0;     // of its own body
  std::uint32_t frame_bytes = 0;  // of its own body
  std::uint32_t copies = 1;       // how many inputs define it
  std::uint64_t discarded_bytes = 0;  // of code of the copies that went
  // Whether NVIDIA's finalizer changed its code (sm_100 and later). Empty of what is left out, and
  // where the finalizer had no part in the link or made code for another architecture.
  std::optional<bool> is_finalized;
  std::vector<std::uint32_t> callees;  // functions that it calls by name, each once
};

// Functions that call through a pointer to one type of function, and those that it can point to.
// Indices in LinkDetails::functions.
struct PointerCalls {
  std::vector<std::uint32_t> callers;  // functions with such a call
  std::vector<std::uint32_t> targets;  // functions of that type whose address is taken
};

// Where a variable lies.
enum class VariableMemory : std::uint8_t { kGlobal, kConstant, kShared };

// A variable that an input defines.
struct VariableDetails {
  std::string name;                                 // mangled
  std::uint32_t input = kNoIndex;                   // that defines it, an index
  VariableMemory memory = VariableMemory::kGlobal;  // where it lies
  std::string section;                              // of the output
  std::uint64_t bytes = 0;                          // its size
  std::uint64_t offset = 0;  // in the section; of shared memory that of its first kernel
};

// How the kernels that stay were chosen.
enum class KernelChoice : std::uint8_t {
  kAll,               // no host code says which kernels it launches
  kHostReferences,    // kernels that host code refers to
  kNames,             // LinkOptions::kernels_used
  kNothingIsLeftOut,  // -g, -r, -preserve-relocs
};

// Everything of a link that people ask about. Only with LinkOptions::details.
struct LinkDetails {
  KernelChoice kernel_choice = KernelChoice::kAll;  // how the kernels that stay were chosen
  std::vector<InputDetails> inputs;                 // in link order
  std::vector<std::string> lto_inputs;     // whose LTO IR InputOrigin::kCompiled is made of
  std::vector<LeftOutInput> left_out;      // objects that were given for nothing
  std::vector<SectionDetails> sections;    // of the output, in its order
  std::vector<FunctionDetails> functions;  // in the order of the inputs
  // One for each type of function that is called through pointers.
  std::vector<PointerCalls> pointer_calls;
  std::vector<VariableDetails> variables;  // in the order of the symbol table
};

// What is in the output of a link, and what is not. Names are as the inputs have them.
struct LinkReport {
  std::vector<KernelReport> kernels;        // in the order of the inputs
  std::vector<std::string> dead_functions;  // mangled names of functions that no kernel reaches
  std::uint64_t global_bytes = 0;           // .nv.global and .nv.global.init
  std::uint64_t constant_bytes = 0;         // .nv.constant3
  std::uint64_t input_bytes = 0;            // of all that was linked, as cubins or LTO IR
  std::uint64_t output_bytes = 0;           // of the file, 0 after a failure
  std::uint32_t inputs = 0;  // cubins, or modules of a whole program of LTO IR, that took part
  // With LinkOptions::details. Shared, since a report is copied with its outcome; immutable.
  std::shared_ptr<const LinkDetails> details;
};

// One JSON object, UTF-8, keys as the fields above; docs/report.md has the schema. The layout is
// only ever extended.
std::string ToJson(const LinkReport& report);

}  // namespace devlink
