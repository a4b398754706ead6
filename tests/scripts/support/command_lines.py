# SPDX-License-Identifier: Apache-2.0
"""Runs nvlink and devlink on the same command lines, with --compat=nvlink and without, and compares
what comes of them.

    command_lines.py DEVLINK DEVLINK_DIFF INPUTS

INPUTS is a folder of files that the lines name; each run gets a folder of its own with links to
them. Compared are the exit status, the text, and every file that is there in the end.
"""

import concurrent.futures
import itertools
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

DEVLINK = sys.argv[1]
DIFF = sys.argv[2]
INPUTS = pathlib.Path(sys.argv[3]).resolve()
NVVM = os.environ.get("nvvm", "")
RUNTIME = os.environ.get("runtime", "")

# What an option that devlink knows is tried with. One value, or a good and a bad one.
FLAGS = """suppress-stack-size-warning suppress-arch-warning w Werror disable-infos v extrawarn
keep-system-libraries report-arch r g use-host-info ignore-host-info shared force-rela
allow-undefined-globals reserve-null-pointer dont-reserve-null-pointer uumn dump-callgraph
dump-callgraph-no-demangle preserve-relocs suppress-debug-info emit-ptx force-partial-lto
force-whole-lto lto dlto V h""".split()
LONG_FLAGS = """suppress-stack-size-warning suppress-arch-warning disable-warnings warning-as-error
disable-infos verbose extra-warnings keep-system-libraries report-arch relocatable-link debug
use-host-info ignore-host-info shared force-rela allow-undefined-globals reserve-null-pointer
dont-reserve-null-pointer uumn dump-callgraph dump-callgraph-no-demangle preserve-relocs
suppress-debug-info link-time-opt dlto version help""".split()
VALUES = {
    "m": ["64", "32", "0x40", "", "64x"],
    "l": ["b", "nowhere"],
    "L": [".", "nowhere"],
    "cpu-arch": ["X86_64", "vax"],
    "kernels-used": ["kern2", "nothing"],
    "variables-used": ["g", "nothing"],
    "maxrregcount": ["32", "040", "", "many"],
    "split-compile": ["1", "99999999999"],
    "split-compile-extended": ["1", "0x"],
    "Xptxas": ["-v", '"-v'],
    "Xnvvm": ["-ftz=0", 'a"'],
    "Xlinker": ["a", '"'],
    "host-ccbin": ["gcc", "nowhere"],
    "nvvmpath": ["nowhere", ""],
    "device-stack-protector": ["true", "1"],
    "device-stack-protector-frame-size-threshold": ["16", "big"],
    "disable-smem-reservation": ["true", "yes"],
    "enable-extended-smem": ["false", ""],
    "verbose-tkinfo": ["true", "0"],
    "syscall-const-offset": ["-0x10", "a"],
    "cuda-api-version": ["13.0", "12.9", "13", "13.x"],
    "tool-name": ["tool", ""],
    "nv-host": ["host.txt", "nowhere", "empty.txt"],
    "uidx": ["host.txt", "nowhere", "empty.txt"],
    "time": ["times.csv", "-", "folder/none/t.csv", "folder"],
    "dot": ["graph.dot", "folder/none/graph.dot"],
    "Ofc": ["0", "fast"],
    "optf": ["words.txt", "nowhere.txt", "self.txt", "open.txt", "words.txt,more.txt"],
    "arch": ["sm_80", "sm_81", "compute_80", "lto_80", "80", "SM_80", "sm_80a", ""],
}
LONG_VALUES = {
    "machine": ["64"],
    "library": ["b"],
    "library-path": ["."],
    "output-file": ["y.cubin"],
    "options-file": ["words.txt"],
    "uidx-file": ["host.txt"],
    "dot-file": ["graph.dot"],
    "Ofast-compile": ["0"],
    "register-link-binaries": ["ids.c"],
    "host-linker-options": ["a"],
}


def good(sm, *more):
    return [f"-arch=sm_{sm}", f"a{sm}.cubin", f"b{sm}.cubin", "-o", "out.cubin", *more]


