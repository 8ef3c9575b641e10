"""Random viper functions, and their results by Python's integers in 32-bit words.

A function has words a, b, c in random order with a buffer m, which it reads and writes as bytes,
halves and words; loops, branches, arithmetic and pointers that move, as loops have them. Forms
that are known to be compiled wrongly (tools/viperlint.py) do not occur.
"""

from __future__ import annotations

import ast
import random
from dataclasses import dataclass

N_BYTES = 512  # of the buffer
CONSTANTS = (
    0,
    1,
    2,
    7,
    15,
    31,
    127,
    128,
    255,
    256,
    2047,
    2048,
    4095,
    32767,
    65535,
    65536,
    1 << 29,
)
NEAR = (0, 1, 2, 5, 14, 15, 16, 31, 63, 64, 100, 127)  # indices, each at some encoding's end
ARGUMENTS = (0, 1, -1, (1 << 29) - 1, -(1 << 29))
VARIABLES = ("a", "b", "c", "x", "y", "z", "u", "v")
POINTERS = {"p8": 1, "p16": 2, "p32": 4}
DEPTH = 2


@dataclass(frozen=True)
class Function:
    source: str  # of `def NAME(...)`
    arguments: tuple[int | None, ...]  # None where the buffer goes


def functions(seed: int, n: int) -> list[Function]:
    """Return functions f0 to f(n - 1), which depend on the seed alone."""
    draw = random.Random(seed)
    return [_Writer(draw).function(f"f{i}") for i in range(n)]


def buffer() -> bytearray:
    return bytearray((i * 73 + 5) & 255 for i in range(N_BYTES))


class _Writer:
    def __init__(self, draw: random.Random):
        self._draw = draw

    def function(self, name: str) -> Function:
        draw = self._draw
        parameters = ["a: int", "b: int", "c: int", "m: object"]
        draw.shuffle(parameters)
        values = {text: draw.choice((*ARGUMENTS, self._any(1 << 29))) for text in parameters}
        lines = ["@micropython.viper", f"def {name}({', '.join(parameters)}) -> int:"]
        starts = [f"{p} = ptr{8 * n}(m)" for p, n in POINTERS.items()]
        starts += [f"{v} = {self._any(300)}" for v in (*VARIABLES[3:], "i", "j", "k")]
        draw.shuffle(starts)
        body = self._block(DEPTH)
        lines += ["    " + line for line in (*starts, *body, f"return {' ^ '.join(VARIABLES)}")]
        arguments = tuple(None if text[0] == "m" else values[text] for text in parameters)
        return Function("\n".join(lines) + "\n", arguments)

    def _any(self, bound: int) -> int:
        return self._draw.randrange(-bound, bound)

    def _block(self, depth: int) -> list[str]:
        lines = []
        for _ in range(self._draw.randrange(1, 4)):
            kind = self._draw.random()
            if depth == 0 or kind < 0.5:
                operator = self._draw.choice(("=", "=", "+=", "-=", "^=", "|="))
                lines.append(f"{self._variable()} {operator} {self._expression(3)}")
            elif kind < 0.65:
                first = f"{self._draw.choice(tuple(POINTERS))}[0]"
                element = first if kind < 0.53 else self._element(depth=1)
                lines.append(f"{element} = {self._expression(2)}")
            elif kind < 0.8:
                lines += [f"if {self._condition()}:", *self._inner(depth)]
                lines += ["else:", *self._inner(depth)]
            elif kind < 0.9:
                lines += self._counted(depth)
            else:
                lines += self._walk()
        return lines

    def _inner(self, depth: int) -> list[str]:
        return ["    " + line for line in self._block(depth - 1)]

    def _counted(self, depth: int) -> list[str]:
        i = "ijk"[depth]
        n = self._draw.randrange(1, 6)
        return [f"{i} = 0", f"while {i} < {n}:", *self._inner(depth), f"    {i} += 1"]

    def _walk(self) -> list[str]:
        """Return statements that move a pointer over several elements, as in a dot product."""
        nbytes = self._draw.choice(tuple(POINTERS.values()))
        cast, q, v = f"ptr{8 * nbytes}", f"q{nbytes}", self._variable()
        first = f"({self._operand(1)} & 31) * {nbytes}"
        return [
            f"{q} = {cast}(int(p8) + {first})",
            f"end = int({q}) + {nbytes * self._draw.randrange(1, 6)}",
            f"while int({q}) < end:",
            f"    {v} = {v} + {q}[0] * {q}[{self._draw.randrange(1, 9)}] + {self._variable()}",
            f"    {q} = {cast}(int({q}) + {nbytes})",
        ]

    def _condition(self) -> str:
        operator = self._draw.choice(("<", "<=", ">", ">=", "==", "!="))
        return f"{self._operand(1)} {operator} {self._expression(1)}"

    def _variable(self) -> str:
        return self._draw.choice(VARIABLES)

    def _element(self, depth: int) -> str:
        return f"{self._draw.choice(tuple(POINTERS))}[{self._operand(depth)} & 127]"

    def _operand(self, depth: int) -> str:
        """Return an expression that is not constant: a constant may be folded to an object."""
        while (text := self._expression(depth)).isdigit():
            pass
        return text

    def _expression(self, depth: int) -> str:
        kind = self._draw.random()
        if depth == 0 or kind < 0.15:
            return self._variable()
        if kind < 0.25:
            return str(self._draw.choice((*CONSTANTS, self._draw.randrange(1 << 29))))
        if kind < 0.33:
            return f"{self._draw.choice(tuple(POINTERS))}[{self._draw.choice(NEAR)}]"
        if kind < 0.41:
            return self._element(depth - 1)
        left, right = self._operand(depth - 1), self._expression(depth - 1)
        if kind < 0.5:
            right = self._operand(depth - 1)
            return f"({left} {self._draw.choice(('<<', '>>'))} ({right} & 31))"
        if kind < 0.54:
            right = self._operand(depth - 1)
            # Rounding the quotient down leaves a word where the dividend is close to -2**31.
            return f"(({left} >> 1) {self._draw.choice(('//', '%'))} (({right} & 63) + 1))"
        return f"({left} {self._draw.choice('+-*&|^+-*')} {right})"


