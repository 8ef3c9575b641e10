"""Print the contents of a .bin: `python -m tools.converter inspect`."""

from __future__ import annotations

from pathlib import Path

from tools import seal
from tools.format import layout
from tools.format.reader import names_in, read

from ..ir import dtype_name
from ..kernel_parameters import declaration_of
from . import seal_arguments
from .summary import grid_text

_CHUNK_KINDS = [
    "data",
    "names",
    "golden",
    "source",
    "nodes",
    "grids",
    "images",
    "streamed",
    "halves",
    "seal",
    "labels",
]
_PLACES = ("arena", "file", "slot", "state")  # by storage class


def about_file(path: Path) -> dict:
    """Return the contents as one object for JSON; tensors and nodes have their list's indexes."""
    data = path.read_bytes()
    stored = read(data)
    return {
        "kind": "model" if stored.kind == layout.KIND_MODEL else "tensors",
        "format": stored.version,
        "features": stored.features,
        "intact": stored.intact and all(chunk.intact for chunk in stored.chunks),
        "digest": seal.digest(data).hex(),
        "signed": seal.seal_of(data) is not None,
        "arena_bytes": stored.arena_nbytes,
        "streamed_arena_bytes": stored.streamed_nbytes,
        "chunks": [
            {"kind": _kind_of(c), "offset": c.offset, "bytes": len(c.data), "intact": c.intact}
            for c in stored.chunks
        ],
        "tensors": [_about_tensor(t) for t in stored.tensors],
        "inputs": stored.inputs,
        "outputs": stored.outputs,
        "labels": _labels(stored),
        "nodes": [_about_node(node, stored.extents) for node in stored.nodes],
    }


def _about_tensor(t):
    grid = {} if t.scale is None else {"scale": t.scale, "zero_point": t.zero_point}
    return {
        "name": t.name,
        "dtype": dtype_name(t.dtype),
        "shape": t.dims_text,
        "place": _PLACES[t.storage],
        "offset": t.offset,
        "bytes": t.nbytes,
        **grid,
    }


def _about_node(node, extents):
    return {
        "name": node.name,
        "kernel": node.kernel,
        "depth": node.depth,
        "inputs": node.inputs,
        "outputs": node.outputs,
        "scratch": node.scratch,
        "params": _params(node, extents),
        "reads_chunks": node.reads,
    }


def _labels(stored):
    """Return the names of the classes, none if the file has none."""
    chunk = stored.chunk(layout.CHUNK_LABELS)
    return names_in(chunk.data) if chunk else []


def _kind_of(chunk):
    return dict(enumerate(_CHUNK_KINDS)).get(chunk.kind, str(chunk.kind))


def print_file(path: Path) -> None:
    """Print header, chunks, tensors, nodes and the plan of the arena.

    Raises:
        ConvertError: if the file cannot be read.
    """
    data = path.read_bytes()
    stored = read(data)
    kind = "model" if stored.kind == layout.KIND_MODEL else "tensors"
    print(f"{kind}, format {stored.version}, features {stored.features:#x}")
    print(
        f"tables {'intact' if stored.intact else 'DAMAGED'}, arena {stored.arena_nbytes:,} bytes, "
        f"{stored.streamed_nbytes:,} with streamed weights"
    )
    print(f"digest {seal.digest(data).hex()}")
    seal_arguments.print_seal(seal.seal_of(data))
    print("chunks")
    for chunk in stored.chunks:
        kind = _kind_of(chunk)
        state = "intact" if chunk.intact else "DAMAGED"
        state += f", read to {chunk.place}" if chunk.place is not None else ""
        print(f"  {kind:8} at {chunk.offset:8}  {len(chunk.data):8} bytes  {state}")
    print("tensors")
    for i, t in enumerate(map(_about_tensor, stored.tensors)):
        about = f"{t['dtype']} [{t['shape']}]"
        place = f"{t['place']:5} {t['offset']:8}  {t['bytes']:8} bytes"
        print(f"  {i:4} {about:28} {place}  {t['name']}".rstrip() + grid_text(t))
    print(f"inputs   {stored.inputs}\noutputs  {stored.outputs}")
    if labels := _labels(stored):
        print(f"labels   {', '.join(labels)}")
    for i, bound in enumerate(stored.extents.bounds):
        print(f"run-time dim d{i}, at most {bound}")
    if stored.nodes:
        print("nodes")
    for i, node in enumerate(stored.nodes):
        scratch = f" scratch {node.scratch}" if node.scratch else ""
        kernel = "  " * node.depth + node.kernel
        print(f"  {i:4} {kernel:12} {node.inputs} -> {node.outputs}{scratch}  {node.name}")
        reads = f" reads chunks {node.reads}" if node.reads else ""
        print(f"       params {_params(node, stored.extents)}{reads}")
    _print_plan(stored)


def _params(node, extents):
    """Return parameters by name; a list if the kernel is not mpconnxr's or declares others."""

    def shown(i):
        e = extents.places.get(node.place + i)
        return str(node.params[i]) if e is None else extents.expressions[e]

    declared = declaration_of(node.kernel)
    try:
        if declared and node.params:
            return declared.text(node.params, shown)
    except ValueError:
        pass
    return f"[{', '.join(map(shown, range(len(node.params))))}]"


def _print_plan(stored):
    """Print each part of the arena with the steps between which it holds a value."""
    spans: dict[tuple[int, int], list[int]] = {}

    def use(i, step):
        t = stored.tensors[i]
        if t.storage == layout.STORAGE_ARENA:
            span = spans.setdefault((t.offset, t.offset + t.nbytes), [step, step])
            span[1] = step

    for i in stored.inputs:
        use(i, -1)
    for step, node in enumerate(stored.nodes):
        for i in node.inputs + node.outputs + node.scratch:
            use(i, step)
    for i in stored.outputs:
        use(i, len(stored.nodes))
    if spans:
        print("arena: bytes, steps (-1: an input; the last: an output)")
    for (start, end), (first, last) in sorted(spans.items()):
        print(f"  {start:8} to {end:8}  steps {first} to {last}")
