// SPDX-License-Identifier: Apache-2.0
//
// Caches and toolchains of the C interface.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "c_api/callbacks.h"
#include "c_api/objects.h"
#include "c_api/option_texts.h"
#include "command/toolkit_places.h"
#include "devlink/experimental/compile_cache.h"
#include "devlink/nvlink_command.h"
#include "devlink/toolchain.h"

namespace c_api = devlink::c_api;

namespace {

// What has no place in a command.
void TakePlaces(const dl_toolchain_options& given, devlink::ToolchainOptions& tools) {
  if (given.ptxas != nullptr) tools.ptx.ptxas_path = given.ptxas;
  if (given.ptxcompiler != nullptr) tools.ptx.nvptxcompiler_path = given.ptxcompiler;
  if (given.nvvm != nullptr) tools.lto.nvvm_path = given.nvvm;
  if (given.nvjitlink != nullptr) {
    tools.ptx.nvjitlink_path = given.nvjitlink;
    tools.lto.nvjitlink_path = given.nvjitlink;
    tools.finalizer.nvjitlink_path = given.nvjitlink;
  }
}

absl::StatusOr<std::unique_ptr<dl_toolchain>> MakeToolchain(
    const dl_toolchain_options& given, std::vector<devlink::Diagnostic>& said) {
  DEVLINK_ASSIGN_OR_RETURN(const std::vector<std::string> words,
                           c_api::StringsOf(given.options, given.option_count, "the options"));
  DEVLINK_ASSIGN_OR_RETURN(devlink::ToolchainOptions tools, c_api::ReadToolOptions(words, said));
  devlink::CommandContext context{.path = c_api::StringOf(given.search_path),
                                  .temporary_directory = c_api::StringOf(given.temporary),
                                  .program_directory = c_api::StringOf(given.program_directory)};
  DEVLINK_ASSIGN_OR_RETURN(
      context.tool_variables,
      c_api::StringsOf(given.variables, given.variable_count, "the variables"));
  TakePlaces(given, tools);
  // Libraries that compile LTO IR are looked for as well: who will need them is not known yet.
  const devlink::LinkOptions any_link{.lto = {.enabled = true}};
  devlink::internal::FindTools(context, any_link, tools);
  TakePlaces(given, tools);
  if (given.cache != nullptr) tools.cache = given.cache->cache;
  auto made = std::make_unique<dl_toolchain>();
  made->toolchain = std::make_shared<devlink::Toolchain>(std::move(tools));
  return made;
}

}  // namespace

extern "C" {

dl_status dl_cache_create_in_memory(uint64_t max_bytes, dl_cache** out, dl_error** error) {
  return c_api::Create(out, error, [&]() -> absl::StatusOr<std::unique_ptr<dl_cache>> {
    auto made = std::make_unique<dl_cache>();
    made->cache =
        max_bytes == 0 ? devlink::CreateMemoryCache() : devlink::CreateMemoryCache(max_bytes);
    return made;
  });
}

dl_status dl_cache_create_in_directory(const dl_directory_cache_options* options, dl_cache** out,
                                       dl_error** error) {
  return c_api::Create(out, error, [&]() -> absl::StatusOr<std::unique_ptr<dl_cache>> {
    DEVLINK_ASSIGN_OR_RETURN(const dl_directory_cache_options given, c_api::ReadStruct(options));
    devlink::DirectoryCacheOptions wanted{.path = c_api::StringOf(given.path)};
    if (given.max_bytes != 0) wanted.max_bytes = given.max_bytes;
    if (given.max_age_seconds != 0) {
      constexpr std::uint64_t kCentury = std::uint64_t{100} * 365 * 24 * 60 * 60;
      wanted.max_age = std::chrono::seconds(std::min(given.max_age_seconds, kCentury));
    }
    auto made = std::make_unique<dl_cache>();
    DEVLINK_ASSIGN_OR_RETURN(made->cache, devlink::CreateDirectoryCache(std::move(wanted)));
    return made;
  });
}

dl_status dl_cache_create(const dl_cache_callbacks* callbacks, dl_cache** out, dl_error** error) {
  return c_api::Create(out, error, [&]() -> absl::StatusOr<std::unique_ptr<dl_cache>> {
    DEVLINK_ASSIGN_OR_RETURN(const dl_cache_callbacks given, c_api::ReadStruct(callbacks));
    if (given.find == nullptr || given.store == nullptr) {
      return c_api::Missing("find or store of a cache");
    }
    auto made = std::make_unique<dl_cache>();
    made->cache = std::make_shared<c_api::CallbackStore>(given);
    return made;
  });
}

void dl_cache_destroy(dl_cache* cache) { delete cache; }

dl_status dl_toolchain_create(const dl_toolchain_options* options, dl_toolchain** out,
                              dl_error** error) {
  std::vector<devlink::Diagnostic> said;
  const dl_status status =
      c_api::Create(out, error, [&]() -> absl::StatusOr<std::unique_ptr<dl_toolchain>> {
        dl_toolchain_options given = {};
        if (options != nullptr) {
          DEVLINK_ASSIGN_OR_RETURN(given, c_api::ReadStruct(options));
        }
        return MakeToolchain(given, said);
      });
  c_api::Explain(error, std::move(said));
  return status;
}

dl_status dl_toolchain_get_use(const dl_toolchain* toolchain, dl_toolchain_use* out) {
  dl_toolchain_use filled = {};
  const dl_status status = c_api::Run(nullptr, [&]() -> absl::Status {
    if (toolchain == nullptr) return c_api::Missing("the toolchain");
    const devlink::CacheUse use = toolchain->toolchain->cache_use();
    filled = {.size = sizeof filled,
              .tools_opened = toolchain->toolchain->tools_opened(),
              .reserved = 0,
              .cache_hits = use.hits,
              .cache_misses = use.misses,
              .cache_stored = use.stored,
              .cache_faults = use.faults};
    return absl::OkStatus();
  });
  return status == DL_OK ? c_api::FillStruct(filled, out) : status;
}

void dl_toolchain_destroy(dl_toolchain* toolchain) { delete toolchain; }

}  // extern "C"