def from_table():
    """Every option in each of its forms."""
    for flag in FLAGS:
        yield good(80, f"-{flag}")
        yield good(80, f"-{flag}=1")
    for flag in LONG_FLAGS:
        yield good(80, f"--{flag}")
        yield good(80, f"-{flag}-x")
    for name, values in VALUES.items():
        for value in values:
            yield good(80, f"-{name}={value}")
            yield good(80, f"-{name}", value)
        yield good(80, f"-{name}={values[0]}", f"-{name}={values[-1]}")
        yield good(80) + [f"-{name}"]
    for name, values in LONG_VALUES.items():
        for value in values:
            yield good(80, f"--{name}={value}")
            yield good(80, f"--{name}", value)
        yield good(80) + [f"--{name}"]


# Options that change what is written, with each other and on each kind of target.
EFFECTS = [
    "-r",
    "-g",
    "-v",
    "-reserve-null-pointer",
    "-disable-smem-reservation=true",
    "-nv-host=host.txt",
    "-force-rela",
    "-preserve-relocs",
    "-dump-callgraph",
    "-dot=graph.dot",
    "-verbose-tkinfo=true",
    "-kernels-used=kern2",
    "-variables-used=k",
    "-report-arch",
]


def of_effects():
    for sm in (80, 90):
        for one, other in itertools.combinations(EFFECTS, 2):
            yield good(sm, one, other)
        for one in EFFECTS:
            yield good(sm, one)
            yield [f"-arch=sm_{sm}", f"u{sm}.cubin", "-o", "out.cubin", one]
            yield [
                f"-arch=sm_{sm}",
                f"u{sm}.cubin",
                "-o",
                "out.cubin",
                one,
                "-allow-undefined-globals",
            ]


# What can be wrong or odd with a link, or is said of it. Of two of them the order shows.
ODDITIES = [
    ["nowhere"],
    ["a80.cubin"],
    ["b80.o"],
    ["p.ptx"],
    ["host.txt"],
    ["u90.cubin"],
    ["b90.cubin", "b90.cubin"],
    ["-L.", "-lnone"],
    ["-L.", "-lempty"],
    ["-L.", "-lb"],
    ["-lto"],
    ["-lto", "-nvvmpath=nowhere"],
    ["-Ofc=zz"],
    ["-preserve-relocs"],
    ["-preserve-relocs", "-Werror"],
    ["-use-host-info", "-variables-used=k"],
    ["-cuda-api-version=12.0"],
    ["-time=folder/none/t.csv"],
    ["-nv-host=nowhere"],
    ["-uidx=host.txt"],
    ["-dot=folder/none/graph.dot"],
    ["-dump-callgraph"],
    ["-maxrregcount=many"],
    ["-report-arch", "-tool-name=tool"],
    ["--register-link-binaries=ids.c"],
    ["-Werror"],
    ["-r"],
    ["-arch=sm_90"],
    ["-arch=lto_90"],
]


def of_oddities():
    for one, other in itertools.combinations(ODDITIES, 2):
        yield ["-arch=sm_90", "-o", "x.cubin", "a90.cubin", *one, *other]
        if NVVM and "-lto" in one and "-lto" not in other and len(one) == 1:
            yield ["-arch=sm_90", "-o", "x.cubin", "alto90.o", *one, f"-nvvmpath={NVVM}", *other]


