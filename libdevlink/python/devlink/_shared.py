# SPDX-License-Identifier: Apache-2.0
"""What links share: pools of modules, caches and toolchains. All are for any number of threads."""

from __future__ import annotations

import ctypes
import dataclasses
import enum
import functools
import os
import sys
import tempfile
import threading
from ctypes import c_void_p
from typing import Any, Iterable, MutableMapping, Optional, Union

from . import _native
from ._calls import SymbolKind
from ._errors import Status, _member, take_error
from ._handle import Buffer, Handle, made_once, memory_of, take_words
from ._native import each, encode, known, lib, name_of, number

StrPath = Union[str, "os.PathLike[str]"]


def _create(function: Any, *arguments: Any) -> int:
    """Calls what makes an object, and raises Error where it cannot."""
    made, error = c_void_p(), c_void_p()
    status = function(*arguments, ctypes.byref(made), ctypes.byref(error))
    if status != 0 or made.value is None:
        raise take_error(status, error.value)
    return made.value


def place(path: Union[StrPath, bytes], what: str) -> bytes:
    """A path for the library. TypeError for what is none, ValueError for a NUL in it."""
    try:
        data = os.fsencode(path)
    except TypeError:
        kind = type(path).__name__
        raise TypeError(f"{what} has to be a path (str or os.PathLike), not {kind}") from None
    if b"\0" in data:
        raise ValueError(f"{what} has a NUL in it: {path!r}")
    return data


def words(options: Iterable[str], what: str = "an option") -> list[bytes]:
    """Options, each one word. A str alone is a mistake: its letters are not options."""
    if isinstance(options, (str, bytes)):
        raise TypeError("options are a list of words, such as ['-lto', '-maxrregcount=64']")
    return [encode(option, what) for option in options]


# ---- Modules ----


class Binding(enum.IntEnum):
    """Whom a symbol is for."""

    LOCAL = 0
    GLOBAL = 1
    WEAK = 2


class MemorySpace(enum.IntEnum):
    """Where a variable is."""

    NONE = 0  # not a variable, or in another space
    GLOBAL = 1
    SHARED = 2
    CONSTANT = 3


@dataclasses.dataclass(frozen=True)
class Function:
    """A function that a module defines. What it does not record is None."""

    name: str  # mangled
    is_kernel: bool
    code_bytes: int
    registers: Optional[int]  # per thread, of its own body
    barriers: Optional[int]  # of its own body
    frame_bytes: Optional[int]  # local memory per thread, of its own body
    stack_bytes: Optional[int]  # the same with all that it calls, as far as the module knows
    shared_bytes: int  # of kernels: static, as far as the module has laid it out
    constant_bytes: int  # banks of its own
    parameter_bytes: int  # of kernels: the bank of their parameters


@dataclasses.dataclass(frozen=True)
class Symbol:
    """A named symbol of a module."""

    name: str  # mangled
    kind: Union[SymbolKind, int]
    binding: Union[Binding, int]
    space: Union[MemorySpace, int]
    is_defined: bool
    is_kernel: bool
    is_managed: bool
    bytes: int


@dataclasses.dataclass(frozen=True)
class ModuleInfo:
    """What a module says of itself."""

    target: str  # "sm_90a"
    toolkit: int  # release that made it, 130 for 13.0; 0 where it does not say
    is_relocatable: bool  # False: an executable cubin, which no link takes
    bytes: int  # of the file
    functions: tuple[Function, ...]  # in the order of the symbol table, and so are
    symbols: tuple[Symbol, ...]


class Module:
    """A cubin that was read and checked; Pool.add() makes them. Immutable."""

    def __init__(self, handle: Handle) -> None:
        made_once(self)
        self._handle = handle

    def inspect(self) -> ModuleInfo:
        """Reads the tables of the module: a value of its own."""
        made = c_void_p()
        status = lib.dl_module_inspect(self._handle.address, ctypes.byref(made))
        if status != 0 or made.value is None:
            raise take_error(status, None)
        return _read_info(Handle(made.value, lib.dl_module_info_destroy))

    def __reduce__(self) -> Any:
        raise TypeError("a Module cannot be pickled; the bytes that it was made of can")


