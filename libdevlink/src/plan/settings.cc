// SPDX-License-Identifier: Apache-2.0
#include "plan/settings.h"

#include "base/strings.h"

namespace devlink::internal {

std::string TargetName(const LinkOptions& options) {
  return options.check_only ? options.target.VirtualName() : options.target.Name();
}

base::SeverityPolicy SeverityPolicyOf(const LinkOptions& options) {
  return {.warnings_are_errors = options.warnings_are_errors,
          .suppress_warnings = options.suppress_warnings};
}

InputSettings InputSettingsOf(const LinkOptions& options) {
  return {.target = options.target,
          .target_name = TargetName(options),
          .profile = options.profile,
          .compatibility = options.compatibility,
          .lto = options.lto.enabled,
          .accept_newer = options.accept_newer_inputs,
          .check_only = options.check_only,
          .keeps_lists_of_ids = options.register_directory.has_value(),
          .suppress_arch_warning = options.suppress_arch_warning,
          .tells_of_no_code = !options.pass_over_silently,
          .severities = SeverityPolicyOf(options)};
}

bool IsOptional(const ObjectRecord& object, const LinkOptions& options) {
  return object.is_device_runtime && !options.lto.enabled && !options.check_only;
}

KernelSelection SelectKernels(const LinkOptions& options,
                              const std::vector<HostReferences>& references, bool known_before) {
  // Every kernel stays, whatever is named; but nvlink may not follow what the others call.
  const bool as_nvlink = options.compatibility == Compatibility::kNvlink;
  if (options.debug && !(options.suppress_debug_info && as_nvlink)) return {};
  if (options.preserve_relocations && !as_nvlink) return {};
  if (NamesWhatIsUsed(options)) {
    return KernelSelection::Containing(options.kernels_used).And(options.kept_functions);
  }
  if (options.host_info == HostInfo::kIgnore) return {};
  return KernelSelection::ReferredTo(references, known_before).And(options.kept_functions);
}

Redirections RedirectionsOf(const LinkOptions& options) {
  Redirections out;
  for (const std::string& symbol : options.wrapped_symbols) {
    out.try_emplace(symbol, base::Cat({"__wrap_", symbol}));
    out.try_emplace(base::Cat({"__real_", symbol}), symbol);
  }
  for (const SymbolAlias& alias : options.symbol_aliases) out.try_emplace(alias.name, alias.means);
  return out;
}

bool LeavesOutNothing(const LinkOptions& options) {
  return options.debug || options.relocatable || options.preserve_relocations;
}

bool KeepsReferences(const LinkOptions& options) {
  return options.keep_references.value_or(options.compatibility != Compatibility::kNvlink);
}

bool IgnoresHostInfo(const LinkOptions& options) {
  return options.host_info == HostInfo::kUse && NamesWhatIsUsed(options);
}

bool NamesWhatIsUsed(const LinkOptions& options) {
  return !options.kernels_used.empty() || !options.variables_used.empty();
}

}  // namespace devlink::internal
