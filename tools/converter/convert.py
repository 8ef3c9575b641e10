"""The whole way from an .onnx to the bytes of model.bin."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import onnx
from onnx import checker, shape_inference
from onnx_ir import serde

from tools import seal
from tools.format import layout
from tools.limits import at

from . import load, lower, own, plan, protos, quantize, rewrites
from .errors import ConvertError, Finding, Problem, UnsupportedModel, UsageError
from .file import borders, loads
from .file.source import source_chunk
from .ir import Graph, dtype_name, walk
from .load import missing, sound
from .lower import inner
from .numbers import narrow, precision, qtables, ranges
from .plan import slices, state, stream
from .quantize.settings import Settings
from .reference import given, golden, ort_session
from .rewrites import qdq
from .shapes import dims, extent, infer_extents, limits
from .simplify import keep, sequences, simplify


@dataclass
class Options:
    """What the command line can say.

    shapes: dims by input; sequences: the elements' dims by input that is a sequence or optional;
    dims: values by symbolic name; bind: arrays by input; strip: no names, source or golden vector
    in the file; golden: inputs of the golden vector (None: random ones); bounds: the most items
    that there can be of what a run decides, by name of a value; ops: folder of the user's own
    operators; allow_domains: domains that it may serve; optimize: level of the rewrites, 0 to 2,
    at 0 the device computes every operator (see simplify/keep);
    float: exact or fast16 (block floating point), or python, for products of float32;
    quantize: how to make integers of a float model; images: inputs that take pictures, by name;
    state: the output, by input, that the next run finds in it; inner: values that are outputs
    too, behind the model's own, where the rewrites leave them; window: most bytes of weights that
    a board which streams them has in memory at one time; arena: bytes that it may have; weights:
    what those of products are rounded to; seal: what to seal the file with.
    """

    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    sequences: Mapping[str, Sequence[Sequence[int]]] = field(default_factory=dict)
    dims: Mapping[str, int] = field(default_factory=dict)
    bind: Mapping[str, np.ndarray] = field(default_factory=dict)
    keep_inputs: bool = False
    strip: bool = False
    golden: Sequence[np.ndarray] | None = None
    bounds: Mapping[str, int] = field(default_factory=dict)
    ops: Path | None = None
    allow_domains: Sequence[str] = field(default_factory=list)
    optimize: int = 2
    float: str = "exact"
    quantize: Settings | None = None
    images: Mapping[str, borders.Image] = field(default_factory=dict)
    state: Mapping[str, str] = field(default_factory=dict)
    inner: Collection[str] = ()
    window: int | None = None
    arena: int | None = None
    weights: str = "f32"
    seal: seal.Request | None = None


@dataclass
class Converted:
    """data: the file; graph, plan: what is in it; notes: choices made for the user.

    log: by name of a rewrite, how many places it changed; model: what the rewrites made;
    quantized: what --quantize did; narrowed: what --weights cost, by layer.
    """

    data: bytes
    graph: Graph
    plan: plan.Plan
    notes: list[str]
    nodes_before: int
    model: onnx.ModelProto
    log: dict[str, int] = field(default_factory=dict)
    quantized: quantize.Outcome | None = None
    narrowed: Sequence[narrow.Row] = ()

    def report(self) -> dict:
        """The figures of the conversion; sizes in bytes."""
        graph = self.graph
        weights = {t.root for t in graph.tensors() if t.root.data is not None}
        scratch = [sum(t.nbytes for t in step.scratch) for step in walk(graph.steps)]
        return {
            "nodes": self.nodes_before,
            "nodes_simplified": graph.nodes_after,
            "steps": sum(1 for _ in walk(graph.steps)),
            "macs": sum(step.total_macs for step in graph.steps),
            "file_bytes": len(self.data),
            "weight_bytes": sum(t.nbytes or t.stored_nbytes for t in weights),
            "arena_bytes": self.plan.arena_bytes,
            "arena_lower_bound_bytes": self.plan.lower_bound_bytes,
            "streamed_arena_bytes": graph.weights.streamed_nbytes,
            "window_bytes": graph.weights.window_nbytes,
            "held_bytes": graph.weights.held_nbytes,
            "scratch_bytes": max(scratch, default=0),
            "state_bytes": self.plan.state_bytes,
            "inputs": [_describe(t) for t in graph.inputs],
            "outputs": [_describe(t) for t in graph.outputs],
            "rewrites": self.log,
            "layers": [asdict(row) for row in self.narrowed],
            "sha256": seal.digest(self.data).hex(),
            "notes": self.notes,
        }


def _describe(t):
    shape = [str(d) if extent.is_open(d) else d for d in t.shape]
    return {"name": t.name, "dtype": dtype_name(t.dtype), "shape": shape}


# What the libraries raise, wherever they meet what no checker saw.
_INVALID = (checker.ValidationError, shape_inference.InferenceError, serde.SerdeError)


def convert(source: Path | onnx.ModelProto, options: Options | None = None) -> Converted:
    """Converts a model. Raises ConvertError (UnsupportedModel names every reason at once)."""
    options = options or Options()
    try:
        with own.operators(options.ops, options.allow_domains):
            return _convert(source, options)
    except _INVALID as e:
        while e.__cause__:
            e = e.__cause__
        text = " ".join(str(e).split())
        raise ConvertError(f"the model breaks ONNX's rules: {text}") from e


def _convert(source, options):
    read = _read(source)
    notes = missing.not_allowed(read)  # while it still has its functions
    model = load.prepare(read)
    nodes_before = len(model.graph.node)
    notes += _fix_shapes(model, options)
    infer_extents.set_bounds(model, options.bounds)
    limits.note_declared(model)
    if options.optimize == 0:
        keep.keep_operators(model)
    fixed, doubt = model, sound.check_growth(model)
    twin = dims.twin_of(model)
    simplified = simplify(model)
    infer_extents.check_bounds(options.bounds, model, simplified)
    sound.check_scales(simplified)
    quantized = None
    if options.quantize:
        at("quantizing the model")
        if twin:
            raise UsageError("--quantize needs inputs of fixed shapes: --dim instead of --bound")
        simplified, quantized = _quantized(simplified, options)
        model = simplified  # what the golden vector is to be compared with
        notes += quantized.notes
    if options.golden is not None:
        fitting = given.checked(simplified, options.golden, options.state)
        options = replace(options, golden=fitting)
    rewritten, log = rewrites.rewrite(simplified, options.optimize)
    notes += qdq.notes(rewritten) if options.optimize else []
    narrowed: Sequence[narrow.Row] = ()
    if options.weights != "f32":
        rewritten, narrowed = _narrowed(rewritten, options)
        model = rewritten  # what the golden vector is to be compared with
        if not narrowed:
            notes.append(f"--weights {options.weights}: no product has float weights to round")
    floats = _lossy(rewritten, options)
    long: Sequence[str] = ()
    if options.float == "fast16":
        short = ranges.Short(options.golden is not None)
        long = _lossy(rewritten, options, short, floats)
    exposed = inner.expose(rewritten, options.inner)
    for_boards, more = rewrites.for_boards(exposed, options.optimize)
    with precision.use(options.float, floats, narrow.BITS[options.weights], long):
        graph = lower.lower(for_boards, _prepared(twin, options))
    notes += precision.notes(graph, options.float, floats, long)
    if options.float == "fast16" and not ranges.is_known(rewritten):
        notes.append("--float fast16: what it costs is not known, as a run decides shapes")
    if options.weights == "f16":
        narrow.mark_halves(graph)
    state.carry(graph, options.state)
    if options.window is not None:
        slices.split(graph, options.window)
    qtables.pack(graph)
    if doubt:
        ort_session.confirm(fixed, doubt)
    at("planning the arena")
    arena = plan.plan(graph, options.keep_inputs, limit=options.arena)
    if arena.macs_again:
        notes.append(f"--arena: {arena.macs_again:,} multiply-accumulates are computed again")
    stream.arrange(graph, arena, options.window, own.kernels_in(options.ops))
    extra = _borders(simplified, graph, options)
    extra += [] if options.strip else _for_people(source, model, graph, options, notes)
    at("writing the file")
    data = layout.model_bytes(graph, arena.arena_bytes, extra)
    if options.seal:
        data = seal.sealed(data, options.seal.keys, options.seal.counter)
    notes += loads.check(data, graph, options.ops)
    log |= more
    return Converted(data, graph, arena, notes, nodes_before, rewritten, log, quantized, narrowed)


def _prepared(twin, options):
    """The twin as far as lowering, by the same way as the model."""
    if twin is None:
        return None
    rewritten, _ = rewrites.rewrite(simplify(twin), options.optimize)
    if options.weights != "f32":
        rewritten, _ = _narrowed(rewritten, options)
    return rewrites.for_boards(inner.expose(rewritten, options.inner), options.optimize)[0]


def _lossy(model, options, rounding=None, but=()):
    """Names of nodes that the products' rounding is not for: see ranges."""
    if options.float == "python" or not ranges.is_known(model):
        return []
    seeds = range(1 if options.golden is not None else _N_SAMPLES)
    samples = [narrow.sample_of(model, options.golden, options.state, seed) for seed in seeds]
    return ranges.lossy(model, samples, rounding, but)


