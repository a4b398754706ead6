# SPDX-License-Identifier: Apache-2.0
"""Links."""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import threading
from ctypes import c_char_p, c_void_p
from typing import Any, BinaryIO, Callable, Iterable, Iterator, Mapping, Optional, Union

from . import _native
from ._calls import Calls, FilesCallback, LogCallback, LogLevel, ProgressCallback, Stop
from ._calls import UndefinedCallback
from ._errors import Diagnostics, LinkError, Status, read_diagnostics, take_error
from ._handle import Buffer, Handle, Memory, made_once, memory_of
from ._native import encode, lib, name_of, number
from ._outcome import Outcome, Page
from ._references import HostReferences, from_struct, to_struct
from ._shared import Module, Pool, StrPath, TimeTrace, Toolchain, default_toolchain, place, words

# A path (str or os.PathLike), bytes in any buffer, or a module; with a name in front, if need be.
Input = Union[StrPath, Buffer, Module]
NamedInput = Union[Input, "tuple[str, Union[Buffer, Module]]"]
Inputs = Union[Iterable[NamedInput], Mapping[str, Union[Buffer, Module]]]


# Cubins of so many bytes are linked at once; of more, a person may want to press Ctrl-C.
_MOST_AT_ONCE = 4 << 20


def _bytes_of_cubin(memory: Memory) -> int:
    """How much there is to link; of what is no cubin or has to be compiled, too much."""
    head = ctypes.string_at(memory.address, 20) if memory.size >= 20 else b""
    is_cubin = head[:4] == b"\x7fELF" and head[18:20] == b"\xbe\x00"  # EM_CUDA
    return memory.size if is_cubin else _MOST_AT_ONCE + 1


