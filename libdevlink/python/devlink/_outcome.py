# SPDX-License-Identifier: Apache-2.0
"""What came of a link."""

from __future__ import annotations

import ctypes
import dataclasses
import html
import json
from ctypes import c_void_p
from typing import Any, Iterator, Mapping, Optional

from . import _native
from ._errors import Diagnostics, Status, read_diagnostics, take_error
from ._handle import Handle, made_once, memory_of, take_string, take_words, view_of
from ._native import each, encode, known, lib, line_of, name_of

_MOST_ROWS = 200


@dataclasses.dataclass(frozen=True)
class Kernel:
    """Resources of one kernel, everything it calls included."""

    name: str  # mangled
    registers: int  # per thread
    barriers: int
    stack_bytes: Optional[int]  # per thread; None where recursion leaves it open
    shared_bytes: int  # static, per block
    parameter_bytes: int


@dataclasses.dataclass(frozen=True)
class CompilerRun:
    """A run of a compiler that ended well, as nvlink -time lists it."""

    compiler: str  # "ptxas", or "cicc" for what compiles LTO IR
    source: str  # what was compiled and what came out
    input: str  # the file that was compiled; may be empty
    output: str  # the file that came out
    nanoseconds: int


@dataclasses.dataclass(frozen=True)
class RegisteredInput:
    """An input as nvlink's --register-link-binaries lists it."""

    name: str  # as it was added
    ids: tuple[str, ...]  # of the modules in it; none: an id is made of its name
    left_out: bool  # an earlier link has linked it already


def shown(text: str) -> str:
    """A name for a page: nothing in it is markup, and nothing is hidden."""
    plain = text.encode("utf-8", "backslashreplace").decode("utf-8")
    visible = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in plain)
    return html.escape("".join(visible))


def _table(rows: list[list[str]], left_out: int) -> str:
    head, *body = rows
    out = ["<table><thead><tr>", *(f"<th>{shown(cell)}</th>" for cell in head), "</tr></thead>"]
    out.append("<tbody>")
    for row in body:
        name, *numbers = (shown(cell) for cell in row)
        cells = "".join(f'<td style="text-align:right">{number}</td>' for number in numbers)
        out.append(f'<tr><td style="text-align:left"><code>{name}</code></td>{cells}</tr>')
    out.append("</tbody></table>")
    if left_out:
        out.append(f"<p>and {left_out} more</p>")
    return "".join(out)


