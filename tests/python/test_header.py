# SPDX-License-Identifier: Apache-2.0
"""What the package declares is what devlink/c/devlink.h declares, byte for byte."""

import ctypes
import enum
import os
import re
import shutil
import subprocess
import unittest

import devlink
from devlink import _calls, _errors, _native, _shared
from support import SOURCE, folder

HEADER = SOURCE / "libdevlink" / "include" / "devlink" / "c" / "devlink.h"

# The prefix of the numbers of a dl_X, and the enumeration that has them.
ENUMERATIONS = {
    "dl_status": ("DL_", _errors.Status),
    "dl_severity": ("DL_", _errors.Severity),
    "dl_diagnostic_code": ("DL_", _errors.DiagnosticCode),
    "dl_log_level": ("DL_LOG_", _calls.LogLevel),
    "dl_phase": ("DL_PHASE_", _calls.Phase),
    "dl_symbol_kind": ("DL_SYMBOL_", _calls.SymbolKind),
    "dl_memory_space": ("DL_SPACE_", _shared.MemorySpace),
    "dl_binding": ("DL_BINDING_", _shared.Binding),
}
# Structs that are no type of ctypes, since nobody looks into them.
OPAQUE = re.compile(r"^typedef struct (dl_\w+) \1;$", re.M)


def header():
    text = re.sub(r"//[^\n]*", "", HEADER.read_text(encoding="utf-8"))
    return re.sub(r"^#.*$", "", text, flags=re.M)


def split(parameters):
    """A list of parameters; those of functions within it stay together."""
    out, depth = [""], 0
    for letter in parameters:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            out.append("")
        else:
            out[-1] += letter
    return [word.strip() for word in out if word.strip() not in ("", "void")]


def structs():
    """Of each struct the declarations of its fields."""
    out = {}
    for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\n\} \1;", header(), re.S):
        out[name] = [
            field.strip() for field in re.sub(r"\s+", " ", body).split(";") if field.strip()
        ]
    return out


def name_of(declaration):
    pointer = re.search(r"\(\*(\w+)\)\(", declaration)
    return pointer.group(1) if pointer else re.search(r"(\w+)(\[\d+\])?$", declaration).group(1)


def functions():
    """Of each function what it returns, and its parameters."""
    found = re.findall(r"DL_API\s+([^;(]*?)(\w+)\(([^;]*)\);", header(), re.S)
    return {
        name: (re.sub(r"\s+", " ", result).strip(), split(re.sub(r"\s+", " ", parameters)))
        for result, name, parameters in found
    }


def callback_types():
    """Of each type of callback what it returns, and its parameters."""
    found = re.findall(r"typedef (\w+) \(\*(\w+)\)\(([^;]*)\);", header(), re.S)
    return {
        name: (result, split(re.sub(r"\s+", " ", parameters))) for result, name, parameters in found
    }


SCALARS = {
    "size_t": ctypes.c_size_t,
    "uint64_t": ctypes.c_uint64,
    "int64_t": ctypes.c_int64,
    "uint32_t": ctypes.c_uint32,
    "int32_t": ctypes.c_int32,
    "void": None,
    **{name: ctypes.c_int32 for name in ENUMERATIONS},
}


def is_pointer(declared):
    return declared in (ctypes.c_void_p, ctypes.c_char_p) or issubclass(
        declared, (ctypes._Pointer, ctypes._CFuncPtr)
    )


