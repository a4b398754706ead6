# SPDX-License-Identifier: Apache-2.0
"""devlink/c/devlink.h for ctypes: structs, callbacks, functions, and the library itself.

tests/python/test_header.py compares every line of this with the header. What functions mean, who
owns what and which thread may call is said there.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int32, c_int64
from ctypes import c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, Iterator, Sequence

# ---- Views ----


class dl_text(Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


class dl_bytes(Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


# ---- Structs ----


class dl_diagnostic(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("severity", c_int32),
        ("code", c_int32),
        ("text", dl_text),
        ("symbol", dl_text),
        ("input", dl_text),
        ("notes", POINTER(dl_text)),
        ("note_count", c_size_t),
        ("line", c_int32),
        ("verbatim", c_int32),
    ]


class dl_module_summary(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("target", dl_text),
        ("toolkit", c_uint32),
        ("is_relocatable", c_int32),
        ("bytes", c_uint64),
        ("function_count", c_size_t),
        ("symbol_count", c_size_t),
    ]


class dl_function(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", dl_text),
        ("is_kernel", c_int32),
        ("reserved", c_int32),
        ("code_bytes", c_uint64),
        ("registers", c_int64),
        ("barriers", c_int64),
        ("frame_bytes", c_int64),
        ("stack_bytes", c_int64),
        ("shared_bytes", c_uint64),
        ("constant_bytes", c_uint64),
        ("parameter_bytes", c_uint64),
    ]


class dl_symbol(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", dl_text),
        ("kind", c_int32),
        ("binding", c_int32),
        ("space", c_int32),
        ("is_defined", c_int32),
        ("is_kernel", c_int32),
        ("is_managed", c_int32),
        ("bytes", c_uint64),
    ]


class dl_pool_options(Structure):
    _fields_ = [("size", c_size_t), ("max_bytes", c_uint64)]


class dl_pool_use(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("modules", c_uint64),
        ("bytes", c_uint64),
        ("hits", c_uint64),
        ("misses", c_uint64),
        ("forgotten", c_uint64),
    ]


class dl_directory_cache_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("path", c_char_p),
        ("max_bytes", c_uint64),
        ("max_age_seconds", c_uint64),
    ]


FIND = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p)
STORE = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p, c_size_t)
RELEASE = CFUNCTYPE(None, c_void_p)


class dl_cache_callbacks(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("user", c_void_p),
        ("find", FIND),
        ("store", STORE),
        ("release", RELEASE),
    ]


class dl_toolchain_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("search_path", c_char_p),
        ("program_directory", c_char_p),
        ("ptxas", c_char_p),
        ("ptxcompiler", c_char_p),
        ("nvvm", c_char_p),
        ("nvjitlink", c_char_p),
        ("temporary", c_char_p),
        ("variables", POINTER(c_char_p)),
        ("variable_count", c_size_t),
        ("cache", c_void_p),
        ("options", POINTER(c_char_p)),
        ("option_count", c_size_t),
    ]


class dl_toolchain_use(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("tools_opened", c_uint32),
        ("reserved", c_uint32),
        ("cache_hits", c_uint64),
        ("cache_misses", c_uint64),
        ("cache_stored", c_uint64),
        ("cache_faults", c_uint64),
    ]


READ_FILE = CFUNCTYPE(c_int32, c_void_p, c_char_p, c_uint64, c_void_p)
EXISTS = CFUNCTYPE(c_int32, c_void_p, c_char_p)
PARALLELISM = CFUNCTYPE(c_uint32, c_void_p)
RUN_WORKERS = CFUNCTYPE(None, c_void_p, c_uint32, c_void_p)
RESERVE_MEMORY = CFUNCTYPE(c_int32, c_void_p, c_uint64)
RELEASE_MEMORY = CFUNCTYPE(None, c_void_p, c_uint64)


class dl_environment(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("user", c_void_p),
        ("read_file", READ_FILE),
        ("exists", EXISTS),
        ("parallelism", PARALLELISM),
        ("run_workers", RUN_WORKERS),
        ("reserve_memory", RESERVE_MEMORY),
        ("release_memory", RELEASE_MEMORY),
    ]


class dl_progress(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("phase", c_int32),
        ("done", c_uint32),
        ("total", c_uint32),
        ("reserved", c_uint32),
        ("subject", dl_text),
    ]


class dl_undefined_symbol(Structure):
    _fields_ = [
        ("name", dl_text),
        ("kind", c_int32),
        ("reserved", c_uint32),
        ("inputs", POINTER(dl_text)),
        ("input_count", c_size_t),
    ]


LOG = CFUNCTYPE(None, c_void_p, c_int32, dl_text)
PROGRESS = CFUNCTYPE(None, c_void_p, POINTER(dl_progress))
UNDEFINED = CFUNCTYPE(c_int32, c_void_p, POINTER(dl_undefined_symbol), c_size_t, c_void_p)


class dl_session_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("target", c_char_p),
        ("options", POINTER(c_char_p)),
        ("option_count", c_size_t),
        ("toolchain", c_void_p),
        ("pool", c_void_p),
        ("stop", c_void_p),
        ("environment", POINTER(dl_environment)),
        ("log", LOG),
        ("log_user", c_void_p),
        ("log_level", c_int32),
        ("end_at_rejected_input", c_int32),
        ("progress", PROGRESS),
        ("progress_user", c_void_p),
        ("undefined", UNDEFINED),
        ("undefined_user", c_void_p),
        ("threads", c_uint32),
        ("read_thin_members", c_int32),
        ("memory_budget", c_uint64),
        ("max_input_bytes", c_uint64),
        ("max_memory_bytes", c_uint64),
        ("time_trace", c_void_p),
        ("register_directory", c_char_p),
        ("details", c_int32),
        ("call_graph_dot", c_int32),
    ]


class dl_input(Structure):
    _fields_ = [("name", c_char_p), ("data", c_void_p), ("size", c_size_t)]


class dl_name_list(Structure):
    _fields_ = [
        ("names", POINTER(c_char_p)),
        ("count", c_size_t),
        ("present", c_int32),
        ("reserved", c_int32),
    ]


class dl_host_references(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("kernels_external", dl_name_list),
        ("kernels_internal", dl_name_list),
        ("variables_external", dl_name_list),
        ("variables_internal", dl_name_list),
        ("constants_external", dl_name_list),
        ("constants_internal", dl_name_list),
    ]


BEGIN = CFUNCTYPE(c_int32, c_void_p, c_uint64)
APPEND = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t)


class dl_sink(Structure):
    _fields_ = [("size", c_size_t), ("user", c_void_p), ("begin", BEGIN), ("append", APPEND)]


class dl_report(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("kernel_count", c_size_t),
        ("dead_function_count", c_size_t),
        ("global_bytes", c_uint64),
        ("constant_bytes", c_uint64),
        ("input_bytes", c_uint64),
        ("output_bytes", c_uint64),
        ("input_count", c_uint32),
        ("is_whole_program", c_int32),
        ("registered_count", c_size_t),
        ("compiler_run_count", c_size_t),
        ("inputs_accepted", c_int32),
        ("dropped_device_runtime", c_int32),
    ]


class dl_kernel(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", dl_text),
        ("registers", c_uint32),
        ("barriers", c_uint32),
        ("stack_bytes", c_int64),
        ("shared_bytes", c_uint64),
        ("parameter_bytes", c_uint64),
    ]


class dl_compiler_run(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("compiler", dl_text),
        ("source", dl_text),
        ("input", dl_text),
        ("output", dl_text),
        ("nanoseconds", c_uint64),
    ]


class dl_registered_input(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", dl_text),
        ("ids", POINTER(dl_text)),
        ("id_count", c_size_t),
        ("left_out", c_int32),
        ("reserved", c_int32),
    ]


# ---- Functions: what each returns and takes. Objects are addresses ----

_OBJECT = c_void_p
_OUT = POINTER(c_void_p)
_STATUS = c_int32

FUNCTIONS: dict[str, tuple[Any, Sequence[Any]]] = {
    "dl_status_name": (c_char_p, [_STATUS]),
    "dl_version": (c_char_p, []),
    "dl_target_count": (c_size_t, []),
    "dl_target_name": (c_char_p, [c_size_t]),
    "dl_string_text": (dl_text, [_OBJECT]),
    "dl_string_destroy": (None, [_OBJECT]),
    "dl_diagnostics_count": (c_size_t, [_OBJECT]),
    "dl_diagnostics_get": (_STATUS, [_OBJECT, c_size_t, POINTER(dl_diagnostic)]),
    "dl_diagnostics_render": (_STATUS, [_OBJECT, c_char_p, _OUT]),
    "dl_diagnostics_json": (_STATUS, [_OBJECT, _OUT]),
    "dl_diagnostics_sarif": (_STATUS, [_OBJECT, _OUT]),
    "dl_diagnostics_destroy": (None, [_OBJECT]),
    "dl_error_status": (_STATUS, [_OBJECT]),
    "dl_error_text": (dl_text, [_OBJECT]),
    "dl_error_diagnostics": (_OBJECT, [_OBJECT]),
    "dl_error_destroy": (None, [_OBJECT]),
    "dl_stop_create": (_STATUS, [_OUT]),
    "dl_stop_request": (None, [_OBJECT]),
    "dl_stop_destroy": (None, [_OBJECT]),
    "dl_module_destroy": (None, [_OBJECT]),
    "dl_module_inspect": (_STATUS, [_OBJECT, _OUT]),
    "dl_module_info_summary": (_STATUS, [_OBJECT, POINTER(dl_module_summary)]),
    "dl_module_info_function": (_STATUS, [_OBJECT, c_size_t, POINTER(dl_function)]),
    "dl_module_info_symbol": (_STATUS, [_OBJECT, c_size_t, POINTER(dl_symbol)]),
    "dl_module_info_destroy": (None, [_OBJECT]),
    "dl_pool_create": (_STATUS, [POINTER(dl_pool_options), _OUT, _OUT]),
    "dl_pool_add_cubin": (_STATUS, [_OBJECT, c_void_p, c_size_t, _OUT, _OUT]),
    "dl_pool_remove": (_STATUS, [_OBJECT, _OBJECT]),
    "dl_pool_clear": (_STATUS, [_OBJECT]),
    "dl_pool_get_use": (_STATUS, [_OBJECT, POINTER(dl_pool_use)]),
    "dl_pool_destroy": (None, [_OBJECT]),
    "dl_cache_create_in_memory": (_STATUS, [c_uint64, _OUT, _OUT]),
    "dl_cache_create_in_directory": (_STATUS, [POINTER(dl_directory_cache_options), _OUT, _OUT]),
    "dl_receiver_set_bytes": (_STATUS, [_OBJECT, c_void_p, c_size_t]),
    "dl_cache_create": (_STATUS, [POINTER(dl_cache_callbacks), _OUT, _OUT]),
    "dl_cache_destroy": (None, [_OBJECT]),
    "dl_toolchain_create": (_STATUS, [POINTER(dl_toolchain_options), _OUT, _OUT]),
    "dl_toolchain_get_use": (_STATUS, [_OBJECT, POINTER(dl_toolchain_use)]),
    "dl_toolchain_destroy": (None, [_OBJECT]),
    "dl_tool_variable": (c_char_p, [c_size_t]),
    "dl_receiver_set_file": (_STATUS, [_OBJECT, c_void_p, c_size_t, c_uint64, c_uint64]),
    "dl_receiver_add_input": (_STATUS, [_OBJECT, c_char_p, c_void_p, c_size_t]),
    "dl_work_run": (None, [_OBJECT, c_uint32]),
    "dl_time_trace_create": (_STATUS, [_OUT]),
    "dl_time_trace_json": (_STATUS, [_OBJECT, _OUT]),
    "dl_time_trace_destroy": (None, [_OBJECT]),
    "dl_session_create": (_STATUS, [POINTER(dl_session_options), _OUT, _OUT]),
    "dl_session_set_option": (_STATUS, [_OBJECT, c_char_p, _OUT]),
    "dl_session_add_file": (_STATUS, [_OBJECT, c_char_p, _OUT]),
    "dl_session_add_bytes": (_STATUS, [_OBJECT, c_char_p, c_void_p, c_size_t, _OUT]),
    "dl_session_add_cubin": (_STATUS, [_OBJECT, c_char_p, c_void_p, c_size_t, _OUT]),
    "dl_session_add_module": (_STATUS, [_OBJECT, c_char_p, _OBJECT, _OUT]),
    "dl_session_add_files": (_STATUS, [_OBJECT, POINTER(c_char_p), c_size_t, _OUT]),
    "dl_session_add_all_bytes": (_STATUS, [_OBJECT, POINTER(dl_input), c_size_t, _OUT]),
    "dl_session_add_cubin_with_references": (
        _STATUS,
        [_OBJECT, c_char_p, c_void_p, c_size_t, POINTER(dl_host_references), _OUT],
    ),
    "dl_session_add_module_with_references": (
        _STATUS,
        [_OBJECT, c_char_p, _OBJECT, POINTER(dl_host_references), _OUT],
    ),
    "dl_session_add_host_references": (_STATUS, [_OBJECT, POINTER(dl_host_references), _OUT]),
    "dl_session_host_references": (_STATUS, [_OBJECT, _OUT]),
    "dl_reference_lists_count": (c_size_t, [_OBJECT]),
    "dl_reference_lists_get": (
        _STATUS,
        [_OBJECT, c_size_t, POINTER(dl_text), POINTER(dl_host_references)],
    ),
    "dl_reference_lists_destroy": (None, [_OBJECT]),
    "dl_session_copy": (_STATUS, [_OBJECT, _OUT, _OUT]),
    "dl_session_diagnostics": (_STATUS, [_OBJECT, _OUT]),
    "dl_session_link": (_STATUS, [_OBJECT, _OUT, _OUT]),
    "dl_session_link_to": (_STATUS, [_OBJECT, POINTER(dl_sink), _OUT, _OUT]),
    "dl_session_destroy": (None, [_OBJECT]),
    "dl_outcome_status": (_STATUS, [_OBJECT]),
    "dl_outcome_message": (dl_text, [_OBJECT]),
    "dl_outcome_cubin": (dl_bytes, [_OBJECT]),
    "dl_outcome_ptx": (dl_text, [_OBJECT]),
    "dl_outcome_diagnostics": (_OBJECT, [_OBJECT]),
    "dl_outcome_report": (_STATUS, [_OBJECT, POINTER(dl_report)]),
    "dl_outcome_kernel": (_STATUS, [_OBJECT, c_size_t, POINTER(dl_kernel)]),
    "dl_outcome_dead_function": (dl_text, [_OBJECT, c_size_t]),
    "dl_outcome_report_json": (_STATUS, [_OBJECT, _OUT]),
    "dl_outcome_call_graph_dot": (dl_text, [_OBJECT]),
    "dl_outcome_report_html": (_STATUS, [_OBJECT, c_char_p, _OUT, _OUT]),
    "dl_outcome_map": (_STATUS, [_OBJECT, _OUT, _OUT]),
    "dl_outcome_sizes": (_STATUS, [_OBJECT, _OUT, _OUT]),
    "dl_outcome_why_live": (_STATUS, [_OBJECT, c_char_p, _OUT, _OUT]),
    "dl_outcome_why_input": (_STATUS, [_OBJECT, c_char_p, _OUT, _OUT]),
    "dl_outcome_why_registers": (_STATUS, [_OBJECT, c_char_p, _OUT, _OUT]),
    "dl_outcome_compiler_run": (_STATUS, [_OBJECT, c_size_t, POINTER(dl_compiler_run)]),
    "dl_outcome_registered_input": (_STATUS, [_OBJECT, c_size_t, POINTER(dl_registered_input)]),
    "dl_outcome_register_file": (_STATUS, [_OBJECT, _OUT, _OUT]),
    "dl_outcome_keeps_register_file": (c_int32, [_OBJECT, c_void_p, c_size_t]),
    "dl_outcome_destroy": (None, [_OBJECT]),
}

# ---- The library ----

_FOLDER = os.path.dirname(os.path.abspath(__file__))
SONAME = "libdevlink.so.0"


def program(name: str) -> str:
    """Where the package has a program of its own."""
    return os.path.join(_FOLDER, "bin", name)


def _load() -> ctypes.CDLL:
    bundled = os.path.join(_FOLDER, "lib", SONAME)
    # A package that a distribution makes has the library where the loader finds it.
    path = bundled if os.path.exists(bundled) else SONAME
    try:
        library = ctypes.CDLL(path)
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(library, name)
            function.restype = result
            function.argtypes = list(arguments)
    except (OSError, AttributeError) as error:
        raise ImportError(f"devlink cannot use {path}: {error}", path=path) from error
    return library


# Every call through it lets other threads of Python run.
lib = _load()


def decode(data: bytes) -> str:
    """Names are bytes to the linker; encode() gives them back."""
    return data.decode("utf-8", "surrogateescape")


def name_of(text: dl_text) -> str:
    """A name, which encode() turns back into the same bytes."""
    return decode(ctypes.string_at(text.data, text.size))


def line_of(text: dl_text) -> str:
    """Words for a person, which can always be printed."""
    return ctypes.string_at(text.data, text.size).decode("utf-8", "backslashreplace")


def encode(text: str, what: str) -> bytes:
    """A name or option for the library; ValueError for what cannot be one in C."""
    if not isinstance(text, str):
        raise TypeError(f"{what} has to be a str, not {type(text).__name__}")
    data = text.encode("utf-8", "surrogateescape")
    if b"\0" in data:
        raise ValueError(f"{what} has a NUL in it: {text!r}")
    return data


def number(value: int, what: str, bits: int = 64) -> int:
    """A bound; ValueError for what does not fit, since ctypes would cut it off."""
    if not isinstance(value, int):
        raise TypeError(f"{what} has to be an int, not {type(value).__name__}")
    if not 0 <= value < 1 << bits:
        raise ValueError(f"{what} has to be from 0 to 2**{bits} - 1, not {value}")
    return value


def texts(values: Sequence[bytes]) -> Any:
    """An array of C strings; NULL of none."""
    return (c_char_p * len(values))(*values) if values else None


def sized(struct: type[Structure], **fields: Any) -> Any:
    """A struct with its size in it."""
    return struct(size=ctypes.sizeof(struct), **fields)


def each(struct: type[Structure], read: Any, address: int | None, count: int) -> Iterator[Any]:
    """The structs of a list, which `read` fills in by their index."""
    for index in range(count):
        entry = sized(struct)
        if read(address, index, ctypes.byref(entry)):
            raise MemoryError
        yield entry


def known(value: int) -> int | None:
    """A number that is negative where it is not known."""
    return None if value < 0 else value
