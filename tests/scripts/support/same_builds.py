# SPDX-License-Identifier: Apache-2.0
"""Compares what two builds left, one with nvlink and one with devlink.

    same_builds.py WANTED FOUND

Every file of the folder WANTED is in FOUND, with the same bytes but for the records in which the
linkers name themselves: those are nvlink's in one and devlink's in the other, in the same places.
"""

import pathlib
import struct
import sys

OWNER = b"NVIDIA Corp\0"
TOOLKIT_RECORD = 2000


def without_names(data):
    """The bytes without the linkers' names and versions, and the names."""
    out = bytearray(data)
    names = []
    at = data.find(OWNER)
    while at >= 0:
        begin = at + len(OWNER)
        if at >= 8 and struct.unpack_from("<I", data, at - 4)[0] == TOOLKIT_RECORD:
            # A version, and where each text begins: object, tool, its version, its build, options.
            words = struct.unpack_from("<6I", data, begin)
            texts = begin + 24
            name = data[texts + words[2] : data.index(b"\0", texts + words[2])]
            tool = data[texts + words[2] : texts + words[5]]
            if name == b"nvlink" or b"libdevlink" in tool:
                names.append("devlink" if b"libdevlink" in tool else "nvlink")
                out[begin + 8 : begin + 20] = bytes(12)
                out[texts + words[2] : texts + words[5]] = bytes(words[5] - words[2])
        at = data.find(OWNER, begin)
    return bytes(out), names


def compare(wanted, found):
    a, names = without_names(wanted.read_bytes())
    b, our_names = without_names(found.read_bytes())
    if ["devlink" for _ in names] != our_names or "devlink" in names:
        return f"{names.count('nvlink')} records of nvlink, {our_names.count('devlink')} of devlink"
    if a == b:
        return None
    if len(a) != len(b):
        return f"{len(a)} bytes, {len(b)} with devlink"
    first = next(i for i, (x, y) in enumerate(zip(a, b)) if x != y)
    return f"byte {first} differs, and {sum(x != y for x, y in zip(a, b)) - 1} more"


def main():
    wanted, found = (pathlib.Path(name) for name in sys.argv[1:])
    files = sorted(path.relative_to(wanted) for path in wanted.rglob("*") if path.is_file())
    wrong = 0
    for name in files:
        difference = compare(wanted / name, found / name) if (found / name).exists() else "missing"
        if difference:
            print(f"{name}: {difference}")
            wrong += 1
    if not files:
        print(f"nothing to compare in {wanted}")
    return 1 if wrong or not files else 0


sys.exit(main())
