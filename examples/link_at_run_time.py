#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links kernels at run time with what they need of a library: the core of a run-time compiler.

  link_at_run_time.py ARCH FOLDER KERNEL... [--load]

FOLDER has the library, relocatable cubins. Each KERNEL (cubin, PTX, object) is linked with those
that define what it lacks, and with no other. --load gives the results to the CUDA driver, for which
there has to be a GPU.
"""

import ctypes
import pathlib
import sys

import devlink


class Library:
    """Modules that are parsed once, and the index of what they define."""

    def __init__(self, folder):
        self.pool = devlink.Pool()
        self.definitions = {}
        for path in sorted(pathlib.Path(folder).glob("*.cubin")):
            data = path.read_bytes()
            for symbol in self.pool.add(data).inspect().symbols:
                if symbol.is_defined and symbol.binding != devlink.Binding.LOCAL:
                    self.definitions.setdefault(symbol.name, (path.name, data))

    def find(self, symbols):
        """What a link asks for. What is not here stays undefined, and the link says so."""
        return {
            self.definitions[symbol.name] for symbol in symbols if symbol.name in self.definitions
        }


class Runtime:
    """Makes cubins that the driver loads. For any number of threads."""

    def __init__(self, arch, library):
        self.arch = arch
        self.library = library
        self.tools = devlink.Toolchain.from_environment(cache=devlink.Cache.in_memory())

    def link(self, name, data):
        with devlink.Link(
            self.arch, pool=self.library.pool, toolchain=self.tools, undefined=self.library.find
        ) as link:
            link.add(data, name=name)
            return link.link()


def load(cubin):
    """Gives a cubin to the CUDA driver. The module lives as long as the process."""
    driver = ctypes.CDLL("libcuda.so.1")
    context, module = ctypes.c_void_p(), ctypes.c_void_p()
    for status in (
        driver.cuInit(0),
        driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
        driver.cuCtxSetCurrent(context),
        driver.cuModuleLoadData(ctypes.byref(module), bytes(cubin)),
    ):
        if status != 0:
            raise RuntimeError(f"the CUDA driver says {status}")
    return module


def main(words):
    wants_load = "--load" in words
    arch, folder, *kernels = [word for word in words if word != "--load"]
    runtime = Runtime(arch, Library(folder))
    for kernel in map(pathlib.Path, kernels):
        try:
            outcome = runtime.link(kernel.name, kernel.read_bytes())
        except devlink.LinkError as error:
            print(error, file=sys.stderr)
            return 1
        for entry in outcome.report.kernels:
            print(f"{kernel.name}: {entry.name} takes {entry.registers} registers")
        if wants_load:
            load(outcome.cubin)
            print(f"{kernel.name}: loaded")
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
