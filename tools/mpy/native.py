"""Put loops in assembler into .mpy files as native code, for firmware without inline assembler.

The data of @micropython.asm_rv32 or asm_xtensawin functions is machine code already. In a .mpy
file it becomes a native function, like a viper function, which any firmware with native code
loads. An ESP32 has no inline assembler; mpy-cross has none for Xtensa with register windows.
"""

from __future__ import annotations

import ast
import re
import struct
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tools.errors import DeployError

# {architecture: assembler whose functions become native code in its .mpy files}.
ASSEMBLERS = {"rv32imc": "rv32", "xtensawin": "xtensawin"}
_ENTRIES = Path(__file__).with_name("entries.txt")
_FUN_TABLE, _STR, _BYTES, _TUPLE = 0, 5, 6, 10  # kinds of constants
_NATIVE_PY, _VIPER, _ASSEMBLER = 1, 2, 3  # kinds of code
_MARK = 0x2D700000  # returned by the first placeholder; the next returns one more
_MARKED = re.compile(rb"..\x70\x2d", re.DOTALL)
_MARKS = 1 << 16
_XTENSAWIN = "@micropython.asm_xtensawin"


@dataclass(frozen=True)
class Code:
    """Machine code of a function without its entry sequence, and the number of its arguments."""

    arguments: int
    code: bytes


def placeholders(source: str) -> tuple[str, list[Code]]:
    """Replace asm_xtensawin functions by viper placeholders, which mpy-cross compiles.

    Returns:
        The source, and the machine code with which `with_code` replaces the placeholders.

    Raises:
        DeployError: if there are too many functions.
    """
    if _XTENSAWIN not in source:
        return source, []
    codes: list[Code] = []
    lines = source.split("\n")
    tree = ast.parse(source)
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and _is_marked(n)]
    for node in sorted(functions, key=lambda n: n.lineno, reverse=True):
        first, indent = node.decorator_list[0].lineno - 1, " " * node.col_offset
        arguments = ", ".join(f"{a.arg}: ptr" for a in node.args.args)
        lines[first : node.end_lineno] = [
            f"{indent}@micropython.viper",
            f"{indent}def {node.name}({arguments}) -> int: return {_MARK + len(codes)}",
        ]
        codes.append(Code(len(node.args.args), _data(node)))
    if len(codes) > _MARKS:
        raise DeployError(f"more than {_MARKS} functions in a module")
    return "\n".join(lines), codes


def with_code(mpy: bytes, arch: str, codes: list[Code]) -> bytes:
    """Return a .mpy with machine code as native functions.

    Args:
        mpy: the file, compiled from the source of `placeholders`.
        arch: architecture of the file.
        codes: machine code of the placeholders.

    Raises:
        DeployError: if code and architecture do not match.
    """
    if codes and arch != "xtensawin":
        raise DeployError(f"{_XTENSAWIN}: code for another architecture than {arch or 'none'}")
    if arch not in ASSEMBLERS:
        return mpy
    return _Writer(mpy, ASSEMBLERS[arch], codes).made()


def _is_marked(node: ast.FunctionDef) -> bool:
    return [f"@{ast.unparse(d)}" for d in node.decorator_list] == [_XTENSAWIN]


def _data(node: ast.FunctionDef) -> bytes:
    """Return the words of the calls data(2, ...)."""
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    calls = [call for call in calls if ast.unparse(call.func) == "data"]
    words = [ast.literal_eval(word) for call in calls for word in call.args[1:]]
    return struct.pack(f"<{len(words)}H", *words)


class Parser:
    """Read the elements of a .mpy file, one after another."""

    def __init__(self, mpy: bytes):
        self._mpy = mpy
        self._at = 4  # behind magic number, version, architecture, and bits of small integers

    def _take(self, n: int) -> bytes:
        self._at += n
        return self._mpy[self._at - n : self._at]

    def _number(self) -> int:
        value = 0
        while True:
            [byte] = self._take(1)
            value = value << 7 | byte & 127
            if not byte & 128:
                return value

    def _name(self) -> str:
        """Return a name, "" for one that all firmware has."""
        length = self._number()
        return "" if length & 1 else self._take((length >> 1) + 1)[:-1].decode()


