# SPDX-License-Identifier: Apache-2.0
"""What the public headers declare, and what their comments say of each name.

Used by scripts/api-reference. libclang tells where declarations stand; the comments are read from
the text, since they are plain ones:

  - a comment above a declaration, without an empty line between, is about it and about those that
    follow it directly, up to the next comment or empty line;
  - a comment behind a declaration, on its line, is about what is declared there; lines of comment
    alone below it, in the same column, go on with it;
  - a comment of dashes is a heading.
"""

import dataclasses
import re
import sys

# Debian's package is for Debian's own Python, and is Python alone.
try:
    from clang import cindex
except ImportError:
    sys.path.append("/usr/lib/python3/dist-packages")
    try:
        from clang import cindex
    except ImportError:
        cindex = None

if cindex is not None:
    KIND = cindex.CursorKind
    SCOPES = {KIND.STRUCT_DECL, KIND.CLASS_DECL, KIND.CLASS_TEMPLATE, KIND.UNION_DECL}
    FUNCTIONS = {
        KIND.FUNCTION_DECL,
        KIND.FUNCTION_TEMPLATE,
        KIND.CXX_METHOD,
        KIND.CONSTRUCTOR,
        KIND.CONVERSION_FUNCTION,
    }
    TYPES = {KIND.TYPEDEF_DECL, KIND.TYPE_ALIAS_DECL, KIND.TYPE_ALIAS_TEMPLATE_DECL}
    VALUES = {KIND.FIELD_DECL, KIND.VAR_DECL, KIND.ENUM_CONSTANT_DECL}
    PASSED_THROUGH = {KIND.LINKAGE_SPEC, KIND.UNEXPOSED_DECL}

# A comment with no other words than these and those of the name says nothing.
EMPTY_WORDS = set("a an the of is are this that it its and or in for to".split())
# Words of a function's name that a comment on several functions may leave out.
VERBS = {"add", "set", "append", "get"}


@dataclasses.dataclass
class Entry:
    """A public name."""

    name: str  # with its scope: "Arch::number"
    kind: str  # type, function, value, enumerator, macro
    header: str  # devlink/arch.h
    first: int  # lines, from 1
    last: int
    column: int  # behind the declaration, in its last line
    depth: int = 0  # how many types it stands in
    scope_line: int = 0  # where its scope begins
    text: str = ""  # the declaration
    above: str = ""  # the comment above it, or above its group
    behind: str = ""
    leads_group: bool = True  # `above` stands directly above it
    inherits: bool = False  # it overrides what a base declares

    def documentation(self):
        return "\n".join(part for part in (self.above, self.behind) if part)


def comment_text(line):
    return re.sub(r"^\s*// ?", "", line).rstrip()


def is_comment(line):
    return line.lstrip().startswith("//") and "NOLINT" not in line


def is_heading(line):
    return re.fullmatch(r"\s*// -+( .* -+)?", line) is not None


