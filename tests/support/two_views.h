// SPDX-License-Identifier: Apache-2.0
//
// Compares nvlink's file for sm_100 or later with one that was made without NVIDIA's finalizer.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace devlink::testing {

struct TwoViewComparison {
  std::string difference;  // that no finalizer explains; empty where there is none
  int finalized = 0;       // functions that nvlink's finalizer has changed
};

// Where nvlink's finalizer changed a function, its code, its capsule, its size, its jump tables and
// what is said of places in its code may differ, and so may `.debug_frame`, line tables and
// registers of the whole file; the mask of tag 0b in `.nv.compat` is the finalizer's in any case.
// All else must be equal, the order and the headers of sections included. The tools' own record is
// not compared.
TwoViewComparison CompareTwoViews(std::span<const std::uint8_t> theirs,
                                  std::span<const std::uint8_t> ours);

}  // namespace devlink::testing
