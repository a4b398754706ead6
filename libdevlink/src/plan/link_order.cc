// SPDX-License-Identifier: Apache-2.0
#include "plan/link_order.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "format/make_diagnostic.h"
#include "format/nvlink_text.h"
#include "plan/undefined_names.h"

namespace devlink::internal {

namespace {

struct OrderedInput {
  std::pair<std::size_t, std::size_t> order;  // pieces of one result share the first number
  LinkInput input;
};

bool AnythingUndefined(const std::vector<OrderedInput>& inputs, const LinkOptions& options) {
  UndefinedNames names(options.relocatable);
  for (const OrderedInput& input : inputs) names.Add(*input.input.module);
  return names.Any();
}

bool NameAnyKernel(std::span<const HostReferences> objects) {
  return std::any_of(objects.begin(), objects.end(), [](const HostReferences& object) {
    return !object.kernels_external.names.empty() || !object.kernels_internal.names.empty();
  });
}

// What the device runtime's host code launches counts only beside what others launch; alone it is
// not a reason to leave kernels out.
void ForgetKernels(std::span<HostReferences> runtime) {
  for (HostReferences& object : runtime) {
    object.kernels_external.names.clear();
    object.kernels_internal.names.clear();
  }
}

// nvlink has no place for the result of IR that came in no host object, and loses it.
bool LosesResult(const LtoSelection& lto, std::size_t pieces, const LinkOptions& options) {
  return pieces == 1 && !lto.order && options.compatibility == Compatibility::kNvlink;
}

// nvlink wants no host object behind the device runtime.
bool RefusesOrder(const LtoSelection& lto, std::size_t pieces, const LinkOptions& options) {
  return pieces == 1 && lto.object_after_runtime && options.compatibility == Compatibility::kNvlink;
}

}  // namespace

LinkSet InLinkOrder(std::vector<SelectedModule> modules, std::vector<SelectedReferences> references,
                    const LtoSelection& lto, std::vector<LtoPiece> pieces,
                    const LinkOptions& options, const LinkContext& context) {
  LinkSet out;
  const auto reject = [&out](const Rejection& rejection) {
    out.diagnostics.push_back(rejection.diagnostic);
    out.status = rejection.ToStatus();
  };
  if (RefusesOrder(lto, pieces.size(), options)) {
    reject({format::MakeDiagnostic(Severity::kFatal, DiagnosticCode::kUsage, lto.last_host_object,
                                   std::string(format::nvlink_text::kUnexpectedAfterRuntime)),
            absl::StatusCode::kFailedPrecondition});
    return out;
  }
  out.references_known_before = lto.worth_compiling && !IsPartialLto(lto, options);
  const bool to_the_front = pieces.size() > 1 && !IsInParts(lto, options);
  const std::size_t order = to_the_front ? 0 : lto.order.value_or(lto.last_order);
  if (LosesResult(lto, pieces.size(), options)) pieces.clear();

  std::vector<OrderedInput> ordered;
  ordered.reserve(pieces.size() + modules.size());
  for (LtoPiece& piece : pieces) {
    auto module = LoadModule(context.pool, std::move(piece.cubin));
    if (!module.ok()) {
      out.status = module.status();
      return out;
    }
    ordered.push_back({{order, ordered.size()}, {std::move(piece.name), *std::move(module)}});
  }
  for (SelectedModule& module : modules) {
    ordered.push_back({{module.order, 0}, std::move(module.input)});
  }
  const auto runtimes = std::stable_partition(
      references.begin(), references.end(),
      [](const SelectedReferences& selected) { return !selected.of_device_runtime; });
  const auto others = static_cast<std::size_t>(runtimes - references.begin());
  out.references.reserve(references.size());
  for (SelectedReferences& selected : references) {
    out.references.push_back(std::move(selected.references));
  }
  const bool needs_runtime = !lto.runtime.empty() &&
                             (options.keep_system_libraries || AnythingUndefined(ordered, options));
  out.left_out_runtime = !lto.runtime.empty() && !needs_runtime;
  // A device runtime that says nothing of its host code counts all the same.
  for (const LtoHostObject& object : lto.host_objects) {
    const bool is_silent = !object.references.kernels_external.present;
    if (object.is_device_runtime && object.seen_by_nvlink && is_silent) {
      out.references.push_back(object.references);
    }
  }
  for (std::size_t i = 0; needs_runtime && i < lto.runtime.size(); ++i) {
    const HeldRuntime& held = lto.runtime[i];
    if (held.code->rejection) {
      reject(*held.code->rejection);
      return out;
    }
    ordered.push_back({{held.order, 0}, {held.name, held.code->module}});
    out.references.push_back(held.references);
  }
  const std::span<HostReferences> all(out.references);
  if (!NameAnyKernel(all.first(others))) ForgetKernels(all.subspan(others));
  // Most often they are in order already.
  const auto before = [](const OrderedInput& a, const OrderedInput& b) {
    return a.order < b.order;
  };
  if (!std::is_sorted(ordered.begin(), ordered.end(), before)) {
    std::sort(ordered.begin(), ordered.end(), before);
  }
  out.inputs.reserve(ordered.size());
  for (OrderedInput& input : ordered) out.inputs.push_back(std::move(input.input));
  return out;
}

}  // namespace devlink::internal