BY_HAND = r"""
-V
--version
-h -V
-tool-name=tool -V
-V -nonsense

-o
-o x
-arch
-arch=
-arch=sm_80
-arch=sm_80 -o
-arch=sm_80 -o x.cubin
-arch=sm_80 a80.cubin
-arch=sm_80 -o x.cubin nowhere.cubin
-arch=sm_80 -o x.cubin folder
-arch=sm_80 -o folder a80.cubin b80.cubin
-arch=sm_80 -o folder/none/x a80.cubin b80.cubin
-arch=sm_80 -o x.cubin a80.cubin
-arch=sm_80 -o x.cubin a80.cubin a80.cubin b80.cubin
-arch=sm_80 -o x.cubin a90.cubin b90.cubin
-arch=sm_90 -o x.cubin a80.cubin b80.cubin
-arch=sm_86 -o x.cubin a80.cubin b80.cubin
-arch=sm_80 -o x.cubin empty.txt
-arch=sm_80 -o x.cubin host.txt
-arch sm_80 -o=x.cubin a80.cubin b80.cubin
--arch sm_80 --output-file x.cubin a80.cubin b80.cubin
--arch=sm_80 --output-file=x.cubin a80.cubin b80.cubin
-arch=sm_80 -ox.cubin a80.cubin
-arch=sm_80 --o x.cubin a80.cubin
-arch=sm_80 -output-file x.cubin a80.cubin
-arch=sm_80 -o x.cubin -- a80.cubin b80.cubin
-arch=sm_80 -o x.cubin - a80.cubin
-arch=sm_80 -o x.cubin -= a80.cubin
-arch=sm_80 -o x.cubin --= a80.cubin
-arch=sm_80 -o x.cubin -m64 a80.cubin b80.cubin
-arch=sm_80 -o x.cubin -m32 a80.cubin b80.cubin
-arch=sm_80 -o x.cubin -machine a80.cubin
-arch=sm_80 -o x.cubin -lineinfo a80.cubin b80.cubin
-arch=sm_80 -o x.cubin -L. -lb a80.cubin
-arch=sm_80 -o x.cubin -Lnowhere -L. -lb a80.cubin
-arch=sm_80 -o x.cubin -lb -L=. a80.cubin
-arch=sm_80 -o x.cubin a80.cubin libb.a
-arch=sm_80 -o x.cubin libb.a a80.cubin
-arch=sm_80 -o x.cubin a80.o b80.o
-arch=sm_80 -o x.cubin a80.o b80.o -keep-system-libraries
-arch=sm_80 -o x.cubin a80.o b90.o
-arch=sm_80 -o x.cubin a80.o b90.o -suppress-arch-warning
-arch=sm_80 -o x.cubin a80.o b90.o -Werror
-arch=sm_80 -o x.cubin a80.o b80.o --register-link-binaries=ids.c
-arch=sm_80 -o x.cubin a80.o b80.o --register-link-binaries=folder/none/ids.c
-arch=sm_80 -o x.cubin d80.o
-arch=sm_80 -o x.cubin d80.o -r
-arch=sm_80 -o x.cubin -optf words.txt a80.cubin b80.cubin
-optf more.txt -optf words.txt
-optf words.txt,more.txt
-optf more.txt,nowhere.txt
-optf more.txt -o
--options-file=more.txt -o x.cubin
-arch=sm_80 -optf self.txt
-arch=sm_80 -optf open.txt
-arch=sm_80 -arch=sm_90 -o x.cubin a90.cubin b90.cubin
-arch=sm_80 -o x.cubin -o y.cubin a80.cubin b80.cubin
-arch=sm_80 -o x.cubin -tool-name=a -tool-name=b nowhere
-arch=sm_80 -tool-name=tool
-arch=sm_80 -o x.cubin -tool-name=tool a80.cubin
-arch=sm_80 -o x.cubin -tool-name=tool -nonsense a80.cubin
-arch=sm_80 -o x.cubin -tool-name=tool -report-arch -v a80.cubin b80.cubin
-arch=sm_80 -o x.cubin -verbose-tkinfo=true -time=folder/t.csv -optf words.txt a80.cubin b80.cubin
-arch=sm_80 -o x.cubin -g -verbose-tkinfo=false a80.cubin b80.cubin
-arch=sm_80 -o x.cubin -time=t.csv p.ptx a80.cubin b80.cubin
-arch=sm_80 -o x.cubin -time=- aptx.o b80.o
-arch=sm_80 -o x.cubin -time=- aptx.o libb.a
-arch=sm_80 -o x.cubin -time=- p.ptx nowhere
-arch=sm_80 -o x.cubin -time=- p.ptx a80.cubin -tool-name=tool
-arch=compute_80 -time=- p.ptx
-arch=compute_80 a80.cubin b80.cubin -dump-callgraph -dot=graph.dot
-arch=compute_80 a80.cubin b80.cubin -preserve-relocs
-arch=compute_90 a90.cubin b90.cubin -preserve-relocs -report-arch
-arch=lto_80 a80.cubin -report-arch
-arch=lto_80 a80.cubin -suppress-debug-info
-arch=sm_80 -o x.cubin a80.cubin -dot=graph.dot
-arch=sm_80 -o x.cubin a80.cubin -dot=graph.dot -dump-callgraph
-arch=sm_80 -o x.cubin a80.cubin -dot=folder/none/graph.dot
-arch=sm_80 -o x.cubin nowhere -dot=graph.dot
-arch=sm_80 -o x.cubin nowhere -time=times.csv
-arch=sm_80 -o x.cubin nowhere -nv-host=none -uidx=none -time=none/t
-arch=sm_80 -o x.cubin nowhere -nv-host=none -uidx=none
-arch=sm_80 -o x.cubin nowhere -nv-host=none -report-arch
-arch=sm_90 -o x.cubin a90.cubin b90.cubin -preserve-relocs -Werror
-arch=sm_90 -o x.cubin a90.cubin b90.cubin -preserve-relocs -Werror -report-arch -tool-name=tool
-arch=sm_90 -o x.cubin a90.cubin u90.cubin -preserve-relocs -Werror
-arch=sm_90 -o x.cubin a90.cubin b90.cubin b90.cubin -preserve-relocs -Werror -v
-arch=sm_90 -o x.cubin a90.cubin b90.cubin -r -preserve-relocs -Werror
-arch=sm_90 -o x.cubin a90.cubin b90.cubin -preserve-relocs -Werror --register-link-binaries=ids.c
-arch=sm_90 -o x.cubin a90.cubin b80.cubin -preserve-relocs -Werror
-arch=sm_90 -o x.cubin a90.cubin nowhere -preserve-relocs -Werror
-arch=sm_90 -o x.cubin a90.cubin empty.txt -preserve-relocs -Werror
-arch=sm_90 -o x.cubin a90.cubin host.txt -preserve-relocs -Werror
-arch=sm_90 -o x.cubin a90.cubin b90.o -preserve-relocs -Werror -report-arch
-arch=sm_90 -o x.cubin a90.cubin b80.o -preserve-relocs -Werror
-arch=sm_90 -o x.cubin a90.cubin libb.a -preserve-relocs -Werror
-arch=sm_90 -o x.cubin nowhere -L. -lb -preserve-relocs -Werror
-arch=sm_90 -o x.cubin a90.cubin -L. -lnone -preserve-relocs -Werror
-arch=sm_90 -o x.cubin a90.cubin p.ptx -preserve-relocs -Werror
-arch=sm_90 -o x.cubin a90.cubin -preserve-relocs -Werror -lto -nvvmpath=nowhere
-arch=sm_90 -o x.cubin a90.cubin b90.cubin -preserve-relocs -Werror -time=folder/none/t.csv
-arch=compute_90 a90.cubin b90.cubin -preserve-relocs -Werror
-arch=compute_90 a90.cubin b90.o -preserve-relocs -Werror
-arch=sm_90 -o x.cubin a90.cubin b90.cubin -preserve-relocs -use-host-info -variables-used=k -nv-host=no
-arch=sm_90 -o x.cubin a90.cubin -preserve-relocs -Werror -use-host-info -kernels-used=k
-arch=sm_80 -o x.cubin a80.cubin -use-host-info -kernels-used=k -lto
-arch=sm_80 -o x.cubin a80.cubin -use-host-info -kernels-used=k -cuda-api-version=12.0
-arch=sm_80 -o x.cubin a80.cubin -use-host-info -kernels-used=k -nv-host=nowhere -report-arch
-arch=sm_80 -o x.cubin a80.cubin -use-host-info -variables-used=k -lto -nvvmpath=x -Ofc=zz
-arch=lto_80 a80.cubin -use-host-info -kernels-used=k
-arch=sm_100 -o x.cubin a100.cubin b90.cubin
-arch=sm_100a -o x.cubin a90.cubin -Werror
-arch=sm_120 -o x.cubin a100.cubin
-arch=compute_100 a90.cubin
-arch=compute_100 a90.cubin -Werror
-arch=compute_120 a90.cubin -disable-infos
-arch=sm_80 -o x.cubin cubin.ptx b80.cubin
-arch=sm_80 -o x.cubin fatbin.ptx b80.cubin
-arch=sm_90 -o x.cubin /dev/null a90.cubin b90.cubin
-arch=sm_90 -o x.cubin a90.cubin b90.cubin -nv-host=/dev/null
-arch=sm_80 -o x.cubin a80.o b80.o --register-link-binaries=
-arch=sm_80 -o x.cubin a80.o b80.o --register-link-binaries ''
-arch=sm_90 -o x.cubin nowhere -preserve-relocs -disable-infos
-arch=sm_90 -o x.cubin nowhere -preserve-relocs -cuda-api-version=12.0
-arch=sm_90 -o x.cubin nowhere -preserve-relocs -use-host-info -ignore-host-info
-arch=sm_80 -o x.cubin a80.cubin -use-host-info -ignore-host-info
-arch=sm_80 -o x.cubin a80.cubin -dump-callgraph -dump-callgraph-no-demangle
-arch=sm_80 -o x.cubin a80.cubin -dump-callgraph -dump-callgraph-no-demangle -suppress-debug-info
-arch=sm_80 -o x.cubin a80.cubin -dump-callgraph -dump-callgraph-no-demangle -emit-ptx
-arch=sm_80 -o x.cubin a80.cubin -emit-ptx -cuda-api-version=1.0
-arch=sm_80 -o x.cubin a80.cubin -force-partial-lto -Ofc=max
-arch=sm_80 -o x.cubin a80.cubin -force-whole-lto
-arch=sm_80 -o x.cubin a80.cubin -Ofc=max
-arch=sm_80 -o x.cubin a80.cubin -lto -emit-ptx
-arch=sm_80 -o x.cubin a80.cubin -lto -force-whole-lto -r
-arch=sm_80 -o x.cubin alto.o blto.o
-arch=sm_80 -o x.cubin alto.o b80.o -lto -nvvmpath=nowhere
-arch=sm_80 -o x.cubin a80.cubin b80.cubin -use-host-info -kernels-used=kern
-arch=sm_80 -o x.cubin a80.cubin b80.cubin -kernels-used=kern,kern2 -v
-arch=sm_80 -o x.cubin a80.cubin b80.cubin -kernels-used kern -kernels-used kern2 -v
-arch=sm_80 -o x.cubin a80.cubin b80.cubin -Xptxas=-v -maxrregcount=0x20
-arch=sm_80 -o x.cubin a80.cubin b80.cubin --Werror
-arch=sm_80 -o x.cubin a80.cubin b80.cubin -disable-warnings
-arch=sm_80 -o x.cubin a80.cubin b80.cubin -g=1
-arch=sm_80 -o x.cubin a80.cubin b80.cubin --debug=
-arch=sm_80 -o x.cubin a80.cubin b80.cubin ''
'' -arch=sm_80 -o x.cubin a80.cubin b80.cubin
-arch=sm_80 -o '' a80.cubin b80.cubin
-arch='sm_80 ' -o x.cubin a80.cubin b80.cubin
-arch=sm_80 -o x.cubin 'a80.cubin b80.cubin'
-arch=sm_80 -o x.cubin -l 'b, nowhere' -L ' .,folder' a80.cubin
@more.txt -o x.cubin
-dump-callgraph -o x.cubin
-ghls
-ghls -v
-ghls -shared -v
-ghls -r -v
-ghls -r -shared
-ghls -o x.lds
-ghls -o x.lds -v -shared
-ghls -host-ccbin=g++ -v
-ghls -host-ccbin=clang-19 -v
-ghls -host-ccbin=nowhere -v
-ghls -host-ccbin 'gcc -no-pie' -v
-ghls -host-ccbin=
-ghls=lcs-abs -arch=sm_90 -lnowhere -optf words.txt
--gen-host-linker-script=lcs-abs
--gen-host-linker-script
-gen-host-linker-script
-ghls lcs-aug
-ghls=lcs-aug
-ghls=lcs-aug -v -o x.lds
-ghls=lcs-aug -o folder/none/x.lds
-ghls=lcs-aug -o folder
-ghls=lcs-aug -shared -r -Werror -w -time=times.csv -dot=graph.dot -nv-host=none
-ghls=lcs-aug -ghls
-ghls=lcs-aug -arch=lto_80 -g -suppress-debug-info -dump-callgraph -dump-callgraph-no-demangle
-ghls=lcs-aug -arch=sm_81
-ghls=lcs-aug -lto
-ghls=lcs-aug -V
-ghls=
-ghls=aug
-ghls a80.cubin
-ghls=lcs-aug a80.cubin
-ghls=lcs-aug a80.cubin -arch=sm_80 -report-arch
-ghls=lcs-aug a80.cubin -tool-name=tool
-arch=sm_80 -o x.cubin -ghls a80.cubin
-arch=sm_80 -o x.cubin -vkeep a80.cubin
-arch=sm_80 -o x.cubin -edbg a80.cubin
-arch=sm_80 -o x.cubin --verbose-keep a80.cubin
-arch=sm_80 -o x.cubin -no-opt a80.cubin
-arch=sm_80 -o x.cubin -optimize-data-layout a80.cubin
"""