def _read(source):
    if not isinstance(source, onnx.ModelProto):
        return load.read(source)
    copy = onnx.ModelProto()
    copy.CopyFrom(source)
    protos.make_printable(copy)
    return copy


_N_SAMPLES = 3  # random ones, where there is no golden vector to look at
_FREE = "fix it with --shape NAME=... or --dim NAME=N, or --bound NAME=MOST lets each run decide"


def _fix_shapes(model, options):
    """Gives every input a shape; returns notes on what was chosen."""
    sequences.split_inputs(model, options.sequences)
    notes = dims.fix(model, options.shapes, options.dims, options.bind, options.bounds)
    problem = Problem("a free dimension", _FREE)
    found = [Finding("input", text, problem) for text in dims.open_dims(model)]
    if found:
        unknown = Problem("no node computes this value, and no input has this dim")
        for name in infer_extents.unknown_bounds(options.bounds, model):
            found.append(Finding("--bound", name, unknown))
        raise UnsupportedModel(found + missing.operators(model))
    return notes


def _narrowed(model, options):
    """The model with weights of fewer bits, and what that cost each layer."""
    if options.float != "exact":
        raise UsageError(f"--weights {options.weights} is for --float exact")
    sample = narrow.sample_of(model, options.golden, options.state)
    bits, halves = narrow.BITS[options.weights], options.weights == "f16"
    return narrow.narrow(model, bits, sample, halves)


