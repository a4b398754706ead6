// SPDX-License-Identifier: Apache-2.0
#include "plan/option_conflicts.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/hash_table.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "format/nvlink_text.h"

namespace devlink::internal {

namespace {

absl::Status Conflict(std::string_view one, std::string_view other) {
  return absl::InvalidArgumentError(format::nvlink_text::ConflictingOptions(one, other));
}

absl::Status CheckName(std::string_view name, std::string_view option) {
  if (!name.empty() && name.find('\0') == std::string_view::npos) return absl::OkStatus();
  return absl::InvalidArgumentError(
      base::ToAbsl(base::Cat({option, " wants the name of a symbol"})));
}

absl::Status NotWithLto(std::string_view option) {
  return absl::InvalidArgumentError(
      base::ToAbsl(base::Cat({option, " cannot be used with -lto: the compiler resolves names"})));
}

absl::Status CheckPartitions(const LtoOptions& lto) {
  if (lto.partitions < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--lto-partitions wants a number of parts, not ", lto.partitions));
  }
  if (lto.partitions < 2) return absl::OkStatus();
  if (!lto.enabled) return Conflict("--lto-partitions", "no -dlto");
  const auto refuse = [](std::string_view option, std::string_view why) {
    return absl::InvalidArgumentError(
        base::ToAbsl(base::Cat({"--lto-partitions cannot be used with ", option, ": ", why})));
  };
  if (lto.force_whole) return refuse("-force-whole-lto", "a part is not the whole program");
  if (lto.emit_ptx) {
    return refuse("-emit-ptx", "each part becomes a text of its own, and only cubins are joined");
  }
  if (lto.split_compile_extended != 1) {
    return refuse("-split-compile-extended", "either of them cuts the program");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckDebugOptions(const LinkOptions& options) {
  if (options.suppress_debug_info && !options.debug) {
    return Conflict("-suppress-debug-info", "no -g");
  }
  return absl::OkStatus();
}

absl::Status CheckLtoOptions(const LinkOptions& options) {
  const LtoOptions& lto = options.lto;
  DEVLINK_RETURN_IF_ERROR(CheckPartitions(lto));
  if (!lto.enabled) {
    constexpr std::string_view kNoLto = "no -dlto";
    if (lto.force_partial) return Conflict("-force-partial-lto", kNoLto);
    if (lto.force_whole) return Conflict("-force-whole-lto", kNoLto);
    if (lto.emit_ptx) return Conflict("-emit-ptx", kNoLto);
    if (lto.fast_compile) return Conflict("--Ofast-compile", kNoLto);
    return absl::OkStatus();
  }
  // nvlink says the same of -r: what is linked again is not the whole program.
  if (lto.force_whole && (lto.force_partial || options.relocatable)) {
    return Conflict("-force-partial-lto", "-force-whole-lto");
  }
  return absl::OkStatus();
}

absl::Status CheckOptions(const LinkOptions& options) {
  DEVLINK_RETURN_IF_ERROR(CheckDebugOptions(options));
  DEVLINK_RETURN_IF_ERROR(CheckLtoOptions(options));
  if (options.finalizer_parts < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--finalizer-parts wants a number of parts, not ", options.finalizer_parts));
  }
  return CheckSymbolOptions(options);
}

absl::Status CheckSymbolOptions(const LinkOptions& options) {
  base::HashSet<std::string_view> renamed;
  for (const std::string& symbol : options.wrapped_symbols) {
    DEVLINK_RETURN_IF_ERROR(CheckName(symbol, "--wrap"));
    renamed.insert(symbol);
  }
  for (const SymbolAlias& alias : options.symbol_aliases) {
    DEVLINK_RETURN_IF_ERROR(CheckName(alias.name, "--defsym"));
    DEVLINK_RETURN_IF_ERROR(CheckName(alias.means, "--defsym"));
    if (!renamed.insert(alias.name).second) {
      return absl::InvalidArgumentError(base::ToAbsl(
          base::Cat({"--defsym and --wrap, or two of them, say what '", alias.name, "' means"})));
    }
  }
  for (const std::string& name : options.kept_functions) {
    DEVLINK_RETURN_IF_ERROR(CheckName(name, "--undefined"));
  }
  if (options.relocatable && (options.retained_symbols || options.fold_identical_functions)) {
    return absl::InvalidArgumentError(
        base::ToAbsl(base::Cat({options.retained_symbols ? "--retain-symbols-file" : "--icf",
                                " is for executables: -r keeps all"})));
  }
  if (!options.lto.enabled) return absl::OkStatus();
  if (!renamed.empty()) return NotWithLto(options.wrapped_symbols.empty() ? "--defsym" : "--wrap");
  if (!options.kept_functions.empty()) return NotWithLto("--undefined");
  return absl::OkStatus();
}

}  // namespace devlink::internal
