# SPDX-License-Identifier: Apache-2.0
"""Compiles, links and compares the programs in examples/; called by scripts/demo."""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import time

ARCHS = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a"]
COLUMNS = ["example", "arch", "units", "kernels", "registers", "stack", "shared", "bytes", "nvlink"]


def run(command, log):
    """Returns the exit status; the command and what it says go to the file log."""
    with open(log, "w", encoding="utf-8") as out:
        print(*command, file=out, flush=True)
        return subprocess.run(command, stdout=out, stderr=out, check=False).returncode


def last_lines(log, count=8):
    return "".join("    " + line for line in log.read_text().splitlines(keepends=True)[-count:])


class Demo:
    def __init__(self, root, programs, out, cuda_home, names):
        self.cuda = pathlib.Path(cuda_home)
        self.bin = programs
        self.out = out
        self.out_name = os.path.relpath(out, root)
        found = sorted(p.parent for p in root.glob("examples/*/main.cu"))
        self.examples = [p for p in found if not names or p.name in names]
        unknown = set(names) - {p.name for p in found}
        if unknown:
            sys.exit(f"demo: no such example: {', '.join(sorted(unknown))}")
        self.problems = []

    def cubin(self, unit, arch):
        return self.out / unit.parent.name / arch / (unit.stem + ".cubin")

    def compile(self, unit, arch):
        """Makes the relocatable cubin of one unit, unless it is newer than what it is made from."""
        cubin = self.cubin(unit, arch)
        nvcc = self.cuda / "bin/nvcc"
        sources = [*unit.parent.glob("*.cu"), *unit.parent.glob("*.h"), nvcc]
        if cubin.exists() and cubin.stat().st_mtime > max(s.stat().st_mtime for s in sources):
            return True
        cubin.parent.mkdir(parents=True, exist_ok=True)
        # A compile that is interrupted must not leave a cubin that looks new.
        partial = cubin.with_suffix(".new.cubin")
        command = [nvcc, "-std=c++17", "-rdc=true", "-cubin", f"-arch={arch}", "-o", partial, unit]
        log = cubin.with_suffix(".log")
        if run([str(c) for c in command], log) != 0:
            self.problems.append(f"cannot compile {unit.name} for {arch}:\n{last_lines(log)}")
            return False
        partial.replace(cubin)
        return True

    def link(self, example, arch):
        """Links one example for one architecture; returns a row of the table."""
        units = sorted(example.glob("*.cu"))
        here = self.out / example.name / arch
        ours, theirs, report = here / "devlink.out", here / "nvlink.out", here / "report.json"
        row = {"example": example.name, "arch": arch, "units": len(units)}
        for stale in (ours, theirs, report):
            stale.unlink(missing_ok=True)
        cubins = [str(self.cubin(unit, arch)) for unit in units]

        log = here / "devlink.log"
        command = [str(self.bin / "devlink"), f"-arch={arch}", "--report", str(report)]
        if run([*command, "-o", str(ours), *cubins], log) != 0:
            row["nvlink"] = "LINK FAILED"
            self.problems.append(f"devlink failed, {example.name} for {arch}:\n{last_lines(log)}")
            return row
        linked = json.loads(report.read_text())
        kernels = linked["kernels"]
        row["kernels"] = len(kernels)
        row["registers"] = max((k.get("registers") or 0 for k in kernels), default=0)
        row["stack"] = max((k.get("stack_bytes") or 0 for k in kernels), default=0)
        row["shared"] = max((k.get("shared_bytes") or 0 for k in kernels), default=0)
        row["bytes"] = ours.stat().st_size

        nvlink = self.cuda / "bin/nvlink"
        if not nvlink.exists():
            row["nvlink"] = "not there"
            return row
        log = here / "nvlink.log"
        if run([str(nvlink), f"-arch={arch}", "-o", str(theirs), *cubins], log) != 0:
            row["nvlink"] = "nvlink failed"
            self.problems.append(f"nvlink failed, {example.name} for {arch}:\n{last_lines(log)}")
            return row
        log = here / "diff.log"
        if run([str(self.bin / "devlink-diff"), str(ours), str(theirs)], log) == 0:
            row["nvlink"] = "identical"
        else:
            row["nvlink"] = "DIFFERENT"
            self.problems.append(f"{example.name} for {arch} differs:\n{last_lines(log)}")
        return row

    def main(self):
        start = time.monotonic()
        jobs = [(u, a) for e in self.examples for u in sorted(e.glob("*.cu")) for a in ARCHS]
        print(f"compiling {len(jobs)} cubins with {self.cuda / 'bin/nvcc'}", flush=True)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            compiled = all(list(pool.map(lambda job: self.compile(*job), jobs)))
        if compiled:
            print(f"compiled in {time.monotonic() - start:.1f} s\n")
            rows = [self.link(example, arch) for example in self.examples for arch in ARCHS]
            self.print_table(rows)
            same = sum(row["nvlink"] == "identical" for row in rows)
            print(f"\n{len(rows)} links, {same} identical to nvlink's; files in {self.out_name}")
        for problem in self.problems:
            print(problem, file=sys.stderr)
        return 1 if self.problems else 0

    @staticmethod
    def print_table(rows):
        table = [COLUMNS] + [[str(row.get(c, "-")) for c in COLUMNS] for row in rows]
        widths = [max(len(line[i]) for line in table) for i in range(len(COLUMNS))]
        text = ("example", "arch", "nvlink")
        for line in table:
            cells = [
                cell.ljust(width) if column in text else cell.rjust(width)
                for cell, width, column in zip(line, widths, COLUMNS)
            ]
            print("  ".join(cells).rstrip())


if __name__ == "__main__":
    PATHS = [pathlib.Path(argument) for argument in sys.argv[1:5]]
    sys.exit(Demo(*PATHS, sys.argv[5:]).main())
