"""python -m examples.digits.tour [--write-docs]: follow digits.onnx through the project's files.

Prints docs/tour.md, with the numbers that each stage really computes. A test compares the page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import onnx

import mpconnxr
from tools.converter.commands.inspect import about_file
from tools.converter.convert import Options, convert, model_after
from tools.converter.ir import Step, Tensor, walk
from tools.converter.kernel_parameters import declaration_of
from tools.format.dtypes import dtype_name
from tools.loops.parameters import block_of
from tools.program.call import Call, Part, Place
from tools.program.record import record
from tools.program.table import table

from .demo import test_split

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
PAGE = ROOT / "docs" / "tour.md"

_INTRODUCTION = """# A tour

Written by `python -m examples.digits.tour --write-docs`; do not edit.

This page follows one model, `examples/digits/digits.onnx`, from the file to the ten numbers that
a board computes of an image. Each
section names the files that do the work: read them beside it. [architecture.md](architecture.md)
has the map.
"""


def main(argv: list[str] | None = None) -> int:
    """Print the page, or write it. Exit status: 0 done."""
    argv = sys.argv[1:] if argv is None else argv
    if "--write-docs" in argv:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(page(), end="")
    return 0


def page() -> str:
    """Return the text of docs/tour.md."""
    options = Options()
    converted = convert(DIGITS, options)
    sections = (
        _model(options),
        _steps(list(walk(converted.graph.steps))),
        _plan(converted),
        _file(converted.data),
        _calls(converted.data),
        _run(converted.data),
    )
    return _INTRODUCTION + "".join(f"\n{text}" for text in sections)


def _model(options) -> str:
    """Return the section on import, normalize and optimize."""
    source = onnx.load(DIGITS)
    simplified, rewritten = (
        model_after(DIGITS, name, options) for name in ("simplify", "rewrite")
    )
    boards = model_after(DIGITS, "rewrite_for_boards", options)
    return f"""## 1. The graph

The file has {len(source.graph.node)} nodes and {DIGITS.stat().st_size:,} bytes.
[`convert.py`](../tools/converter/convert.py) runs the passes that
[`pipeline.py`](../tools/converter/pipeline.py) lists. `load`
checks the model and fixes its shapes ([`load/`](../tools/converter/load)); `simplify` makes every
shape and constant explicit
([`simplify/`](../tools/converter/simplify)):

{_table(("node", "inputs", "outputs"), _nodes(simplified))}

`rewrite` merges nodes, a rule a file ([`rewrites/`](../tools/converter/rewrites)): here an
activation goes into the node before it.

{_table(("node", "inputs", "outputs"), _nodes(rewritten))}

`rewrite_for_boards` then uses operators that only boards have. A convolution and its pooling
become one node, which never writes the
plane between them. {len(boards.graph.node)} nodes are left:

{_table(("node", "inputs", "outputs"), _nodes(boards))}

`mpconnxr convert --save-after rewrite out.onnx` saves any of these graphs, to look at it in
Netron.
"""


def _nodes(model) -> Iterator[tuple[str, ...]]:
    """Yield operator, inputs and outputs of each node, with shapes; constants by their shapes."""
    graph = onnx.shape_inference.infer_shapes(model).graph
    shapes = {v.name: _dims(v) for v in (*graph.value_info, *graph.input, *graph.output)}
    constants = {t.name: list(t.dims) for t in graph.initializer}

    def shown(name):
        if name in constants:
            return f"{'×'.join(map(str, constants[name])) or 'scalar'} constant"
        return f"`{name}` {'×'.join(map(str, shapes.get(name, [])))}".strip()

    for node in graph.node:
        yield node.op_type, ", ".join(map(shown, node.input)), ", ".join(map(shown, node.output))


def _dims(value):
    return [d.dim_value for d in value.type.tensor_type.shape.dim]


def _steps(steps: list[Step]) -> str:
    """Return the section on lower."""
    first = steps[0]
    parameters = [(f"`{name}`", value) for name, value in _parameters(first)]
    rows = [
        (i, f"`{s.kernel}`", _names(s.inputs), _names(s.outputs), _names(s.scratch), f"{s.macs:,}")
        for i, s in enumerate(steps)
    ]
    return f"""## 2. The steps

A lowering ([`ops/`](../tools/converter/ops), one operator family a file) turns a node into steps.
A step is one call of a kernel
([`ir.py`](../tools/converter/ir.py)): tensors, and integers by name.

{_table(("step", "kernel", "inputs", "outputs", "scratch", "MACs"), rows)}

Step 0 comes from [`ops/conv.py`](../tools/converter/ops/conv.py). Its parameters are those that
the kernel,
[`mpconnxr/ops/{first.kernel}.py`](../mpconnxr/ops/{first.kernel}.py), declares at its top:

