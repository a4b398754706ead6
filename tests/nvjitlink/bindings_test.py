# SPDX-License-Identifier: Apache-2.0
"""cuda.bindings.nvjitlink as its own suite uses it: scripts/nvjitlink-clients runs this with two
libraries, and the results have to be the same. Every test prints what it got, for that.

    bindings_test.py FOLDER       k.ptx, f.ptx, k.ltoir and f.ltoir lie in the folder
"""

import ctypes
import hashlib
import pathlib
import re
import sys

from cuda.bindings import nvjitlink

FOLDER = pathlib.Path(sys.argv[1])
TARGETS = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")
Type = nvjitlink.InputType


def text_of(handle, size, get):
    count = size(handle)
    log = bytearray(count)
    if count:
        get(handle, log)
    return log.decode(errors="replace").rstrip("\x00")


def logs(handle):
    return (
        text_of(handle, nvjitlink.get_error_log_size, nvjitlink.get_error_log),
        text_of(handle, nvjitlink.get_info_log_size, nvjitlink.get_info_log),
    )


def code_of(call, *arguments):
    try:
        return call(*arguments)
    except nvjitlink.nvJitLinkError as error:
        return str(error)


def without_record(cubin):
    """Without the own record of the linker: its offsets, and five texts from the first to the last."""
    return re.sub(rb".{24}in-memory-ELF-image\0.*?JIT API Command Line Options", b"", cubin, flags=re.S)


def link(options, inputs, ptx=False):
    handle = nvjitlink.create(len(options), options)
    try:
        for kind, name in inputs:
            data = (FOLDER / name).read_bytes()
            nvjitlink.add_data(handle, kind, data, len(data), name)
        nvjitlink.complete(handle)
        if ptx:
            out = bytearray(nvjitlink.get_linked_ptx_size(handle))
            nvjitlink.get_linked_ptx(handle, out)
        else:
            out = bytearray(nvjitlink.get_linked_cubin_size(handle))
            nvjitlink.get_linked_cubin(handle, out)
        return len(out), hashlib.sha256(without_record(bytes(out))).hexdigest()[:16], logs(handle)
    finally:
        nvjitlink.destroy(handle)


def fails(options, inputs):
    try:
        return link(options, inputs)
    except nvjitlink.nvJitLinkError as error:
        return str(error)


def main():
    print("version", nvjitlink.version())
    for option in ("-fictitious", "-arch=sm_XX", "-arch=sm_53", "-ptx"):
        print("create", option, code_of(nvjitlink.create, 1, [option]))
    ptx = ((Type.PTX, "k.ptx"), (Type.PTX, "f.ptx"))
    ltoir = ((Type.LTOIR, "k.ltoir"), (Type.ANY, "f.ltoir"))
    for target in TARGETS:
        arch = f"-arch={target}"
        print(target, "ptx", link([arch], ptx))
        print(target, "lto", link([arch, "-lto"], ltoir))
        print(target, "lto to ptx", link([arch, "-lto", "-ptx"], ltoir, ptx=True))
        print(target, "kernels", link([arch, "-kernels-used=k1"], ptx))
        print(target, "debug", link([arch, "-g"], ptx))
        print(target, "undefined", fails([arch], ptx[:1]))
        print(target, "empty", link([arch], ()))
        handle = nvjitlink.create(1, [arch])
        print(target, "file", code_of(nvjitlink.add_file, handle, Type.ANY, str(FOLDER / "f.ptx")))
        print(target, "no file", code_of(nvjitlink.add_file, handle, Type.ANY, "nothing"), logs(handle))
        print(target, "early", code_of(nvjitlink.get_linked_cubin_size, handle))
        nvjitlink.destroy(handle)
    with open("/proc/self/maps") as maps:
        used = {line.split()[-1] for line in maps if "libnvJitLink" in line}
    print("loaded:", *sorted(used), file=sys.stderr)


main()