class Header(unittest.TestCase):
    def check_type(self, written, declared):
        """`written`, a type in C with or without a name behind it, is `declared`."""
        written = re.sub(r"\s*\*\s*", "*", re.sub(r"\bconst\b", "", written)).strip()
        if "*" in written or "[" in written:
            self.assertTrue(is_pointer(declared), (written, declared))
            pointee, stars = re.match(r"(\w+)(\**)", written).groups()
            if pointee == "char" and stars == "*":
                self.assertIn(declared, (ctypes.c_char_p, ctypes.c_void_p), written)
            elif issubclass(declared, ctypes._Pointer):
                inner = {"char": "c_char_p"}.get(pointee, "c_void_p")
                target = inner if stars == "**" else pointee
                self.assertEqual(declared._type_.__name__, target, written)
            return
        name = written.split()[0]
        if name in SCALARS:
            self.assertIs(declared, SCALARS[name], written)
        elif name in callback_types():
            self.assertTrue(issubclass(declared, ctypes._CFuncPtr), written)
            self.check_callback(callback_types()[name], declared)
        else:
            self.assertEqual(name, declared.__name__)

    def check_callback(self, signature, declared):
        result, parameters = signature
        self.check_type(result, declared._restype_)
        self.assertEqual(len(parameters), len(declared._argtypes_), parameters)
        for parameter, argument in zip(parameters, declared._argtypes_):
            self.check_type(parameter, argument)

    def test_functions(self):
        written = functions()
        self.assertGreater(len(written), 50)
        self.assertEqual(set(written), set(_native.FUNCTIONS))
        for name, (result, parameters) in written.items():
            with self.subTest(name):
                declared_result, arguments = _native.FUNCTIONS[name]
                self.check_type(result, declared_result)
                self.assertEqual(len(parameters), len(arguments), parameters)
                for parameter, argument in zip(parameters, arguments):
                    self.check_type(parameter, argument)

    def test_fields(self):
        written = structs()
        self.assertGreater(len(written), 15)
        declared = {
            name
            for name, value in vars(_native).items()
            if isinstance(value, type)
            and issubclass(value, ctypes.Structure)
            and name.startswith("dl_")
        }
        self.assertEqual(set(written), declared)
        for name, fields in written.items():
            with self.subTest(name):
                struct = getattr(_native, name)
                self.assertEqual(
                    [name_of(field) for field in fields], [field[0] for field in struct._fields_]
                )
                for field, (_, kind) in zip(fields, struct._fields_):
                    pointer = re.match(r"(\w+) \(\*\w+\)\((.*)\)$", field)
                    if pointer:
                        self.check_callback((pointer[1], split(pointer[2])), kind)
                    else:
                        self.check_type(field, kind)

    def test_every_declaration_is_seen(self):
        """What this test cannot read, it must not pass over."""
        text = header()
        for line in re.findall(r"^(?:typedef|enum|DL_API|struct|union).*$", text, re.M):
            name = re.match(r"typedef struct (\w+) \{", line)
            known = (
                (name and name[1] in structs())
                or OPAQUE.match(line)
                or re.match(r"typedef int32_t dl_\w+;$", line)
                or re.match(r"typedef \w+ \(\*dl_\w+\)\(", line)
                or re.match(r"enum( \{|$)", line)
                or re.match(r"DL_API ", line)
            )
            self.assertTrue(known, f"the test does not know what this is: {line}")
        self.assertEqual(text.count("DL_API "), len(functions()))
        self.assertEqual(set(re.findall(r"typedef int32_t (\w+);", text)), set(ENUMERATIONS))

    def test_sizes_and_numbers(self):
        """A C compiler has the last word."""
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if compiler is None:
            self.skipTest("no C compiler")
        lines = []
        for name, fields in structs().items():
            lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
            for field in map(name_of, fields):
                lines.append(
                    f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), '
                    f"sizeof((({name} *)0)->{field}));"
                )
        enumerations = re.findall(r"typedef int32_t (\w+);\s*enum \{(.*?)\}", header(), re.S)
        for name, body in enumerations:
            for number in re.findall(r"\b(DL_\w+)", body):
                lines.append(f'printf("{name} {number} %d\\n", (int){number});')
        with folder():
            with open("all.c", "w", encoding="utf-8") as file:
                file.write("#include <stdio.h>\n#include <devlink/c/devlink.h>\nint main(void) {\n")
                file.write("\n".join(lines) + "\nreturn 0;\n}\n")
            include = HEADER.parent.parent.parent
            subprocess.run([compiler, "-std=c11", f"-I{include}", "all.c", "-o", "all"], check=True)
            said = subprocess.run(["./all"], check=True, capture_output=True, text=True).stdout
        numbers = {name: {} for name in ENUMERATIONS}
        seen = 0
        for line in said.splitlines():
            what, *rest = line.split()
            if what in ENUMERATIONS:
                numbers[what][rest[0]] = int(rest[1])
                continue
            struct, _, field = what.partition(".")
            declared = getattr(_native, struct)
            if field:
                place = getattr(declared, field)
                self.assertEqual([place.offset, place.size], [int(word) for word in rest], what)
            else:
                self.assertEqual(ctypes.sizeof(declared), int(rest[0]), what)
            seen += 1
        self.assertGreater(seen, 100)
        for name, (prefix, kind) in ENUMERATIONS.items():
            self.assertTrue(issubclass(kind, enum.IntEnum))
            self.assertEqual(
                {prefix + member.name: member.value for member in kind}, numbers[name], name
            )

    def test_names_of_statuses(self):
        for status in devlink.Status:
            self.assertEqual(_native.lib.dl_status_name(status).decode(), status.name)

    def test_version(self):
        project = (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8")
        self.assertIn(f"VERSION {devlink.__version__}\n", project)
        self.assertIn("sm_90a", devlink.targets())
        self.assertTrue(os.path.exists(_native.program("devlink")))


if __name__ == "__main__":
    unittest.main()
