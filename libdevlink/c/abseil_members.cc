// SPDX-License-Identifier: Apache-2.0
//
// Debian 12 compiles the archives of Abseil for programs. Three members keep variables of threads
// in a way that no shared object can have (relocation R_X86_64_TPOFF32); whatever else the linker
// takes of the archives, it can take for libdevlink.so.0, too. What it needs of the three stands
// here, as Abseil's headers declare it, so that those members are not taken. Without this file
// libdevlink.so.0 would need sixteen shared libraries of Abseil.
#include <cstddef>
#include <cstdint>
#include <new>
#include <thread>

#include "absl/base/internal/sysinfo.h"
#include "absl/base/options.h"
#include "absl/container/internal/raw_hash_set.h"
#include "absl/strings/internal/cordz_functions.h"

namespace absl {
ABSL_NAMESPACE_BEGIN

// ---- In place of raw_hash_set.cc ----

namespace container_internal {

// What a table without elements points to: probing ends at once.
const ctrl_t kEmptyGroup[16] = {ctrl_t::kSentinel, ctrl_t::kEmpty, ctrl_t::kEmpty, ctrl_t::kEmpty,
                                ctrl_t::kEmpty,    ctrl_t::kEmpty, ctrl_t::kEmpty, ctrl_t::kEmpty,
                                ctrl_t::kEmpty,    ctrl_t::kEmpty, ctrl_t::kEmpty, ctrl_t::kEmpty,
                                ctrl_t::kEmpty,    ctrl_t::kEmpty, ctrl_t::kEmpty, ctrl_t::kEmpty};

template FindInfo find_first_non_full(const ctrl_t*, std::size_t, std::size_t);

// Abseil chooses by chance, in debug builds alone, to find who depends on the order.
bool ShouldInsertBackwards(std::size_t /*hash*/, const ctrl_t* /*ctrl*/) { return false; }

// The bytes behind the sentinel mirror the first ones; a small table has fewer than there is room
// for.
void ConvertDeletedToEmptyAndFullToDeleted(ctrl_t* ctrl, std::size_t capacity) {
  for (std::size_t i = 0; i < capacity; ++i) {
    ctrl[i] = IsFull(ctrl[i]) ? ctrl_t::kDeleted : ctrl_t::kEmpty;
  }
  ctrl[capacity] = ctrl_t::kSentinel;
  for (std::size_t i = 0; i < NumClonedBytes(); ++i) {
    ctrl[capacity + 1 + i] = i < capacity ? ctrl[i] : ctrl_t::kEmpty;
  }
}

void HashTableSizeOverflow() { throw std::bad_alloc(); }

}  // namespace container_internal

// ---- In place of cordz_functions.cc: no Cord is sampled ----

namespace cord_internal {

ABSL_CONST_INIT thread_local std::int64_t cordz_next_sample = INT64_MAX;

bool cordz_should_profile_slow() {
  cordz_next_sample = INT64_MAX;
  return false;
}

std::int32_t get_cordz_mean_interval() { return 0; }
void set_cordz_mean_interval(std::int32_t /*mean_interval*/) {}

}  // namespace cord_internal

// ---- In place of sysinfo.cc ----

namespace base_internal {

int NumCPUs() { return static_cast<int>(std::thread::hardware_concurrency()); }

// Of statistics on locks alone, which nobody asks for: not known.
double NominalCPUFrequency() { return 1.0; }

}  // namespace base_internal

ABSL_NAMESPACE_END
}  // namespace absl
