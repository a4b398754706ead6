# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a build directory and counts their cases.

Called by scripts/test, which says what a test may rely on.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

# Longer than any test takes, so that one that hangs fails and the rest are still counted.
DEFAULT_TIMEOUT = 1800
# Programs built with a sanitizer take several times as long.
TIMEOUT_FACTOR = float(os.environ.get("DEVLINK_TEST_TIMEOUT_FACTOR", "1"))
SKIPPED = 77
# Version 2 of Catch2 cannot leave a case out: tests/support/catch.h warns and returns.
SKIP_WARNING = "SKIPPED: "


class Result:
    """What one program or script came to."""

    def __init__(self, name):
        self.name = name
        self.passed = 0
        self.failed = 0
        self.skipped = 0
        self.seconds = 0.0
        self.messages = []
        self.reasons = collections.Counter()  # why cases were left out

    def fail(self, message):
        self.failed += 1
        self.messages.append(message)


def run(command, cwd, env, timeout):
    """Returns (status, output); a status of None means that the time ran out."""
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=env,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as expired:
        return None, (expired.stdout or b"").decode(errors="replace")
    except OSError as error:
        return -1, str(error)


def how_it_ended(status):
    if status is None:
        return "took too long"
    if status < 0:
        return f"was ended by signal {-status}"
    return f"ended with status {status}"


def tail(text, lines=40):
    return "\n".join("    " + line for line in text.splitlines()[-lines:])


def read_catch_report(report, result):
    """Adds the cases of a Catch2 XML report to result. Returns whether the report is whole.

    The file is read piece by piece because that of a crashed program ends in the middle.
    """
    whole = False
    case = None
    complaints = []
    skip = None
    try:
        for event, element in xml.etree.ElementTree.iterparse(report, ("start", "end")):
            if event == "start":
                if element.tag == "TestCase":
                    case = element.get("name", "?")
                    place = f"{element.get('filename', '?')}:{element.get('line', '?')}"
                    complaints = []
                    skip = None
                continue
            if element.tag == "Expression" and element.get("success") == "false":
                original = (element.findtext("Original") or "").strip()
                expanded = (element.findtext("Expanded") or "").strip()
                thrown = (element.findtext("Exception") or "").strip()
                where = f"{element.get('filename')}:{element.get('line')}"
                complaints.append(f"{where}: {original}\n      is {expanded} {thrown}".rstrip())
            elif element.tag in ("Failure", "Exception", "FatalErrorCondition", "Info"):
                complaints.append((element.text or "").strip())
            elif element.tag == "Warning":
                text = (element.text or "").strip()
                if text.startswith(SKIP_WARNING):
                    skip = text.removeprefix(SKIP_WARNING)
            elif element.tag == "Skip":
                skip = (element.text or "").strip()
            elif element.tag == "TestCase":
                outcome = element.find("OverallResult")
                if outcome is not None and outcome.get("success") == "true":
                    if skip is not None or int(outcome.get("skips", "0")) > 0:
                        result.skipped += 1
                        result.reasons[skip or "no reason given"] += 1
                    else:
                        result.passed += 1
                else:
                    detail = "".join("\n    " + line for line in complaints)
                    result.fail(f"{result.name}: {case} ({place}){detail}")
                case = None
                element.clear()
            elif element.tag in ("Catch", "Catch2TestRun"):
                whole = True
    except (xml.etree.ElementTree.ParseError, OSError):
        pass
    if case is not None:
        result.fail(f"{result.name}: {case} ({place}) did not finish")
    return whole


