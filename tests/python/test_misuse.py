# SPDX-License-Identifier: Apache-2.0
"""What is wrong is refused with a sentence, before it reaches C, and nothing is left over."""

import ast
import copy
import gc
import mmap
import pathlib
import pickle
import sys
import unittest

import devlink
from devlink import Cache, Link, LinkError, Pool, Toolchain
from support import A, B, PAIR, folder, run


class Arguments(unittest.TestCase):
    def refused(self, kind, words, call, *arguments, **named):
        with self.assertRaises(kind) as caught:
            call(*arguments, **named)
        self.assertIn(words, str(caught.exception))

    def test_settings(self):
        self.refused(TypeError, "arch", Link, 90)
        self.refused(ValueError, "NUL", Link, "sm_90\0")
        self.refused(LinkError, "sm_90\\xff", Link, "sm_90\udcff")
        self.refused(TypeError, "list of words", Link, "sm_90", options="-v")
        self.refused(TypeError, "str", Link, "sm_90", options=[b"-v"])
        self.refused(ValueError, "NUL", Link, "sm_90", options=["-\0v"])
        self.refused(TypeError, "Toolchain", Link, "sm_90", toolchain="ptxas")
        self.refused(TypeError, "Pool", Link, "sm_90", pool=[])
        self.refused(TypeError, "Stop", Link, "sm_90", stop=True)
        self.refused(TypeError, "callable", Link, "sm_90", progress=1)
        self.refused(ValueError, "threads", Link, "sm_90", threads=-1)
        self.refused(ValueError, "threads", Link, "sm_90", threads=1 << 32)
        self.refused(ValueError, "max_input_bytes", Link, "sm_90", max_input_bytes=1 << 64)
        self.refused(TypeError, "memory_budget", Link, "sm_90", memory_budget=1.5)
        self.refused(ValueError, "LogLevel", Link, "sm_90", log_level=7)
        self.refused(TypeError, "nothing", Link, "sm_90", nothing=1)

    def test_inputs(self):
        with Link("sm_90") as link:
            for wrong in (None, 5, [A], {"a": A}, object(), ("a", A), A.decode("latin-1").split):
                self.refused(TypeError, "bytes", link.add, wrong)
            self.refused(TypeError, "called by it", link.add, "a.cubin", name="b")
            self.refused(TypeError, "name", link.add, A, name=5)
            self.refused(ValueError, "NUL", link.add, A, name="a\0b")
            self.refused(ValueError, "NUL", link.add, "a\0b")
            self.refused(ValueError, "NUL", link.add_all, [pathlib.PurePath("a\0b")])
            self.refused(TypeError, "list of inputs", link.add_all, "a.cubin")
            self.refused(TypeError, "list of inputs", link.add_all, A)
            self.refused(TypeError, "tuple", link.add_all, [("a", A, 1)])
            self.refused(TypeError, "file", link.link_to, 5)
            self.refused(TypeError, "option", link.set_option, 5)
            self.assertEqual(len(link.diagnostics), 0)
        self.refused(TypeError, "list of inputs", devlink.link, "a.cubin", "sm_90")
        self.refused(TypeError, "list of inputs", devlink.report, "a.cubin", "sm_90")

    def test_a_memoryview_that_was_released(self):
        view = memoryview(A)
        view.release()
        with self.assertRaises(ValueError):
            Link("sm_90").add(view)

    def test_options_come_first(self):
        with Link("sm_90") as link:
            link.set_option("-v")
            self.refused(LinkError, "Unknown option", link.set_option, "-nonsense")
            link.add(A)
            self.refused(LinkError, "before the first input", link.set_option, "-v")
        self.refused(LinkError, "command alone", Link, "sm_90", options=["--report=x.html"])

    def test_a_limit(self):
        with Link("sm_90", max_memory_bytes=1000) as link:
            with self.assertRaises(LinkError) as caught:
                link.add(A)
            self.assertEqual(caught.exception.status, devlink.Status.RESOURCE_EXHAUSTED)

    def test_a_huge_input(self):
        """More than the bound is refused; more than a process has, too."""
        with mmap.mmap(-1, 64 << 20) as memory, Link("sm_90", max_memory_bytes=1 << 20) as link:
            with self.assertRaises(LinkError) as caught:
                link.add(memory, name="huge")
        self.assertEqual(caught.exception.status, devlink.Status.RESOURCE_EXHAUSTED)
        code = """if True:
            import devlink, mmap, resource
            memory = mmap.mmap(-1, 1 << 30)
            resource.setrlimit(resource.RLIMIT_AS, (3 << 29, 3 << 29))
            link = devlink.Link("sm_90")
            try:
                link.add(memory, name="huge")
            except devlink.LinkError as error:
                assert error.status == devlink.Status.RESOURCE_EXHAUSTED
                print("refused")
        """
        done = run(sys.executable, "-c", code)
        self.assertEqual((done.stdout, done.stderr), (b"refused\n", b""))

    def test_shared_objects(self):
        self.refused(TypeError, "Cache", Toolchain, cache={})
        self.refused(TypeError, "path", Toolchain, ptxas=5)
        self.refused(ValueError, "NUL", Toolchain, ptxas="a\0")
        self.refused(TypeError, "list of words", Toolchain, options="--ptx-backend=ptxas")
        self.refused(devlink.Error, "Unknown option", Toolchain, options=["-nonsense"])
        self.refused(devlink.Error, "does not choose a tool", Toolchain, options=["-lto"])
        self.refused(ValueError, "max_bytes", Pool, -1)
        self.refused(TypeError, "Module", Pool().remove, A)
        self.refused(TypeError, "bytes", Pool().add, "a.cubin")
        self.refused(TypeError, "path", Cache.in_directory, 5)
        self.refused(devlink.Error, "", Cache.in_directory, "/proc/nowhere")


