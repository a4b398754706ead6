# SPDX-License-Identifier: Apache-2.0
"""What scripts that package a build say of it: release, time, and what its programs need."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The C library and the loader.
C_LIBRARY = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2"}


def version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(\s*devlink\s+VERSION (\S+)", text).group(1)


def source_date():
    """SOURCE_DATE_EPOCH, or the time of the last commit; 1980 where there is neither."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    if not seconds and (ROOT / ".git").exists():
        seconds = output_of("git", "-C", str(ROOT), "log", "-1", "--format=%ct").strip()
    return int(seconds or 315532800)


def output_of(*command):
    """What a program prints; nothing where it fails or is not there."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def needed_libraries(path):
    """The shared libraries that a program or library names."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "--dynamic", "--wide", str(path)))


def least_glibc(path):
    """The oldest release of glibc, as a pair, that a program or library runs with."""
    text = output_of("readelf", "--version-info", "--wide", str(path))
    found = [tuple(map(int, pair)) for pair in re.findall(r"GLIBC_(\d+)\.(\d+)", text)]
    if "GLIBC_ABI_DT_RELR" in text:
        found.append((2, 36))
    return max(found, default=(2, 17))