def _read_info(handle: Handle) -> ModuleInfo:
    info = handle.address
    summary = _native.sized(_native.dl_module_summary)
    lib.dl_module_info_summary(info, ctypes.byref(summary))
    functions = []
    count = summary.function_count
    for function in each(_native.dl_function, lib.dl_module_info_function, info, count):
        functions.append(
            Function(
                name=name_of(function.name),
                is_kernel=bool(function.is_kernel),
                code_bytes=function.code_bytes,
                registers=known(function.registers),
                barriers=known(function.barriers),
                frame_bytes=known(function.frame_bytes),
                stack_bytes=known(function.stack_bytes),
                shared_bytes=function.shared_bytes,
                constant_bytes=function.constant_bytes,
                parameter_bytes=function.parameter_bytes,
            )
        )
    symbols = []
    count = summary.symbol_count
    for symbol in each(_native.dl_symbol, lib.dl_module_info_symbol, info, count):
        symbols.append(
            Symbol(
                name=name_of(symbol.name),
                kind=_member(SymbolKind, symbol.kind),
                binding=_member(Binding, symbol.binding),
                space=_member(MemorySpace, symbol.space),
                is_defined=bool(symbol.is_defined),
                is_kernel=bool(symbol.is_kernel),
                is_managed=bool(symbol.is_managed),
                bytes=symbol.bytes,
            )
        )
    return ModuleInfo(
        target=name_of(summary.target),
        toolkit=summary.toolkit,
        is_relocatable=bool(summary.is_relocatable),
        bytes=summary.bytes,
        functions=tuple(functions),
        symbols=tuple(symbols),
    )


@dataclasses.dataclass(frozen=True)
class PoolUse:
    """How a pool was used so far."""

    modules: int  # in the pool now
    bytes: int  # of their files
    hits: int  # the module was there
    misses: int  # it was read
    forgotten: int  # to stay within the bound


class Pool:
    """Keeps modules, so that bytes that were seen before are not parsed again.

    For all links of a process: equal bytes are one module, whatever they are called. With
    `max_bytes`, those not used for longest go first, but none that somebody else refers to.
    """

    def __init__(self, max_bytes: int = 0) -> None:
        made_once(self)
        options = _native.sized(_native.dl_pool_options, max_bytes=number(max_bytes, "max_bytes"))
        made = _create(lib.dl_pool_create, ctypes.byref(options))
        self._handle = Handle(made, lib.dl_pool_destroy)

    def add(self, cubin: Buffer) -> Module:
        """Reads and checks a cubin. Error, with what is wrong and where, for what is none.

        The bytes are copied only if the pool does not have them yet.
        """
        with memory_of(cubin, "a cubin", constant=True) as memory:
            made = _create(lib.dl_pool_add_cubin, self._handle.address, memory.address, memory.size)
        return Module(Handle(made, lib.dl_module_destroy))

    def remove(self, module: Module) -> None:
        """Forgets a module, which stays valid. KeyError where it is not in this pool."""
        if not isinstance(module, Module):
            raise TypeError(f"a devlink.Module is wanted, not {type(module).__name__}")
        status = lib.dl_pool_remove(self._handle.address, module._handle.address)
        if status == Status.NOT_FOUND:
            raise KeyError(module)
        if status != 0:
            raise take_error(status, None)

    def clear(self) -> None:
        """Forgets all of them."""
        status = lib.dl_pool_clear(self._handle.address)
        if status != 0:
            raise take_error(status, None)

    @property
    def use(self) -> PoolUse:
        """How it was used so far."""
        use = _native.sized(_native.dl_pool_use)
        lib.dl_pool_get_use(self._handle.address, ctypes.byref(use))
        return PoolUse(use.modules, use.bytes, use.hits, use.misses, use.forgotten)


# ---- Where the time goes ----


class TimeTrace:
    """Spans of time that links record, from the making of the object on. For any number of links.

    json is for Chrome's about:tracing, Perfetto and Speedscope.
    """

    def __init__(self) -> None:
        made_once(self)
        made = c_void_p()
        if lib.dl_time_trace_create(ctypes.byref(made)) != 0 or made.value is None:
            raise MemoryError
        self._handle = Handle(made.value, lib.dl_time_trace_destroy)

    @property
    def json(self) -> str:
        """All spans that have ended."""
        text = c_void_p()
        if lib.dl_time_trace_json(self._handle.address, ctypes.byref(text)) != 0 or not text.value:
            raise MemoryError
        return take_words(text.value)

    def __reduce__(self) -> Any:
        raise TypeError("a TimeTrace cannot be pickled; its json can")


