# SPDX-License-Identifier: Apache-2.0
"""Links the same inputs as nvlink 13.N and as devlink --toolkit 13.N; called by scripts/releases."""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

BASE = "13.0"
ARCHS = ["75", "80", "86", "89", "90", "90a"]
# How the link cases' cubins reach the linker, and the options of the link.
KINDS = ["cubins", "-r", "again", "-g", "-v", "-r -v", "fatbins", "fatbins -r", "PTX", "PTX -g", "objects",
         "objects -r", "objects -v", "LTO", "LTO -g"]
RANDOM_KINDS = ["random", "random -r", "random files"]
# Programs whose host objects and LTO IR are compiled: every so-manieth of those that nvcc takes
# whole.
OBJECT_CASES = 24
LTO_CASES = 8

# Differences that docs/compatibility.md lists. Each is found by what nvlink says or does.
# Those of a kind, for link cases of such names, from a release on:
NOT_REACHED = [
    ("again", r"debug|dynamic|extern_shared", "13.2"),
    ("PTX", r"werror", "13.0"),
]
FAULT = re.compile(r"Internal error|internal error")
BARRIERS = re.compile(r"used -?\d+ barriers")
REPEATED = re.compile(r"cannot be statically determined$")


def run(command, cwd=None, env=None, limit=300):
    try:
        done = subprocess.run([str(word) for word in command], cwd=cwd, env=env, timeout=limit,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except subprocess.TimeoutExpired:
        return 124, f"'{command[0]}' took more than {limit} seconds\n"
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


class Case:
    """A program of tests/link; tests/link/case_file.h says what stands at its head."""

    def __init__(self, name, paths):
        self.name = name
        heads = [self.head(path) for path in paths]
        self.archs = heads[0].get("archs", ["75", "80", "90", "90a"])
        self.link_flags = heads[0].get("link-flags", [])
        self.expects_error = heads[0].get("expect") == ["error"]
        self.files = []
        for path, head in zip(paths, heads):
            same_kind = path.suffix == paths[0].suffix
            flags = head.get("flags", heads[0].get("flags", []) if same_kind else [])
            self.files.append((path, flags))
        self.is_cuda = all(path.suffix == ".cu" and not any(f.startswith("-arch") for f in flags)
                           for path, flags in self.files)

    @staticmethod
    def head(path):
        found = {}
        for line in path.read_text().splitlines():
            if not line.startswith("//"):
                break
            key, colon, value = line[2:].strip().partition(":")
            if colon:
                found[key] = value.split()
        return found

    @staticmethod
    def find(folder):
        groups = {}
        for path in folder.iterdir():
            match = re.fullmatch(r"(.+?)(?:\.(\d+))?\.(cu|ptx)", path.name)
            if match:
                groups.setdefault(match[1], []).append((int(match[2] or 0), path))
        return [Case(name, [path for _, path in sorted(group)])
                for name, group in sorted(groups.items())]


class Toolkit:
    def __init__(self, release, home):
        self.release = release
        self.home = pathlib.Path(home)
        # A whole program asks for it.
        self.runtime = next(self.home.glob("lib*/libcudadevrt.a"), None)
        self.env = dict(os.environ, CUDA_HOME=str(home),
                        PATH=f"{home}/bin:{os.environ['PATH']}")

    def tool(self, name):
        return self.home / "bin" / name


class Inputs:
    """Makes what is linked, and keeps it in a folder until what it is made from changes."""

    def __init__(self, folder, base):
        self.folder = folder
        self.base = base  # its compiler makes the PTX, whoever assembles it
        self.locks = {}
        self.lock = threading.Lock()

    def make(self, output, command, sources):
        """False where the tools refuse it."""
        with self.lock:
            own = self.locks.setdefault(output, threading.Lock())
        with own:
            state = hashlib.sha256(" ".join(str(word) for word in command).encode())
            for source in sources:
                state.update(source.read_bytes())
            key = output.with_name(output.name + ".key")
            if key.exists():
                made, _, said = key.read_text().partition("\n")
                if made == state.hexdigest():
                    return output.exists()
            output.parent.mkdir(parents=True, exist_ok=True)
            output.unlink(missing_ok=True)
            status, said = run(command)
            if status != 0:
                output.unlink(missing_ok=True)
            key.write_text(state.hexdigest() + "\n" + said)
            return output.exists()

    def ptx(self, file, arch):
        """The PTX of a file of a case, or None."""
        path, flags = file
        if path.suffix == ".ptx":
            return path
        output = self.folder / "ptx" / arch / (path.stem + ".ptx")
        command = [self.base.tool("nvcc"), "-w", "-rdc=true", "-std=c++17", *self.arch(flags, arch),
                   *flags, "-ptx", path, "-o", output]
        headers = sorted(path.parent.glob("*.h")) + sorted(path.parent.glob("*.cuh"))
        return output if self.make(output, command, [path, *headers]) else None

    @staticmethod
    def arch(flags, arch):
        # A file that names its architecture is about exactly that.
        return [] if any(f.startswith("-arch=") for f in flags) else [f"-arch=sm_{arch}"]

    def cubin(self, toolkit, file, arch):
        path, flags = file
        ptx = self.ptx(file, arch)
        if ptx is None:
            return None
        output = self.folder / toolkit.release / arch / (path.name + ".cubin")
        if path.suffix == ".ptx":
            command = [toolkit.tool("ptxas"), "-c", *self.arch(flags, arch), *flags]
        else:
            # That compiles nothing and knows what its options mean for ptxas.
            command = [toolkit.tool("nvcc"), "-w", "-rdc=true", "-cubin", *self.arch(flags, arch),
                       *(f for f in flags if f != "--extended-lambda")]
        return output if self.make(output, [*command, ptx, "-o", output], [ptx]) else None

    def fatbin(self, toolkit, file, arch):
        cubin = self.cubin(toolkit, file, arch)
        if cubin is None:
            return None
        output = cubin.with_suffix(".fatbin")
        command = [toolkit.tool("fatbinary"), "-64", f"--create={output}",
                   f"--image3=kind=elf,sm={arch},file={cubin}"]
        return output if self.make(output, command, [cubin]) else None

    def ptx_fatbin(self, toolkit, file, arch):
        path, flags = file
        ptx = self.ptx(file, arch)
        if ptx is None or flags:
            return None
        output = self.folder / toolkit.release / arch / (path.name + ".ptx.fatbin")
        command = [toolkit.tool("fatbinary"), "-64", "-c", f"--create={output}",
                   f"--image3=kind=ptx,sm={arch},file={ptx}"]
        return output if self.make(output, command, [ptx]) else None

    def object(self, toolkit, file, arch, lto=False):
        path, flags = file
        code = "lto" if lto else "sm"
        output = self.folder / toolkit.release / arch / f"{path.stem}.{code}.o"
        command = [toolkit.tool("nvcc"), "-w", "-std=c++17", "-dc", *flags, "-o", output, path,
                   "-gencode", f"arch=compute_{arch},code={code}_{arch}",
                   # In its protected form only libnvJitLink reads LTO IR.
                   *(["-Xfatbin", "--compress=false"] if lto else [])]
        headers = sorted(path.parent.glob("*.h")) + sorted(path.parent.glob("*.cuh"))
        return output if self.make(output, command, [path, *headers]) else None


class Link:
    """One link to be compared."""

    def __init__(self, toolkit, inputs_of, kind, case, arch):
        self.toolkit = toolkit
        self.inputs_of = inputs_of  # toolkits, one for each file
        self.kind = kind
        self.case = case
        self.arch = arch

    def inputs_name(self):
        return "+".join(sorted({toolkit.release for toolkit in self.inputs_of}))

    def name(self):
        return (f"{self.toolkit.release} of {self.inputs_name()}, {self.kind}: "
                f"{self.case.name} sm_{self.arch}")

    def options(self):
        options = [f"-arch=sm_{self.arch}", *self.case.link_flags]
        options += [word for word in self.kind.split() if word.startswith("-")]
        if self.kind.startswith("LTO"):
            options += ["-lto", f"-nvvmpath={self.toolkit.home}/nvvm"]
        return options


class Matrix:
    def __init__(self, args, inputs):
        self.args = args
        self.inputs = inputs
        self.scratch = pathlib.Path(args.out) / "links"
        self.kept = pathlib.Path(args.out) / "differences"
        self.counts = {}  # (release, inputs, kind) -> [identical, compared, known, left out]
        self.lock = threading.Lock()
        self.differences = []

    def count(self, row, kind, verdict):
        with self.lock:
            cell = self.counts.setdefault((*row, kind), [0, 0, 0, 0])
            if verdict == "left out":
                cell[3] += 1
                return
            cell[1] += 1
            cell[0] += verdict == "identical"
            cell[2] += verdict == "known"

    def link_inputs(self, link):
        kind = link.kind.split()[0]
        make = {"fatbins": self.inputs.fatbin, "PTX": self.inputs.ptx_fatbin,
                "objects": self.inputs.object,
                "LTO": lambda *of: self.inputs.object(*of, lto=True)}.get(kind, self.inputs.cubin)
        inputs = [make(toolkit, file, link.arch)
                  for toolkit, file in zip(link.inputs_of, link.case.files)]
        return inputs + [link.toolkit.runtime] if kind == "LTO" else inputs

    def run_linker(self, link, program, folder, inputs):
        """Status, what it says under devlink's name, and whether nvlink's own fault ended it."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "out.cubin").unlink(missing_ok=True)
        command = [program, *link.options(), *inputs, "-o", "out.cubin"]
        if program != link.toolkit.tool("nvlink"):
            command[1:1] = [f"--toolkit={link.toolkit.release}"]
            if "-r" in link.options():
                command[1:1] = ["--compat=nvlink"]
        status, text = run(command, folder, link.toolkit.env)
        (folder / "command.txt").write_text(" ".join(str(word) for word in command) + "\n")
        (folder / "said.txt").write_text(text)
        said = []
        for line in text.splitlines():
            if line.startswith("devlink note    :") or not line.strip():
                continue
            if line.startswith("nvlink "):
                line = "devlink " + line.removeprefix("nvlink ")
            if REPEATED.search(line) and line in said:
                continue
            said.append(line)
        return status, said

    def varies(self, link, nvlink, folder, inputs):
        """Whether nvlink's own output is another one each time (LTO with -g, 13.5)."""
        for attempt in ("second", "third"):
            status, _ = self.run_linker(link, nvlink, folder / attempt, inputs)
            if status == 0 and (folder / "nvlink/out.cubin").exists():
                if run([self.args.diff, folder / "nvlink/out.cubin",
                        folder / attempt / "out.cubin"])[0] == 1:
                    return True
        return False

    @staticmethod
    def is_known(link):
        return any(link.kind.split()[0] == kind and re.search(cases, link.case.name) and
                   link.toolkit.release >= release for kind, cases, release in NOT_REACHED)

    def compare(self, link):
        """The verdict, and what differs."""
        inputs = self.link_inputs(link)
        if None in inputs:
            return "left out", "does not compile"
        folder = self.scratch / re.sub(r"[^\w.+-]+", "_", link.name())
        nvlink = link.toolkit.tool("nvlink")
        if link.kind == "again":
            first = Link(link.toolkit, link.inputs_of, "-r", link.case, link.arch)
            status, _ = self.run_linker(first, nvlink, folder / "first", inputs)
            if status != 0:
                return "left out", "nvlink -r fails"
            inputs = [folder / "first" / "out.cubin"]
        verdict, text = self.compare_runs(
            self.run_linker(link, nvlink, folder / "nvlink", inputs),
            self.run_linker(link, self.args.devlink, folder / "devlink", inputs), folder)
        if verdict == "different" and self.is_known(link):
            verdict = "known"
        if verdict == "different" and self.varies(link, nvlink, folder, inputs):
            verdict = "left out"
        if verdict == "different":
            place = self.kept / folder.name
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(folder, place)
            (place / "difference.txt").write_text(text)
        shutil.rmtree(folder, ignore_errors=True)
        return verdict, text

    def compare_runs(self, expected, actual, folder):
        status, said = expected
        if status < 0 or any(FAULT.search(line) for line in said):
            return "left out", "nvlink's own fault"
        if status != actual[0]:
            return "different", (f"nvlink ends with {status}, devlink with {actual[0]}\n"
                                 + "\n".join([*said, "---", *actual[1]]) + "\n")
        if status == 0:
            differs, text = run([self.args.diff, folder / "nvlink/out.cubin",
                                 folder / "devlink/out.cubin"])
            if differs:
                return "different", text
        if said == actual[1]:
            return "identical", ""
        text = "nvlink says\n" + "\n".join(said) + "\ndevlink says\n" + "\n".join(actual[1]) + "\n"
        same_but = [BARRIERS.sub("used N barriers", line) for line in said]
        if same_but == [BARRIERS.sub("used N barriers", line) for line in actual[1]]:
            return "known", text
        return "different", text

    def check(self, link):
        verdict, text = self.compare(link)
        self.count((link.toolkit.release, link.inputs_name()), link.kind, verdict)
        if verdict == "different":
            with self.lock:
                self.differences.append(link.name())
                lines = text.splitlines()
                print(f"DIFFERENT {link.name()}: {' | '.join(lines[:3])[:300]}", flush=True)

    def random(self, release, base, kind):
        """Random programs, assembled by the ptxas of `base`."""
        home = release.home
        if base is not release:
            home = pathlib.Path(self.args.out) / f"mixed-{release.release}"
            (home / "bin").mkdir(parents=True, exist_ok=True)
            for tool, of in (("nvcc", base), ("ptxas", base), ("nvlink", release)):
                (home / "bin" / tool).unlink(missing_ok=True)
                (home / "bin" / tool).symlink_to(of.tool(tool))
        options = ["--relocatable"] if kind.endswith("-r") else []
        status, text = run(
            [self.args.fuzz, "--kind", "packaged" if kind == "random files" else "ptx", "--arch",
             ",".join(f"sm_{arch}" for arch in self.args.arch), "--seed", 1, "--count",
             self.args.seeds, "--jobs", self.args.jobs, "--shrink", 0, "--keep",
             self.kept / f"random-{release.release}-{base.release}{kind[6:].replace(' ', '-')}",
             *options], env=Toolkit(release.release, home).env, limit=3600)
        row = (release.release, base.release)
        match = re.search(r"(\d+) identical, (\d+) different, (\d+) skipped", text)
        if not match:
            self.differences.append(f"{release.release} {kind}")
            print(f"devlink-fuzz ends with {status}: {text}")
            return
        same, different, skipped = (int(number) for number in match.groups())
        with self.lock:
            self.counts[(*row, kind)] = [same, same + different, 0, skipped]
        for line in text.splitlines():
            if "DIFFERENT" in line:
                self.differences.append(f"{release.release} of {base.release}, {kind}: {line}")
                print(f"DIFFERENT {self.differences[-1][:300]}", flush=True)

    def print_table(self, kinds):
        print("\nidentical / compared; +N: differs only as docs/compatibility.md says; "
              "(N): left out, the tools refuse the input, or nvlink fails by its own fault or varies\n")
        rows = [["release", "inputs", *kinds, "all"]]
        for release, inputs in sorted({key[:2] for key in self.counts}):
            row, total = [release, inputs], [0, 0, 0, 0]
            for kind in kinds:
                cell = self.counts.get((release, inputs, kind))
                row.append(self.cell(cell) if cell else "")
                total = [a + b for a, b in zip(total, cell or [0, 0, 0, 0])]
            rows.append([*row, self.cell(total)])
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        for row in rows:
            print("  ".join(text.rjust(width) for text, width in zip(row, widths)).rstrip())

    @staticmethod
    def cell(cell):
        text = f"{cell[0]}/{cell[1]}"
        text += f" +{cell[2]}" if cell[2] else ""
        return text + (f" ({cell[3]})" if cell[3] else "")


def spread(items, count):
    """`count` of the items, from all over the list."""
    step = max(1, len(items) // count) if count else len(items) + 1
    return items[::step][:count]


def links_of(toolkit, base, cases, args):
    own = [case for case in cases if case.is_cuda and not case.expects_error]
    chosen = {"objects": spread(own, OBJECT_CASES), "LTO": spread(own, LTO_CASES)}
    for kind in args.kind:
        if kind in RANDOM_KINDS:
            continue
        for case in chosen.get(kind.split()[0], cases):
            if kind.startswith("-") and kind.split()[0] in case.link_flags:
                continue
            for arch in case.archs:
                if arch not in args.arch:
                    continue
                count = len(case.files)
                yield Link(toolkit, [base] * count, kind, case, arch)
                if toolkit is base:
                    continue
                yield Link(toolkit, [toolkit] * count, kind, case, arch)
                if count > 1 and kind in ("cubins", "-r", "objects"):
                    yield Link(toolkit, [(base, toolkit)[i % 2] for i in range(count)], kind, case,
                               arch)


def parse():
    parser = argparse.ArgumentParser(prog="scripts/releases")
    comma = lambda text: [word.strip() for word in text.split(",")]
    parser.add_argument("releases", nargs="*")
    parser.add_argument("--arch", type=comma, default=["75", "80", "90", "90a"])
    parser.add_argument("--kind", type=comma, default=KINDS + RANDOM_KINDS)
    parser.add_argument("--case", default="")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    for name in ("--root", "--bin", "--out", "--cuda-home"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    args = parser.parse_args()
    unknown = set(args.kind) - set(KINDS + RANDOM_KINDS)
    if unknown:
        parser.error(f"no such kind: {', '.join(unknown)}; there are {', '.join(KINDS)}")
    args.arch = [arch.removeprefix("sm_") for arch in args.arch]
    args.devlink, args.diff, args.fuzz = (pathlib.Path(args.bin) / name
                                          for name in ("devlink", "devlink-diff", "devlink-fuzz"))
    return args


def main():
    args = parse()
    root = pathlib.Path(args.root)
    base = Toolkit(BASE, args.cuda_home)
    inputs = Inputs(pathlib.Path(args.out) / "inputs", base)
    matrix = Matrix(args, inputs)
    shutil.rmtree(matrix.scratch, ignore_errors=True)
    cases = [case for case in Case.find(root / "tests/link/cases") if re.search(args.case, case.name)]
    for release in args.releases:
        toolkit = base if release == BASE else Toolkit(release, root / f"build/toolkit-{release}")
        links = list(links_of(toolkit, base, cases, args))
        print(f"CUDA {release}: {len(links)} links", flush=True)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as workers:
            for done in [workers.submit(matrix.check, link) for link in links]:
                done.result()
        for kind in args.kind:
            if kind in RANDOM_KINDS and not args.case:
                # Among files there is PTX, which nvlink assembles by itself.
                makers = [toolkit] if kind == "random files" else sorted(
                    {base, toolkit}, key=lambda maker: maker.release)
                for maker in makers:
                    matrix.random(toolkit, maker, kind)
    matrix.print_table(args.kind)
    if matrix.differences:
        print(f"\n{len(matrix.differences)} differences; they are kept in {matrix.kept}")
        sys.exit(1)
    if not any(cell[1] for cell in matrix.counts.values()):
        sys.exit("releases: nothing was compared")


main()
