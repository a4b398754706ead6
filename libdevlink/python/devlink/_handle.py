# SPDX-License-Identifier: Apache-2.0
"""Objects of the library, and the memory of Python's objects."""

from __future__ import annotations

import contextlib
import ctypes
import os
from ctypes import c_int, c_ssize_t, c_void_p
from typing import Any, Callable, Iterator, Union

from ._native import lib, name_of

# Whatever gives out its bytes: bytes, bytearray, memoryview, mmap, arrays of numpy.
Buffer = Union[bytes, bytearray, memoryview, Any]


class Handle:
    """Owns one object of the library, and gives it back when nobody refers to the handle.

    Not in a process forked from the one that made it: a thread that is not there may have had a
    lock of the object.
    """

    __slots__ = ("__weakref__", "_cell", "_destroy", "_getpid", "_pid")

    def __init__(self, address: int, destroy: Callable[[int], None]) -> None:
        self._cell = [address]
        self._destroy = destroy
        self._getpid = os.getpid  # modules may be gone when the interpreter ends
        self._pid = os.getpid()

    @property
    def address(self) -> int:
        return self._cell[0]

    def close(self) -> None:
        """Gives the object back now. Again is nothing."""
        try:
            address = self._cell.pop()  # one thread gets it
        except IndexError:
            return
        self._destroy(address)

    def __reduce__(self) -> Any:
        # A copy would give the same object back once more.
        raise TypeError("objects of libdevlink cannot be pickled or deeply copied")

    def __del__(self) -> None:
        if self._pid == self._getpid():
            self.close()


def made_once(owner: object) -> None:
    """Refuses a second __init__, which would drop what another thread may be using."""
    if "_handle" in vars(owner):
        raise RuntimeError(f"a {type(owner).__name__} is made once")


def take_string(address: int) -> str:
    """The text of a dl_string, which is destroyed."""
    try:
        return name_of(lib.dl_string_text(address))
    finally:
        lib.dl_string_destroy(address)


def take_words(address: int) -> str:
    """The same of words for a person, which can always be printed."""
    text = take_string(address).encode("utf-8", "surrogateescape")
    return text.decode("utf-8", "backslashreplace")


# ---- Buffers ----


class _PyBuffer(ctypes.Structure):
    """Py_buffer, which belongs to Python's stable interface."""

    _fields_ = [
        ("buf", c_void_p),
        ("obj", ctypes.py_object),
        ("len", c_ssize_t),
        ("itemsize", c_ssize_t),
        ("readonly", c_int),
        ("ndim", c_int),
        ("format", ctypes.c_char_p),
        ("shape", c_void_p),
        ("strides", c_void_p),
        ("suboffsets", c_void_p),
        ("internal", c_void_p),
    ]


try:
    _get_buffer = ctypes.pythonapi.PyObject_GetBuffer
    _get_buffer.argtypes = [ctypes.py_object, ctypes.POINTER(_PyBuffer), c_int]
    _get_buffer.restype = c_int
    _release_buffer = ctypes.pythonapi.PyBuffer_Release
    _release_buffer.argtypes = [ctypes.POINTER(_PyBuffer)]
    _release_buffer.restype = None
    _has_buffers = True
except AttributeError:  # another Python than CPython
    _has_buffers = False

_PYBUF_SIMPLE = 0


class Memory:
    """The bytes of a buffer, where they are. The buffer is locked until release()."""

    def __init__(self, data: Buffer, what: str = "an input", constant: bool = False) -> None:
        """With `constant`, bytes that somebody might change meanwhile are copied first."""
        self._view: Any = None
        self._kept: Any = None
        self.address = 0
        if isinstance(data, str):
            raise TypeError(f"{what} has to be bytes, not str; a path is given as such")
        try:
            probe = memoryview(data)
        except TypeError:
            raise TypeError(
                f"{what} has to be bytes or a buffer, not {type(data).__name__}"
            ) from None
        with probe:
            self.size = probe.nbytes
            if not probe.c_contiguous or not _has_buffers or (constant and not probe.readonly):
                self._kept = probe.tobytes()
                data = self._kept
        if not _has_buffers:
            self.address = ctypes.cast(ctypes.c_char_p(self._kept), c_void_p).value or 0
            return
        view = _PyBuffer()
        _get_buffer(data, ctypes.byref(view), _PYBUF_SIMPLE)
        self._view = view
        self.address = view.buf or 0
        self.size = view.len

    def release(self) -> None:
        """Unlocks the buffer. Again is nothing."""
        view, self._view = self._view, None
        self._kept = None
        if view is not None:
            _release_buffer(ctypes.byref(view))

    def __del__(self) -> None:
        if getattr(self, "_view", None) is not None:
            self.release()


@contextlib.contextmanager
def memory_of(data: Buffer, what: str = "an input", constant: bool = False) -> Iterator[Memory]:
    """Locks a buffer for the time of a call."""
    memory = Memory(data, what, constant)
    try:
        yield memory
    finally:
        memory.release()


def view_of(owner: object, address: int | None, size: int) -> memoryview:
    """Bytes of an object of the library. They keep `owner`, and cannot be written to."""
    if not address or not size:
        return memoryview(b"")
    array = (ctypes.c_ubyte * size).from_address(address)
    array._owner = owner  # type: ignore[attr-defined]
    return memoryview(array).toreadonly().cast("B")
