# SPDX-License-Identifier: Apache-2.0
"""What a link has to say: statuses, diagnostics and exceptions."""

from __future__ import annotations

import ctypes
import dataclasses
import enum
import json
from ctypes import c_void_p
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Sequence, Union, overload

from . import _native
from ._handle import take_words
from ._native import each, lib, line_of, name_of

if TYPE_CHECKING:
    from ._outcome import Outcome


class Status(enum.IntEnum):
    """How a call went. Numbers never change; a later library may have more."""

    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16

    @classmethod
    def _missing_(cls, value: object) -> Status:
        return cls.UNKNOWN


class Severity(enum.IntEnum):
    """How bad a finding is. ERROR and FATAL fail the link."""

    INFO = 0
    WARNING = 1
    ERROR = 2
    FATAL = 3


class DiagnosticCode(enum.IntEnum):
    """What a finding is about; docs/diagnostics.md says more of each."""

    UNDEFINED_REFERENCE = 1
    MULTIPLE_DEFINITION = 2
    SIZE_MISMATCH = 3
    SPACE_MISMATCH = 4
    MANAGED_MISMATCH = 5
    ARCH_MISMATCH = 6
    ABI_MISMATCH = 7
    INPUT_NEWER_THAN_TOOLKIT = 8
    INPUT_TOO_OLD = 9
    UNREADABLE_INPUT = 10
    MALFORMED_INPUT = 11
    UNSUPPORTED_INPUT = 12
    MERGE_FAILED = 13
    STACK_SIZE_UNKNOWN = 14
    RESOURCE_OVERFLOW = 15
    UNSUPPORTED_FEATURE = 16
    USAGE = 17
    RESOURCE_USAGE = 18
    RELOCATION_OVERFLOW = 19
    ENTRY_MISMATCH = 20
    PROTOTYPE_MISMATCH = 21
    UNRESOLVABLE_RELOCATION = 22
    PTX_ASSEMBLY = 40
    OPTION_MISMATCH = 50
    LTO_COMPILATION = 51
    EARLY_REFERENCE = 60
    FORGOTTEN_ADDRESS = 61
    NO_DEVICE_CODE = 62


def _member(kind: type[enum.IntEnum], number: int) -> Any:
    """A member of an enumeration, or the bare number that a later library has added."""
    try:
        return kind(number)
    except ValueError:
        return number


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """One finding. str() of the Diagnostics that it is in has the lines that nvlink would print."""

    severity: Severity
    code: Union[DiagnosticCode, int]
    text: str  # nvlink's wording without tool and severity; may be empty
    symbol: str  # mangled; empty where none is meant
    input: str  # name of the input; empty where none is meant
    notes: tuple[str, ...]  # what a person needs besides, a line each
    line: int  # of the input, from 1; 0 for none
    verbatim: bool  # `text` is a whole line, printed as it stands


class Diagnostics(Sequence[Diagnostic]):
    """All findings of a call, in nvlink's order. A value that can be kept, compared and pickled.

    str() of it is what the program devlink prints; and a note for each input that is no device code
    (DiagnosticCode.NO_DEVICE_CODE), which the program passes over as nvlink does. `json` and `sarif`
    are what it prints with --diagnostics-format.
    """

    __slots__ = ("_findings", "_text", "_json", "_results")

    def __init__(
        self,
        findings: Iterable[Diagnostic] = (),
        text: str = "",
        json_lines: str = "",
        sarif_results: Iterable[Any] = (),
    ) -> None:
        self._findings = tuple(findings)
        self._text = text
        self._json = json_lines
        self._results = tuple(sarif_results)

    @overload
    def __getitem__(self, index: int) -> Diagnostic: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Diagnostic, ...]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[Diagnostic, tuple[Diagnostic, ...]]:
        return self._findings[index]

    def __len__(self) -> int:
        return len(self._findings)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self._findings)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Diagnostics):
            return NotImplemented
        return self._findings == other._findings

    def __hash__(self) -> int:
        return hash(self._findings)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Diagnostics({list(self._findings)!r})"

    @property
    def json(self) -> str:
        """A JSON object for each finding, on a line of its own (docs/diagnostics.md)."""
        return self._json

    @property
    def sarif(self) -> str:
        """A SARIF 2.1.0 document with all of them, which code hosts show beside the sources."""
        driver = {"name": "devlink", "version": lib.dl_version().decode("ascii")}
        run = {"tool": {"driver": driver}, "results": list(self._results)}
        schema = "https://json.schemastore.org/sarif-2.1.0.json"
        return json.dumps({"version": "2.1.0", "$schema": schema, "runs": [run]}, indent=2) + "\n"

    def joined(self, *others: Diagnostics) -> Diagnostics:
        """These, and others behind them."""
        lists = (self, *others)
        return Diagnostics(
            [finding for one in lists for finding in one._findings],
            "".join(one._text for one in lists),
            "".join(one._json for one in lists),
            [result for one in lists for result in one._results],
        )

    def with_code(self, code: Union[DiagnosticCode, int]) -> tuple[Diagnostic, ...]:
        """Those about one thing, such as DiagnosticCode.UNDEFINED_REFERENCE."""
        return tuple(finding for finding in self._findings if finding.code == code)