def _quantized(model, options):
    """The model with integers in it, its float layers merged before, and what that cost."""
    merged, _ = rewrites.rewrite(model, options.optimize, leave_out=rewrites.FUSING)
    return quantize.quantize(merged, options.quantize)


def _borders(model, graph, options):
    """Chunks that a board needs to feed the model; model: before its operators were merged."""
    grids = borders.grids_chunk(model, graph)
    images = borders.images_chunk(options.images, graph)
    chunks = [(layout.CHUNK_GRIDS, grids), (layout.CHUNK_IMAGES, images)]
    return [chunk for chunk in chunks if chunk[1]]


def _for_people(origin, model, graph, options, notes):
    """The optional chunks: names, source, golden vector."""
    names = layout.names_chunk(t.name for t in graph.inputs + graph.outputs)
    nodes = layout.names_chunk(step.node for step in walk(graph.steps))
    chunks = [(layout.CHUNK_NAMES, names), (layout.CHUNK_NODES, nodes)]
    chunks.append((layout.CHUNK_SOURCE, source_chunk(origin, model)))
    if any(t.is_object for t in graph.inputs + graph.outputs):
        notes.append("no golden vector: it holds numbers, the model has strings or maps")
        return chunks
    if any(t.is_open for t in graph.inputs + graph.outputs):
        notes.append("no golden vector: each run decides the shape of an input or output")
        return chunks
    inputs = golden.random_inputs(graph) if options.golden is None else options.golden
    outputs = golden.reference(model, inputs, options.state)
    if outputs is None:
        why = golden.why_none(model, inputs, options.state)
        notes.append(f"no golden vector: {why}")
    else:
        chunks.append((layout.CHUNK_GOLDEN, golden.chunk(inputs, outputs)))
    return chunks
