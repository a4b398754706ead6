# SPDX-License-Identifier: Apache-2.0
"""What host code refers to: which kernels of a link stay."""

from __future__ import annotations

import dataclasses
from typing import Any, Optional

from . import _native
from ._native import decode, encode

# A list that is there, be it without names; None where it is not.
Names = Optional["tuple[str, ...]"]


@dataclasses.dataclass(frozen=True)
class HostReferences:
    """What the host code of one input refers to, as nvcc records it; docs/host-references.md.

    Patterns of mangled names in which `*` stands for any characters ("_Z5scale*"), variables
    without it; None for a list that is not there. "External" names can be seen by other files,
    "internal" ones are static. Kernels that no list names are left out of a link, unless an input
    says nothing, which is one without `kernels_external`.
    """

    kernels_external: Names = None
    kernels_internal: Names = None
    variables_external: Names = None
    variables_internal: Names = None
    constants_external: Names = None
    constants_internal: Names = None

    def __post_init__(self) -> None:
        """Lists become tuples: what can be gone through once would be empty for the next input."""
        for field in dataclasses.fields(self):
            names = getattr(self, field.name)
            if names is None or isinstance(names, (str, bytes, tuple)):
                continue
            try:
                object.__setattr__(self, field.name, tuple(names))
            except TypeError:
                pass  # to_struct() says so


_LISTS = [field.name for field in dataclasses.fields(HostReferences)]


def to_struct(references: HostReferences) -> Any:
    """For the library. The struct keeps the texts that it points to."""
    if not isinstance(references, HostReferences):
        kind = type(references).__name__
        raise TypeError(f"a devlink.HostReferences is wanted, not {kind}")
    struct = _native.sized(_native.dl_host_references)
    for name in _LISTS:
        names = getattr(references, name)
        if names is None:
            continue
        if isinstance(names, (str, bytes)):
            raise TypeError(f"{name} is a list of names, not {type(names).__name__}")
        texts = [encode(text, f"a name of {name}") for text in names]
        setattr(
            struct, name, _native.dl_name_list(_native.texts(texts), len(texts), present=True)
        )
    return struct


def from_struct(struct: Any) -> HostReferences:
    """A value of its own."""

    def read(names: Any) -> Names:
        if not names.present:
            return None
        return tuple(decode(names.names[index]) for index in range(names.count))

    return HostReferences(**{name: read(getattr(struct, name)) for name in _LISTS})
