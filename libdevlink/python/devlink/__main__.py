# SPDX-License-Identifier: Apache-2.0
"""`python -m devlink ARGUMENT...` is the program devlink, which the package has in it."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

# Not the library: the program has one of its own.
_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "devlink")


def main() -> NoReturn:
    """Becomes the program; returns never."""
    try:
        sys.stdout.flush()
        os.execv(_PROGRAM, ["devlink", *sys.argv[1:]])
    except OSError as error:
        print(f"devlink: cannot run {_PROGRAM}: {error.strerror}", file=sys.stderr)
    sys.exit(127)


if __name__ == "__main__":
    main()
