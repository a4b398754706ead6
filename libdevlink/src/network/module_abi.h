// SPDX-License-Identifier: Apache-2.0
//
// What libdevlink_network_cache.so exports. The program and the module have each their own C++
// library and Abseil within, so that only plain C crosses between them.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

// Takes bytes or a text that are valid during the call. Called at most once. The code is one of
// absl::StatusCode; 0 with what was found.
using devlink_network_cache_receiver = void(void* user, int code, const void* data,
                                            std::size_t size);

// Visible in the module, all of whose other names are hidden.

// A cache at an address, with the defaults of NetworkCacheOptions; null with an error to the
// receiver.
[[gnu::visibility("default")]] void* devlink_network_cache_open_1(
    const char* url, devlink_network_cache_receiver* receive, void* user);
// Calls the receiver with the bytes or an error; not at all where the key is not there.
[[gnu::visibility("default")]] void devlink_network_cache_find_1(
    void* cache, const std::uint8_t* key, devlink_network_cache_receiver* receive, void* user);
// Calls the receiver with an error only.
[[gnu::visibility("default")]] void devlink_network_cache_store_1(
    void* cache, const std::uint8_t* key, const std::uint8_t* value, std::size_t size,
    devlink_network_cache_receiver* receive, void* user);
[[gnu::visibility("default")]] void devlink_network_cache_close_1(void* cache);

}  // extern "C"
