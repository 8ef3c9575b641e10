"""Import an .onnx, or a model in memory: the first pass of pipeline.py."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx

from .. import own
from ..context import Context
from ..conversion import Conversion
from ..errors import Finding, Problem, UnsupportedModel
from ..protos import copied, make_printable, opset_of
from ..shapes import declarations, dims
from ..shapes.infer_extents import unknown_bounds
from ..simplify import keep, sequences
from . import missing, old_axes, prepare, read, single, sound

_FREE = "fix it with --shape NAME=... or --dim NAME=N, or --bound NAME=MOST lets each run decide"


def load(state: Conversion) -> None:
    """Read and check the model, upgrade old opsets, inline functions, fix the inputs' shapes.

    Raises:
        ConvertError: if the file is damaged or breaks ONNX's rules.
        UnsupportedModel: for faults that can be found before shapes are inferred.
    """
    options = state.options
    operators = own.operators(options.ops, options.allow_domains)
    imported = _read(state.source)
    state.notes += missing.not_allowed(imported, operators)  # while it still has its functions
    state.declared = declarations.inner_types(imported)
    declared = declarations.of_outputs(imported)
    model = prepare(imported, operators)
    del imported  # it may be large
    state.nodes_before = len(model.graph.node)
    _fix_shapes(state, model, operators)
    old_axes.count_from_front(model, opset_of(model, ""))
    if options.float64 == "float32" and single.has_doubles(model):
        state.notes.append(_in_single(state, model))
    keeps = options.optimize == 0
    expands = options.quantize is not None or options.float == "python"
    declared |= declarations.of_outputs(model)  # with the dims that are fixed now
    state.context = Context(operators, options.bounds, declared, keeps, expands)
    if keeps:
        keep.declare(model)
    if options.quantize is None and options.weights == "f32":  # others compute with all weights
        model = state.weights.with_placeholders(model)
    state.loaded = state.answers = model
    state.model = declarations.without_outputs(model)
    state.doubt = sound.check_growth(model)
    state.twin = dims.twin_of(model)


def _read(source):
    if not isinstance(source, onnx.ModelProto):
        return read(source)
    copy = onnx.ModelProto()
    copy.CopyFrom(source)
    make_printable(copy)
    return copy


def _in_single(state, model):
    """Convert float64 to float32, also in golden inputs; return a note on the loss."""
    before = copied(model)
    single.make_single(model)
    for option in ("golden", "expect"):
        if arrays := getattr(state.options, option):
            arrays = [x.astype(np.float32) if x.dtype == np.float64 else x for x in arrays]
            state.options = replace(state.options, **{option: arrays})
    return f"float64 becomes float32 (--float64 keep leaves it): {single.cost(before, model)}"


def _fix_shapes(state, model, operators):
    """Give every input a shape, and note the choices that were made."""
    options = state.options
    sequences.split_inputs(model, options.sequences)
    state.notes += dims.fix(model, options.shapes, options.dims, options.bind, options.bounds)
    sound.check_memory(model)
    problem = Problem("a free dimension", _FREE)
    findings = [Finding("input", text, problem) for text in dims.open_dims(model)]
    if findings:
        unknown = Problem("no node computes this value, and no input has this dim")
        for name in unknown_bounds(options.bounds, model):
            findings.append(Finding("--bound", name, unknown))
        raise UnsupportedModel(findings + missing.operators(model, Context(operators)))
