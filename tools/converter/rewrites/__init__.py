"""Run rewrites: passes that make a simple graph smaller and faster, one a file.

Which rewrites there are, and in which order they run, stands in ../pipeline.py alone. A rewrite is
a function `rewrite(model: onnx_ir.Model) -> int` that changes the model in place and returns how
many places it changed. It writes ONNX: standard operators, or com.microsoft's fused and quantized
ones, so that the result can be saved, drawn and run elsewhere. It gives each new value a dtype and
a shape (see _graph), and does not touch values that have none.

Quantized regions come before all others (see qdq), which would tear apart what it matches. Only
layer normalization comes earlier: qdq matches it as one operator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import onnx
import onnx_ir as ir
from onnx_ir.passes import common as ir_passes

from tools import limits

from .. import ir_weights, verify
from ..context import PLAIN, Context
from ..shapes import infer
from ..shapes.types import all_fixed
from ..simplify import maps
from ..verify.types import interface_of
from . import _graph as g

MOST_ROUNDS = 8  # what one rewrite leaves may suit another
# What a bug in a rewrite raises, or a graph whose nodes do not fit together.
_BUGS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)

Log = Counter[str]  # number of places changed, by name of the rewrite


@dataclass(frozen=True)
class Rewrite:
    """One rewrite of the pipeline's list.

    Attributes:
        apply: the function (see the module); qdq's takes (onnx.ModelProto, Context) instead, and
            returns the changed model beside the number of places.
        level: lowest level of --optimize that runs it. Level 0 changes nothing, level 1 no
            number, level 2 the rounding of floats only.
        first_on: returns True for models on which it runs alone, before the rounds; None for a
            rewrite that runs in rounds with the others.
        is_fusing: it writes operators of com.microsoft, which a quantizer does not know.
        skips_expanded: it does not run where operators are expanded (see Context.expands).
        title: its name in the pipeline's list, if that differs from its file's.
    """

    apply: Callable[..., Any]
    level: int = 2
    first_on: Callable[[onnx.ModelProto], bool] | None = None
    is_fusing: bool = False
    skips_expanded: bool = False
    title: str = ""

    @property
    def module(self) -> str:
        """The name of its file, by which logs and notes call it."""
        return self.apply.__module__.rpartition(".")[2]

    @property
    def name(self) -> str:
        """Its name in the pipeline's list."""
        return self.title or self.module


class _RewriteError(Exception):
    def __init__(self, rewrite: Rewrite):
        super().__init__()
        self.rewrite = rewrite


def select(
    rewrites: Sequence[Rewrite],
    level: int,
    context: Context = PLAIN,
    without: Collection[str] = (),
) -> list[Rewrite]:
    """Return the rewrites of a group that run.

    Args:
        rewrites: the group, in order.
        level: level of --optimize.
        context: context of the conversion.
        without: files whose rewrites are excluded. Without qdq, none runs before the rounds.
    """
    return [
        one
        for one in rewrites
        if one.level <= level
        and one.module not in without
        and not (one.first_on and "qdq" in without)
        and not (one.skips_expanded and context.expands)
    ]


def run(
    model: onnx.ModelProto,
    rewrites: Sequence[Rewrite],
    context: Context = PLAIN,
    notes: list[str] | None = None,
    n_rounds: int = MOST_ROUNDS,
) -> tuple[onnx.ModelProto, dict[str, int]]:
    """Apply rewrites: first those that run alone, then all others in rounds until nothing changes.

    Args:
        model: the model, with all types; not changed.
        rewrites: the rewrites, in order.
        context: context of the conversion.
        notes: gets a line for each rewrite that is omitted because it raised an error.
        n_rounds: the most rounds.

    Returns:
        The rewritten model, with all types (the same object if nothing changed), and the number of
        changed places by name of a rewrite's file.
    """
    notes = [] if notes is None else notes
    log: Log = Counter()
    for one in rewrites:
        if one.first_on is not None and one.first_on(model):
            model, more = _run_first(one, model, context, notes)
            log += more
    in_rounds = [one for one in rewrites if one.first_on is None]
    model, more = _run_rounds(model, in_rounds, context, notes, n_rounds)
    return model, dict(+(log + more))


def _run_first(one, model, context, notes):
    """Apply a rewrite that runs alone.

    Args:
        one: the rewrite.
        model: the model.
        context: context of the conversion.
        notes: gets a line if the rewrite raises an error; it then changes nothing.

    Returns:
        The rewritten model and a Counter of changed places.
    """
    if one.module != "qdq":
        return _run_rounds(model, [one], context, notes)
    try:
        model, n_changed = one.apply(model, context)
    except _BUGS as e:
        notes.append(_omitted(one, e))
        return model, Counter()
    return model, Counter({one.module: n_changed})


def _run_rounds(model, rewrites, context, notes, n_rounds=MOST_ROUNDS):
    """Apply rewrites in rounds, and exclude any that raises an error; see `run`."""
    rewrites = list(rewrites)
    while True:
        try:
            return _run_all(model, rewrites, context, n_rounds)
        except _RewriteError as e:  # it may have left a change half done: start again without it
            rewrites.remove(e.rewrite)
            notes.append(_omitted(e.rewrite, e.__cause__))


def _omitted(one, error):
    return (
        f"rewrite {one.module} left out, it failed ({type(error).__name__}: {error}); the model "
        "is right without it, but may be slower: please report this with the model"
    )


def _run_all(model, rewrites, context, n_rounds):
    """Apply rewrites in rounds; see `run`. Raises _RewriteError if one of them raises."""
    log: Log = Counter()
    if not rewrites:
        return model, log
    proto, taken = maps.remove_maps(model)
    changed = ir_weights.to_ir(proto)
    g.import_into_bodies(changed)
    for _ in range(n_rounds):
        before = log.total()
        for one in rewrites:
            log[one.module] += _apply(one, changed, proto)
        if log.total() == before:
            break
    if not log.total():
        return model, log
    rewritten = maps.restore_maps(_as_message(changed), taken)
    if not all_fixed(rewritten.graph):  # else the rewrites have declared all types
        del rewritten.graph.value_info[:]
        rewritten = infer.infer(rewritten, context)
    return rewritten, +log


def _as_message(model: ir.Model) -> onnx.ModelProto:
    for node in model.graph.all_nodes():
        model.opset_imports.setdefault(node.domain, 1)
    g.name_apart(model)
    return ir_weights.from_ir(model)


def _apply(one: Rewrite, model: ir.Model, original: onnx.ModelProto) -> int:
    """Apply a rewrite, remove nodes that nobody reads then, and verify the graph.

    Args:
        one: the rewrite.
        model: the model to change.
        original: the model as it was before all rewrites.

    Returns:
        The number of places changed.

    Raises:
        InternalError: if the graph is invalid afterwards.
        _RewriteError: if the rewrite raised an error.
    """
    limits.at(f"rewriting the graph ({one.module})")
    before = interface_of(model.graph)
    try:
        n_changed = one.apply(model)
    except _BUGS as e:
        raise _RewriteError(one) from e
    if n_changed:
        ir_passes.RemoveUnusedNodesPass()(model)
        g.sort(model.graph)
        verify.check_graph(model.graph, one.module, one.level - 1)
        if verify.is_thorough():
            made = _as_message(model)
            verify.check_types(made, original, one.module, one.level - 1, before)
    return n_changed