class Report(Mapping[str, Any]):
    """What is in the output and what is not. A value; it outlives its outcome.

    As a mapping it is the JSON object that the program devlink writes with --report, which is only
    ever extended, with Link(details=True) as with it; the attributes are what every release has.
    Notebooks show it as a table. Outcome.page() makes the whole page.
    """

    def __init__(
        self, text: str, kernels: tuple[Kernel, ...], dead_functions: tuple[str, ...], numbers: Any
    ) -> None:
        self.json: str = text
        self.kernels: tuple[Kernel, ...] = kernels  # in the order of the inputs
        self.dead_functions: tuple[str, ...] = dead_functions  # that no kernel reaches; mangled
        self.global_bytes: int = numbers.global_bytes
        self.constant_bytes: int = numbers.constant_bytes
        self.input_bytes: int = numbers.input_bytes
        self.output_bytes: int = numbers.output_bytes
        self.input_count: int = numbers.input_count
        # What LTO made is the output, and was not linked.
        self.is_whole_program: bool = bool(numbers.is_whole_program)
        self._fields: dict[str, Any] = json.loads(text)

    def __getitem__(self, key: str) -> Any:
        return self._fields[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return (
            f"<devlink.Report: {len(self.kernels)} kernels, {self.input_count} inputs, "
            f"{self.output_bytes} bytes>"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: kernels with what they take, and totals."""
        rows = [["kernel", "registers", "stack", "shared", "parameters", "barriers"]]
        for kernel in self.kernels[:_MOST_ROWS]:
            stack = "?" if kernel.stack_bytes is None else f"{kernel.stack_bytes:,}"
            numbers = (kernel.shared_bytes, kernel.parameter_bytes, kernel.barriers)
            rows.append(
                [kernel.name, str(kernel.registers), stack, *(f"{number:,}" for number in numbers)]
            )
        totals = (
            f"{self.input_count} inputs of {self.input_bytes:,} bytes; output of "
            f"{self.output_bytes:,} bytes; {self.global_bytes:,} bytes of global and "
            f"{self.constant_bytes:,} of constant memory; {len(self.dead_functions)} functions "
            "that no kernel reaches"
        )
        table = _table(rows, max(0, len(self.kernels) - _MOST_ROWS))
        return f'<div class="devlink-report"><p>{shown(totals)}</p>{table}</div>'


class Page:
    """A page that says what a link put where, and why it is there. Notebooks show it.

    `html` is the page, a file for every browser that needs nothing beside it.
    """

    def __init__(self, text: str) -> None:
        self.html = text

    def _repr_html_(self) -> str:
        """The page in a frame of its own, which can do nothing to the notebook."""
        text = html.escape(self.html, quote=True)
        style = "width:100%;height:40em;border:1px solid #ccc"
        return f'<iframe sandbox="allow-scripts" srcdoc="{text}" style="{style}"></iframe>'

    def __repr__(self) -> str:
        return f"<devlink.Page: {len(self.html)} characters>"


class Outcome:
    """What came of one link. Never changes, and outlives its session. For any thread."""

    def __init__(self, handle: Handle) -> None:
        made_once(self)
        self._handle = handle
        self._report: Optional[Report] = None
        self._diagnostics: Optional[Diagnostics] = None

    @property
    def status(self) -> Status:
        return Status(lib.dl_outcome_status(self._handle.address))

    @property
    def ok(self) -> bool:
        """False only where it is the outcome of a LinkError."""
        return self.status == Status.OK

    @property
    def message(self) -> str:
        """A sentence about what went wrong; empty where nothing did."""
        return line_of(lib.dl_outcome_message(self._handle.address))

    @property
    def cubin(self) -> memoryview:
        """The cubin, where it is; read-only. It keeps its memory, also when the outcome is gone.

        Empty after a failure, with -emit-ptx, and where Link.link_to() wrote it.
        """
        bytes_ = lib.dl_outcome_cubin(self._handle.address)
        return view_of(self._handle, bytes_.data, bytes_.size)

    @property
    def ptx(self) -> str:
        """With -emit-ptx the PTX; otherwise empty."""
        return name_of(lib.dl_outcome_ptx(self._handle.address))

    @property
    def diagnostics(self) -> Diagnostics:
        """All that there is to say, in nvlink's order."""
        if self._diagnostics is None:
            self._diagnostics = read_diagnostics(lib.dl_outcome_diagnostics(self._handle.address))
        return self._diagnostics

    @property
    def report(self) -> Report:
        """What is in the output; of a failed link as far as it came."""
        if self._report is None:
            self._report = self._read_report()
        return self._report

    def _read_report(self) -> Report:
        address = self._handle.address
        numbers = self._numbers()
        text = c_void_p()
        if lib.dl_outcome_report_json(address, ctypes.byref(text)) != 0 or text.value is None:
            raise MemoryError
        kernels = []
        count = numbers.kernel_count
        for kernel in each(_native.dl_kernel, lib.dl_outcome_kernel, address, count):
            kernels.append(
                Kernel(
                    name=name_of(kernel.name),
                    registers=kernel.registers,
                    barriers=kernel.barriers,
                    stack_bytes=known(kernel.stack_bytes),
                    shared_bytes=kernel.shared_bytes,
                    parameter_bytes=kernel.parameter_bytes,
                )
            )
        dead = tuple(
            name_of(lib.dl_outcome_dead_function(address, index))
            for index in range(numbers.dead_function_count)
        )
        return Report(take_string(text.value), tuple(kernels), dead, numbers)

    # ---- What there is where it was asked for ----

    def _numbers(self) -> Any:
        numbers = _native.sized(_native.dl_report)
        lib.dl_outcome_report(self._handle.address, ctypes.byref(numbers))
        return numbers

    def _text(self, function: Any, *arguments: Any) -> str:
        made, error = c_void_p(), c_void_p()
        status = function(
            self._handle.address, *arguments, ctypes.byref(made), ctypes.byref(error)
        )
        if status != 0 or made.value is None:
            raise take_error(status, error.value)
        return take_words(made.value)

    def map(self) -> str:
        """All inputs, sections, kernels, functions and variables: --map of the program.

        This and the next ones want Link(details=True); Error with Status.FAILED_PRECONDITION else.
        """
        return self._text(lib.dl_outcome_map)

    def sizes(self) -> str:
        """Bytes by kind of section, input, function and template, and what copies cost: --size."""
        return self._text(lib.dl_outcome_sizes)

    def why_live(self, symbol: str) -> str:
        """The way from a kernel to a function, or why there is none: --why-live.

        Error with Status.NOT_FOUND, and names that are close, for what nothing is called.
        """
        return self._text(lib.dl_outcome_why_live, encode(symbol, "the symbol"))

    def why_input(self, name: str) -> str:
        """What comes of an input and who needs it, or why it is not linked: --why-input."""
        return self._text(lib.dl_outcome_why_input, encode(name, "the input"))

    def why_registers(self, kernel: str) -> str:
        """Which callee sets a kernel's registers, stack and barriers: --why-registers."""
        return self._text(lib.dl_outcome_why_registers, encode(kernel, "the kernel"))

    def page(self, title: str = "program.cubin") -> Page:
        """The whole report as a page: --report=FILE.html. Notebooks show it."""
        return Page(self._text(lib.dl_outcome_report_html, encode(title, "the title")))

    @property
    def call_graph_dot(self) -> str:
        """Who calls whom, for Graphviz, with Link(call_graph_dot=True); otherwise empty."""
        return line_of(lib.dl_outcome_call_graph_dot(self._handle.address))

    @property
    def compiler_runs(self) -> tuple[CompilerRun, ...]:
        """Runs of compilers that ended well, in the order of their inputs."""
        address, count = self._handle.address, self._numbers().compiler_run_count
        return tuple(
            CompilerRun(
                compiler=name_of(run.compiler),
                source=name_of(run.source),
                input=name_of(run.input),
                output=name_of(run.output),
                nanoseconds=run.nanoseconds,
            )
            for run in each(_native.dl_compiler_run, lib.dl_outcome_compiler_run, address, count)
        )

    @property
    def registered_inputs(self) -> tuple[RegisteredInput, ...]:
        """The inputs as nvlink's --register-link-binaries lists them, in link order."""
        address, count = self._handle.address, self._numbers().registered_count
        read = lib.dl_outcome_registered_input
        return tuple(
            RegisteredInput(
                name=name_of(found.name),
                ids=tuple(name_of(found.ids[index]) for index in range(found.id_count)),
                left_out=bool(found.left_out),
            )
            for found in each(_native.dl_registered_input, read, address, count)
        )

    @property
    def register_file(self) -> str:
        """The text of --register-link-binaries, with Link(register_directory=...).

        Error with Status.FAILED_PRECONDITION without it, and where an input was in error.
        """
        return self._text(lib.dl_outcome_register_file)

    def keeps_register_file(self, existing: bytes) -> bool:
        """Whether a register file with these bytes stays: nvcc links once for each architecture."""
        with memory_of(existing, "the register file") as memory:
            return bool(
                lib.dl_outcome_keeps_register_file(
                    self._handle.address, memory.address, memory.size
                )
            )

    def __bytes__(self) -> bytes:
        return bytes(self.cubin)

    def __repr__(self) -> str:
        return f"<devlink.Outcome: {self.status.name}, {self.report!r}>"

    def _repr_html_(self) -> str:
        said = str(self.diagnostics)
        lines = f"<pre>{html.escape(said)}</pre>" if said else ""
        return lines + self.report._repr_html_()

    def __copy__(self) -> Outcome:
        return self

    def __deepcopy__(self, _memo: Any) -> Outcome:
        return self  # nobody can change it

    def __reduce__(self) -> Any:
        raise TypeError("an Outcome cannot be pickled; its cubin, as bytes, can")