def run_program(test, build, scratch):
    """Runs one test that ctest knows in a build directory."""
    properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
    result = Result(test.get("label", test["name"]))
    if properties.get("DISABLED"):
        return result
    env = dict(os.environ, DEVLINK_BUILD=str(build), DEVLINK=str(build / "bin" / "devlink"))
    for setting in properties.get("ENVIRONMENT", []):
        name, _, value = setting.partition("=")
        env[name] = value
    cwd = properties.get("WORKING_DIRECTORY")
    timeout = TIMEOUT_FACTOR * float(properties.get("TIMEOUT", DEFAULT_TIMEOUT))
    command = test["command"]
    start = time.monotonic()

    if "plain" in properties.get("LABELS", []):
        status, output = run(command, cwd, env, timeout)
        if status == 0:
            result.passed = 1
        elif status == int(properties.get("SKIP_RETURN_CODE", SKIPPED)):
            result.skipped = 1
        else:
            result.fail(f"{result.name} {how_it_ended(status)}\n{tail(output)}")
    else:
        report = os.path.join(scratch, re.sub(r"[^\w.-]", "_", build.name + "." + test["name"]) + ".xml")
        status, output = run(command + ["-r", "xml", "-o", report], cwd, env, timeout)
        whole = read_catch_report(report, result)
        # A sanitizer's finding or a crash outside every case shows only in the status.
        if result.failed == 0 and (status != 0 or not whole):
            result.fail(f"{result.name} {how_it_ended(status)}\n{tail(output)}")
        elif not whole or status is None or status < 0:
            result.messages.append(f"{result.name} {how_it_ended(status)}\n{tail(output)}")
    result.seconds = time.monotonic() - start
    return result


def run_script(path, scratch):
    """Runs one of tests/scripts."""
    result = Result(path.name)
    cwd = tempfile.mkdtemp(prefix=path.stem + ".", dir=scratch)
    env = dict(os.environ, TMPDIR=cwd)
    start = time.monotonic()
    status, output = run(["bash", str(path)], cwd, env, TIMEOUT_FACTOR * DEFAULT_TIMEOUT)
    result.seconds = time.monotonic() - start
    if status == 0:
        result.passed = 1
    elif status == SKIPPED:
        result.skipped = 1
        reason = output.strip().splitlines()
        result.reasons[reason[-1] if reason else "no reason given"] += 1
    else:
        result.fail(f"{path.name} {how_it_ended(status)}\n{tail(output)}")
    return result


def tests_of(build, pattern):
    """What ctest knows in a build directory and the pattern finds."""
    listing = subprocess.run(
        ["ctest", "--show-only=json-v1"], cwd=build, stdout=subprocess.PIPE, check=True
    )
    wanted = re.compile(pattern)
    return [t for t in json.loads(listing.stdout)["tests"] if wanted.search(t["name"])]


def main():
    """ROOT BUILD FILTER [BUILD FILTER]...: the scripts run with the first build only."""
    root, pattern = pathlib.Path(sys.argv[1]), sys.argv[3]
    builds = [(pathlib.Path(sys.argv[i]), sys.argv[i + 1]) for i in range(2, len(sys.argv), 2)]
    scripts = [p for p in sorted(root.glob("tests/scripts/*.sh")) if re.search(pattern, p.name)]

    passed = failed = skipped = 0
    problems = []
    reasons = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="devlink-test.") as scratch:
        # One more than there are processors: now and then a test waits for something.
        with concurrent.futures.ThreadPoolExecutor((os.cpu_count() or 1) + 1) as pool:
            jobs = []
            for number, (build, chosen) in enumerate(builds):
                tests = tests_of(build, chosen)
                if number > 0 and not tests:
                    problems.append(f"no test of {build.name} has a name like {chosen}")
                    failed += 1
                for test in tests:
                    if "command" in test:
                        if number > 0:
                            test = dict(test, label=f"{test['name']} ({build.name})")
                        jobs.append(pool.submit(run_program, test, build, scratch))
                    else:
                        # ctest leaves the command out where the program was not built.
                        problems.append(f"{test['name']} was not built in {build.name}")
                        failed += 1
            jobs += [pool.submit(run_script, path, scratch) for path in scripts]
            for job in concurrent.futures.as_completed(jobs):
                result = job.result()
                passed += result.passed
                failed += result.failed
                skipped += result.skipped
                problems += result.messages
                reasons += result.reasons
                left_out = f", {result.skipped} left out" if result.skipped else ""
                print(
                    f"{'FAIL' if result.failed else 'ok  '} {result.name}: {result.passed} passed, "
                    f"{result.failed} failed{left_out} ({result.seconds:.1f} s)",
                    flush=True,
                )

    if problems:
        print()
        for problem in problems:
            print(problem)
    print()
    if not pattern and not os.environ.get("CUDA_HOME"):
        # Otherwise a machine without CUDA would report success for what it could not check.
        print("no CUDA toolkit: tests that need one did not run (counted as one failure)")
        failed += 1
    for reason, count in reasons.most_common():
        print(f"{count} left out: {reason}")
    if skipped:
        print(f"{skipped} left out")
    if passed + failed == 0:
        print("no test ran")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
