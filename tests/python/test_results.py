# SPDX-License-Identifier: Apache-2.0
"""What links have besides their cubins, what they tell of inputs, and lists of host references."""

import json
import pathlib
import pickle
import unittest

import devlink
from devlink import DiagnosticCode, HostReferences, Link, LinkError, Pool, Severity, Status
from support import A, B, FIRST, PAIR, PROGRAM, SECOND, folder, run

SOURCE = b"// a source file, which nobody has compiled\n" * 3


def detailed(inputs=PAIR, **settings):
    return devlink.link(inputs, "sm_90", details=True, **settings)


class Details(unittest.TestCase):
    def test_what_the_command_says(self):
        outcome = detailed([FIRST, SECOND])
        answers = [
            (["--why-live=_Z4ReadPi"], outcome.why_live("_Z4ReadPi")),
            ([f"--why-input={SECOND.name}"], outcome.why_input(SECOND.name)),
            (["--why-registers=_Z5WritePi"], outcome.why_registers("_Z5WritePi")),
            (["--size"], outcome.sizes()),
        ]
        with folder():
            command = [PROGRAM, "-arch=sm_90", "-o", "program.cubin", FIRST, SECOND]
            for options, answer in answers:
                self.assertEqual(run(*command, *options).stdout.decode(), answer)
            run(*command, "--map=map", "--report=r.json", "-dot=dot")
            self.assertEqual(outcome.map(), pathlib.Path("map").read_text(encoding="utf-8"))
            written = json.loads(pathlib.Path("r.json").read_text(encoding="utf-8"))
            self.assertEqual(written, dict(outcome.report))
            run(*command, "--report=r.html")
            page = pathlib.Path("r.html").read_text(encoding="utf-8")
            self.assertEqual(outcome.page().html, page)
            self.assertEqual(devlink.report([FIRST, SECOND], "sm_90").html, page)
            dot = pathlib.Path("dot").read_text(encoding="utf-8")
        self.assertEqual(outcome.call_graph_dot, "")
        self.assertEqual(devlink.link(PAIR, "sm_90", call_graph_dot=True).call_graph_dot, dot)

    def test_titles(self):
        self.assertIn("&lt;b&gt;", detailed().page("<b>").html)
        self.assertIn("my title", devlink.report(PAIR, "sm_90", title="my title").html)

    def test_not_asked_for(self):
        outcome = devlink.link(PAIR, "sm_90")
        for call in (outcome.map, outcome.sizes, outcome.page, lambda: outcome.why_live("x")):
            with self.assertRaises(devlink.Error) as caught:
                call()
            self.assertEqual(caught.exception.status, Status.FAILED_PRECONDITION)
        self.assertNotIn("details", outcome.report)

    def test_no_answer(self):
        outcome = detailed()
        with self.assertRaises(devlink.Error) as caught:
            outcome.why_live("_Z4ReadPj")
        self.assertEqual(caught.exception.status, Status.NOT_FOUND)
        self.assertIn("_Z4ReadPi", str(caught.exception))
        for call in (outcome.why_live, outcome.why_input, outcome.why_registers, outcome.page):
            with self.assertRaises(TypeError):
                call(5)
            with self.assertRaises(ValueError):
                call("a\0b")

    def test_a_link_that_fails(self):
        with self.assertRaises(LinkError) as caught:
            detailed([("b.cubin", B)])
        outcome = caught.exception.outcome
        self.assertIn("_Z5WritePi", outcome.why_live("_Z5WritePi"))
        self.assertIn("Undefined reference", outcome.page().html)

    def test_call_graph(self):
        """What the command prints is in the diagnostics."""
        with folder():
            said = run(PROGRAM, "-arch=sm_90", "-o", "x", "-dump-callgraph", FIRST, SECOND)
        outcome = devlink.link([FIRST, SECOND], "sm_90", options=["-dump-callgraph"])
        self.assertTrue(all(line.verbatim for line in outcome.diagnostics))
        printed = said.stdout.decode() + said.stderr.decode()
        self.assertEqual(str(outcome.diagnostics), printed)
        self.assertTrue(printed)


