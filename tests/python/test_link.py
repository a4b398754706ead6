# SPDX-License-Identifier: Apache-2.0
"""Links: inputs of every kind of memory, outcomes, errors."""

import array
import copy
import ctypes
import gc
import io
import json
import mmap
import pathlib
import pickle
import unittest
import weakref

import devlink
from devlink import DiagnosticCode, Link, LinkError, Severity, Status
from support import A, B, FIRST, PAIR, PROGRAM, SECOND, folder, run


def linked():
    return bytes(devlink.link(PAIR, "sm_90"))


def link_of(*data):
    with Link("sm_90") as link:
        for name, piece in zip(("a.cubin", "b.cubin"), data):
            link.add(piece, name=name)
        return bytes(link.link())


class Inputs(unittest.TestCase):
    def test_same_bytes_as_the_command(self):
        with folder():
            # Not with -g, which writes down the names of files that the command was given.
            for options in ([], ["-r"], ["-maxrregcount=64"], ["-kernels-used=nothing"]):
                done = run(PROGRAM, "-arch=sm_90", "-o", "program", *options, FIRST, SECOND)
                self.assertEqual(done.returncode, 0, done.stderr)
                outcome = devlink.link([FIRST, str(SECOND)], "sm_90", options=options)
                self.assertEqual(outcome.cubin, pathlib.Path("program").read_bytes(), options)
                self.assertTrue(outcome.ok)

    def test_every_kind_of_buffer(self):
        expected = linked()
        with open(FIRST, "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        holes = bytearray(2 * len(A))
        holes[::2] = A
        wide = array.array("I", A)
        for first in (
            bytearray(A),
            memoryview(A),
            memoryview(A + A)[: len(A)],
            memoryview(b"x" + A)[1:],
            memoryview(holes)[::2],
            memoryview(A).cast("B", (len(A) // 8, 8)),
            array.array("B", A),
            wide,
            (ctypes.c_char * len(A)).from_buffer_copy(A),
            mapped,
            memoryview(mapped),
        ):
            self.assertEqual(link_of(first, B), expected, type(first))
        del first
        mapped.close()  # nobody holds on to it

    def test_a_class_of_somebody_else(self):
        class Mine(bytearray):
            def __len__(self):
                return 1 << 40

        self.assertEqual(link_of(Mine(A), B), linked())

    def test_buffers_are_free_after_add(self):
        data = bytearray(B)
        released = weakref.ref(owner := type("Owner", (bytearray,), {})(A))
        with Link("sm_90") as link:
            link.add(owner, name="a.cubin")
            link.add(data, name="b.cubin")
            data[:] = b"nothing"  # of another size: fails while the memory is used
            del owner
            self.assertIsNone(released())
            self.assertEqual(bytes(link.link()), linked())
            data = bytearray(b"no device code")
            with self.assertRaises(LinkError):
                link.add(data, name="c")
            data.clear()  # after a failure, too

    def test_buffers_are_not_copied_on_the_way(self):
        """Of what the library reads where it is, the package makes no copy of its own."""
        seen = []
        add = devlink._native.lib.dl_session_add_bytes

        class Library:
            def __getattr__(self, name):
                return getattr(devlink._native.lib, name)

            def dl_session_add_bytes(self, session, name, data, size, error):
                seen.append((data, size))
                return add(session, name, data, size, error)

        data = bytearray(A)
        place = ctypes.addressof((ctypes.c_char * len(data)).from_buffer(data))
        before = devlink._link.lib
        devlink._link.lib = Library()
        try:
            Link("sm_90").add(data, name="a.cubin")
        finally:
            devlink._link.lib = before
        self.assertEqual(seen, [(place, len(A))])

    def test_names(self):
        with folder() as place:
            odd = place / "odd \udcff\n name.cubin"
            odd.write_bytes(B)
            with self.assertRaises(LinkError) as caught:
                devlink.link([odd], "sm_90")
            self.assertEqual(caught.exception.diagnostics[0].input, str(odd))
            str(caught.exception).encode("utf-8")  # can be printed
        with self.assertRaises(LinkError) as caught:
            devlink.link([("näme", B)], "sm_90")
        self.assertEqual(caught.exception.diagnostics[0].input, "näme")

    def test_no_inputs(self):
        outcome = devlink.link([], "sm_90")
        self.assertEqual(bytes(outcome.cubin[:4]), b"\x7fELF")
        self.assertEqual(outcome.report.kernels, ())

    def test_empty_input(self):
        """What the command says of an empty file."""
        with folder():
            pathlib.Path("empty").write_bytes(b"")
            status = run(PROGRAM, "-arch=sm_90", "-o", "program", "empty").returncode
            self.assertEqual(status, 0)
            expected = pathlib.Path("program").read_bytes()
        for empty in (b"", bytearray(), memoryview(b""), memoryview(b"x")[1:]):
            self.assertEqual(devlink.link([("empty", empty)], "sm_90").cubin, expected)

    def test_iterables(self):
        self.assertEqual(bytes(devlink.link((item for item in PAIR), "sm_90")), linked())
        with Link("sm_90") as link:
            link.add_all([])
            link.add_all(dict(PAIR))
            self.assertEqual(bytes(link.link()), linked())

    def test_link_again_and_copies(self):
        with Link("sm_90") as link:
            link.add(A, name="a.cubin")
            first = link.link()
            other = copy.copy(link)
            link.add(B, name="b.cubin")
            self.assertEqual(bytes(link.link()), linked())
            self.assertEqual(bytes(other.link()), bytes(first))
        other.add(B, name="b.cubin")  # the copy lives on
        self.assertEqual(bytes(other.link()), linked())

    def test_pool(self):
        pool = devlink.Pool(max_bytes=1 << 20)
        first = pool.add(A)
        second = pool.add(bytearray(A))
        self.assertEqual((pool.use.modules, pool.use.hits, pool.use.misses), (1, 1, 1))
        info = first.inspect()
        self.assertEqual((info.target, info.is_relocatable, info.bytes), ("sm_90", True, len(A)))
        self.assertEqual([f.name for f in info.functions], ["_Z4ReadPi"])
        self.assertIn("counter", [s.name for s in info.symbols if s.is_defined])
        self.assertEqual(info, second.inspect())
        with Link("sm_90", pool=pool) as link:
            link.add(first, name="a.cubin")
            link.add_all([("b.cubin", pool.add(B))])
            pool.remove(first)
            with self.assertRaises(KeyError):
                pool.remove(first)
            del pool, first, second
            self.assertEqual(bytes(link.link()), linked())
        with self.assertRaises(devlink.Error) as caught:
            devlink.Pool().add(b"no cubin")
        self.assertEqual(caught.exception.status, Status.INVALID_ARGUMENT)


class Outcomes(unittest.TestCase):
    def test_views_keep_their_memory(self):
        outcome = devlink.link(PAIR, "sm_90")
        view = outcome.cubin
        part = view[64:128]
        expected = bytes(view)
        kept = weakref.ref(outcome._handle)
        self.assertTrue(view.readonly)
        self.assertEqual((view.format, view.itemsize, view.ndim), ("B", 1, 1))
        self.assertEqual(view[0], 0x7F)
        del outcome
        gc.collect()
        self.assertIsNotNone(kept())
        self.assertEqual(view, expected)
        view.release()
        self.assertEqual(part, expected[64:128])
        with self.assertRaises(TypeError):
            part[0] = 0
        del view, part
        self.assertIsNone(kept())  # without the help of the garbage collector

    def test_report(self):
        report = devlink.link(PAIR, "sm_90").report
        self.assertEqual([kernel.name for kernel in report.kernels], ["_Z4ReadPi", "_Z5WritePi"])
        self.assertEqual(report["kernels"][0]["registers"], report.kernels[0].registers)
        self.assertEqual(report.output_bytes, len(linked()))
        self.assertEqual(report.input_bytes, len(A) + len(B))
        self.assertEqual(report.input_count, report["inputs"])
        self.assertIn("kernels", list(report))
        self.assertEqual(len(report), len(dict(report)))
        with folder():
            run(PROGRAM, "-arch=sm_90", "-o", "x", "--report=r.json", FIRST, SECOND)
            written = json.loads(pathlib.Path("r.json").read_text(encoding="utf-8"))
        written.pop("details", None)  # the command asks for more
        self.assertEqual(written, dict(report))

    def test_notebook(self):
        outcome = devlink.link(PAIR, "sm_90")
        page = outcome._repr_html_()
        self.assertIn("<code>_Z4ReadPi</code>", page)
        self.assertIn(f"{outcome.report.output_bytes:,} bytes", page)
        self.assertEqual(page.count("<tr>"), page.count("</tr>"))
        evil = '<script>alert("&")</script>\u202e\x1b[31m\udcff'
        kernels = tuple([devlink.Kernel(evil, 1, 0, None, 0, 0)] * 300)
        report = devlink.link([], "sm_90").report
        report.kernels = kernels
        page = report._repr_html_()
        self.assertNotIn("<script", page)
        self.assertIn("&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;\\u202e\\x1b[31m", page)
        self.assertIn("and 100 more", page)
        page.encode("utf-8")

    def test_page(self):
        page = devlink.report([FIRST, ("-Werror b", B)], "sm_90")
        self.assertIn("_Z4ReadPi", page.html)
        shown = page._repr_html_()
        self.assertTrue(shown.startswith('<iframe sandbox="allow-scripts" srcdoc="'))
        self.assertNotIn("<script", shown)
        self.assertNotIn("same-origin", shown)
        with self.assertRaises(LinkError) as caught:
            devlink.report([SECOND], "sm_90")
        with self.assertRaises(LinkError) as of_link:
            devlink.link([SECOND], "sm_90")
        self.assertEqual(str(caught.exception), str(of_link.exception))
        pickle.loads(pickle.dumps(caught.exception))

    def test_sink(self):
        with Link("sm_90") as link, folder():
            link.add_all(PAIR)
            memory, pieces = io.BytesIO(), []
            outcome = link.link_to(memory)
            self.assertEqual(memory.getvalue(), linked())
            self.assertEqual(outcome.cubin, b"")
            self.assertEqual(len(outcome.report.kernels), 2)
            link.link_to(pieces.append)
            self.assertEqual(b"".join(pieces), linked())
            with open("raw", "wb", buffering=0) as file:
                link.link_to(file)
            self.assertEqual(pathlib.Path("raw").read_bytes(), linked())
            memory.close()
            with self.assertRaises(ValueError):
                link.link_to(memory)
            with self.assertRaises(TypeError):
                link.link_to(io.StringIO())
            if pathlib.Path("/dev/full").exists():
                with open("/dev/full", "wb", buffering=0) as full, self.assertRaises(OSError):
                    link.link_to(full)
            self.assertEqual(bytes(link.link()), linked())  # none of it has changed the link

    def test_a_file_takes_part_of_a_piece(self):
        class Slow:
            def __init__(self, most=7):
                self.taken = b""
                self.most = most

            def writable(self):
                return True

            def write(self, data):
                self.taken += bytes(data[: self.most])
                return min(self.most, len(data))

        class Raw(Slow, io.RawIOBase):
            pass

        for slow in (Slow(), Raw()):
            with Link("sm_90") as link:
                link.add_all(PAIR)
                link.link_to(slow)
            self.assertEqual(slow.taken, linked())
        for stuck in (Slow(0), Raw(0), Slow(-1)):
            with Link("sm_90") as link, self.assertRaises(OSError):
                link.add_all(PAIR)
                link.link_to(stuck)


class Errors(unittest.TestCase):
    def test_undefined_symbols(self):
        with self.assertRaises(LinkError) as caught:
            devlink.link([SECOND], "sm_90")
        error = caught.exception
        self.assertEqual(error.status, Status.NOT_FOUND)
        missing = error.diagnostics.with_code(DiagnosticCode.UNDEFINED_REFERENCE)
        self.assertEqual(
            [(one.symbol, one.input) for one in missing],
            [("counter", str(SECOND)), ("table", str(SECOND))],
        )
        self.assertEqual(missing[0].severity, Severity.ERROR)
        self.assertTrue(missing[0].notes)
        with folder():
            said = run(PROGRAM, "-arch=sm_90", "-o", "x", SECOND).stderr.decode()
        self.assertEqual(str(error) + "\n", said)
        self.assertFalse(error.outcome.ok)
        self.assertEqual(error.outcome.cubin, b"")
        self.assertEqual(len(error.outcome.report.kernels), 1)
        self.assertIn("Undefined reference", error.outcome._repr_html_())

    def test_what_the_command_says(self):
        with folder():
            pathlib.Path("bad").write_bytes(b"garbage")
            pathlib.Path("damaged").write_bytes(A[: len(A) // 2])
            cases = [
                (["bad"], []),
                (["damaged"], []),
                (["nowhere"], []),
                ([], ["-nonsense"]),
                ([], ["-maxregcount=5"]),
                ([str(FIRST), str(FIRST)], []),
            ]
            for inputs, options in cases:
                done = run(PROGRAM, "-arch=sm_90", *options, "-o", "x", *inputs)
                self.assertNotEqual(done.returncode, 0)
                with self.assertRaises(LinkError, msg=inputs) as caught:
                    devlink.link(inputs, "sm_90", options=options)
                self.assertEqual(str(caught.exception) + "\n", done.stderr.decode())
                self.assertTrue(caught.exception.message)
        with self.assertRaises(LinkError) as caught:
            devlink.link([], "sm_1")
        done = run(PROGRAM, "-arch=sm_1")
        self.assertEqual(str(caught.exception) + "\n", done.stderr.decode())

    def test_a_link_goes_on_without_what_it_refuses(self):
        with Link("sm_90") as link:
            for index in range(150):
                with self.assertRaises(LinkError) as caught:
                    link.add(b"garbage", name=f"bad{index}")
                self.assertIn("Could not open input file", str(caught.exception))
                self.assertEqual(
                    [one.input for one in caught.exception.diagnostics], [f"bad{index}"]
                )
            with self.assertRaises(LinkError) as caught:
                link.add_all([PAIR[0], ("bad", b"garbage"), "nowhere", PAIR[1]])
            self.assertEqual(len(link.diagnostics), 152)

    def test_all_that_is_refused_is_told(self):
        with Link("sm_90") as link:
            with self.assertRaises(LinkError) as caught:
                link.add_all([PAIR[0], ("bad", b"garbage"), "nowhere", PAIR[1], b"garbage"])
            self.assertEqual(
                [one.input for one in caught.exception.diagnostics], ["bad", "nowhere", "<memory>"]
            )
            self.assertEqual(str(caught.exception) + "\n", str(link.diagnostics))
            self.assertEqual(bytes(link.link()), linked())

    def test_errors_are_values(self):
        with self.assertRaises(LinkError) as caught:
            devlink.link([SECOND], "sm_90")
        error = caught.exception
        for other in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
            self.assertIs(type(other), LinkError)
            self.assertEqual(
                (str(other), other.status, other.diagnostics),
                (str(error), error.status, error.diagnostics),
            )
        self.assertEqual(len({error.diagnostics, pickle.loads(pickle.dumps(error.diagnostics))}), 1)
        self.assertEqual(len(error.diagnostics[:1]), 1)

    def test_errors_for_programs(self):
        """As JSON and as SARIF they are what the command prints."""
        with self.assertRaises(LinkError) as caught:
            devlink.link([SECOND], "sm_90")
        found = caught.exception.diagnostics
        with folder():
            words = (PROGRAM, "-arch=sm_90", "-o", "x", SECOND)
            lines = run(*words, "-diagnostics-format", "json")
            document = run(*words, "-diagnostics-format", "sarif")
        self.assertEqual(found.json, (lines.stdout + lines.stderr).decode())
        self.assertEqual(
            json.loads(found.sarif), json.loads((document.stdout + document.stderr).decode())
        )
        self.assertEqual(pickle.loads(pickle.dumps(found)).sarif, found.sarif)

    def test_several_errors_for_programs(self):
        """Findings of several inputs are one list in every form."""
        with Link("sm_90") as link, self.assertRaises(LinkError) as caught:
            link.add_all([("bad", b"\x7fELF garbage"), ("worse", b"\x7fELF garbage")])
        found = caught.exception.diagnostics
        inputs = [json.loads(line)["input"] for line in found.json.splitlines()]
        self.assertEqual(inputs, ["bad", "worse"])
        self.assertEqual(len(json.loads(found.sarif)["runs"][0]["results"]), 2)

    def test_nothing_for_programs(self):
        found = devlink.link(PAIR, "sm_90").diagnostics
        self.assertEqual(found.json, "")
        self.assertEqual(json.loads(found.sarif)["runs"][0]["results"], [])

    def test_warnings_of_a_link_that_works(self):
        outcome = devlink.link(PAIR, "sm_90", options=["-v"])
        self.assertTrue(outcome.diagnostics)
        self.assertIn("_Z4ReadPi", str(outcome.diagnostics))


if __name__ == "__main__":
    unittest.main()
