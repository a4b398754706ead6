// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/module.h
//
// A module: one cubin that was read and checked.
#pragma once

#include <memory>

namespace devlink {

namespace internal {
class Module;
}  // namespace internal

// A module is immutable and shared; it stays alive as long as anyone holds a reference.
using ModuleRef = std::shared_ptr<const internal::Module>;

}  // namespace devlink
