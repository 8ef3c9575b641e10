"""Passes that make a simple graph smaller and faster, one a file; simplify/ made it simple.

A rewrite is a function `rewrite(model: onnx_ir.Model) -> int` that changes the model in place and
returns how many places it changed. What it writes is ONNX: standard operators, or com.microsoft's
fused and quantized ones, so that the result can be saved, drawn and run elsewhere. It gives what
it makes a dtype and a shape (see _graph), and leaves alone what has none.

What is quantized comes before all of them (see qdq): they would tear apart what it looks for.
Layer normalization alone comes first: qdq knows it as one operator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

import onnx
import onnx_ir as ir
from onnx_ir.passes import common as ir_passes

from tools import limits

from .. import aside, verify
from ..context import PLAIN, Context
from ..shapes import infer
from ..shapes.types import all_fixed
from ..simplify import maps
from ..verify.types import interface_of
from . import _graph as g
from . import (
    activations,
    batch_norm,
    column_sums,
    common,
    constants,
    conv_max_pool,
    decays,
    distances,
    duplicates,
    fixed_point,
    gates,
    gemms,
    heads,
    identities,
    last_steps,
    layer_norm,
    pads,
    qdq,
    reshapes,
    residuals,
    scans,
    single_cells,
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
        distances.rewrite,
        unrolled.rewrite,
        single_cells.rewrite,
        last_steps.rewrite,
        transposes_absorbed.rewrite,
        transposes_pushed.rewrite,
        pads.rewrite,
        batch_norm.rewrite,
        column_sums.rewrite,
        constants.rewrite,
        gemms.rewrite,
        residuals.rewrite,
        activations.rewrite,
    ),
}

# What only boards have operators for: not in a model that is saved.
FOR_BOARDS = (
    conv_max_pool.rewrite,
    decays.rewrite,
    heads.rewrite,
    unsigned.rewrite,
    fixed_point.rewrite,
)

# They write operators of com.microsoft, which a quantizer does not know.
FUSING = (residuals.rewrite, activations.rewrite)

_MAX_ROUNDS = 8  # what one rewrite leaves may suit another
# What a bug in a rewrite raises, or a graph whose nodes do not fit together.
_BUGS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class _RewriteError(Exception):
    def __init__(self, rewrite: Rewrite):
        super().__init__()
        self.rewrite = rewrite


def rewrite(
    model: onnx.ModelProto,
    level: int,
    leave_out: Sequence[Rewrite] = (),
    context: Context = PLAIN,
    notes: list[str] | None = None,
    without: Collection[str] = (),
) -> tuple[onnx.ModelProto, dict[str, int]]:
    """Applies the rewrites of all levels up to this one, until none finds anything to do.

    One that raises is left out; notes gets a line that says so. without: names of those that are
    left out anyway, as the log has them. Returns the model, with all types, and by name of a
    rewrite how many places it changed.
    """
    notes = [] if notes is None else notes
    chosen = [one for at in sorted(LEVELS) if at <= level for one in LEVELS[at]]
    chosen = [one for one in chosen if one not in leave_out and _name_of(one) not in without]
    log: Counter[str] = Counter()
    if chosen and "qdq" not in without:
        model, log = _norms_found(model, chosen, context, notes)
        try:
            model, log["qdq"] = qdq.integers(model, context)
        except _BUGS as e:
            notes.append(_left_out("qdq", e))
    done, more = _rounds(model, chosen, context, notes)
    return done, dict(+(log + more))


def level_without(name: str) -> int:
    """Return the highest level of --optimize that leaves the rewrite of a name out."""
    always = {"qdq", *map(_name_of, LEVELS[1])}  # of each level but 0
    return 0 if name in always else 1


def _norms_found(model, chosen, context, notes):
    """The model with layer normalization in the place of its parts: qdq looks for it."""
    is_meant = layer_norm.rewrite in chosen and qdq.is_quantized(model)
    if not is_meant or not any(node.op_type == "Sqrt" for node in model.graph.node):
        return model, Counter()
    return _rounds(model, [layer_norm.rewrite], context, notes)


def for_boards(
    model: onnx.ModelProto,
    level: int,
    context: Context = PLAIN,
    notes: list[str] | None = None,
    leave_out: Sequence[Rewrite] = (),
) -> tuple[onnx.ModelProto, dict[str, int]]:
    """The same with what only boards have operators for."""
    notes = [] if notes is None else notes
    chosen = [one for one in FOR_BOARDS if level > 1 and one not in leave_out]
    done, log = _rounds(model, chosen, context, notes)
    return done, dict(log)


def _rounds(model, chosen, context, notes):
    """The model itself if nothing is found to do."""
    chosen = list(chosen)
    while True:
        try:
            return _all_of(model, chosen, context)
        except _RewriteError as e:  # it may have changed half of what it wanted to: once more
            chosen.remove(e.rewrite)
            notes.append(_left_out(_name_of(e.rewrite), e.__cause__))


def _left_out(name, error):
    return (
        f"rewrite {name} left out, it failed ({type(error).__name__}: {error}); the model is "
        "right without it, but may be slower: please report this with the model"
    )


def _name_of(rewrite):
    return rewrite.__module__.rpartition(".")[2]


def _all_of(model, chosen, context):
    log: Counter[str] = Counter()
    if not chosen:
        return model, log
    proto, taken = maps.set_aside(model)
    changed = aside.to_ir(proto)
    g.import_into_bodies(changed)
    for _ in range(_MAX_ROUNDS):
        before = log.total()
        for one in chosen:
            log[_name_of(one)] += _applied(one, changed, proto)
        if log.total() == before:
            break
    if not log.total():
        return model, log
    done = maps.put_back(_as_message(changed), taken)
    if not all_fixed(done.graph):  # else the rewrites have said all that there is
        del done.graph.value_info[:]
        done = infer.infer(done, context)
    return done, +log


def _as_message(model: ir.Model) -> onnx.ModelProto:
    _import_domains(model)
    g.name_apart(model)
    return aside.from_ir(model)


def _applied(one: Rewrite, model: ir.Model, given: onnx.ModelProto) -> int:
    """Applies one; what it has left without a reader goes. Raises InternalError.

    given: the model as it was before all rewrites.
    """
    name = _name_of(one)
    limits.at(f"rewriting the graph ({name})")
    before = interface_of(model.graph)
    try:
        n_changed = one(model)
    except _BUGS as e:
        raise _RewriteError(one) from e
    if n_changed:
        ir_passes.RemoveUnusedNodesPass()(model)
        g.sort(model.graph)
        verify.check_graph(model.graph, name, level_without(name))
        if verify.is_thorough():
            made, level = _as_message(model), level_without(name)
            verify.check_types(made, given, name, level, before)
    return n_changed


def _import_domains(model: ir.Model) -> None:
    for node in model.graph.all_nodes():
        model.opset_imports.setdefault(node.domain, 1)
