# SPDX-License-Identifier: Apache-2.0
"""Calls into the library that may take long and call back.

An exception in a callback ends the link and is raised by the call that was running. While the main
thread waits, signals are handled: Ctrl-C, or a handler that raises, ends the link as well.
"""

from __future__ import annotations

import _thread
import contextvars
import ctypes
import dataclasses
import enum
import os
import sys
import threading
import weakref
from ctypes import c_void_p
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, TypeVar, Union

from . import _native
from ._errors import Error, Status, _member
from ._handle import Buffer, Handle, memory_of
from ._native import encode, lib, line_of, name_of, number

T = TypeVar("T")


class LogLevel(enum.IntEnum):
    """The lowest level of lines that are wanted."""

    DEBUG = 0
    INFO = 1


class Phase(enum.IntEnum):
    """Where a link is."""

    READING = 0
    LTO_COMPILE = 1
    ASSEMBLING = 2
    LINKING = 3
    WRITING = 4


class SymbolKind(enum.IntEnum):
    """What a symbol stands for."""

    UNKNOWN = 0  # undefined, and the module does not say of what kind it is elsewhere
    FUNCTION = 1
    VARIABLE = 2
    TEXTURE = 3
    SAMPLER = 4
    SURFACE = 5


@dataclasses.dataclass(frozen=True)
class Progress:
    """A phase that begins, or of which some steps are done."""

    phase: Union[Phase, int]
    done: int
    total: int  # 0 where it is not known
    subject: str  # the input or piece that the next step is about; may be empty


@dataclasses.dataclass(frozen=True)
class UndefinedSymbol:
    """A symbol that inputs refer to and none defines."""

    name: str  # mangled
    kind: Union[SymbolKind, int]
    inputs: tuple[str, ...]  # names of those that refer to it


@dataclasses.dataclass(frozen=True)
class File:
    """What a `files` callback may return in place of bytes, to say which file it is.

    Two paths of one file have equal numbers: nvlink links an archive once, however often it is
    named. Without it each path is a file of its own.
    """

    data: Buffer
    device: int = 0
    inode: int = 0

    def __post_init__(self) -> None:
        number(self.device, "device")
        number(self.inode, "inode")


LogCallback = Callable[[LogLevel, str], Any]
ProgressCallback = Callable[[Progress], Any]
# Name and bytes of inputs that define some of the symbols; None stands for none.
Definitions = Union[Mapping[str, Buffer], Iterable[tuple[str, Buffer]], None]
UndefinedCallback = Callable[[Sequence[UndefinedSymbol]], Definitions]
# The bytes of a file; None where there is none.
FilesCallback = Callable[[str], Union[Buffer, File, None]]


# How late a signal may be handled at worst.
_SECONDS_TO_SIGNAL = 0.1
# How Python's messages begin: "can't start new thread", "can't create new thread at ...".
_NO_THREAD = "can't "