class Files(unittest.TestCase):
    def test_register_file(self):
        with folder() as place:
            pathlib.Path("a.cubin").write_bytes(A)
            pathlib.Path("b.cubin").write_bytes(B)
            done = run(
                *(PROGRAM, "-arch=sm_90", "-o", "x", "--register-link-binaries=r"),
                *("a.cubin", "b.cubin"),
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            written = pathlib.Path("r").read_text(encoding="utf-8")
            outcome = devlink.link(["a.cubin", "b.cubin"], "sm_90", register_directory=place)
        self.assertEqual(outcome.register_file, written)
        self.assertEqual([one.name for one in outcome.registered_inputs], ["a.cubin", "b.cubin"])
        self.assertFalse(outcome.registered_inputs[0].left_out)
        self.assertFalse(outcome.keeps_register_file(b""))
        self.assertTrue(outcome.keeps_register_file(b"x(_cuda_device_runtime_)"))
        with self.assertRaises(TypeError):
            outcome.keeps_register_file("text")
        with self.assertRaises(devlink.Error) as caught:
            devlink.link(PAIR, "sm_90").register_file
        self.assertEqual(caught.exception.status, Status.FAILED_PRECONDITION)

    def test_time_trace(self):
        trace = devlink.TimeTrace()
        self.assertEqual(json.loads(trace.json)["traceEvents"], [])
        devlink.link(PAIR, "sm_90", time_trace=trace)
        names = {span["name"] for span in json.loads(trace.json)["traceEvents"]}
        self.assertTrue({"read input", "link"} <= names, names)
        with Link("sm_90", time_trace=trace) as link:
            del trace  # the session keeps it
            link.add_all(PAIR)
            self.assertTrue(link.link().ok)
        for wrong in ({"time_trace": 5}, {"register_directory": 5}):
            with self.assertRaises(TypeError):
                Link("sm_90", **wrong)
        with self.assertRaises(TypeError):
            pickle.dumps(devlink.TimeTrace())
        with self.assertRaises(RuntimeError):
            devlink.TimeTrace.__init__(made := devlink.TimeTrace())
        del made

    def test_no_compilers(self):
        self.assertEqual(devlink.link(PAIR, "sm_90").compiler_runs, ())

    def test_options_name_what_has_the_same(self):
        for option, name in (("--map=x", "dl_outcome_map"), ("-dot=x", "call_graph_dot")):
            with self.assertRaises(LinkError) as caught:
                Link("sm_90", options=[option])
            self.assertIn("command alone", str(caught.exception))
            self.assertIn(name, str(caught.exception))


class Inputs(unittest.TestCase):
    def test_no_device_code(self):
        with Link("sm_90") as link:
            link.add(SOURCE, name="k.cu")
            found = link.diagnostics
            self.assertEqual([one.code for one in found], [DiagnosticCode.NO_DEVICE_CODE])
            self.assertEqual((found[0].input, found[0].severity), ("k.cu", Severity.INFO))
            self.assertIn("'k.cu' brings no device code", str(found))
            link.add_all(PAIR)
            outcome = link.link()
        self.assertEqual(outcome.diagnostics, found)
        self.assertEqual(outcome.cubin, devlink.link(PAIR, "sm_90").cubin)
        with folder():  # the command says nothing
            pathlib.Path("k.cu").write_bytes(SOURCE)
            done = run(PROGRAM, "-arch=sm_90", "-o", "x", "k.cu", FIRST, SECOND)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))

    def test_what_is_wrong_with_an_input(self):
        with Link("sm_90") as link:
            link.add(SOURCE, name="k.cu")
            for name in ("one", "two"):
                with self.assertRaises(LinkError) as caught:
                    link.add(A[:300], name=name)
                found = caught.exception.diagnostics
                self.assertEqual([one.input for one in found], [name])
                self.assertEqual(found[0].code, DiagnosticCode.MALFORMED_INPUT)
                self.assertTrue(found[0].notes)

    def test_the_bound_on_one_input(self):
        with Link("sm_90", max_input_bytes=len(A) - 1) as link:
            with self.assertRaises(LinkError) as caught:
                link.add(A, name="a.cubin")
            self.assertEqual(caught.exception.status, Status.RESOURCE_EXHAUSTED)
            self.assertIn(f"limit of {len(A) - 1}", str(caught.exception))
        with self.assertRaises(LinkError) as caught:
            devlink.link(
                [("b.cubin", B)],
                "sm_90",
                max_input_bytes=len(B),
                undefined=lambda symbols: {"a": A + bytes(1 << 20)},
            )
        self.assertEqual(caught.exception.status, Status.RESOURCE_EXHAUSTED)


class References(unittest.TestCase):
    def kernels(self, link):
        return [kernel.name for kernel in link.link().report.kernels]

    def test_lists_that_are_given(self):
        launched = HostReferences(kernels_external=["_Z5Write*"], variables_external=("counter",))
        nothing = HostReferences(kernels_external=())
        pool = Pool()
        for first in (A, bytearray(A), pool.add(A)):
            with Link("sm_90") as link:
                link.add(first, name="a.cubin", references=nothing)
                link.add(pool.add(B), name="b.cubin", references=launched)
                self.assertEqual(self.kernels(link), ["_Z5WritePi"])
                link.add_host_references(HostReferences(("_Z4Read*",)))
                self.assertEqual(self.kernels(link), ["_Z4ReadPi", "_Z5WritePi"])
                said = link.host_references
                self.assertEqual([name for name, _ in said], ["a.cubin", "b.cubin", ""])
                self.assertEqual(said[0][1], nothing)
                self.assertEqual(said[1][1].kernels_external, ("_Z5Write*",))
                self.assertEqual(said[1][1].variables_external, ("counter",))
                self.assertIsNone(said[1][1].kernels_internal)
        with Link("sm_90") as link:
            link.add_all(PAIR)
            self.assertEqual([one for _, one in link.host_references], [HostReferences()] * 2)

    def test_lists_that_are_none(self):
        with Link("sm_90") as link:
            for wrong in ("_Z4Read*", ["_Z4Read*"], {"kernels_external": ()}):
                with self.assertRaises(TypeError):
                    link.add(A, references=wrong)
                with self.assertRaises(TypeError):
                    link.add_host_references(wrong)
            for names in ("_Z4Read*", [5], 5):
                with self.assertRaises(TypeError):
                    link.add(A, references=HostReferences(names))
            with self.assertRaises(ValueError):
                link.add(A, references=HostReferences(["a\0b"]))
            with self.assertRaises(TypeError):
                link.add("a.cubin", references=HostReferences())
            self.assertEqual(link.host_references, ())
            self.assertEqual(self.kernels(link), [])
            with self.assertRaises(LinkError) as caught:
                link.add(SOURCE, references=HostReferences())  # a cubin alone
            self.assertEqual(caught.exception.status, Status.INVALID_ARGUMENT)

    def test_odd_names(self):
        odd = HostReferences(("n\udcffme*", "", "ü"))
        with Link("sm_90") as link:
            link.add_host_references(odd)
            self.assertEqual(link.host_references, (("", odd),))


if __name__ == "__main__":
    unittest.main()
