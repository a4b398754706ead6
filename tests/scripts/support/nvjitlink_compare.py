# SPDX-License-Identifier: Apache-2.0
"""Compares what two libnvJitLink answer to the same cases, line by line.

    nvjitlink_compare.py THEIRS OURS EXPECTED DIFF

THEIRS and OURS are folders with what devlink-nvjitlink-cases prints (`out`) and writes. EXPECTED
holds the lines in which the two may differ: `-` in front of one that NVIDIA's library alone says,
`+` in front of one of ours. Each of these has to be met, and there may be no other. DIFF is
devlink-diff, which says whether two cubins are the same but for the linkers' own records.

With EXPECTED missing, the lines are printed, for whoever writes that file, and the status is 1.
"""

import collections
import difflib
import pathlib
import re
import subprocess
import sys

THEIRS, OURS = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
EXPECTED, DIFF = pathlib.Path(sys.argv[3]), sys.argv[4]

# Times, and the length of a log that has some.
TIME = re.compile(r"(nvJitLink time until Complete|time to create PTX|time to finish): [0-9.]+")
COMPILE_TIME = re.compile(r"Compile time = [0-9.]+ ms")


def lines_of(folder):
    """The lines of each case. NVIDIA's library also writes to the process's standard output."""
    out = {}
    for line in (folder / "out").read_text(errors="replace").splitlines():
        name, colon, text = line.partition(": ")
        if not colon or " " in name:
            continue
        text = COMPILE_TIME.sub("Compile time = T ms", TIME.sub(r"\1: T", text))
        out.setdefault(name, []).append(text)
    for texts in out.values():
        if any(": T" in text or "= T ms" in text for text in texts):
            texts[:] = [text for text in texts if not text.startswith("info log has ")]
    return out


def same_file(theirs, ours):
    if not theirs.exists() and not ours.exists():
        return True
    if not theirs.exists() or not ours.exists():
        return False
    if theirs.read_bytes() == ours.read_bytes():
        return True
    if theirs.suffix != ".cubin":
        return False
    said = subprocess.run([DIFF, theirs, ours], capture_output=True, text=True)
    return said.returncode == 0


def differences(name, theirs, ours):
    # A byte behind the buffer is NVIDIA's alone, and nearly everywhere.
    theirs = [text for text in theirs if "writes behind the end" not in text]
    changed = difflib.unified_diff(theirs, ours, lineterm="", n=0)
    out = [line for line in changed if not line.startswith(("---", "+++", "@@"))]
    for file in sorted({path.name for path in [*THEIRS.glob(f"{name}.*"), *OURS.glob(f"{name}.*")]}):
        if not same_file(THEIRS / file, OURS / file):
            out.append(f"! {file}")
    return [f"{line[0]} {name}: {line[1:].strip()}" for line in out]


def main():
    theirs, ours = lines_of(THEIRS), lines_of(OURS)
    if theirs.keys() != ours.keys():
        sys.exit(f"cases of one library only: {theirs.keys() ^ ours.keys()}")
    wrong = [name for name, texts in ours.items() if any("writes behind" in text for text in texts)]
    if wrong:
        sys.exit(f"ours writes behind a buffer: {wrong}")
    found = [line for name in theirs for line in differences(name, theirs[name], ours[name])]
    if not EXPECTED.exists():
        print("\n".join(found))
        sys.exit(f"there is no {EXPECTED}")
    expected = [
        line
        for line in EXPECTED.read_text().splitlines()
        if line and not line.startswith("#")
    ]
    # Each as often as it stands there.
    counted, wanted = collections.Counter(found), collections.Counter(expected)
    missing = list((wanted - counted).elements())
    strange = list((counted - wanted).elements())
    for line in strange:
        print(f"differs, and is not expected to: {line}")
    for line in missing:
        print(f"is expected to differ, and does not: {line}")
    if missing or strange:
        sys.exit(1)
    cases = len({line.split(":")[0][2:] for line in found})
    print(f"{len(theirs)} cases, {cases} with the {len(found)} lines that may differ")


main()
