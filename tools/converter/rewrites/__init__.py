"""Passes that make a simple graph smaller and faster, one a file; simplify/ made it simple.

A rewrite is a function `rewrite(model: onnx_ir.Model) -> int` that changes the model in place and
returns how many places it changed. What it writes is ONNX: standard operators, or com.microsoft's
fused and quantized ones, so that the result can be saved, drawn and run elsewhere. It gives what
it makes a dtype and a shape (see _graph), and leaves alone what has none.

What is quantized comes before all of them (see qdq): they would tear apart what it looks for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import onnx
import onnx_ir as ir
from onnx_ir.passes import common as ir_passes

from tools import limits

from ..context import PLAIN, Context
from ..errors import ConvertError
from ..shapes import infer
from ..shapes.types import all_fixed
from ..simplify import maps
from . import (
    activations,
    batch_norm,
    common,
    constants,
    conv_max_pool,
    duplicates,
    gates,
    gemms,
    identities,
    layer_norm,
    pads,
    qdq,
    reshapes,
    residuals,
    scans,
    transposes,
    transposes_absorbed,
    transposes_pushed,
    unrolled,
    unsigned,
)

Rewrite = Callable[[ir.Model], int]

# By level of --optimize, in order; a level includes those below it. Level 0 changes nothing,
# level 1 no number, level 2 the rounding of floats only.
LEVELS: Mapping[int, Sequence[Rewrite]] = {
    1: (
        duplicates.rewrite,
        identities.rewrite,
        reshapes.rewrite,
        transposes.rewrite,
        common.rewrite,
    ),
    2: (
        layer_norm.rewrite,
        gates.rewrite,
        scans.rewrite,
        unrolled.rewrite,
        transposes_absorbed.rewrite,
        transposes_pushed.rewrite,
        pads.rewrite,
        batch_norm.rewrite,
        constants.rewrite,
        gemms.rewrite,
        residuals.rewrite,
        activations.rewrite,
    ),
}

# What only boards have operators for: not in a model that is saved.
FOR_BOARDS = (conv_max_pool.rewrite, unsigned.rewrite)

# They write operators of com.microsoft, which a quantizer does not know.
FUSING = (residuals.rewrite, activations.rewrite)

_MAX_ROUNDS = 8  # what one rewrite leaves may suit another


def rewrite(
    model: onnx.ModelProto,
    level: int,
    leave_out: Sequence[Rewrite] = (),
    context: Context = PLAIN,
) -> tuple[onnx.ModelProto, dict[str, int]]:
    """Applies the rewrites of all levels up to this one, until none finds anything to do.

    Returns the model, with all types, and by name of a rewrite how many places it changed.
    """
    chosen = [one for at in sorted(LEVELS) if at <= level for one in LEVELS[at]]
    chosen = [one for one in chosen if one not in leave_out]
    log: Counter[str] = Counter()
    if chosen:
        model, log["qdq"] = qdq.integers(model, context)
    done, more = _rounds(model, chosen, context)
    return done, dict(+(log + more))


def for_boards(
    model: onnx.ModelProto, level: int, context: Context = PLAIN
) -> tuple[onnx.ModelProto, dict[str, int]]:
    """The same with what only boards have operators for."""
    done, log = _rounds(model, FOR_BOARDS if level > 1 else (), context)
    return done, dict(log)


def _rounds(model, chosen, context):
    """The model itself if nothing is found to do."""
    log: Counter[str] = Counter()
    if not chosen:
        return model, log
    proto, aside = maps.set_aside(model)
    changed = ir.from_proto(proto)
    for _ in range(_MAX_ROUNDS):
        before = log.total()
        for one in chosen:
            log[one.__module__.rpartition(".")[2]] += _applied(one, changed)
        if log.total() == before:
            break
    if not log.total():
        return model, log
    _import_domains(changed)
    done = maps.put_back(ir.to_proto(changed), aside)
    if not all_fixed(done.graph):  # else the rewrites have said all that there is
        del done.graph.value_info[:]
        done = infer.infer(done, context)
    return done, +log


def _applied(one: Rewrite, model: ir.Model) -> int:
    """Applies one; what it has left without a reader goes."""
    limits.at(f"rewriting the graph ({one.__module__.rpartition('.')[2]})")
    try:
        n_changed = one(model)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as e:
        name = one.__module__.rpartition(".")[2]
        raise ConvertError(
            f"the model's nodes do not fit together (rewrite {name}: {type(e).__name__}: {e}); "
            "--optimize 0 leaves them as they are"
        ) from e
    if n_changed:
        ir_passes.RemoveUnusedNodesPass()(model)
    return n_changed


def _import_domains(model: ir.Model) -> None:
    for node in model.graph.all_nodes():
        model.opset_imports.setdefault(node.domain, 1)