class Stop:
    """Ends links early: those that run with it, and those that begin with it later.

    What was asked to stop stays so; a new one is for the next link. For any thread, any number of
    links, and signal handlers.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._requested = False
        self._handles: weakref.WeakSet[Handle] = weakref.WeakSet()

    def request(self) -> None:
        """Returns at once; links end soon, with devlink.Cancelled."""
        with self._lock:
            self._requested = True
            handles = list(self._handles)
        for handle in handles:
            lib.dl_stop_request(handle.address)

    @property
    def requested(self) -> bool:
        return self._requested

    def _follow(self, handle: Handle) -> None:
        with self._lock:
            self._handles.add(handle)
        if self._requested:
            lib.dl_stop_request(handle.address)


class _Call:
    """A call that is running, and what its callbacks raised."""

    def __init__(self) -> None:
        self.thread: Optional[int] = None
        self.failures: list[BaseException] = []


def _joined(failures: Sequence[BaseException]) -> BaseException:
    """The first one. The others are told as its causes: none is lost.

    Not as its context, which is overwritten where an exception is raised while one is handled.
    """
    last = failures[0]
    seen = {id(last)}
    for failure in failures[1:]:
        while last.__cause__ is not None and id(last.__cause__) not in seen:
            last = last.__cause__
            seen.add(id(last))
        if id(failure) not in seen:
            seen.add(id(failure))
            last.__cause__ = failure
            last = failure
    return failures[0]


class Calls:
    """The callbacks of a session and of its copies, and the calls of them that run."""

    def __init__(
        self,
        log: Optional[LogCallback],
        progress: Optional[ProgressCallback],
        undefined: Optional[UndefinedCallback],
        files: Optional[FilesCallback],
        stop: Optional[Stop],
    ) -> None:
        named = {"log": log, "progress": progress, "undefined": undefined, "files": files}
        for name, callback in named.items():
            if callback is not None and not callable(callback):
                raise TypeError(f"{name} has to be callable, not {type(callback).__name__}")
        if stop is not None and not isinstance(stop, Stop):
            raise TypeError(f"stop has to be a devlink.Stop, not {type(stop).__name__}")
        made = c_void_p()
        if lib.dl_stop_create(ctypes.byref(made)) != 0 or made.value is None:
            raise MemoryError
        # One of its own: an exception ends the links of this session, and not those of others.
        self.stop = Handle(made.value, lib.dl_stop_destroy)
        if stop is not None:
            stop._follow(self.stop)
        self._lock = threading.RLock()  # a signal handler may link, too
        self._running: list[_Call] = []
        self._log = log
        self._progress = progress
        self._undefined = undefined
        self._files = files
        self._inodes: dict[str, int] = {}
        self.are_there = any(callback is not None for callback in named.values())
        self._environment = None if files is None else self._make_environment()

    def fill_in(self, options: Any) -> None:
        """Sets the callbacks in a dl_session_options. They live as long as this object."""
        options.stop = self.stop.address
        if self._log is not None:
            options.log = self._log_entry = _native.LOG(self._on_log)
        if self._progress is not None:
            options.progress = self._progress_entry = _native.PROGRESS(self._on_progress)
        if self._undefined is not None:
            options.undefined = self._undefined_entry = _native.UNDEFINED(self._on_undefined)
        if self._environment is not None:
            options.environment = ctypes.pointer(self._environment)

    def _make_environment(self) -> Any:
        self._read_entry = _native.READ_FILE(self._on_read_file)
        self._exists_entry = _native.EXISTS(self._on_exists)
        return _native.sized(
            _native.dl_environment, read_file=self._read_entry, exists=self._exists_entry
        )

    # ---- Running ----

    def run(self, work: Callable[[], T], long: bool = False) -> T:
        """Runs what calls the library, and raises what its callbacks raised.

        On the main thread, work that is long or calls back is given to another thread, so that this
        one can handle signals: an exception of a handler, raised where a callback begins, would be
        lost. The first one asks the work to stop and waits for it, which may take as long as a
        compiler does; a second one does not wait. `work` owns what it uses, since it goes on then.
        """
        call = _Call()

        def body() -> T:
            call.thread = threading.get_ident()
            with self._lock:
                self._running.append(call)
            refusal: Optional[BaseException] = None
            try:
                result = work()
            except BaseException as error:
                refusal = error
            finally:
                with self._lock:
                    self._running.remove(call)
            try:
                if call.failures:
                    raise _joined([*call.failures, *([] if refusal is None else [refusal])])
                if refusal is not None:
                    raise refusal
                return result
            finally:
                call.failures.clear()  # tracebacks refer to this frame
                del refusal

        is_main = threading.get_ident() == threading.main_thread().ident
        if (long or self.are_there) and is_main and not sys.is_finalizing():
            return self._wait_for(body)
        return body()

    def _wait_for(self, body: Callable[[], T]) -> T:
        results: list[T] = []
        failures: list[BaseException] = []
        context = contextvars.copy_context()
        # A bare thread and a bare lock: a link may take less time than starting a threading.Thread.
        done = _thread.allocate_lock()
        done.acquire()

        def run() -> None:
            try:
                results.append(context.run(body))
            except BaseException as error:
                failures.append(error)
            finally:
                done.release()

        interruption: Optional[BaseException] = None
        started = alone = False
        try:
            while not results and not failures:
                try:
                    if not started:
                        started = True
                        _thread.start_new_thread(run, ())
                    # A signal that comes just before this one sleeps does not wake it.
                    done.acquire(True, _SECONDS_TO_SIGNAL)
                except BaseException as error:
                    if isinstance(error, RuntimeError) and str(error).startswith(_NO_THREAD):
                        alone = True  # the interpreter ends, or there are no threads left
                        break
                    if interruption is not None:
                        raise _joined([error, interruption])
                    interruption = error
                    lib.dl_stop_request(self.stop.address)
        except BaseException:
            # The second one, or one that came between these lines.
            lib.dl_stop_request(self.stop.address)
            raise
        if alone:
            return body()
        failure = failures.pop() if failures else None
        if interruption is not None:
            # What the link came to is the interruption's doing, unless a callback raised, too.
            others = [] if failure is None or isinstance(failure, Error) else [failure]
            failure = _joined([interruption, *others])
        if failure is None:
            return results[0]
        try:
            raise failure
        finally:
            del failure, interruption  # whose tracebacks refer to this frame

    def _fail(self, error: BaseException, stop: bool) -> None:
        thread = threading.get_ident()
        with self._lock:
            # Whose a worker is cannot be told where copies of a session link at the same time.
            calls = [call for call in self._running if call.thread == thread] or self._running
            for call in calls:
                call.failures.append(error)
        if stop:
            lib.dl_stop_request(self.stop.address)

    # ---- What the library calls ----

    def _on_log(self, _user: Any, level: int, line: Any) -> None:
        try:
            assert self._log is not None
            self._log(_member(LogLevel, level), line_of(line))
        except BaseException as error:
            self._fail(error, stop=True)

    def _on_progress(self, _user: Any, progress: Any) -> None:
        try:
            assert self._progress is not None
            event = progress.contents
            phase = _member(Phase, event.phase)
            self._progress(Progress(phase, event.done, event.total, name_of(event.subject)))
        except BaseException as error:
            self._fail(error, stop=True)

    def _on_undefined(self, _user: Any, symbols: Any, count: int, receiver: int) -> int:
        try:
            assert self._undefined is not None
            wanted = []
            for index in range(count):
                symbol = symbols[index]
                names = tuple(name_of(symbol.inputs[at]) for at in range(symbol.input_count))
                kind = _member(SymbolKind, symbol.kind)
                wanted.append(UndefinedSymbol(name_of(symbol.name), kind, names))
            found = self._undefined(wanted)
            if isinstance(found, Mapping):
                found = found.items()
            for name, data in found or ():
                with memory_of(data, "an input of the callback undefined") as memory:
                    status = lib.dl_receiver_add_input(
                        receiver, encode(name, "the name"), memory.address, memory.size
                    )
                if status != 0:
                    return int(status)
            return Status.OK
        except BaseException as error:
            self._fail(error, stop=False)
            return Status.ABORTED

    def _file(self, path: bytes) -> Optional[File]:
        assert self._files is not None
        name = os.fsdecode(path)  # as it was given
        found = self._files(name)
        if found is None or isinstance(found, File):
            return found
        with self._lock:
            inode = self._inodes.setdefault(name, len(self._inodes) + 1)
        return File(found, 0, inode)

    def _on_read_file(self, _user: Any, path: bytes, max_bytes: int, receiver: int) -> int:
        try:
            found = self._file(path)
            if found is None:
                return Status.NOT_FOUND
            with memory_of(found.data, "what the callback files returned") as memory:
                if memory.size > max_bytes:
                    return Status.RESOURCE_EXHAUSTED
                return int(
                    lib.dl_receiver_set_file(
                        receiver, memory.address, memory.size, found.device, found.inode
                    )
                )
        except BaseException as error:
            self._fail(error, stop=False)
            return Status.ABORTED

    def _on_exists(self, _user: Any, path: bytes) -> int:
        try:
            return int(self._file(path) is not None)
        except BaseException as error:
            self._fail(error, stop=False)
            return 0
