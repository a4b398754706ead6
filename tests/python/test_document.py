# SPDX-License-Identifier: Apache-2.0
"""Every snippet of docs/python.md runs, in order, in one process; and the example does."""

import os
import re
import shutil
import subprocess
import sys
import unittest

import devlink
from support import A, B, FIRST, SECOND, SOURCE, compile_all, folder, has_toolkit, run

DOCUMENT = SOURCE / "docs" / "python.md"
EXAMPLE = SOURCE / "examples" / "link_at_run_time.py"


def snippets():
    """Line, text, and whether a toolkit is needed."""
    text = DOCUMENT.read_text(encoding="utf-8")
    pattern = re.compile(r"(<!-- needs a CUDA toolkit -->\n)?```python\n(.*?)```", re.S)
    for match in pattern.finditer(text):
        yield text[: match.start(2)].count("\n"), match[2], match[1] is not None


class Document(unittest.TestCase):
    def test_snippets(self):
        found = list(snippets())
        self.assertGreater(len(found), 8)
        code = []
        for line, text, needs_toolkit in found:
            if needs_toolkit and not has_toolkit():
                continue
            code.append(f"exec(compile({chr(10) * line + text!r}, {DOCUMENT.name!r}, 'exec'))")
        with folder() as place:
            (place / "a.cubin").write_bytes(A)
            (place / "b.cubin").write_bytes(B)
            if has_toolkit():
                (place / "kernel.cu").write_text("__global__ void k() {}\n", encoding="utf-8")
                nvcc = ["nvcc", "-arch=sm_90", "-rdc=true", "kernel.cu"]
                compile_all(
                    [*nvcc, "-ptx", "-o", "kernel.ptx"],
                    [*nvcc, "-dlto", "-c", "-o", "kernel.lto.o"],
                )
            done = run(sys.executable, "-c", "\n".join(code))
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            said = done.stdout.decode()
            self.assertIn("counter is missing in b.cubin", said)
            self.assertTrue((place / "page.html").read_text(encoding="utf-8"))

    def test_what_it_names_is_there(self):
        text = DOCUMENT.read_text(encoding="utf-8")
        for name in set(re.findall(r"`devlink\.(\w+)", text)):
            self.assertTrue(hasattr(devlink, name), name)

    def test_example(self):
        with folder() as place:
            library = place / "library"
            library.mkdir()
            shutil.copy(FIRST, library / "first.cubin")
            done = run(sys.executable, EXAMPLE, "sm_90", library, SECOND, SECOND)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            self.assertEqual(done.stdout.decode().count("_Z5WritePi takes"), 2)
            os.remove(library / "first.cubin")
            done = run(sys.executable, EXAMPLE, "sm_90", library, SECOND)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"Undefined reference", done.stderr)
            self.assertNotEqual(run(sys.executable, EXAMPLE).returncode, 0)

    def test_example_with_a_driver(self):
        """One that knows a cubin when it sees one."""
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if compiler is None:
            self.skipTest("no C compiler")
        with folder() as place:
            (place / "library").mkdir()
            (place / "driver.c").write_text(
                """
                int cuInit(unsigned flags) { return flags; }
                int cuDevicePrimaryCtxRetain(void **context, int device) { return device; }
                int cuCtxSetCurrent(void *context) { return context != 0; }
                int cuModuleLoadData(void **module, const unsigned char *image) {
                  *module = (void *)image;
                  return image[0] == 0x7f && image[1] == 'E' ? 0 : 200;
                }
                """,
                encoding="utf-8",
            )
            subprocess.run([compiler, "-shared", "-o", "libcuda.so.1", "driver.c"], check=True)
            command = [sys.executable, EXAMPLE, "sm_90", place / "library", FIRST, "--load"]
            environment = {**os.environ, "LD_LIBRARY_PATH": str(place)}
            done = run(*command, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            self.assertIn(b": loaded", done.stdout)


if __name__ == "__main__":
    unittest.main()