class _Writer(Parser):
    """Copy a .mpy file, with machine code in place of placeholders."""

    def __init__(self, mpy: bytes, assembler: str, codes: list[Code]):
        super().__init__(mpy)
        self._codes, self._assembler = codes, assembler
        self._needs_table = False
        self._placed: list[int] = []

    def made(self) -> bytes:
        n_names, n_constants = self._number(), self._number()
        names = self._copied(self._name, n_names)
        first = self._at
        kinds = [self._constant() for _ in range(n_constants)]
        constants = self._mpy[first : self._at]
        code = self._function(kinds.index(_FUN_TABLE) if _FUN_TABLE in kinds else n_constants)
        if sorted(self._placed) != [*range(len(self._codes))]:
            raise DeployError("mpy-cross compiled a placeholder to unexpected code")
        if _FUN_TABLE not in kinds and self._needs_table:
            n_constants, constants = n_constants + 1, constants + bytes([_FUN_TABLE])
        head = self._mpy[:4] + _number(n_names) + _number(n_constants)
        return head + names + constants + code

    def _copied(self, read: Callable[[], object], n: int) -> bytes:
        first = self._at
        for _ in range(n):
            read()
        return self._mpy[first : self._at]

    def _constant(self) -> int:
        [kind] = self._take(1)
        if kind >= _STR:
            length = self._number()
            if kind == _TUPLE:
                for _ in range(length):
                    self._constant()
            else:
                self._take(length + (kind in (_STR, _BYTES)))
        return kind

    def _function(self, table: int) -> bytes:
        """Copy a function and the functions in it."""
        kind_and_length = self._number()
        kind, has_inner, length = kind_and_length & 3, kind_and_length & 4, kind_and_length >> 3
        data = self._take(length)
        about = b""
        if kind == _NATIVE_PY:
            about = self._copied(self._number, 1)
        elif kind == _VIPER:
            about = self._copied(self._number, 1)
            if marks := self._marks(data):
                [mark] = marks
                self._placed.append(mark)
                data = self._begun(self._codes[mark], table)
        elif kind == _ASSEMBLER:
            about = self._copied(self._number, 1)
            arguments, _ = self._number(), self._number()
            kind, data = _VIPER, self._begun(Code(arguments, data), table)
        made = _number(len(data) << 3 | has_inner | kind) + data + about
        if has_inner:
            n = self._number()
            made += _number(n) + b"".join(self._function(table) for _ in range(n))
        return made

    def _marks(self, data: bytes) -> list[int]:
        """Return the number of the placeholder that a function is, as a list of one; else []."""
        numbers = [struct.unpack("<I", mark)[0] - _MARK for mark in _MARKED.findall(data)]
        return [mark for mark in numbers if mark < len(self._codes)]

    def _begun(self, code: Code, table: int) -> bytes:
        self._needs_table = True
        at, begin = _entries()[self._assembler, code.arguments]
        entry = bytearray(begin)
        if self._assembler == "rv32":  # lw s1, 4 * table(t0)
            word = int.from_bytes(entry[at : at + 4], "little") | table << 22
            entry[at : at + 4] = word.to_bytes(4, "little")
        else:  # l32i a7, a8, 4 * table
            entry[at + 2] = table
        if table > 255:
            raise DeployError("a module with more than 255 constants cannot have machine code")
        return bytes(entry) + code.code


@cache
def _entries() -> dict[tuple[str, int], tuple[int, bytes]]:
    """Return the entry sequences of native functions.

    Returns:
        {(assembler, number of arguments): (offset of the instruction that loads the table, code)}.
    """
    lines = [line.split() for line in _ENTRIES.read_text().splitlines() if line[0] != "#"]
    return {(form, int(n)): (int(at), b64decode(digits)) for form, n, at, digits in lines}


def _number(value: int) -> bytes:
    digits = [value & 127]
    while value := value >> 7:
        digits.append(value & 127 | 128)
    return bytes(reversed(digits))
