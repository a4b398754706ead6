// SPDX-License-Identifier: Apache-2.0
#include "base/guard.h"

#include <exception>
#include <new>
#include <stdexcept>

#include "absl/strings/str_cat.h"

namespace devlink::base {

namespace {

// Rethrows what is being handled.
absl::Status Describe() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("out of memory");
  } catch (const std::length_error&) {
    return absl::ResourceExhaustedError("out of memory: something is larger than can be");
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("unexpected exception: ", error.what()));
  } catch (...) {
    return absl::InternalError("unexpected exception");
  }
}

}  // namespace

absl::Status StatusOfException() noexcept {
  try {
    return Describe();
  } catch (...) {
    // A status without a message needs no memory.
    return {absl::StatusCode::kResourceExhausted, {}};
  }
}

}  // namespace devlink::base
