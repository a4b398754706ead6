# SPDX-License-Identifier: Apache-2.0
"""Random programs whose result a CPU knows.

A program is two to four units of CUDA that are also C++ once the words of `HOST` are gone. So the
host's compiler makes a program of them that says what the kernel has to leave, whoever links it.
All arithmetic is on unsigned numbers, and on doubles that hold whole and half numbers exactly.
"""

import pathlib
import random
import subprocess

WORDS = 16  # what a kernel leaves
DEEP = 16384  # bytes of stack that no recursion here exceeds
HOST = ["-D__device__=", "-D__global__=", "-D__constant__=", "-D__shared__=static", "-D__noinline__="]
MAIN = r"""
#include <cstdio>
extern "C" void run(unsigned* out);
int main() {
  unsigned out[%d] = {};
  run(out);
  std::printf("out:");
  for (unsigned word : out) std::printf(" %%u", word);
  std::printf("\n");
}
"""


class Writer:
    """Writes one program."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.units = self.random.randint(2, 4)
        # Functions call those of larger numbers, and themselves with less, so every program ends.
        self.functions = [self.plan(i) for i in range(self.random.randint(4, 14))]
        self.variables = [
            (f"var{i}", self.chance(35), self.random.randrange(self.units), self.random.randint(1, 5))
            for i in range(self.random.randint(1, 6))
        ]
        self.classes = self.random.randint(0, 2)
        self.recursive = False
        self.tables = {}  # lengths, by unit

    def chance(self, percent):
        return self.random.random() * 100 < percent

    def plan(self, index):
        kind = self.random.choice(["plain", "plain", "plain", "static", "template", "template", "inline"])
        return (f"F{index}", kind, self.random.randrange(self.units))

    def header(self):
        lines = ["// SPDX-License-Identifier: Apache-2.0", "#pragma once"]
        lines.append("typedef unsigned (*Function)(unsigned);")
        for name, constant, _, count in self.variables:
            space = "constant" if constant else "device"
            lines.append(f"extern __{space}__ unsigned {name}[{count}];")
        lines.append("template <unsigned N> __device__ unsigned counter = N + 1;")
        for name, kind, _ in self.functions:
            lines.append(
                {
                    "plain": f"__device__ unsigned {name}(unsigned x);",
                    "template": f"template <unsigned N> __device__ unsigned {name}(unsigned x);",
                    "inline": f"__device__ unsigned {name}(unsigned x);",
                    "static": "",
                }[kind]
            )
        for i in range(self.classes):
            lines += [
                f"struct Shape{i} {{",
                "  unsigned v;",
                "  __device__ virtual unsigned First(unsigned x) { return x + v; }",
                "  __device__ virtual unsigned Second(unsigned x);",
                "};",
                f"struct Child{i} : Shape{i} {{",
                f"  __device__ unsigned First(unsigned x) override {{ return x ^ (v + {i}); }}",
                "};",
                f"__device__ Shape{i}* New{i}(Shape{i}* base, Child{i}* child, unsigned x);",
            ]
        everywhere = [f for f in self.functions if f[1] in ("template", "inline")]
        return "\n".join([*lines, *(self.definition(f) for f in everywhere), ""])

    def callees(self, function, unit):
        """What a function, or a table of a unit (None), may name."""
        later = self.functions[self.functions.index(function) + 1 :] if function else self.functions
        names = []
        for name, kind, home in later:
            if kind == "template":
                names.append(f"{name}<{self.random.randint(0, 2)}>")
            elif kind != "static" or home == unit:
                names.append(name)
        return names

    def value(self, function):
        everywhere = function[1] in ("template", "inline")
        unit = None if everywhere else function[2]
        names = self.callees(function, unit)
        name, constant, _, count = self.random.choice(self.variables)
        number = self.random.randint(1, 99)
        room = number % 25 + 2
        place = f"{name}[(x + {number}) % {count}]"
        choices = [f"x += {place};", f"x = x * {number} + 1;", f"x ^= x >> {number % 31 + 1};"]
        if not constant:
            choices.append(f"{place} += x;")
        choices.append(f"x += counter<{number % 3}>++;")
        choices.append(f"x += static_cast<unsigned>((x & 0xffff) * {number}.5 + {number}.25);")
        choices.append(
            f"{{ unsigned l[{room}]; for (unsigned i = 0; i < {room}; ++i) l[i] = x + i * i; "
            f"x += l[x % {room}]; }}"
        )
        choices.append(
            f"switch (x % 7) {{ case 0: x *= 3; break; case 1: x += 77; break; case 2: x ^= {number}; "
            "break; case 3: x /= 9; break; case 4: x <<= x & 3; break; case 5: x = ~x; break; "
            "default: x -= 8; }"
        )
        choices.append(f"{{ __shared__ unsigned s[{number}]; s[x % {number}] = x; x += s[x % {number}]; }}")
        if names:
            call = f"x += {self.random.choice(names)}(x);"
            choices += [call] * 6
            pair = self.random.choice(names), self.random.choice(names)
            choices.append(f"{{ Function q = (x & 1) ? {pair[0]} : {pair[1]}; x += q(x); }}")
        if self.classes and not everywhere:
            i = self.random.randrange(self.classes)
            choices.append(
                f"{{ Shape{i} b; Child{i} c; Shape{i}* o = New{i}(&b, &c, x); x += o->First(x) + o->Second(x); }}"
            )
        return self.random.choice(choices)

    def definition(self, function):
        name, kind, _ = function
        head = {
            "plain": f"__device__ __noinline__ unsigned {name}(unsigned x)",
            "static": f"static __device__ __noinline__ unsigned {name}(unsigned x)",
            "inline": f"inline __device__ __noinline__ unsigned {name}(unsigned x)",
            "template": f"template <unsigned N> __device__ __noinline__ unsigned {name}(unsigned x)",
        }[kind]
        body = [self.value(function) for _ in range(self.random.randint(1, 5))]
        salt = "* (N + 2)" if kind == "template" else f"+ {self.random.randint(1, 99)}"
        first = []
        if kind in ("plain", "static") and self.chance(30):
            self.recursive = True
            first.append(f"if (x < 8) return x < 2 ? x : x * {name}(x - 1) + 1;")
        return "\n  ".join([head + " {", *first, *body, f"return x {salt};"]) + "\n}\n"

    def unit(self, number):
        lines = ["// SPDX-License-Identifier: Apache-2.0", f'#include "{self.stem}.h"']
        for name, constant, home, count in self.variables:
            if home == number:
                values = ", ".join(str(self.random.randint(1, 999)) for _ in range(count))
                space = "constant" if constant else "device"
                lines.append(f"__{space}__ unsigned {name}[{count}] = {{{values}}};")
        own = [f for f in self.functions if f[1] in ("plain", "static") and f[2] == number]
        for name, kind, _ in own:
            if kind == "static":
                lines.append(f"static __device__ unsigned {name}(unsigned x);")
        lines += [self.definition(f) for f in own]
        names = self.callees(None, number)
        if self.chance(60):
            picked = [self.random.choice(names) for _ in range(self.random.randint(1, 4))]
            form = self.random.choice(["__device__", "static __device__", "static __constant__"])
            lines.append(f"{form} Function table{number}[{len(picked)}] = {{{', '.join(picked)}}};")
            self.tables[number] = len(picked)
        entry = f"table{number}[x % {self.tables[number]}](x)" if number in self.tables else "x"
        lines.append(f"__device__ unsigned Through{number}(unsigned x) {{ return {entry}; }}")
        if number == self.units - 1:
            for i in range(self.classes):
                lines.append(
                    f"__device__ unsigned Shape{i}::Second(unsigned x) {{ return x * v + {i}; }}\n"
                    f"__device__ Shape{i}* New{i}(Shape{i}* base, Child{i}* child, unsigned x) {{\n"
                    "  base->v = x;\n  child->v = x + 3;\n"
                    "  return x % 3 ? base : child;\n}"
                )
        if number == 0:
            lines += [f"__device__ unsigned Through{i}(unsigned x);" for i in range(1, self.units)]
            lines.append(self.kernel())
        return "\n".join([*lines, ""])

    def kernel(self):
        lines = ['extern "C" __global__ void run(unsigned* out) {']
        names = self.callees(None, 0)
        for i in range(WORDS - 2):
            through = self.chance(30)
            callee = f"Through{self.random.randrange(self.units)}" if through else self.random.choice(names)
            lines.append(f"  out[{i}] = {callee}({self.random.randint(0, 9)}u + out[{(i - 1) % WORDS}]);")
        name, _, _, count = self.random.choice(self.variables)
        lines.append(f"  for (unsigned i = 0; i < {count}; ++i) out[{WORDS - 2}] += {name}[i];")
        lines.append(f"  out[{WORDS - 1}] = counter<0> + counter<1> + counter<2>;")
        return "\n".join([*lines, "}"])

    def write(self, folder, stem):
        """The units, whose header lies beside them."""
        self.stem = stem
        (folder / f"{stem}.h").write_text(self.header(), encoding="utf-8")
        units = []
        for number in range(self.units):
            units.append(folder / f"{stem}.{number + 1}.cu")
            units[-1].write_text(self.unit(number), encoding="utf-8")
        return units


def write_program(folder, seed):
    """Writes the program of a seed. Returns its units, what `run` leaves, and the stack it needs.

    Who recurses has to say how much stack that takes; else the linker knows, and 0 is returned.
    """
    folder = pathlib.Path(folder)
    stem = f"random{seed}"
    writer = Writer(seed)
    units = writer.write(folder, stem)
    host = folder / f"{stem}.main.cc"
    host.write_text(MAIN % WORDS, encoding="utf-8")
    program = folder / f"{stem}.host"
    compiler = ["g++", "-std=c++17", "-O1", "-w", *HOST, "-o", program, "-x", "c++", host, *units]
    subprocess.run(list(map(str, compiler)), check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=20, check=True)
    return units, done.stdout.removeprefix("out:").strip(), writer.recursive * DEEP