def of_lto():
    if not NVVM or not RUNTIME:
        return
    lto = ["-lto", f"-nvvmpath={NVVM}", f"{RUNTIME}/libcudadevrt.a", "-o", "x.cubin"]
    for more in ([], ["-r"], ["-emit-ptx"], ["-tool-name=tool"], ["-split-compile-extended=2"]):
        yield ["-arch=sm_80", "alto.o", "blto.o", *lto, "-time=-", *more]
    yield ["-arch=sm_80", "alto.o", "b80.o", *lto, "-time=times.csv", "-dump-callgraph"]
    yield ["-arch=sm_80", "alto.o", "blto.o", *lto, "-dot=graph.dot"]


def lines():
    every = [*from_table(), *of_effects(), *of_oddities(), *of_lto()]
    every += [shlex.split(line) for line in BY_HAND.strip("\n").split("\n")]
    known = set()
    for line in every:
        if tuple(line) not in known:
            known.add(tuple(line))
            yield line


def run(program, arguments, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in INPUTS.iterdir():
        if name.is_dir():
            (folder / name.name).mkdir()
        else:
            (folder / name.name).symlink_to(name)
    done = subprocess.run(
        [program, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        check=False,
    )
    files = {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }
    return done.returncode, done.stdout, done.stderr, files


def plain(text, is_ours=False):
    """Text without what differs from run to run."""
    text = re.sub(rb" , \d+\.\d{4} , ms\n", b" , TIME , ms\n", text)
    return re.sub(rb"(?m)^devlink (?=(info|warning|error|fatal) *: )", b"nvlink ", text) if is_ours else text


def record_of(cubin):
    """What the linker's own record says of the output's name and of the options."""
    begin = cubin.find(b"NVIDIA Corp\0", cubin.find(b"\x7fELF"))
    if begin < 0:
        return None
    words = struct.unpack_from("<6I", cubin, begin + 12)
    texts = cubin[begin + 12 + 24 :]
    return [texts[at : texts.index(b"\0", at)] for at in (words[1], words[5])]


def compare_files(wanted, found, where):
    for name in sorted(set(wanted) | set(found)):
        if name not in found or name not in wanted:
            yield f"only {'nvlink' if name in wanted else 'devlink'} writes {name}"
            continue
        if wanted[name].startswith(b"\x7fELF") and record_of(wanted[name]) != record_of(found[name]):
            yield f"{name}: record {record_of(wanted[name])} and {record_of(found[name])}"
        if plain(wanted[name]) != plain(found[name]):
            (where / "wanted").write_bytes(wanted[name])
            (where / "found").write_bytes(found[name])
            diff = subprocess.run(
                [DIFF, where / "wanted", where / "found"],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
            )
            if diff.returncode != 0:
                text = diff.stdout.decode(errors="replace").split("\n")
                yield f"{name} differs: " + "\n    ".join(text[:6])


# With which nvlink crashes and devlink does not: no kernel is left to draw.
CRASHES = {
    "-arch=sm_80 a80.cubin b80.cubin -o out.cubin -dot=graph.dot -variables-used=k",
    "-arch=sm_90 a90.cubin b90.cubin -o out.cubin -dot=graph.dot -variables-used=k",
}


# nvlink's own, where devlink's has to be another.
def is_help_or_version(line):
    return any(word in ("-h", "-V", "--help", "--version") for word in line)


def compare(wanted, found, line, where):
    """What differs of two runs, as lines to read."""
    wrong = []
    if wanted[0] != found[0]:
        wrong.append(f"nvlink ends with {wanted[0]}, devlink with {found[0]}")
    for stream, name in ((1, "stdout"), (2, "stderr")):
        if stream == 1 and is_help_or_version(line) and wanted[stream]:
            continue
        expected, text = plain(wanted[stream]), plain(found[stream], is_ours=True)
        if expected != text:
            wrong.append(
                f"{name} differs:\n"
                + "".join(f"    < {x}\n" for x in expected.decode(errors="replace").split("\n")[:12])
                + "".join(f"    > {x}\n" for x in text.decode(errors="replace").split("\n")[:12])
            )
    return wrong + list(compare_files(wanted[3], found[3], where))


# Why a line may differ without --compat=nvlink: docs/compatibility.md has a row for each. A word of
# the line, without its hyphens and its value, or what nvlink says.
LISTED = {
    "references stay in relocatable files": lambda words, said: {"r", "relocatable-link"} & words,
    "libNVVM is looked for": lambda words, said: b"-nvvmpath should be specified" in said
    or b"linker library load error" in said,
    "no host object wants libcudadevrt": lambda words, said: b"expected libcudadevrt object" in said,
    "all code is used where all code stays": lambda words, said: "preserve-relocs" in words
    and {"kernels-used", "variables-used"} & words,
    "a graph without kernels": lambda words, said: "dot" in words and "variables-used" in words,
    "all files of a run or none": lambda words, said: "register-link-binaries" in words,
    "PTX files for targets before sm_90": lambda words, said: bool(words & {"p.ptx", "cubin.ptx", "fatbin.ptx"}),
    "files of options after @": lambda words, said: any(word.startswith("@") for word in words),
}
met = set()


def compare_by_default(wanted, line, where):
    """The same without --compat=nvlink, where notes stand behind what nvlink says."""
    status, out, err, files = run(DEVLINK, line, where / "run")
    err = re.sub(rb"(?m)^devlink note    : .*\n", b"", err)
    wrong = compare(wanted, (status, out, err, files), line, where)
    words = {word.lstrip("-").split("=")[0] for word in line}
    for reason, holds in LISTED.items():
        if wrong and holds(words, wanted[2]):
            met.add(reason)
            return []
    return [f"by default: {what}" for what in wrong]


def check(line):
    where = pathlib.Path(tempfile.mkdtemp(dir="."))
    try:
        # In the same folder, of whose name ids are made.
        wanted = run("nvlink", line, where / "run")
        found = run(DEVLINK, ["--compat=nvlink", *line], where / "run")
        default = compare_by_default(wanted, line, where)
        if shlex.join(line) in CRASHES:
            good = wanted[0] < 0 and found[0] == 0
            return line, [] if good else [f"ended with {wanted[0]}, devlink with {found[0]}"]
        return line, compare(wanted, found, line, where) + default
    finally:
        shutil.rmtree(where)


def main():
    every = list(lines())
    failures = 0
    for line in CRASHES:
        if shlex.split(line) not in every:
            failures += 1
            print(f"{line}\n  is expected to crash nvlink and not tried")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for line, wrong in pool.map(check, every):
            if wrong:
                failures += 1
                print(shlex.join(line))
                for what in wrong:
                    print(" ", what)
    for reason in LISTED.keys() - met:
        if NVVM or "libcudadevrt" not in reason:
            failures += 1
            print(f"{reason}: no line differs for that; see docs/compatibility.md")
    print(f"{len(every)} command lines, {failures} of them differ")
    return 1 if failures or len(every) < 400 else 0


sys.exit(main())