# ---- Caches ----


class _Store:
    """A mapping as a cache. What it raises fails no link; threading.excepthook is told."""

    def __init__(self, mapping: MutableMapping[bytes, bytes]) -> None:
        self._mapping = mapping
        self.find_entry = _native.FIND(self._find)
        self.store_entry = _native.STORE(self._store)

    def _find(self, _user: Any, key: int, receiver: int) -> int:
        try:
            value = self._mapping[ctypes.string_at(key, 32)]
        except KeyError:
            return Status.NOT_FOUND
        except BaseException as error:
            _tell(error)
            return Status.UNAVAILABLE
        try:
            with memory_of(value, "a value of the cache") as memory:
                return int(lib.dl_receiver_set_bytes(receiver, memory.address, memory.size))
        except BaseException as error:
            _tell(error)
            return Status.UNAVAILABLE

    def _store(self, _user: Any, key: int, data: int, size: int) -> int:
        try:
            self._mapping[ctypes.string_at(key, 32)] = ctypes.string_at(data, size)
            return Status.OK
        except BaseException as error:
            _tell(error)
            return Status.UNAVAILABLE


def _tell(error: BaseException) -> None:
    """As of a thread that an exception ends; here the link goes on."""
    told = (type(error), error, error.__traceback__, threading.current_thread())
    threading.excepthook(threading.ExceptHookArgs(told))


class Cache:
    """Keeps what compilers made of PTX and LTO IR; a Toolchain takes it.

    A link is never different or failing because of its cache.
    """

    def __init__(self, handle: Handle, store: Optional[_Store] = None) -> None:
        """Cache.in_memory() and its like make one."""
        made_once(self)
        self._handle = handle
        self._store = store

    @classmethod
    def in_memory(cls, max_bytes: int = 0) -> Cache:
        """For as long as the object and the toolchains with it live. 0 stands for 256 MiB."""
        made = _create(lib.dl_cache_create_in_memory, number(max_bytes, "max_bytes"))
        return cls(Handle(made, lib.dl_cache_destroy))

    @classmethod
    def in_directory(cls, path: StrPath, max_bytes: int = 0, max_age_seconds: int = 0) -> Cache:
        """A folder that any number of processes may use; made, for its owner alone, if need be.

        0 stands for 5 GiB and for 7 days since the last use. Error, with the system's reason, where
        it cannot be made or opened, or where others may write to it.
        """
        options = _native.sized(
            _native.dl_directory_cache_options,
            path=place(path, "path"),
            max_bytes=number(max_bytes, "max_bytes"),
            max_age_seconds=number(max_age_seconds, "max_age_seconds"),
        )
        made = _create(lib.dl_cache_create_in_directory, ctypes.byref(options))
        return cls(Handle(made, lib.dl_cache_destroy))

    @classmethod
    def in_mapping(cls, mapping: MutableMapping[bytes, bytes]) -> Cache:
        """A store of the caller's own, such as a dict or what looks like one on a server.

        Keys have 32 bytes. It is used by any thread, several at once. What it raises (other than
        KeyError) goes to threading.excepthook.
        """
        store = _Store(mapping)
        callbacks = _native.sized(
            _native.dl_cache_callbacks, find=store.find_entry, store=store.store_entry
        )
        made = _create(lib.dl_cache_create, ctypes.byref(callbacks))
        return cls(Handle(made, lib.dl_cache_destroy), store)


# ---- Toolchains ----


@dataclasses.dataclass(frozen=True)
class ToolchainUse:
    """How a toolchain was used so far."""

    tools_opened: int
    cache_hits: int
    cache_misses: int
    cache_stored: int
    cache_faults: int


def _folders_of_wheels() -> list[str]:
    """Where PyPI's wheels of CUDA 13 have ptxas."""
    folders = (os.path.join(entry, "nvidia", "cu13", "bin") for entry in sys.path or () if entry)
    return [os.path.abspath(folder) for folder in folders if os.path.isdir(folder)]


def search_path() -> str:
    """PATH, and behind it those of wheels."""
    path = os.environ.get("PATH", "").split(os.pathsep)
    return os.pathsep.join([*filter(None, path), *_folders_of_wheels()])


