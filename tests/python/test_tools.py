# SPDX-License-Identifier: Apache-2.0
"""What nvcc makes: the bytes are the command's and nvlink's. PTX and LTO IR, caches, toolchains."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

import devlink
from devlink import Cache, DiagnosticCode, LinkError, Toolchain
from support import PROGRAM, compile_all, needs_toolkit, run

KERNEL = """
extern __device__ int f(int);
__constant__ int table[4];
__global__ void k(int *p) { *p = f(*p) + table[*p & 3]; }
"""
FUNCTION = "__device__ int f(int x) { return 3 * x; }\n"
ARCH = "sm_90"


@needs_toolkit
class Tools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.before = os.getcwd()
        cls.place = tempfile.mkdtemp()
        os.chdir(cls.place)
        pathlib.Path("k.cu").write_text(KERNEL, encoding="utf-8")
        pathlib.Path("f.cu").write_text(FUNCTION, encoding="utf-8")
        commands = []
        for unit in ("k", "f"):
            nvcc = ["nvcc", f"-arch={ARCH}", "-rdc=true"]
            commands += [
                [*nvcc, "-cubin", "-o", f"{unit}.cubin", f"{unit}.cu"],
                [*nvcc, "-ptx", "-o", f"{unit}.ptx", f"{unit}.cu"],
                [*nvcc, "-c", "-o", f"{unit}.o", f"{unit}.cu"],
                [*nvcc, "-dlto", "-c", "-o", f"{unit}.lto.o", f"{unit}.cu"],
            ]
        compile_all(*commands)

    @classmethod
    def tearDownClass(cls):
        os.chdir(cls.before)
        shutil.rmtree(cls.place)

    def has_nvjitlink(self):
        return (pathlib.Path(os.environ["CUDA_HOME"]) / "lib64" / "libnvJitLink.so.13").exists()

    def both(self, inputs, *options):
        """The package's bytes of files and of memory, which are the command's."""
        done = run(PROGRAM, f"-arch={ARCH}", *options, "-o", "theirs.cubin", *inputs)
        self.assertEqual(done.returncode, 0, done.stderr)
        theirs = pathlib.Path("theirs.cubin").read_bytes()
        ours = devlink.link(inputs, ARCH, options=options)
        self.assertEqual(ours.cubin, theirs)
        data = [(name, pathlib.Path(name).read_bytes()) for name in inputs]
        self.assertEqual(devlink.link(data, ARCH, options=options).cubin, theirs)
        return theirs

    def test_same_as_nvlink(self):
        different = pathlib.Path(PROGRAM).parent / "devlink-diff"
        for ending in ("cubin", "ptx", "o"):
            inputs = [f"k.{ending}", f"f.{ending}"]
            pathlib.Path("ours.cubin").write_bytes(self.both(inputs))
            if ending == "ptx":
                continue  # nvlink assembles none for this target
            done = run("nvlink", f"-arch={ARCH}", "-o", "nvlink.cubin", *inputs)
            self.assertEqual(done.returncode, 0, done.stderr)
            if different.exists():
                done = run(different, "nvlink.cubin", "ours.cubin")
                self.assertEqual(done.returncode, 0, done.stdout)

    def test_lto(self):
        if not self.has_nvjitlink():
            self.skipTest("no libnvJitLink")
        inputs = ["k.lto.o", "f.lto.o"]
        self.both(inputs, "-lto")
        outcome = devlink.link(inputs, ARCH, options=["-lto", "-emit-ptx"])
        self.assertIn(".entry _Z1kPi", outcome.ptx)
        self.assertEqual(outcome.cubin, b"")
        self.assertTrue(devlink.link(inputs, ARCH, options=["-lto"]).report.is_whole_program)

    def test_undefined(self):
        with self.assertRaises(LinkError) as caught:
            devlink.link(["k.cubin"], ARCH)
        missing = caught.exception.diagnostics.with_code(DiagnosticCode.UNDEFINED_REFERENCE)
        self.assertEqual([(one.symbol, one.input) for one in missing], [("_Z1fi", "k.cubin")])
        found = devlink.link(
            ["k.cubin"],
            ARCH,
            undefined=lambda symbols: {"f.ptx": pathlib.Path("f.ptx").read_bytes()},
        )
        self.assertEqual(found.cubin, devlink.link(["k.cubin", "f.ptx"], ARCH).cubin)

    def test_ptx_that_is_none(self):
        bad = b".version 8.0\n.target sm_90\n.address_size 64\n.func f() { nothing; }\n"
        with self.assertRaises(LinkError) as caught:
            devlink.link([("bad.ptx", bad)], ARCH)
        self.assertTrue(caught.exception.diagnostics.with_code(DiagnosticCode.PTX_ASSEMBLY))
        self.assertIn("ptxas", str(caught.exception))

    def test_without_tools(self):
        with self.assertRaises(LinkError):
            devlink.link(["k.ptx", "f.ptx"], ARCH, toolchain=Toolchain())
        devlink.link(["k.cubin", "f.cubin"], ARCH, toolchain=Toolchain())

    def test_a_tool_that_is_named(self):
        ptxas = shutil.which("ptxas")
        tools = Toolchain(
            ptxas=ptxas, temporary=tempfile.gettempdir(), options=["--ptx-backend=ptxas"]
        )
        expected = devlink.link(["k.ptx", "f.ptx"], ARCH).cubin
        self.assertEqual(devlink.link(["k.ptx", "f.ptx"], ARCH, toolchain=tools).cubin, expected)
        self.assertGreaterEqual(tools.use.tools_opened, 1)

    def test_the_environment(self):
        """Variables and wheels of the toolkit beside the package are found as the last resort."""
        inputs = ["k.ptx", "f.ptx"]
        expected = devlink.link(inputs, ARCH).cubin
        folders = os.environ["PATH"].split(os.pathsep)
        others = os.pathsep.join(
            entry for entry in folders if not pathlib.Path(entry, "ptxas").exists()
        )
        ptxas = shutil.which("ptxas")
        with mock.patch.dict(os.environ, {"PATH": others}):
            with self.assertRaises(LinkError):
                devlink.link(inputs, ARCH, toolchain=Toolchain.from_environment())
            with mock.patch.dict(os.environ, {"DEVLINK_PTXAS": ptxas}):
                tools = Toolchain.from_environment()
                self.assertEqual(devlink.link(inputs, ARCH, toolchain=tools).cubin, expected)
            wheels = pathlib.Path("site") / "nvidia" / "cu13"
            wheels.mkdir(parents=True)
            wheels.joinpath("bin").symlink_to(pathlib.Path(ptxas).resolve().parent)
            with mock.patch.object(sys, "path", [*sys.path, "site"]):
                tools = Toolchain.from_environment()
            self.assertEqual(devlink.link(inputs, ARCH, toolchain=tools).cubin, expected)

    def test_caches(self):
        inputs = ["k.ptx", "f.ptx"]
        expected = devlink.link(inputs, ARCH).cubin
        kept = {}
        for cache in (
            Cache.in_memory(),
            Cache.in_directory(pathlib.Path("cache").absolute()),
            Cache.in_mapping(kept),
        ):
            tools = Toolchain.from_environment(cache=cache)
            del cache
            for _ in range(2):
                self.assertEqual(devlink.link(inputs, ARCH, toolchain=tools).cubin, expected)
            use = tools.use
            self.assertEqual((use.cache_hits, use.cache_misses, use.cache_stored), (2, 2, 2))
        self.assertEqual({len(key) for key in kept}, {32})
        again = Toolchain.from_environment(cache=Cache.in_mapping(kept))
        self.assertEqual(devlink.link(inputs, ARCH, toolchain=again).cubin, expected)
        self.assertEqual((again.use.cache_hits, again.use.cache_misses), (2, 0))

    def test_a_cache_that_fails(self):
        class Broken(dict):
            def __getitem__(self, key):
                raise ConnectionError("find")

            def __setitem__(self, key, value):
                raise ConnectionError("store")

        class Wrong(dict):
            def __getitem__(self, key):
                return "text"

        expected = devlink.link(["k.ptx", "f.ptx"], ARCH).cubin
        for mapping, said in ((Broken(), {"find", "store"}), (Wrong(), {"str"})):
            told = []
            with mock.patch.object(threading, "excepthook", told.append):
                tools = Toolchain.from_environment(cache=Cache.in_mapping(mapping))
                self.assertEqual(
                    devlink.link(["k.ptx", "f.ptx"], ARCH, toolchain=tools).cubin, expected
                )
            for word in said:
                self.assertTrue([one for one in told if word in str(one.exc_value)], word)
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                """if True:
                import devlink
                class Broken(dict):
                    def __getitem__(self, key): raise ConnectionError("find")
                tools = devlink.Toolchain.from_environment(cache=devlink.Cache.in_mapping(Broken()))
                devlink.link(["k.ptx", "f.ptx"], "sm_90", toolchain=tools)
            """,
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertIn("ConnectionError: find", done.stderr)

    def test_page_of_the_program(self):
        inputs = ["k.cubin", ("f.ptx", pathlib.Path("f.ptx").read_bytes())]
        page = devlink.report(inputs, ARCH)
        self.assertIn("_Z1kPi", page.html)
        runs = devlink.link(inputs, ARCH).compiler_runs
        self.assertEqual([run.compiler for run in runs], ["ptxas"])
        self.assertGreater(runs[0].nanoseconds, 0)


if __name__ == "__main__":
    unittest.main()
