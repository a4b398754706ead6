// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/host_references.h
//
// What the host code of one input refers to, as nvcc recorded it in the host object.
#pragma once

#include <string>
#include <vector>

namespace devlink {

// Six lists, one section of the host object each. "External" ones speak of names that other files
// can see, "internal" ones of static names. An entry is a pattern of a mangled name in which `*`
// stands for any characters (`_Z5scale*`); variables stand there without it.
//
// A value without any list, as it is when made, is that of an input which says nothing of its host
// code; one such input is enough for a link to leave nothing out (docs/host-references.md).
struct HostReferences {
  // One of the sections.
  struct List {
    // The section is there, be it without names.
    bool present = false;
    std::vector<std::string> names;
  };

  List kernels_external;    // .nvHRKE
  List kernels_internal;    // .nvHRKI
  List variables_external;  // .nvHRDE
  List variables_internal;  // .nvHRDI
  List constants_external;  // .nvHRCE
  List constants_internal;  // .nvHRCI
};

}  // namespace devlink
