#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fill_in.py IN OUT NAME=FILE...: IN with what the files hold in place of each @NAME@, as CMake has it."""

import pathlib
import sys

text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
for word in sys.argv[3:]:
    name, _, file = word.partition("=")
    text = text.replace(f"@{name}@", pathlib.Path(file).read_text(encoding="utf-8"))
pathlib.Path(sys.argv[2]).write_text(text, encoding="utf-8")
