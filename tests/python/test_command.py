# SPDX-License-Identifier: Apache-2.0
"""`python -m devlink` and the program `devlink` of the environment are the command."""

import pathlib
import sys
import unittest

import devlink
from support import FIRST, PROGRAM, SECOND, folder, run

BESIDE = pathlib.Path(sys.executable).parent / "devlink"


class Command(unittest.TestCase):
    def forms(self):
        yield [sys.executable, "-m", "devlink"]
        if BESIDE.exists():  # where pip has installed it
            yield [BESIDE]

    def test_same_status_and_lines(self):
        with folder() as place:
            (place / "bad").write_bytes(b"garbage")
            for form in self.forms():
                for words in (
                    ["-arch=sm_90", "-o", "out", FIRST, SECOND],
                    ["-arch=sm_90", "-o", "out", SECOND],
                    ["-arch=sm_90", "-o", "out", "bad"],
                    ["-arch=sm_90", "-o", "out", "nowhere \udcff"],
                    ["-nonsense"],
                    ["--version"],
                    ["--help"],
                    [],
                ):
                    ours, theirs = run(*form, *words), run(PROGRAM, *words)
                    self.assertEqual(
                        (ours.returncode, ours.stdout, ours.stderr),
                        (theirs.returncode, theirs.stdout, theirs.stderr),
                    )
            self.assertEqual(
                (place / "out").read_bytes(), devlink.link([FIRST, SECOND], "sm_90").cubin
            )

    def run_with(self, replacement):
        """The command, where Python's os.execv is something else."""
        code = (
            "import os, runpy, sys\n"
            "sys.argv = ['devlink', '-arch=sm_90', 'a b']\n"
            f"def execv(path, words): {replacement}\n"
            "os.execv = execv\n"
            "runpy.run_module('devlink', run_name='__main__')\n"
        )
        return run(sys.executable, "-c", code)

    def test_it_becomes_the_program(self):
        """Nobody is between: signals and the standard streams reach it."""
        done = self.run_with("print([path, *words]); os._exit(5) if not sys.stdout.flush() else 0")
        self.assertEqual(done.returncode, 5)
        program = devlink._native.program("devlink")
        self.assertEqual(
            done.stdout.decode().strip(), str([program, "devlink", "-arch=sm_90", "a b"])
        )

    def test_a_program_that_is_not_there(self):
        done = self.run_with("raise FileNotFoundError(2, 'gone')")
        self.assertEqual(done.returncode, 127)
        self.assertIn(b"cannot run", done.stderr)


if __name__ == "__main__":
    unittest.main()
