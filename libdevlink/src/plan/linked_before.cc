// SPDX-License-Identifier: Apache-2.0
#include "plan/linked_before.h"

#include <string_view>
#include <utility>

#include "input/register_file.h"
#include "plan/selection.h"

namespace devlink::internal {

namespace {

std::vector<std::string_view> Views(std::span<const std::string> texts) {
  return {texts.begin(), texts.end()};
}

}  // namespace

std::vector<bool> LinkedBefore(std::span<const RegisteredObject> objects,
                               std::span<const std::string> ids,
                               const std::optional<std::string>& directory) {
  std::vector<bool> none(objects.size());
  if (!directory || ids.empty()) return none;
  std::vector<ModuleIds> lists(objects.size());
  std::vector<PrelinkCandidate> candidates;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    lists[i].own = Views(objects[i].object->ids);
    lists[i].prelinked = Views(objects[i].object->prelinked_ids);
    candidates.push_back({objects[i].object->name, &lists[i]});
  }
  auto found = FindPrelinked(candidates, Views(ids), *directory);
  return found.ok() ? *std::move(found) : none;
}

}  // namespace devlink::internal
