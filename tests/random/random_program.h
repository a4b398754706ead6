// SPDX-License-Identifier: Apache-2.0
//
// What the generators of random programs take and give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace devlink::testing {

// Parts of the language a random program may use. Switching one off leaves the rest of the program
// valid, but it is another program: the random numbers fall differently.
enum Feature : std::uint32_t {
  kWeak = 1U << 0,             // weak functions and entries
  kWeakReplacement = 1U << 1,  // weak copies with different bodies
  kStatics = 1U << 2,          // file-local functions and variables, with equal names across files
  kGlobals = 1U << 3,          // .global variables
  kConstants = 1U << 4,        // .const variables
  kShared = 1U << 5,           // static shared memory, file scope and function scope
  kExternShared = 1U << 6,     // dynamic shared memory
  kFrames = 1U << 7,           // local arrays, alloca
  kPointers = 1U << 8,         // addresses of variables and functions in initialisers
  kIndirect = 1U << 9,         // calls through registers, addresses taken
  kRecursion = 1U << 10,       // direct recursion
  kBarriers = 1U << 11,        // numbered barriers
  kDoubles = 1U << 12,         // double constants (constant bank 2), slow-path helpers
  kJumpTables = 1U << 13,      // switch tables (constant bank 2)
  kPressure = 1U << 14,        // many live registers
  kLoops = 1U << 15,           // divergent loops
  kSyscalls = 1U << 16,        // vprintf, malloc, free, __assertfail
  kTextures = 1U << 17,        // texture and surface objects
  kAsync = 1U << 18,           // cp.async, mbarrier, bulk copies
  kClusters = 1U << 19,        // sm_90 clusters
  kSpecials = 1U << 20,        // warp intrinsics, atomics, fences, special registers
  kManaged = 1U << 21,         // managed variables
  kCommon = 1U << 22,          // .common variables
  kDebugInfo = 1U << 23,       // -lineinfo, -g, nvlink -g
  kReferences = 1U << 24,      // texture and surface references (.texref)
  kAlias = 1U << 25,           // .alias
  kMaskedPointers = 1U << 26,  // single bytes of addresses in initialisers
  kWeakObjects = 1U << 27,     // weak variables
  kStrongOverWeak = 1U << 28,  // a strong definition beside weak ones
  kLaunchBounds = 1U << 29,    // .maxntid, .reqntid, .minnctapersm, .maxnreg
  kSharedAcrossFiles = 1U << 30,  // .visible .shared in one file, .extern .shared in others
  kIndependentCode = 1U << 31,    // ptxas -pic
};

inline constexpr std::uint32_t kAllFeatures = ~0U;

// How large and how varied a program may become. Small limits make small programs: a difference
// that survives them is easier to understand.
struct GeneratorLimits {
  int max_files = 5;
  int max_functions = 14;  // per file
  int max_variables = 10;  // per program
  int max_statements = 5;  // per function
  std::uint32_t features = kAllFeatures;
};

// The target, as in sm_90a: number 90, variant 'a' (0 for none).
struct ProgramTarget {
  int number = 80;
  char variant = 0;
};

struct SourceFile {
  std::string name;  // "f0.ptx"
  std::string text;
  std::vector<std::string> flags;  // for ptxas or nvcc, besides -arch and -c
  int compile_for = 0;             // another architecture than the program's; 0: the same
};

// A list of the kernels or variables that an object's host code refers to.
struct HostList {
  std::string section;  // ".nvHRKE"
  std::vector<std::string> names;
};

// What some of the compiled files are handed to the linker in.
struct Package {
  enum class Form { kCubin, kFatbin, kHostObject };
  struct Member {
    std::size_t file = 0;  // in RandomProgram::files
    Form form = Form::kCubin;
    bool with_ptx = false;  // the fat binary has the PTX, too, behind the cubin,
    bool only_ptx = false;  // or the PTX alone
    bool has_lists = false;
    std::vector<HostList> lists;  // of a host object
  };
  std::string name;  // "p0.o"
  bool is_archive = false;
  std::vector<Member> members;  // one where it is not an archive
};

struct RandomProgram {
  std::vector<SourceFile> files;        // in link order
  std::vector<Package> packages;        // in link order; none: each file is a cubin of its own
  std::vector<std::string> link_flags;  // for nvlink, besides -arch: "-g", "-r"
  bool link_again = false;              // of -r: then links what nvlink made to the end, too
};

}  // namespace devlink::testing