def computed(function: Function) -> tuple[int, bytes]:
    """Return the result modulo 2**32, and the buffer afterwards."""
    tree = _InWords().visit(ast.parse(function.source.partition("\n")[2]))
    memory = buffer()
    names = {"word": _word, "int": int, "object": object}
    names |= {f"ptr{8 * n}": lambda at, n=n: _Pointer(memory, n, at) for n in (1, 2, 4)}
    exec(compile(ast.fix_missing_locations(tree), "viper", "exec"), names)
    call = next(f for name, f in names.items() if name[0] == "f" and name[1:].isdigit())
    result = call(*(0 if x is None else x for x in function.arguments))
    return result & 0xFFFFFFFF, bytes(memory)


def _word(v: int) -> int:
    """Return an integer modulo 2**32, signed."""
    return (v & 0xFFFFFFFF) - ((v & 0x80000000) << 1)


class _InWords(ast.NodeTransformer):
    """Wrap the result of each operation to a word."""

    def visit_BinOp(self, node):
        self.generic_visit(node)
        return ast.Call(ast.Name("word", ast.Load()), [node], [])

    def visit_AugAssign(self, node):
        name = ast.Name(node.target.id, ast.Load())
        return self.visit(ast.Assign([node.target], ast.BinOp(name, node.op, node.value)))


class _Pointer:
    """A pointer to elements of n bytes; address 0 is the buffer's."""

    def __init__(self, memory: bytearray, n: int, at: int):
        self._memory, self._n, self._at = memory, n, at

    def __int__(self):
        return self._at

    def _span(self, i: int) -> slice:
        at = self._at + i * self._n
        return slice(at, at + self._n)

    def __getitem__(self, i: int) -> int:
        # words are signed, for that is what they are to 32-bit viper
        return _word(int.from_bytes(self._memory[self._span(i)], "little"))

    def __setitem__(self, i: int, v: int):
        mask = (1 << 8 * self._n) - 1
        self._memory[self._span(i)] = (v & mask).to_bytes(self._n, "little")
