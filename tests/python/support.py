# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share. The package is the one of the environment."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["DEVLINK_SOURCE"])
PROGRAM = os.environ["DEVLINK"]
GOLDEN = SOURCE / "tests" / "golden"

# Two inputs that make a program; the second alone refers to what the first defines.
FIRST = GOLDEN / "globals.sm_90.1.cubin"
SECOND = GOLDEN / "globals.sm_90.2.cubin"
A = FIRST.read_bytes()
B = SECOND.read_bytes()
PAIR = [("a.cubin", A), ("b.cubin", B)]


def has_toolkit():
    return bool(os.environ.get("CUDA_HOME")) and shutil.which("nvcc") is not None


needs_toolkit = unittest.skipUnless(has_toolkit(), "no CUDA toolkit")


@contextlib.contextmanager
def folder():
    """An empty folder to be in."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        try:
            yield pathlib.Path(name)
        finally:
            os.chdir(before)


def run(*command, **settings):
    return subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        **settings,
    )


def compile_all(*commands):
    """Runs compilers side by side."""
    running = [subprocess.Popen([str(word) for word in command]) for command in commands]
    for command, process in zip(commands, running):
        if process.wait() != 0:
            raise AssertionError(f"failed: {command}")
