# SPDX-License-Identifier: Apache-2.0
"""libdevlink for Python: joins CUDA device code into one cubin, with nvlink's bytes.

    import devlink
    outcome = devlink.link(["a.cubin", "b.cubin"], "sm_90")
    cubin = outcome.cubin        # a memoryview
    print(outcome.report.kernels)

docs/python.md of the project is the tour. `python -m devlink` is the command.
"""

from ._calls import File, LogLevel, Phase, Progress, Stop, SymbolKind, UndefinedSymbol
from ._errors import Cancelled, Diagnostic, DiagnosticCode, Diagnostics, Error, LinkError
from ._errors import Severity, Status
from ._link import Link, link, report
from ._native import lib as _lib
from ._outcome import CompilerRun, Kernel, Outcome, Page, RegisteredInput, Report
from ._references import HostReferences
from ._shared import Binding, Cache, Function, MemorySpace, Module, ModuleInfo, Pool, PoolUse
from ._shared import Symbol, TimeTrace, Toolchain, ToolchainUse, default_toolchain

__version__: str = _lib.dl_version().decode("ascii")


def targets() -> tuple[str, ...]:
    """The targets that this library links for: "sm_75", ..., "sm_90", "sm_90a", ..."""
    return tuple(
        _lib.dl_target_name(index).decode("ascii") for index in range(_lib.dl_target_count())
    )


__all__ = [
    "Binding",
    "Cache",
    "Cancelled",
    "CompilerRun",
    "Diagnostic",
    "DiagnosticCode",
    "Diagnostics",
    "Error",
    "File",
    "Function",
    "HostReferences",
    "Kernel",
    "Link",
    "LinkError",
    "LogLevel",
    "MemorySpace",
    "Module",
    "ModuleInfo",
    "Outcome",
    "Page",
    "Phase",
    "Pool",
    "PoolUse",
    "Progress",
    "RegisteredInput",
    "Report",
    "Severity",
    "Status",
    "Stop",
    "Symbol",
    "SymbolKind",
    "TimeTrace",
    "Toolchain",
    "ToolchainUse",
    "UndefinedSymbol",
    "__version__",
    "default_toolchain",
    "link",
    "report",
    "targets",
]