class Header:
    """The lines of a header and the comments in it."""

    def __init__(self, path, name):
        self.name = name
        self.lines = [""] + path.read_text(encoding="utf-8").splitlines()
        self.goes_on = set()  # lines of comment alone that go on with one behind a declaration
        column = None
        for number, line in enumerate(self.lines):
            alone = is_comment(line)
            at = line.find("//")
            if alone and column is not None and at == column:
                self.goes_on.add(number)
            elif alone or at < 0:
                column = None
            else:
                column = at

    def about(self):
        """The comment at the top, without the licence and the name of the file."""
        out = []
        for line in self.lines[1:]:
            if not is_comment(line):
                break
            out.append(comment_text(line))
        while out and (not out[0] or out[0].startswith(("SPDX", "File: "))):
            out.pop(0)
        return "\n".join(out)

    def above(self, entry):
        """The comment above an entry or its group; and whether it stands directly above."""
        number = entry.first - 1
        direct = True
        while number > entry.scope_line:
            line = self.lines[number].strip()
            if not line or line.startswith(("#", "public:", "protected:")):
                return "", direct
            if is_comment(line) and number not in self.goes_on:
                break
            direct = False
            number -= 1
        else:
            return "", direct
        last = number
        while is_comment(self.lines[number]) and number not in self.goes_on:
            if is_heading(self.lines[number]):
                break
            number -= 1
        words = [comment_text(line) for line in self.lines[number + 1 : last + 1]]
        return "\n".join(words).strip(), direct

    def behind(self, entry):
        out = []
        line = self.lines[entry.last]
        # Behind what opens a body, too.
        found = re.search(r"//(.*)$", line[entry.column - 1 :])
        number = entry.last
        if not found and entry.kind == "type":
            number = entry.first
            found = re.search(r"\{\s*//(.*)$", self.lines[number])
        if found and "NOLINT" not in found.group(1):
            out.append(found.group(1).strip())
            while number + 1 in self.goes_on:
                number += 1
                out.append(comment_text(self.lines[number]))
        return "\n".join(out)


def declaration_text(lines, entry):
    """The declaration without its body and without comments."""
    text = "\n".join(lines[entry.first : entry.last + 1])
    text = re.sub(r"//.*", "", text)
    if entry.kind == "enumerator" or entry.kind == "macro":
        return ""
    out = re.split(r"[{;]" if entry.kind in ("type", "function") else ";", text)[0]
    if entry.kind == "function":
        out = re.sub(r"\)\s*:\s*\w+[({].*", ")", out, flags=re.S)  # initializers of members
    return re.sub(r"\s+", " ", out).strip()


