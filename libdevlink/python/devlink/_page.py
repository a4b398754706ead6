# SPDX-License-Identifier: Apache-2.0
"""The page that the program devlink writes with --report, for notebooks."""

from __future__ import annotations

import html
import os
import subprocess
import tempfile
from typing import Any, Iterable, Optional, Union

from . import _native
from ._errors import LinkError, Status
from ._handle import Buffer, memory_of
from ._native import encode
from ._shared import StrPath, place, search_path, words


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


def _write(folder: str, index: int, name: str, data: Buffer) -> bytes:
    """A file for an input from memory, called so that the page says its name."""
    base = encode(name, "the name").replace(b"/", b"_").strip(b".") or b"input"
    inner = os.path.join(os.fsencode(folder), b"%d" % index)
    os.mkdir(inner)
    path = os.path.join(inner, base[:200])
    with memory_of(data), open(path, "wb") as file:
        file.write(data)
    return path


def report(
    inputs: Iterable[Union[StrPath, Buffer, "tuple[str, Buffer]"]],
    arch: Optional[str] = None,
    *,
    options: Iterable[str] = (),
) -> Page:
    """Links for the sake of the report: the page of the program's option --report=FILE.html.

        devlink.report(["a.cubin", "b.cubin"], "sm_90")      # the last line of a cell

    Inputs are those of link(), but no modules. The link runs in the program devlink that the
    package has in it, which finds NVIDIA's tools as Toolchain.from_environment() does. LinkError
    where it fails. The report of an outcome that is there already is its `report`, which a notebook
    shows as a table.
    """
    if isinstance(inputs, (str, bytes, bytearray, memoryview, os.PathLike)):
        raise TypeError("report() takes a list of inputs")
    command: list[Any] = [_native.program("devlink"), *words(options)]
    if arch is not None:
        command.append(b"-arch=" + encode(arch, "arch"))
    with tempfile.TemporaryDirectory(prefix="devlink-") as folder:
        for index, item in enumerate(inputs):
            if isinstance(item, (str, os.PathLike)):
                path = place(item, "an input")
                # An input is no option, and no file of options.
                command.append(b"./" + path if path[:1] in (b"-", b"@") else path)
                continue
            name, data = item if isinstance(item, tuple) else ("memory", item)
            command.append(_write(folder, index, name, data))
        page = os.path.join(folder, "report.html")
        command += [f"--report={page}", "-o", os.path.join(folder, "program.cubin")]
        done = subprocess.run(
            command,
            env={**os.environ, "PATH": search_path()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
        )
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "backslashreplace").strip()
            raise _Told(Status.UNKNOWN, said or f"devlink ended with status {done.returncode}")
        with open(page, encoding="utf-8", errors="backslashreplace") as file:
            return Page(file.read())


class _Told(LinkError):
    """A failure whose message is all lines that the program wrote."""

    def __str__(self) -> str:
        return self.message
