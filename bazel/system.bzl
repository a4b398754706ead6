# SPDX-License-Identifier: Apache-2.0
"""The libraries behind libdevlink, as Debian's packages install them."""

_PARTS = ["cleanup", "flat_hash_map", "flat_hash_set", "inlined_vector", "status", "statusor", "strings"]

_BUILD = """\
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "abseil",
    linkopts = {abseil},
)

cc_library(
    name = "llvm",
    hdrs = glob(["include/llvm/**/*.h", "include/llvm/**/*.inc", "include/llvm/**/*.def", "include/llvm-c/**/*.h"]),
    includes = ["include"],
    linkopts = {llvm},
)

cc_library(
    name = "codecs",
    linkopts = ["-lzstd", "-llz4"],
)
"""

def _run(context, *words):
    done = context.execute(words)
    if done.return_code != 0:
        fail("%s: %s (docs/packages.md names the packages)" % (" ".join(words), done.stderr.strip()))
    return done.stdout.strip().split(" ")

def _system_libraries_impl(context):
    config = context.which("llvm-config-19") or context.path("/usr/lib/llvm-19/bin/llvm-config")
    if not context.path(config).exists:
        fail("no llvm-config-19: install llvm-19-dev")
    headers = context.path(_run(context, str(config), "--includedir")[0])
    for folder in ["llvm", "llvm-c"]:
        context.symlink(headers.get_child(folder), "include/" + folder)
    folder = _run(context, str(config), "--libdir")[0]
    context.file("BUILD.bazel", _BUILD.format(
        abseil = repr(_run(context, "pkg-config", "--libs", *["absl_" + part for part in _PARTS])),
        llvm = repr([folder + "/libLLVMSupport.a", folder + "/libLLVMDemangle.a", "-lpthread", "-ldl"]),
    ))

system_libraries = repository_rule(
    implementation = _system_libraries_impl,
    configure = True,
    doc = "Abseil, LLVM 19, zstd and LZ4 of this machine.",
    local = True,
)
