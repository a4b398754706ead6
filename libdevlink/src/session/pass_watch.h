// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "devlink/experimental/link_passes.h"
#include "devlink/experimental/time_trace.h"
#include "plan/link_context.h"

namespace devlink::internal {

// Tells whoever watches a link what each pass found, and how long it took since the one before.
// Costs nothing where nobody does.
class PassWatch {
 public:
  explicit PassWatch(const LinkContext& context) : context_(context), begin_(Now()) {}

  // The next pass begins now: others ran in between.
  void Restart() { begin_ = Now(); }

  // `dump` returns what the pass found, as text.
  template <typename Dump>
  void After(LinkPass pass, const Dump& dump) {
    if (context_.time_trace != nullptr) {
      context_.time_trace->Add(PassName(pass), "", begin_, Now());
    }
    if (context_.passes != nullptr) context_.passes->After(pass, dump);
    begin_ = Now();
  }

 private:
  [[nodiscard]] std::chrono::nanoseconds Now() const {
    return context_.time_trace == nullptr ? std::chrono::nanoseconds() : context_.time_trace->Now();
  }

  const LinkContext& context_;
  std::chrono::nanoseconds begin_;
};

}  // namespace devlink::internal