class Life(unittest.TestCase):
    def test_closed(self):
        link = Link("sm_90")
        link.add(A, name="a.cubin")
        link.close()
        link.close()
        for use in (
            lambda: link.add(A),
            lambda: link.add("a"),
            lambda: link.add_all(["a"]),
            link.link,
            link.copy,
            lambda: link.link_to(print),
            lambda: link.set_option("-v"),
            lambda: link.diagnostics,
            lambda: link.host_references,
            lambda: link.add_host_references(devlink.HostReferences()),
            lambda: link.add(Pool().add(A)),
        ):
            with self.assertRaises(ValueError) as caught:
                use()
            self.assertIn("closed", str(caught.exception))
        with self.assertRaises(ValueError), link:
            link.link()

    def test_made_halfway(self):
        """What the constructor refused is collected without a word."""
        for wrong in (90, "sm_1"):
            with self.assertRaises((TypeError, LinkError)):
                Link(wrong)
            blank = Link.__new__(Link)
            del blank
        gc.collect()

    def test_no_pickles(self):
        link = Link("sm_90")
        shared = (Pool(), devlink.Stop(), Toolchain(), Cache.in_memory())
        for value in (link, link.link(), Pool().add(A), *shared):
            with self.assertRaises(TypeError):
                pickle.dumps(value)

    def test_copies(self):
        """No copy gives back what the original has."""
        link = Link("sm_90")
        outcome = link.link()
        self.assertIs(copy.deepcopy(outcome), outcome)
        self.assertIs(copy.copy(outcome), outcome)
        self.assertEqual(copy.deepcopy(link).link().cubin, outcome.cubin)
        pool = Pool()
        module = copy.copy(pool).add(A)
        self.assertEqual(pool.use.modules, 1)
        for value in (pool, module, Toolchain(), Cache.in_memory(), link._handle):
            with self.assertRaises(TypeError):
                copy.deepcopy(value)
        gc.collect()
        self.assertEqual(pool.use.modules, 1)

    def test_made_once(self):
        link = Link("sm_90")
        pool = Pool()
        for value, arguments in (
            (link, ["sm_80"]),
            (pool, []),
            (Toolchain(), []),
            (Cache.in_memory(), [None]),
            (link.link(), [None]),
            (pool.add(A), [None]),
        ):
            with self.assertRaises(RuntimeError):
                value.__init__(*arguments)

    def test_subclasses(self):
        class Mine(Link):
            def __init__(self, arch):
                super().__init__(arch, options=["-v"])
                self.extra = 1

        with Mine("sm_90") as link:
            link.add_all(PAIR)
            other = link.copy()
            self.assertIsInstance(other, Mine)
            self.assertEqual(other.extra, 1)
            self.assertEqual(other.link().cubin, link.link().cubin)

    def test_what_objects_say(self):
        with Link("sm_90") as link:
            link.add(B, name="b.cubin")
            with self.assertRaises(LinkError) as caught:
                link.link()
        for value in (
            caught.exception,
            caught.exception.outcome,
            caught.exception.diagnostics,
            caught.exception.outcome.report,
            devlink.Stop(),
            Pool().use,
        ):
            self.assertTrue(repr(value))
        self.assertIn("NOT_FOUND", repr(caught.exception.outcome))

    def test_numbers_of_a_later_library(self):
        self.assertIs(devlink.Status(99), devlink.Status.UNKNOWN)
        self.assertEqual(devlink._errors._member(devlink.DiagnosticCode, 12345), 12345)

    def test_annotations_are_there(self):
        package = pathlib.Path(devlink.__file__).parent
        self.assertTrue((package / "py.typed").exists())
        for name in devlink.__all__:
            value = getattr(devlink, name)
            if callable(value):
                self.assertTrue(value.__doc__, name)

    def test_the_syntax_is_that_of_python_3_9(self):
        for path in pathlib.Path(devlink.__file__).parent.glob("*.py"):
            ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))


class Folders(unittest.TestCase):
    def test_a_cache_that_others_may_write_to(self):
        with folder() as place:
            place.joinpath("cache").mkdir()
            place.joinpath("cache").chmod(0o777)
            with self.assertRaises(devlink.Error) as caught:
                Cache.in_directory("cache")
            self.assertEqual(caught.exception.status, devlink.Status.PERMISSION_DENIED)


if __name__ == "__main__":
    unittest.main()