class Link:
    """A list of inputs and the options to link them with; many links can be made of it.

        with devlink.Link("sm_90") as link:
            link.add("a.cubin")
            link.add(data, name="b.cubin")
            cubin = link.link().cubin

    arch: the target, "sm_90"; without it an option "-arch=..." names it, and of both the option counts.
    options: nvlink's options, each one word: "-maxrregcount=64", "-lto", "-L/usr/lib". Those that
        name files which the command writes are refused, since they are results here; what
        -dump-callgraph prints is in the diagnostics of the outcome.
    toolchain: what compiles PTX and LTO IR; without one that of default_toolchain().
    pool: keeps modules that several links use.
    stop: ends links early.
    log, log_level: told lines about what the link does.
    progress: told when a phase begins and whenever some of its steps are done.
    undefined: asked for inputs that define what none defines: returns pairs of name and bytes, or a
        mapping. Asked again for what those lack. They take part in that link alone.
    files: asked for the bytes of files in place of the file system, by path; returns None where
        there is none, and may return a File. For any thread, several at once.
    end_at_rejected_input: as with nvlink, an input that cannot be used ends the link.
    read_thin_members: a thin archive from memory may name files to be read.
    threads, memory_budget, max_input_bytes, max_memory_bytes: bounds; 0 for what the library likes.
    time_trace: where the time of inputs and links is recorded.
    details: the report has sections, functions and variables, and outcomes answer Outcome.map(),
        why_live() and their like.
    call_graph_dot: for Outcome.call_graph_dot.
    register_directory: the working directory, for Outcome.register_file; a link leaves out then
        what an earlier link has linked already.

    A Link is for one thread at a time, and not for its own callbacks: RuntimeError tells of more.
    Any number of links may run side by side; Python's other threads run meanwhile. An exception in
    a callback ends the link and is raised by the call that was running. After one in `log` or
    `progress`, or Ctrl-C, the Link is stopped for good. While the main thread waits, callbacks come
    on another thread, so that this one can handle signals.
    """

    def __init__(
        self,
        arch: Optional[str] = None,
        *,
        options: Iterable[str] = (),
        toolchain: Optional[Toolchain] = None,
        pool: Optional[Pool] = None,
        stop: Optional[Stop] = None,
        log: Optional[LogCallback] = None,
        log_level: LogLevel = LogLevel.DEBUG,
        progress: Optional[ProgressCallback] = None,
        undefined: Optional[UndefinedCallback] = None,
        files: Optional[FilesCallback] = None,
        end_at_rejected_input: bool = False,
        read_thin_members: bool = False,
        threads: int = 0,
        memory_budget: int = 0,
        max_input_bytes: int = 0,
        max_memory_bytes: int = 0,
        time_trace: Optional[TimeTrace] = None,
        details: bool = False,
        call_graph_dot: bool = False,
        register_directory: Optional[StrPath] = None,
    ) -> None:
        made_once(self)
        if toolchain is not None and not isinstance(toolchain, Toolchain):
            raise TypeError(f"a devlink.Toolchain is wanted, not {type(toolchain).__name__}")
        if pool is not None and not isinstance(pool, Pool):
            raise TypeError(f"a devlink.Pool is wanted, not {type(pool).__name__}")
        if time_trace is not None and not isinstance(time_trace, TimeTrace):
            raise TypeError(f"a devlink.TimeTrace is wanted, not {type(time_trace).__name__}")
        directory = None
        if register_directory is not None:
            directory = place(register_directory, "register_directory")
        given = words(options)
        self._tools = default_toolchain() if toolchain is None else toolchain
        self._calls = Calls(log, progress, undefined, files, stop)
        struct = _native.sized(
            _native.dl_session_options,
            target=None if arch is None else encode(arch, "arch"),
            options=_native.texts(given),
            option_count=len(given),
            toolchain=self._tools._handle.address,
            pool=None if pool is None else pool._handle.address,
            log_level=LogLevel(log_level),
            end_at_rejected_input=bool(end_at_rejected_input),
            read_thin_members=bool(read_thin_members),
            threads=number(threads, "threads", 32),
            memory_budget=number(memory_budget, "memory_budget"),
            max_input_bytes=number(max_input_bytes, "max_input_bytes"),
            max_memory_bytes=number(max_memory_bytes, "max_memory_bytes"),
            time_trace=None if time_trace is None else time_trace._handle.address,
            register_directory=directory,
            details=bool(details),
            call_graph_dot=bool(call_graph_dot),
        )
        self._calls.fill_in(struct)
        made, error = c_void_p(), c_void_p()

        def create() -> Handle:
            status = lib.dl_session_create(
                ctypes.byref(struct), ctypes.byref(made), ctypes.byref(error)
            )
            if status != 0 or made.value is None:
                raise take_error(status, error.value, LinkError)
            return Handle(made.value, lib.dl_session_destroy)

        self._lock = threading.Lock()
        # How much a link has to do, as far as that can be told.
        compiles = any(word.startswith((b"-l", b"--l", b"@")) for word in given)
        self._work = _MOST_AT_ONCE + 1 if compiles else 0
        self._handle = self._calls.run(create)

    # ---- One at a time ----

    @contextlib.contextmanager
    def _session(self) -> Iterator[int]:
        """The session, for as long as nobody else uses it."""
        if not self._lock.acquire(blocking=False):
            raise RuntimeError(
                "this Link is in use by another thread, or by what one of its callbacks belongs to"
            )
        try:
            try:
                address = self._handle.address
            except IndexError:
                raise ValueError("this Link is closed") from None
            yield address
        finally:
            self._lock.release()

    def close(self) -> None:
        """Gives the inputs back. Outcomes stay valid. Again is nothing."""
        if not self._lock.acquire(blocking=False):
            raise RuntimeError("this Link is in use by another thread")
        try:
            self._handle.close()
        finally:
            self._lock.release()

    def __enter__(self) -> Link:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- Inputs ----

    def set_option(self, option: str) -> None:
        """One more of nvlink's options, before the first input.

        LinkError, with nvlink's sentence, for one that is unknown or wrong; the Link is then as
        before. Options that contradict each other are refused by the first input or link.
        """
        word = encode(option, "an option")
        self._work = _MOST_AT_ONCE + 1

        def work() -> None:
            with self._session() as session:
                error = c_void_p()
                status = lib.dl_session_set_option(session, word, ctypes.byref(error))
                if status != 0:
                    raise take_error(status, error.value, LinkError)

        self._calls.run(work)

    def add(
        self,
        data: Input,
        *,
        name: Optional[str] = None,
        references: Optional[HostReferences] = None,
    ) -> None:
        """Adds an input of any kind behind those before.

        A cubin, PTX, LTO IR, a fat binary, a host object with device code, or an archive of them;
        a path, bytes in any buffer (read where they are, free again afterwards), or a Module of a
        Pool. `name` is what messages call it; paths are their own names. `references` is what the
        host code of a cubin or a Module refers to; other inputs say it themselves.

        LinkError where it is damaged, is not for this target, or cannot be read; the input is left
        out then, and the Link goes on. What is no device code is no error: a finding of `diagnostics`
        (DiagnosticCode.NO_DEVICE_CODE) says so.
        """
        if isinstance(data, (str, os.PathLike)):
            if name is not None:
                raise TypeError("an input that is a path is called by it; give bytes with a name")
            if references is not None:
                raise TypeError("references are for bytes of a cubin and for a Module, not a path")
            path = place(data, "an input")
            self._work = _MOST_AT_ONCE + 1
            self._add(lambda session, error: lib.dl_session_add_file(session, path, error))
            return
        called = b"<memory>" if name is None else encode(name, "the name")
        said = [] if references is None else [ctypes.byref(to_struct(references))]
        if isinstance(data, Module):
            module = data._handle
            add_module = lib.dl_session_add_module
            if said:
                add_module = lib.dl_session_add_module_with_references
            self._add(
                lambda session, error: add_module(session, called, module.address, *said, error)
            )
            return

        def add(session: int, error: Any) -> int:
            with memory_of(data) as memory:
                self._work += _bytes_of_cubin(memory)
                add_bytes = lib.dl_session_add_bytes
                if said:
                    add_bytes = lib.dl_session_add_cubin_with_references
                return int(
                    add_bytes(session, called, memory.address, memory.size, *said, error)
                )

        self._add(add)

    def add_host_references(self, references: HostReferences) -> None:
        """What host code refers to that brings no device code into this link."""
        said = ctypes.byref(to_struct(references))
        self._add(lambda session, error: lib.dl_session_add_host_references(session, said, error))

    @property
    def host_references(self) -> tuple[tuple[str, HostReferences], ...]:
        """What the inputs so far say of their host code: pairs of an input's name and its lists.

        One for each object with device code, and for each without that counts.
        """
        with self._session() as session:
            made = c_void_p()
            status = lib.dl_session_host_references(session, ctypes.byref(made))
        if status != 0 or made.value is None:
            raise take_error(status, None)
        handle = Handle(made.value, lib.dl_reference_lists_destroy)
        out = []
        for index in range(lib.dl_reference_lists_count(handle.address)):
            name = _native.dl_text()
            lists = _native.sized(_native.dl_host_references)
            lib.dl_reference_lists_get(
                handle.address, index, ctypes.byref(name), ctypes.byref(lists)
            )
            out.append((name_of(name), from_struct(lists)))
        return tuple(out)

    def add_all(self, inputs: Inputs) -> None:
        """Adds many inputs, in this order; files that follow each other are read in parallel.

        Each is what add() takes, or a pair of name and bytes; a mapping has such pairs. All are
        added; LinkError is that of the first that failed, with the findings of all.
        """
        if isinstance(inputs, (str, bytes, bytearray, memoryview, os.PathLike)):
            raise TypeError("add_all() takes a list of inputs; add() takes one")
        if isinstance(inputs, Mapping):
            inputs = inputs.items()
        paths: list[bytes] = []
        failures: list[LinkError] = []

        def attempt(add: Callable[..., None], *data: Any, **name: Any) -> None:
            try:
                add(*data, **name)
            except LinkError as error:
                if error.status == Status.CANCELLED:
                    raise
                failures.append(error)

        def add_paths() -> None:
            given = list(paths)
            paths.clear()
            self._work = _MOST_AT_ONCE + 1
            array = (c_char_p * len(given))(*given)
            self._add(
                lambda session, error: lib.dl_session_add_files(session, array, len(given), error),
                long=True,
            )

        for item in inputs:
            if isinstance(item, (str, os.PathLike)):
                paths.append(place(item, "an input"))
                continue
            if paths:
                attempt(add_paths)
            if isinstance(item, tuple):
                if len(item) != 2:
                    raise TypeError("an input that is a tuple has to be a name and bytes")
                name, data = item
                attempt(self.add, data, name=name)
            else:
                attempt(self.add, item)
        if paths:
            attempt(add_paths)
        if failures:
            # At once: one by one each would be copied as often as others come behind it.
            failures[0].diagnostics = Diagnostics().joined(
                *(failure.diagnostics for failure in failures)
            )
            raise failures[0]

    def _add(self, function: Callable[[int, Any], Any], long: bool = False) -> None:
        def work() -> None:
            with self._session() as session:
                error = c_void_p()
                status = function(session, ctypes.byref(error))
                if status != 0:
                    raise take_error(status, error.value, LinkError)

        self._calls.run(work, long)

    def _read(self, session: int) -> Diagnostics:
        made = c_void_p()
        status = lib.dl_session_diagnostics(session, ctypes.byref(made))
        if status != 0 or made.value is None:
            raise take_error(status, None)
        handle = Handle(made.value, lib.dl_diagnostics_destroy)
        return read_diagnostics(handle.address)

    @property
    def diagnostics(self) -> Diagnostics:
        """What options and inputs so far gave rise to."""
        with self._session() as session:
            return self._read(session)

    # ---- Linking ----

    def link(self) -> Outcome:
        """Links what was added. Any number of times, with further inputs between.

        Raises LinkError where it fails, with `outcome`; Cancelled where a Stop ended it; and what a
        callback or a signal handler raised.
        """

        def run(session: int, made: Any, error: Any) -> int:
            return int(lib.dl_session_link(session, made, error))

        return self._link(run)

    def link_to(self, file: Union[BinaryIO, Callable[[bytes], Any]]) -> Outcome:
        """The same, but the cubin goes in pieces to a binary file, or to a function.

        It is never whole in memory. Nothing is written before the link is known to succeed; what an
        exception of the file leaves behind is not a cubin. outcome.cubin is empty.
        """
        target: Any = file
        is_file = hasattr(target, "write")
        write = target.write if is_file else target
        if not callable(write):
            raise TypeError("a binary file or a function is wanted, not " + type(file).__name__)
        calls = self._calls

        def append(_user: Any, data: int, size: int) -> int:
            try:
                piece = ctypes.string_at(data, size)
                while piece:
                    written = write(piece)
                    # A file takes what it can and says how much. None stands for nothing with a raw
                    # file; what else says nothing, and a function, has taken all.
                    if is_file and isinstance(target, io.RawIOBase) and not written:
                        raise BlockingIOError("the file takes nothing for the moment")
                    if is_file and isinstance(written, int):
                        if not 0 < written <= len(piece):
                            raise OSError(f"the file took {written} of {len(piece)} bytes")
                        piece = piece[written:]
                    else:
                        piece = b""
                return Status.OK
            except BaseException as error:
                calls._fail(error, stop=False)
                return Status.ABORTED

        sink = _native.sized(_native.dl_sink, append=_native.APPEND(append))

        def run(session: int, made: Any, error: Any) -> int:
            return int(lib.dl_session_link_to(session, ctypes.byref(sink), made, error))

        return self._link(run, calls_back=True)

    def _link(self, function: Callable[[int, Any, Any], int], calls_back: bool = False) -> Outcome:
        def work() -> Outcome:
            with self._session() as session:
                made, error = c_void_p(), c_void_p()
                outcome: Optional[Outcome] = None
                try:
                    status = function(session, ctypes.byref(made), ctypes.byref(error))
                finally:  # a signal handler may raise when the call is done
                    if made.value is not None:
                        outcome = Outcome(Handle(made.value, lib.dl_outcome_destroy))
                if status == 0 and outcome is not None:
                    return outcome
                found = None if outcome is None else outcome.diagnostics
                failure = take_error(status, error.value, LinkError, found)
                assert isinstance(failure, LinkError)
                failure.outcome = outcome
                raise failure

        return self._calls.run(work, long=calls_back or self._work > _MOST_AT_ONCE)

    def copy(self) -> Link:
        """A Link with the same options and inputs that goes its own way.

        Callbacks and what stops them are in common.
        """
        with self._session() as session:
            made, error = c_void_p(), c_void_p()
            status = lib.dl_session_copy(session, ctypes.byref(made), ctypes.byref(error))
        if status != 0 or made.value is None:
            raise take_error(status, error.value, LinkError)
        out = object.__new__(type(self))
        out.__dict__.update(self.__dict__)
        out._lock = threading.Lock()
        out._handle = Handle(made.value, lib.dl_session_destroy)
        return out

    __copy__ = copy

    def __deepcopy__(self, _memo: Any) -> Link:
        return self.copy()

    def __reduce__(self) -> Any:
        raise TypeError("a Link cannot be pickled; link in the process that has the inputs")


def link(inputs: Inputs, arch: Optional[str] = None, **settings: Any) -> Outcome:
    """Links a list of inputs at once. Settings are those of Link.

        cubin = devlink.link(["a.cubin", ("b.cubin", data)], "sm_90").cubin

    LinkError where an input cannot be used or the link fails.
    """
    with Link(arch, **settings) as session:
        session.add_all(inputs)
        return session.link()


def report(
    inputs: Inputs, arch: Optional[str] = None, *, title: str = "program.cubin", **settings: Any
) -> Page:
    """Links for the sake of the report: the page of the program's option --report=FILE.html.

        devlink.report(["a.cubin", "b.cubin"], "sm_90")      # the last line of a cell

    Inputs and settings are those of link(); LinkError where that fails. `title` heads the page. The
    page of an outcome whose Link had details is its page().
    """
    if isinstance(inputs, (str, bytes, bytearray, memoryview, os.PathLike)):
        raise TypeError("report() takes a list of inputs")
    return link(inputs, arch, **{**settings, "details": True}).page(title)
