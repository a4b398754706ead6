// SPDX-License-Identifier: Apache-2.0
//
// Reads the sections in which nvcc records what host code refers to (docs/host-references.md).
#pragma once

#include <string_view>

#include "base/bounded_reader.h"
#include "devlink/experimental/host_references.h"

namespace devlink::internal {

// The list that a section of a host object holds, null for any other section.
HostReferences::List* FindList(HostReferences& references, std::string_view section_name);

// What a section says: texts with a NUL each, which the last may lack. A section of no bytes or of
// one byte has no texts; in a longer one an empty text is a text, too.
HostReferences::List ReadHostReferenceList(base::Bytes section);

}  // namespace devlink::internal