def read_diagnostics(address: int | None) -> Diagnostics:
    """Copies a dl_diagnostics, which stays whose it is."""
    count = lib.dl_diagnostics_count(address)
    if not count:
        return Diagnostics()
    findings = []
    for found in each(_native.dl_diagnostic, lib.dl_diagnostics_get, address, count):
        findings.append(
            Diagnostic(
                severity=_member(Severity, found.severity),
                code=_member(DiagnosticCode, found.code),
                text=line_of(found.text),
                symbol=name_of(found.symbol),
                input=name_of(found.input),
                notes=tuple(line_of(found.notes[note]) for note in range(found.note_count)),
                line=found.line,
                verbatim=bool(found.verbatim),
            )
        )
    document = json.loads(_rendered(lib.dl_diagnostics_sarif, address))
    return Diagnostics(
        findings,
        _rendered(lib.dl_diagnostics_render, address, None),
        _rendered(lib.dl_diagnostics_json, address),
        document["runs"][0]["results"],
    )


def _rendered(function: Any, *arguments: Any) -> str:
    made = c_void_p()
    if function(*arguments, ctypes.byref(made)) != 0 or not made.value:
        raise MemoryError
    return take_words(made.value)


class Error(Exception):
    """A call that failed. str() is what the program devlink prints of it.

    `status` says of what kind it is, `message` is one sentence, `diagnostics` has all findings: of
    an input that was refused what is wrong with it, of a link all that there is to say.
    """

    def __init__(
        self,
        status: Status,
        message: str,
        diagnostics: Diagnostics | None = None,
    ) -> None:
        super().__init__(status, message)
        self.status = status
        self.message = message
        self.diagnostics = Diagnostics() if diagnostics is None else diagnostics

    def __str__(self) -> str:
        said = str(self.diagnostics).rstrip("\n")
        if any(found.severity >= Severity.ERROR for found in self.diagnostics):
            return said
        reason = f"devlink fatal   : {self.message or self.status.name}"
        return f"{reason}\n{said}" if said else reason

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.status, self.message, self.diagnostics)


class LinkError(Error):
    """A link, an input or an option that the linker refuses.

    `outcome` is what came of a link all the same: its report as far as it came; None where there
    was no link, and in another process.
    """

    outcome: Outcome | None = None


class Cancelled(LinkError):
    """A Stop, or an exception in a callback, has ended the link."""


def take_error(
    status: int,
    address: int | None,
    kind: type[Error] = Error,
    diagnostics: Diagnostics | None = None,
) -> Error:
    """The exception for a dl_error, which is destroyed, and for findings besides."""
    try:
        code = Status(status)
        message = line_of(lib.dl_error_text(address)) if address else ""
        found = read_diagnostics(lib.dl_error_diagnostics(address)) if address else Diagnostics()
    finally:
        lib.dl_error_destroy(address)
    if not message:
        message = "there is no memory left" if code == Status.RESOURCE_EXHAUSTED else code.name
    if diagnostics:
        found = found.joined(diagnostics)
    if code == Status.CANCELLED and kind is LinkError:
        kind = Cancelled
    return kind(code, message, found)
