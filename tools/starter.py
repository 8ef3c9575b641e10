"""Write MicroPython that runs a model: the lines that `flash` prints, and the main.py of `new`."""

from __future__ import annotations

import json
import keyword
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from tools.format import layout, reader
from tools.format.dtypes import dtype_name
from tools.format.objects import STRING, is_map
from tools.limits import printable

_CODES = {  # typecode of an array, by dtype
    "float32": "f",
    "float64": "d",
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
}
_SHOWN = 8  # names of classes in a comment
_MAP = re.compile(r"map\((\w+),(\w+)\)")
_DIM = re.compile(r"d(\d+)")  # a dimension of an input that each run decides


@dataclass(frozen=True)
class Input:
    """An input of a model, for code that feeds it.

    Attributes:
        name: as in the model, on one line.
        dtype: as on the board.
        shape: dimensions; those that a run decides have their largest size.
        scale: of integers that stand for real numbers, else None.
        zero_point: the integer that stands for 0.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    scale: float | None = None
    zero_point: int = 0
    is_open: bool = False

    @property
    def nelem(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def element(self) -> str:
        """Source of one element that fits."""
        if match := _MAP.search(self.dtype):
            key, value = (_element(dtype, 0) for dtype in match.groups())
            return f"{{{key}: {value}}}"
        return _element(self.dtype, self.zero_point)

    @property
    def values(self) -> str:
        """Source of a list of all elements."""
        return f"[{self.element}]" + (f" * {self.nelem}" if self.nelem != 1 else "")

    def fed(self, values: str) -> str:
        """Return the source of a value for `run`: with its shape if a run decides that."""
        return f"({values}, {self.shape})" if self.is_open else values

    def __str__(self) -> str:
        shape = f"({', '.join(map(str, self.shape))}{',' * (len(self.shape) == 1)})"
        size = ", largest size" if self.is_open else ""
        grid = ""
        if self.scale is not None:
            grid = f", each (q - {self.zero_point}) * {self.scale:.7g}"
        return f"{self.name}: {self.dtype} {shape}{size}{grid}"


@dataclass(frozen=True)
class Starter:
    """What is known of a model for code that runs it.

    Attributes:
        name: the file's name on the board.
        inputs: all of them.
        labels: names of the classes, none if the file has none.
        has_state: a run leaves values for the next one.
    """

    name: str
    inputs: Sequence[Input]
    labels: Sequence[str]
    has_state: bool = False

    def lines(self, folder: str = "") -> list[str]:
        """Return the lines that load the model and run it once.

        Args:
            folder: of the board, if `import mpconnxr` does not look there by itself.
        """
        path = f"{folder.rstrip('/')}/{self.name}" if folder else self.name
        place = [f"import sys; sys.path.insert(0, {_text(folder)})"] if folder else []
        fed = [i.fed(i.values) for i in self.inputs]
        x = fed[0] if len(fed) == 1 else f"({', '.join(fed)})" if fed else ""
        about = "; ".join(map(str, self.inputs))
        return [
            *place,
            "import mpconnxr",
            f"model = mpconnxr.load({_text(path)})",
            f"print(model.predict({x}))" + (f"  # {about}" if about else "") + self._classes(),
        ]

    def _classes(self):
        """Return the names of the classes as the end of a comment; "" without any."""
        if not self.labels:
            return ""
        shown = ", ".join(self.labels[:_SHOWN])
        return f" -> {shown}" + (", ..." if len(self.labels) > _SHOWN else "")

    def script(self) -> str:
        """Return a main.py that runs the model on samples of a sensor, which it only pretends."""
        names = _names_of(self.inputs)
        arrays = [_array(name, i) for name, i in zip(names, self.inputs, strict=True)]
        fed = [i.fed(name) for name, i in zip(names, self.inputs, strict=True)]
        x = fed[0] if len(fed) == 1 else f"({', '.join(fed)})" if fed else ""
        has_arrays = any("array(" in line for line in arrays)
        return "\n".join(
            [
                f'"""Run {self.name}: let `read` fill the inputs with what a sensor measures."""',
                "",
                "import time",
                *(["from array import array"] if has_arrays else []),
                "",
                "import mpconnxr",
                "",
                "SAMPLES = 10",
                "PAUSE = 0.1  # seconds between two samples",
                "",
                *(f"# {line}" for line in self._comments()),
                f"model = mpconnxr.load({_text(self.name)})",
                "# filled again for each sample",
                *arrays,
                "",
                "",
                "def read():",
                '    """Fill the inputs with one sample, prepared as in the training."""',
                *(_fill(name, i) for name, i in zip(names, self.inputs, strict=True)),
                *(["    pass"] if not arrays else []),
                "",
                "",
                "for _ in range(SAMPLES):  # or: while True",
                "    read()",
                f"    print(model.predict({x}))",
                "    time.sleep(PAUSE)",
                "",
            ]
        )

    def _comments(self):
        yield from (f"input  {i}" for i in self.inputs)
        if self.labels:
            yield f"predict gives a label:{self._classes().removeprefix(' ->')}"
        else:
            yield "predict gives the likeliest class or the value; model.run gives all outputs"
        if self.has_state:
            yield "the model keeps values from run to run: model.reset() starts again"


def starter_of(data: bytes, name: str) -> Starter:
    """Return what code needs to know of a model file.

    Args:
        data: the file's contents.
        name: its name on the board.

    Raises:
        ConvertError: if it is damaged.
    """
    stored = reader.read(data)
    labels = stored.chunk(layout.CHUNK_LABELS)
    return Starter(
        name,
        [_input(stored.tensors[i], stored.extents.bounds) for i in stored.inputs],
        [printable(label) for label in reader.names_in(labels.data)] if labels else [],
        bool(stored.state_nbytes),
    )


def _input(t, bounds):
    dims = [d for d in t.dims_text.split(", ") if d] if not is_map(t.dtype) else []
    sizes = [_size(d, bounds) for d in dims]
    is_open = any(not d.isdigit() for d in dims) and t.dtype != STRING
    dtype = dtype_name(t.dtype)
    return Input(printable(t.name), dtype, tuple(sizes), t.scale, t.zero_point, is_open)


def _size(dim, bounds):
    """Return a dimension's size, the largest of one that each run decides."""
    if dim.isdigit():
        return int(dim)
    match = _DIM.fullmatch(dim)
    return bounds[int(match[1])] if match else 1


def _names_of(inputs):
    """Return a different name of a variable for each input."""
    names: list[str] = []
    for i in inputs:
        name = re.sub(r"\W", "_", i.name, flags=re.ASCII).strip("_").lower() or "x"
        if name[0].isdigit() or keyword.iskeyword(name) or name in _TAKEN:
            name = f"x_{name}"
        while name in names:
            name += "_"
        names.append(name)
    return names


_TAKEN = {"array", "time", "model", "mpconnxr", "read", "print", "range", "len", "i"}


def _array(name, i):
    """Return the line that makes the buffer of an input."""
    code = _CODES.get(i.dtype)
    return f'{name} = array("{code}", {i.values})' if code else f"{name} = {i.values}"


def _element(dtype, zero):
    if dtype == "string":
        return '"text"'
    return "0.0" if "float" in dtype else str(zero)


def _fill(name, i):
    """Return the lines that fill an input's buffer with what is easy to find and replace."""
    return f"    for i in range(len({name})):\n        {name}[i] = {i.element}  # your measurement"


def _text(text):
    """Return a string as MicroPython's source."""
    return json.dumps(text, ensure_ascii=False)
