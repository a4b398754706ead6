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
from ._errors import Diagnostics, Status, read_diagnostics
from ._handle import Handle, made_once, take_string, view_of
from ._native import each, known, lib, line_of, name_of

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
    ever extended; the attributes are what every release has. Notebooks show it as a table.
    devlink.report() makes the whole page.
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
        numbers = _native.sized(_native.dl_report)
        text = c_void_p()
        lib.dl_outcome_report(address, ctypes.byref(numbers))
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
