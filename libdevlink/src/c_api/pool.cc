// SPDX-License-Identifier: Apache-2.0
//
// Modules and pools of the C interface.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "c_api/objects.h"
#include "devlink/module.h"

namespace c_api = devlink::c_api;

namespace {

// -1 for what is not recorded.
std::int64_t OrNone(const std::optional<std::uint32_t>& value) {
  return value ? std::int64_t{*value} : -1;
}

dl_function ToC(const devlink::ModuleFunction& from) {
  return {.size = sizeof(dl_function),
          .name = c_api::TextOf(from.name),
          .is_kernel = from.is_kernel ? 1 : 0,
          .reserved = 0,
          .code_bytes = from.code_bytes,
          .registers = OrNone(from.registers),
          .barriers = OrNone(from.barriers),
          .frame_bytes = OrNone(from.frame_bytes),
          .stack_bytes = OrNone(from.stack_bytes),
          .shared_bytes = from.shared_bytes,
          .constant_bytes = from.constant_bytes,
          .parameter_bytes = from.parameter_bytes};
}

dl_symbol ToC(const devlink::ModuleSymbol& from) {
  return {.size = sizeof(dl_symbol),
          .name = c_api::TextOf(from.name),
          .kind = static_cast<dl_symbol_kind>(from.kind),
          .binding = static_cast<dl_binding>(from.binding),
          .space = static_cast<dl_memory_space>(from.space),
          .is_defined = from.is_defined ? 1 : 0,
          .is_kernel = from.is_kernel ? 1 : 0,
          .is_managed = from.is_managed ? 1 : 0,
          .bytes = from.size};
}

}  // namespace

extern "C" {

void dl_module_destroy(dl_module* module) { delete module; }

dl_status dl_module_inspect(const dl_module* module, dl_module_info** out) {
  return c_api::Create(out, nullptr, [&]() -> absl::StatusOr<std::unique_ptr<dl_module_info>> {
    if (module == nullptr) return c_api::Missing("the module");
    auto made = std::make_unique<dl_module_info>();
    made->info = devlink::InspectModule(module->module);
    made->target = made->info.arch.Name();
    return made;
  });
}

dl_status dl_module_info_summary(const dl_module_info* info, dl_module_summary* out) {
  if (info == nullptr) return DL_INVALID_ARGUMENT;
  const dl_module_summary filled = {.size = sizeof filled,
                                    .target = c_api::TextOf(info->target),
                                    .toolkit = info->info.toolkit,
                                    .is_relocatable = info->info.is_relocatable ? 1 : 0,
                                    .bytes = info->info.bytes,
                                    .function_count = info->info.functions.size(),
                                    .symbol_count = info->info.symbols.size()};
  return c_api::FillStruct(filled, out);
}

dl_status dl_module_info_function(const dl_module_info* info, size_t index, dl_function* out) {
  if (info == nullptr || out == nullptr) return DL_INVALID_ARGUMENT;
  if (index >= info->info.functions.size()) return DL_OUT_OF_RANGE;
  return c_api::FillStruct(ToC(info->info.functions[index]), out);
}

dl_status dl_module_info_symbol(const dl_module_info* info, size_t index, dl_symbol* out) {
  if (info == nullptr || out == nullptr) return DL_INVALID_ARGUMENT;
  if (index >= info->info.symbols.size()) return DL_OUT_OF_RANGE;
  return c_api::FillStruct(ToC(info->info.symbols[index]), out);
}

void dl_module_info_destroy(dl_module_info* info) { delete info; }

dl_status dl_pool_create(const dl_pool_options* options, dl_pool** out, dl_error** error) {
  return c_api::Create(out, error, [&]() -> absl::StatusOr<std::unique_ptr<dl_pool>> {
    devlink::ModulePoolOptions wanted;
    if (options != nullptr) {
      DEVLINK_ASSIGN_OR_RETURN(const dl_pool_options given, c_api::ReadStruct(options));
      wanted.max_bytes = given.max_bytes;
    }
    auto made = std::make_unique<dl_pool>();
    made->pool = std::make_shared<devlink::ModulePool>(wanted);
    return made;
  });
}

dl_status dl_pool_add_cubin(dl_pool* pool, const void* data, size_t size, dl_module** out,
                            dl_error** error) {
  if (out != nullptr) *out = nullptr;
  return c_api::Run(error, [&]() -> absl::Status {
    if (pool == nullptr) return c_api::Missing("the pool");
    if (data == nullptr && size != 0) return c_api::Missing("the cubin");
    auto made = out == nullptr ? nullptr : std::make_unique<dl_module>();
    DEVLINK_ASSIGN_OR_RETURN(
        devlink::ModuleRef module,
        pool->pool->AddCubin(std::span(static_cast<const std::uint8_t*>(data), size)));
    if (made == nullptr) return absl::OkStatus();
    made->module = std::move(module);
    *out = made.release();
    return absl::OkStatus();
  });
}

dl_status dl_pool_remove(dl_pool* pool, const dl_module* module) {
  return c_api::Run(nullptr, [&]() -> absl::Status {
    if (pool == nullptr) return c_api::Missing("the pool");
    if (module == nullptr) return c_api::Missing("the module");
    return pool->pool->Remove(module->module) ? absl::OkStatus()
                                              : absl::NotFoundError("it is not in the pool");
  });
}

dl_status dl_pool_clear(dl_pool* pool) {
  return c_api::Run(nullptr, [&]() -> absl::Status {
    if (pool == nullptr) return c_api::Missing("the pool");
    pool->pool->Clear();
    return absl::OkStatus();
  });
}

dl_status dl_pool_get_use(const dl_pool* pool, dl_pool_use* out) {
  dl_pool_use filled = {};
  const dl_status status = c_api::Run(nullptr, [&]() -> absl::Status {
    if (pool == nullptr) return c_api::Missing("the pool");
    const devlink::ModulePoolUse use = pool->pool->use();
    filled = {.size = sizeof filled,
              .modules = pool->pool->size(),
              .bytes = pool->pool->bytes(),
              .hits = use.hits,
              .misses = use.misses,
              .forgotten = use.forgotten};
    return absl::OkStatus();
  });
  return status == DL_OK ? c_api::FillStruct(filled, out) : status;
}

void dl_pool_destroy(dl_pool* pool) { delete pool; }

}  // extern "C"
