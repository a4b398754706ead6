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
  std::string name;             // mangled
  std::uint32_t registers = 0;  // per thread
  std::uint32_t barriers = 0;
  std::optional<std::uint64_t> stack_bytes;  // per thread; empty where recursion leaves it open
  std::uint64_t shared_bytes = 0;            // static, per block
  std::uint64_t parameter_bytes = 0;         // constant bank 0
};

// Index in a list of LinkDetails; none.
inline constexpr std::uint32_t kNoIndex = 0xffffffff;

enum class InputOrigin : std::uint8_t {
  kFile,           // an input that was named, or an object that holds several
  kArchiveMember,  // of an archive or library; every member is linked
  kDeviceRuntime,  // libcudadevrt, which is linked because something needs it
  kCompiled,       // what link-time optimization made of all LTO IR
  kProvided,       // from the caller's DefinitionProvider
};

// A cubin that took part in a link.
struct InputDetails {
  std::string name;
  InputOrigin origin = InputOrigin::kFile;
  std::uint64_t bytes = 0;  // of the cubin
};

// An object that was given and is not linked.
struct LeftOutInput {
  std::string name;
  std::string reason;  // a half-sentence: "an earlier link has linked it already"
};

// A section of the output.
struct SectionDetails {
  std::string name;
  std::uint64_t bytes = 0;  // in memory
  std::uint64_t file_bytes = 0;
  std::uint64_t align = 1;
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
  std::string name;                // mangled
  std::uint32_t input = kNoIndex;  // that defines it; of several weak copies the one that stays
  bool is_kernel = false;
  bool is_address_taken = false;
  LiveReason why = LiveReason::kDead;
  std::uint32_t reached_from = kNoIndex;  // one step nearer to a kernel, on a shortest way
  std::uint64_t code_bytes = 0;
  std::uint32_t registers = 0;    // of its own body; KernelReport has those of all that it calls
  std::uint32_t barriers = 0;     // of its own body
  std::uint32_t frame_bytes = 0;  // of its own body
  std::uint32_t copies = 1;       // how many inputs define it
  std::uint64_t discarded_bytes = 0;   // of code of the copies that went
  std::vector<std::uint32_t> callees;  // functions that it calls by name, each once
};

// Functions that call through a pointer to one type of function, and those that it can point to.
// Indices in LinkDetails::functions.
struct PointerCalls {
  std::vector<std::uint32_t> callers;
  std::vector<std::uint32_t> targets;
};

enum class VariableMemory : std::uint8_t { kGlobal, kConstant, kShared };

struct VariableDetails {
  std::string name;
  std::uint32_t input = kNoIndex;
  VariableMemory memory = VariableMemory::kGlobal;
  std::string section;  // of the output
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  // in the section; of shared memory that of its first kernel
};

enum class KernelChoice : std::uint8_t {
  kAll,               // no host code says which kernels it launches
  kHostReferences,    // kernels that host code refers to
  kNames,             // LinkOptions::kernels_used
  kNothingIsLeftOut,  // -g, -r, -preserve-relocs
};

// Everything of a link that people ask about. Only with LinkOptions::details.
struct LinkDetails {
  KernelChoice kernel_choice = KernelChoice::kAll;
  std::vector<InputDetails> inputs;     // in link order
  std::vector<std::string> lto_inputs;  // whose LTO IR InputOrigin::kCompiled is made of
  std::vector<LeftOutInput> left_out;
  std::vector<SectionDetails> sections;    // of the output, in its order
  std::vector<FunctionDetails> functions;  // in the order of the inputs
  std::vector<PointerCalls> pointer_calls;
  std::vector<VariableDetails> variables;
};

// What is in the output of a link, and what is not. Names are as the inputs have them.
struct LinkReport {
  std::vector<KernelReport> kernels;        // in the order of the inputs
  std::vector<std::string> dead_functions;  // mangled names of functions that no kernel reaches
  std::uint64_t global_bytes = 0;           // .nv.global and .nv.global.init
  std::uint64_t constant_bytes = 0;         // .nv.constant3
  std::uint64_t input_bytes = 0;
  std::uint64_t output_bytes = 0;
  std::uint32_t inputs = 0;
  // With LinkOptions::details. Shared, since a report is copied with its outcome; immutable.
  std::shared_ptr<const LinkDetails> details;
};

// One JSON object, UTF-8, keys as the fields above; docs/report.md has the schema. The layout is
// only ever extended.
std::string ToJson(const LinkReport& report);

}  // namespace devlink
