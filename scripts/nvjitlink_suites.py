# SPDX-License-Identifier: Apache-2.0
"""Environments, libraries and comparisons of scripts/nvjitlink-clients."""

import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "nvjitlink-clients"
SOURCES = ROOT / "tests" / "nvjitlink"
# Calls that are answered otherwise on purpose, by suite: a name that the client has freed stands in
# a log, which has its text here (docs/nvjitlink.md).
MEANT = {"cuda.core 1.2.2, test_linker.py": 4}
# Lines that are printed of what differs in a suite.
SHOWN = 20
# As unittest prints it: `test_x (module.Class.test_x) ... ok`, and below it what fails of its parts.
UNITTEST = re.compile(r"^(\w+) \((\S+)\).*?\.\.\. (ok|FAIL|ERROR|skipped|expected failure)", re.M | re.S)
UNITTEST_PART = re.compile(r"^  \w+ \((\S+)\) (\(.*\)) \.\.\. (\w+)", re.M)
# Times that a log has: `Compile time = 1.602 ms`, `time to finish: 0.164000`.
TIME = re.compile(r"(time[^:=\\]*[:=] )\d+\.\d+")


def run(command, **options):
    words = [str(word) for word in command]
    return subprocess.run(words, text=True, errors="replace", capture_output=True, check=False, **options)


def need(result):
    if result.returncode != 0:
        sys.exit(f"{result.args}:\n{result.stdout}{result.stderr}")
    return result.stdout


def empty_folder(path):
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def make_environment(python, name, packages):
    own = WORK / name / "bin" / "python"
    if not own.exists():
        need(run([python, "-m", "venv", WORK / name]))
    need(run([own, "-m", "pip", "install", "--quiet", *packages]))
    return own


def make_library(source, out, *words):
    out.parent.mkdir(parents=True, exist_ok=True)
    need(run(["gcc", "-shared", "-fPIC", "-O1", "-o", out, SOURCES / source, *words, "-ldl"]))
    return out


class Library:
    """One of the two, and how a process takes it: with our recorder of calls before it."""

    def __init__(self, name, path, toolkit):
        driver = make_library("pretend_driver.c", WORK / "driver" / "libcuda.so.1", "-Wl,-soname,libcuda.so.1")
        self.name, self.path = name, path
        self.recorder = make_library("call_recorder.c", WORK / "libcall_recorder.so")
        self.variables = dict(
            os.environ,
            LD_PRELOAD=f"{self.recorder} {path}",
            LD_LIBRARY_PATH=f"{driver.parent}:{toolkit}/lib64",
            CUDA_HOME=str(toolkit),
            PATH=f"{toolkit}/bin:{os.environ['PATH']}",
            PYTHONDONTWRITEBYTECODE="1",
        )

    def run(self, command, cwd=WORK, **variables):
        env = dict(self.variables, **{key: str(value) for key, value in variables.items()})
        result = run(command, cwd=cwd, env=env)
        if "cannot be preloaded" in result.stderr:
            sys.exit(result.stderr)
        if result.returncode < 0:
            print(f"  {command[:4]} ends with signal {-result.returncode} with {self.name}")
        return result


class Row:
    """What a suite gives with both libraries: a result for every test, `passed` or another."""

    def __init__(self, suite, theirs, ours):
        self.suite, self.theirs, self.ours = suite, theirs, ours
        self.notes, self.same = [], True

    def tests(self):
        return sorted(self.theirs.keys() | self.ours.keys())

    def results(self, test):
        return self.theirs.get(test, "not there"), self.ours.get(test, "not there")

    def note(self, text, same=True):
        self.notes.append(text)
        self.same &= same

    def differences(self, texts):
        """Names the first of them, and how many there are."""
        for text in texts[:SHOWN]:
            print(f"  {self.suite}: {text}")
        if len(texts) > SHOWN:
            print(f"  {self.suite}: {len(texts) - SHOWN} more lines of that kind")

    def ran(self):
        return "passed" in self.theirs.values()

    def good(self):
        """Whether all passes that passes with NVIDIA's, and what was compared is the same."""
        return self.same and all(self.results(test)[1] == "passed" for test in self.theirs
                                 if self.theirs[test] == "passed")


def count_passed(results):
    return f"{list(results.values()).count('passed')} of {len(results)}"