class Toolchain:
    """What assembles PTX, compiles LTO IR and finalizes code for sm_100 and later.

    NVIDIA's tools are opened when a link first needs them, and stay open for all links. Cubins need
    none of them. The constructor looks at no environment variable and in no folder but those given;
    Toolchain.from_environment() is the usual way.

    search_path: as PATH; the first folder with ptxas belongs to the toolkit of which libNVVM and
        libnvJitLink are taken, too.
    ptxas, ptxcompiler, nvvm, nvjitlink: a tool or library in place of what would be found.
    temporary: where programs may write; without it none is run.
    variables: environment variables that NVIDIA's compilers look at, as NAME=value.
    options: words of the command that concern tools, such as "--lto-backend=nvjitlink".
    """

    def __init__(
        self,
        *,
        search_path: Optional[str] = None,
        program_directory: Optional[StrPath] = None,
        ptxas: Optional[StrPath] = None,
        ptxcompiler: Optional[StrPath] = None,
        nvvm: Optional[StrPath] = None,
        nvjitlink: Optional[StrPath] = None,
        temporary: Optional[StrPath] = None,
        variables: Iterable[str] = (),
        cache: Optional[Cache] = None,
        options: Iterable[str] = (),
    ) -> None:
        made_once(self)
        if cache is not None and not isinstance(cache, Cache):
            raise TypeError(f"cache has to be a devlink.Cache, not {type(cache).__name__}")
        given_variables = words(variables, "a variable")
        given_options = words(options)
        places = {
            "search_path": search_path,
            "program_directory": program_directory,
            "ptxas": ptxas,
            "ptxcompiler": ptxcompiler,
            "nvvm": nvvm,
            "nvjitlink": nvjitlink,
            "temporary": temporary,
        }
        struct = _native.sized(
            _native.dl_toolchain_options,
            variables=_native.texts(given_variables),
            variable_count=len(given_variables),
            cache=None if cache is None else cache._handle.address,
            options=_native.texts(given_options),
            option_count=len(given_options),
            **{name: place(path, name) for name, path in places.items() if path is not None},
        )
        made = _create(lib.dl_toolchain_create, ctypes.byref(struct))
        self._handle = Handle(made, lib.dl_toolchain_destroy)
        self._cache = cache  # and its callbacks

    @classmethod
    def from_environment(
        cls, *, cache: Optional[Cache] = None, options: Iterable[str] = ()
    ) -> Toolchain:
        """Finds tools as the program devlink does.

        The first ptxas on PATH names the toolkit, behind it one that PyPI's wheels have installed
        beside this package. DEVLINK_PTXAS, DEVLINK_NVPTXCOMPILER, DEVLINK_NVVM and
        DEVLINK_NVJITLINK name tools themselves, and so does DEVLINK_NVLINK: without it no nvlink is
        started. Later changes of the environment do not count.
        """
        nvlink = os.environ.get("DEVLINK_NVLINK")
        names = iter(functools.partial(_tool_variable, iter(range(1 << 16))), None)
        return cls(
            search_path=search_path(),
            program_directory=os.path.dirname(_native.program("devlink")),
            ptxas=os.environ.get("DEVLINK_PTXAS") or None,
            ptxcompiler=os.environ.get("DEVLINK_NVPTXCOMPILER") or None,
            nvvm=os.environ.get("DEVLINK_NVVM") or None,
            nvjitlink=os.environ.get("DEVLINK_NVJITLINK") or None,
            temporary=tempfile.gettempdir(),
            variables=[f"{name}={os.environ[name]}" for name in names if name in os.environ],
            cache=cache,
            options=[f"--nvlink-path={nvlink}", *options] if nvlink else options,
        )

    @property
    def use(self) -> ToolchainUse:
        """How it was used so far."""
        use = _native.sized(_native.dl_toolchain_use)
        lib.dl_toolchain_get_use(self._handle.address, ctypes.byref(use))
        return ToolchainUse(
            use.tools_opened,
            use.cache_hits,
            use.cache_misses,
            use.cache_stored,
            use.cache_faults,
        )


def _tool_variable(indices: Any) -> Optional[str]:
    name = lib.dl_tool_variable(next(indices))
    return None if name is None else str(name, "ascii")


@functools.lru_cache(maxsize=None)
def default_toolchain() -> Toolchain:
    """That of links which name none: Toolchain.from_environment() as of its first use."""
    return Toolchain.from_environment()