class Reader:
    """Reads all headers below a folder at once, with libclang."""

    def __init__(self, include, arguments=()):
        self.include = include
        self.arguments = ["-x", "c++", "-std=c++20", f"-I{include}", *arguments]

    def read(self):
        """The headers, by name, and for each its entries, in its order."""
        paths = sorted(self.include.rglob("*.h"))
        names = {str(path): str(path.relative_to(self.include)) for path in paths}
        source = "".join(f'#include "{name}"\n' for name in names.values())
        options = (
            cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
            | cindex.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES
        )
        unit = cindex.Index.create().parse(
            "all.cc", self.arguments, unsaved_files=[("all.cc", source)], options=options
        )
        errors = [d for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
        if errors:
            raise RuntimeError(f"the headers do not compile: {errors[0]}")
        headers = {str(path): Header(path, names[str(path)]) for path in paths}
        found = {path: [] for path in headers}
        for cursor in unit.cursor.get_children():
            path = cursor.location.file.name if cursor.location.file else ""
            if path in headers:
                self.walk(cursor, [], 0, headers[path], found[path])
        for path, entries in found.items():
            for entry in entries:
                entry.above, entry.leads_group = headers[path].above(entry)
                entry.behind = headers[path].behind(entry)
                entry.text = declaration_text(headers[path].lines, entry)
            entries.sort(key=lambda entry: (entry.first, entry.depth))
        return [(headers[path], found[path]) for path in headers]

    def walk(self, cursor, scope, scope_line, header, entries):
        kind = cursor.kind
        if kind == KIND.NAMESPACE:
            if cursor.spelling not in ("internal", ""):
                for child in cursor.get_children():
                    self.walk(child, scope, scope_line, header, entries)
            return
        if kind in PASSED_THROUGH:
            for child in cursor.get_children():
                self.walk(child, scope, scope_line, header, entries)
            return
        if cursor.access_specifier == cindex.AccessSpecifier.PRIVATE:
            return
        if kind in SCOPES or kind == KIND.ENUM_DECL:
            self.walk_scope(cursor, scope, scope_line, header, entries)
        elif kind in FUNCTIONS:
            if not self.is_implied(cursor):
                self.add(cursor, "function", scope, scope_line, header, entries)
        elif kind in TYPES:
            # `typedef struct X { } X;` is one name.
            if not any(e.name == cursor.spelling and e.kind == "type" for e in entries):
                self.add(cursor, "type", scope, scope_line, header, entries)
        elif kind in VALUES:
            what = "enumerator" if kind == KIND.ENUM_CONSTANT_DECL else "value"
            self.add(cursor, what, scope, scope_line, header, entries)
        elif kind == KIND.MACRO_DEFINITION:
            self.add(cursor, "macro", scope, scope_line, header, entries)

    def walk_scope(self, cursor, scope, scope_line, header, entries):
        if not cursor.is_definition():
            return
        named = not cursor.is_anonymous() and "(unnamed" not in cursor.spelling and cursor.spelling
        inner = [*scope, cursor.spelling] if named else scope
        if named:
            self.add(cursor, "type", scope, scope_line, header, entries)
        enumerators = cursor.kind == KIND.ENUM_DECL and not cursor.is_scoped_enum()
        line = cursor.extent.start.line
        for child in cursor.get_children():
            # What stands on one line has the comment above that line.
            around = scope_line if child.extent.start.line == line else line
            self.walk(child, scope if enumerators else inner, around, header, entries)

    @staticmethod
    def is_implied(cursor):
        """Copies, moves and comparisons, of which the type's own comment speaks."""
        return (
            cursor.is_default_method()
            or cursor.is_deleted_method()
            or cursor.is_copy_constructor()
            or cursor.is_move_constructor()
            or cursor.spelling in ("operator=", "operator==", "operator<=>")
        )

    @staticmethod
    def add(cursor, kind, scope, scope_line, header, entries):
        start, end = cursor.extent.start, cursor.extent.end
        entry = Entry(
            "::".join([*scope, cursor.spelling]),
            kind,
            header.name,
            start.line,
            end.line,
            end.column,
            depth=len(scope),
            scope_line=scope_line,
        )
        if kind == "function" and cursor.kind == KIND.CXX_METHOD:
            line = "\n".join(header.lines[entry.first : entry.last + 1])
            entry.inherits = re.search(r"\boverride\b", line) is not None
        entries.append(entry)


def words_of(text):
    """Lower-case words without endings of the plural; of names, too: kFooBar, dl_foo_bar."""
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text)
    return {word.rstrip("s") for word in re.findall(r"[a-z0-9]+", text.lower())}


def says_nothing(text, name):
    """Whether a comment only repeats the name."""
    return not words_of(text) - words_of(name) - EMPTY_WORDS


def is_described(entry, header, scopes):
    """Whether a comment says something of an entry.

    The comment of a class is about its constructors, too, that of an enumeration of one line about
    its enumerators, that of a struct or a header about members that it names in backticks, and that
    of a header about functions that it names with an X for what differs. Of several functions below
    one comment those are described that it mentions.
    """
    own, _, last = entry.name.rpartition("::")
    scope = scopes.get(own)
    around = scope.documentation() if scope else ""
    if entry.inherits:
        return True
    if entry.kind == "function":
        for pattern in re.findall(r"\bdl_X_\w+", header.about()):
            if re.fullmatch(pattern.replace("X", r"\w+"), entry.name):
                return True
        if scope and last == own.rpartition("::")[2] and not says_nothing(around, own):
            return True
        if entry.above and not entry.leads_group and not entry.behind:
            return words_of(last) - VERBS <= words_of(entry.above)
    if not says_nothing(entry.documentation(), entry.name):
        return True
    if entry.kind == "enumerator":
        return any(e.documentation() for e in scopes.values() if e.first == e.last == entry.first)
    return entry.kind == "value" and f"`{last}`" in around + header.about()


def undocumented(header, entries):
    """The entries that no comment describes."""
    scopes = {entry.name: entry for entry in entries if entry.kind == "type"}
    return [entry for entry in entries if not is_described(entry, header, scopes)]