def calls_folder(library, suite):
    return WORK / "calls" / library.name / re.sub(r"\W+", "-", suite)


# --- What is compared ----------------------------------------------------------------------------


def read_calls(folder):
    """The lines of our recorder without what no two runs have in common: times, and so their lengths."""
    path = folder / "calls"
    lines = path.read_text().splitlines() if path.exists() else []
    timed = {line.split(" ", 4)[3] for line in lines if line.startswith("info log of") and TIME.search(line)}
    out = []
    for line in lines:
        words = line.split(" ", 5)
        if line.startswith("info log size of") and words[4] in timed:
            line = " ".join(words[:5])
        out.append(TIME.sub(r"\1#", line))
    return out


def same_output(diff, theirs, ours):
    if theirs.suffix == ".cubin":
        return run([diff, theirs, ours]).returncode == 0
    return theirs.read_bytes() == ours.read_bytes()


def compare_outputs(diff, theirs, ours):
    """How many files the first folder has, and which of them the second lacks or has otherwise."""
    names = sorted(path.name for path in theirs.iterdir() if path.suffix in (".cubin", ".ptx"))
    different = [name for name in names
                 if not (ours / name).exists() or not same_output(diff, theirs / name, ours / name)]
    return len(names), different


def compare_calls(row, libraries, diff):
    """What the suite asked of both libraries, what they answered and what they linked.

    Ours can have more calls: tests are skipped where NVIDIA's library of the toolkit lacks a function.
    """
    theirs, ours = (calls_folder(library, row.suite) for library in libraries)
    lines = [read_calls(folder) for folder in (theirs, ours)]
    unlike, more, texts = 0, 0, []
    for kind, i, i_end, j, j_end in difflib.SequenceMatcher(None, *lines, autojunk=False).get_opcodes():
        if kind == "insert":
            more += j_end - j
        elif kind != "equal":
            unlike += i_end - i
            texts += [f"NVIDIA's: {line}" for line in lines[0][i:i_end]]
            texts += [f"ours:     {line}" for line in lines[1][j:j_end]]
    row.differences(texts)
    row.note(f"{len(lines[0])} calls")
    if unlike:
        row.note(f"{unlike} answered otherwise", same=unlike <= MEANT.get(row.suite, 0))
    if more:
        row.note(f"{more} more with ours")
    note_outputs(row, "outputs", diff, theirs, ours)


def note_outputs(row, what, diff, theirs, ours):
    count, different = compare_outputs(diff, theirs, ours)
    row.differences([f"{theirs / name} and {ours / name} differ" for name in different])
    row.note(f"{count} {what}" + (f", {len(different)} of them differ" if different else ""), not different)


# --- Suites --------------------------------------------------------------------------------------


def pytest_results(path):
    """A file of pytest in JUnit's form; there is none where the process ended early."""
    if not path.exists():
        return {}
    out = {}
    for case in ElementTree.parse(path).iter("testcase"):
        kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
        name = f"{case.get('classname')}::{case.get('name')}"
        out[name] = "passed" if not kinds and out.get(name, "passed") == "passed" else "/".join(sorted(kinds))
    return out


def unittest_results(text):
    """The parts of a test that fail belong to its result: NVIDIA's library has to fail in the same."""
    out = {match[2]: match[3].replace("ok", "passed") for match in UNITTEST.finditer(text)}
    for match in UNITTEST_PART.finditer(text):
        part = re.sub(r"\W+$", "", pathlib.Path(match[2]).name)
        out[match[1]] = f"{out.get(match[1], 'FAIL')}, {match[3]} {part}"
    return out


def run_suite(suite, libraries, diff, results_with):
    """`results_with` runs the suite with a library and returns its results."""
    found = []
    for library in libraries:
        library.variables["RECORD_CALLS"] = str(empty_folder(calls_folder(library, suite)))
        found.append(results_with(library))
    row = Row(suite, *found)
    compare_calls(row, libraries, diff)
    return row


def pytest_suite(python, folder, tests, **variables):
    def results_with(library):
        out = WORK / "results.xml"
        out.unlink(missing_ok=True)
        library.run(
            [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={WORK}/temporary"]
            + [f"--junit-xml={out}", *tests],
            cwd=folder,
            **variables,
        )
        return pytest_results(out)

    return results_with