{_table(("parameter", "value"), parameters)}
"""


def _parameters(step) -> Iterator[tuple[str, str]]:
    """Yield name and value of each parameter of a step."""
    for field in declaration_of(step.kernel).fields:
        value = step[field.name]
        yield field.name, ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _names(tensors: Iterable[Tensor]) -> str:
    return ", ".join(
        f"{'×'.join(map(str, t.shape)) or 'scalar'} {dtype_name(t.dtype)}"
        f"{' constant' if t.root.data is not None else ''}"
        for t in tensors
    )


def _plan(converted) -> str:
    """Return the section on plan."""
    plan = converted.plan
    rows = [
        (f"`{b.tensor.name}`", b.offset, f"{b.nbytes:,}", f"{b.first} to {b.last}")
        for b in sorted(plan.blocks, key=lambda b: (b.first, b.offset))
    ]
    return f"""## 3. The arena

The planner ([`plan/`](../tools/converter/plan)) knows when each tensor is written first and read
last, and gives it an offset in one
block of memory. Tensors that are not needed at the same time share bytes:
{sum(b.nbytes for b in plan.blocks):,} bytes of tensors
take {plan.arena_bytes:,}, and no plan could take fewer than {plan.lower_bound_bytes:,}
([memory.md](memory.md)).

{_table(("tensor", "offset", "bytes", "needed in steps"), rows)}
"""


def _file(data: bytes) -> str:
    """Return the section on emit."""
    path = ROOT / "build" / "digits" / "tour.bin"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    about = about_file(path)
    rows = [(c["kind"], f"{c['offset']:,}", f"{c['bytes']:,}") for c in about["chunks"]]
    return f"""## 4. The file

`write` ([`file/`](../tools/converter/file)) encodes steps, tensors and weights as the
{len(data):,} bytes of model.bin. Every reference is an offset, every chunk
has its own digest ([format.md](format.md)). What it writes, the device's own reader reads back
before the conversion ends.

{_table(("chunk", "offset", "bytes"), rows)}
"""


def _calls(data: bytes) -> str:
    """Return the section on prepare and the table of calls."""
    recording = record(data, lambda family, form: False)
    made = table(data, lambda family, form: False, False)
    calls = [call for step in recording.steps for call in step.calls]
    rows = [
        (
            i,
            ", ".join(f"{k} `{loop}`" for loop, k in _counted(step.calls)),
            f"{sum(isinstance(call, Call) for call in step.calls):,}",
        )
        for i, step in enumerate(recording.steps)
    ]
    first = next(call for call in calls if isinstance(call, Call) and _block(call))
    family = first.loop.family
    words = [(f"`{name}`", value) for name, value in _block(first)]
    return f"""## 5. The calls

On the board, [`build/loader.py`](../mpconnxr/build/loader.py) imports the kernel of each step and
calls its `prepare(node, calls)`. It proves that the
step's tensors and parameters fit each other, since nobody can trust a file, and says which calls
of loops a run makes. For this
model these are {len(calls):,} calls:

{_table(("step", "loops", "calls"), rows)}

The first one calls `{first.loop.name}` in
[`mpconnxr/loops/{family}.py`](../mpconnxr/loops/{family}.py) with
{_buffers(first)}, and a block of parameters:

{_table(("parameter", "value"), words)}

The calls become a table of {len(made.code):,} bytes of code and {made.n_words:,} words: what
repeats is written once
([programs.md](programs.md)). The kernels are then dropped. `flash` makes the same table on the
computer.
"""


def _counted(calls) -> list[tuple[str, int]]:
    names = [call.loop.name for call in calls if isinstance(call, Call)]
    return [(name, names.count(name)) for name in dict.fromkeys(names)]


def _block(call: Call) -> list[tuple[str, object]]:
    """Return name and value of each parameter of a call's block; none without a declaration."""
    blocks = [argument for argument in call.arguments if isinstance(argument, Part)]
    if not blocks:
        return []
    words = call.words[blocks[-1].block][blocks[-1].first : blocks[-1].last]
    named = []
    for parameter in block_of(call.loop.family, call.loop.name):
        named.append((parameter.name, ", ".join(map(str, parameter.numbers(words)))))
    return named


def _buffers(call: Call) -> str:
    """Return where the buffers of a call lie, in words."""
    return ", ".join(
        f"`{name}` at byte {a.offset:,} of the {a.memory}"
        for name, a in zip(("x", "w", "out"), call.arguments, strict=False)
        if isinstance(a, Place)
    )


def _run(data: bytes) -> str:
    """Return the section on run."""
    images, labels = test_split()
    image = (images[0].astype(np.float32) / 16).reshape(1, 1, 8, 8)
    model = mpconnxr.load(data)
    (output,) = model.run(image.tobytes())
    scores = [f"{score:.3f}" for score in output.data]
    best = int(np.argmax(output.data))
    return f"""## 6. A run

`run` copies an image into the arena and makes the calls of the table, one after another
([`mpconnxr/loops/program.py`](../mpconnxr/loops/program.py)). It
allocates nothing. The first image of `digits_test.npz` is a {labels[0]}; the scores of the ten
digits are

    {", ".join(scores)}

so the model reads a {best}. The same numbers, bit for bit, come out of the plain loops on this
computer, of viper, and of machine code on a board.
"""


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table in Markdown."""
    head = list(head)
    lines = [head, ["---"] * len(head), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
