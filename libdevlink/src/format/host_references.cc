// SPDX-License-Identifier: Apache-2.0
#include "format/host_references.h"

#include <algorithm>
#include <string>

namespace devlink::internal {

HostReferences::List* FindList(HostReferences& references, std::string_view section_name) {
  if (section_name == ".nvHRKE") return &references.kernels_external;
  if (section_name == ".nvHRKI") return &references.kernels_internal;
  if (section_name == ".nvHRDE") return &references.variables_external;
  if (section_name == ".nvHRDI") return &references.variables_internal;
  if (section_name == ".nvHRCE") return &references.constants_external;
  if (section_name == ".nvHRCI") return &references.constants_internal;
  return nullptr;
}

HostReferences::List ReadHostReferenceList(base::Bytes section) {
  HostReferences::List list;
  list.present = true;
  if (section.size() < 2) return list;
  for (auto at = section.begin(); at != section.end();) {
    const auto end = std::find(at, section.end(), 0);
    list.names.emplace_back(at, end);
    at = end == section.end() ? end : end + 1;
  }
  return list;
}

}  // namespace devlink::internal
