# SPDX-License-Identifier: Apache-2.0
"""For MODULE.bazel; releases of Bazel without modules do not know module_extension."""

load(":system.bzl", "system_libraries")

def _devlink_impl(_context):
    system_libraries(name = "devlink_system")

devlink = module_extension(implementation = _devlink_impl)
