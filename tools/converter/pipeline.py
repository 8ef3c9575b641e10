"""The pipeline: every pass of a conversion, in order, with its phase and its condition.

`convert.py` runs PASSES; `mpconnxr convert --passes` prints them. A pass is a function that takes
the Conversion and adds to it; what it does stands in the first line of its docstring. A group is a
pass that applies rewrites (see rewrites/): some once and first, the others in rounds until none
changes anything. What a pass computes with is never decided here.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import onnx

from . import rewrites
from .context import PLAIN, Context
from .conversion import Conversion
from .errors import UsageError
from .file.stage import write
from .load.stage import load
from .lower.stage import expose_values, lower
from .numbers.stage import choose_precision, measure_ranges, round_weights, split_ranges
from .plan.stage import carry_states, plan_arena, plan_weights, split_weights
from .quantize.stage import merge_layers, name_floats, quantize, take_samples
from .rewrites import (
    MOST_ROUNDS,
    Rewrite,
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
from .rewrites.stage import rewrite, rewrite_for_boards
from .simplify.stage import simplify


@dataclass(frozen=True)
class Condition:
    """When a pass runs.

    Attributes:
        text: the condition for people.
        holds: returns True if a conversion, which all earlier passes have changed, meets it.
    """

    text: str
    holds: Callable[[Conversion], bool]


ALWAYS = Condition("", lambda state: True)
_LEVEL_1 = Condition("--optimize 1, 2", lambda state: state.options.optimize >= 1)
_LEVEL_2 = Condition("--optimize 2", lambda state: state.options.optimize >= 2)
_QUANTIZING = Condition("--quantize", lambda state: state.options.quantize is not None)
_SAMPLES = Condition(
    "--golden, --expect",
    lambda state: not (state.options.golden is None and state.options.expect is None),
)
_WEIGHTS = Condition("--weights", lambda state: state.options.weights != "f32")
_SPLIT = Condition("if there are any", lambda state: bool(state.lossy.refinements))
_BOARDS = Condition("--optimize 2; for boards alone", _LEVEL_2.holds)
_INNER = Condition("mpconnxr run --layers", lambda state: bool(state.options.inner))
_WINDOW = Condition("--window", lambda state: state.options.window is not None)


@dataclass(frozen=True)
class Pass:
    """One entry of the pipeline.

    Attributes:
        run: the function, which takes the conversion and `uses`; a group's also takes `group` and
            `n_rounds`.
        phase: import, normalize, quantize, optimize, lower, plan or emit.
        condition: when it runs.
        members: the rewrites of a group, in order.
        n_rounds: the most rounds of a group.
        changes: "dtypes" or "outputs" of the model, which no other pass may change.
        uses: more arguments of the function.
    """

    run: Callable[..., None]
    phase: str
    condition: Condition = ALWAYS
    members: tuple[Rewrite, ...] = ()
    n_rounds: int = MOST_ROUNDS
    changes: str = ""
    uses: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The function's name."""
        return self.run.__name__

    def __call__(self, state: Conversion) -> None:
        """Run the pass.

        Args:
            state: the conversion, which gets the pass's results.

        Raises:
            ConvertError: if the model cannot be converted.
        """
        group = {"group": self.members, "n_rounds": self.n_rounds} if self.members else {}
        self.run(state, **self.uses, **group)


# Before the rounds: they would tear apart what these match.
_FIRST = (
    Rewrite(layer_norm.rewrite, first_on=qdq.may_have_norms, title="quantized_norms"),
    Rewrite(qdq.rewrite, level=1, first_on=qdq.is_quantized),
)
_IN_ROUNDS = (
    Rewrite(duplicates.rewrite, level=1),
    Rewrite(identities.rewrite, level=1),
    Rewrite(reshapes.rewrite, level=1),
    Rewrite(transposes.rewrite, level=1),
    Rewrite(common.rewrite, level=1),
    Rewrite(layer_norm.rewrite),
    Rewrite(gates.rewrite),
    Rewrite(scans.rewrite),
    Rewrite(distances.rewrite),
    Rewrite(unrolled.rewrite),
    Rewrite(single_cells.rewrite),
    Rewrite(last_steps.rewrite),
    Rewrite(transposes_absorbed.rewrite),
    Rewrite(transposes_pushed.rewrite),
    Rewrite(pads.rewrite),
    Rewrite(batch_norm.rewrite),
    Rewrite(column_sums.rewrite),
    Rewrite(constants.rewrite),
    Rewrite(gemms.rewrite),
    Rewrite(residuals.rewrite, is_fusing=True),
    Rewrite(activations.rewrite, is_fusing=True),
)
# Operators that only boards have: a saved model does not get them.
_FOR_BOARDS = (
    Rewrite(conv_max_pool.rewrite),
    Rewrite(decays.rewrite),
    Rewrite(heads.rewrite, skips_expanded=True),
    Rewrite(unsigned.rewrite),
    Rewrite(fixed_point.rewrite),
)

PASSES = (
    Pass(load, "import"),
    Pass(simplify, "normalize"),
    Pass(merge_layers, "quantize", _QUANTIZING, uses={"group": (*_FIRST, *_IN_ROUNDS)}),
    Pass(quantize, "quantize", _QUANTIZING, changes="dtypes"),
    Pass(take_samples, "quantize", _SAMPLES),
    Pass(
        rewrite,
        "optimize",
        _LEVEL_1,
        members=(*_FIRST, *_IN_ROUNDS),
        uses={"for_boards": _FOR_BOARDS},
    ),
    Pass(name_floats, "optimize", _QUANTIZING),
    Pass(round_weights, "optimize", _WEIGHTS),
    Pass(measure_ranges, "optimize"),
    Pass(split_ranges, "optimize", _SPLIT),
    Pass(choose_precision, "optimize"),
    Pass(expose_values, "optimize", _INNER, changes="outputs"),
    Pass(rewrite_for_boards, "optimize", _BOARDS, members=_FOR_BOARDS),
    Pass(lower, "lower"),
    Pass(carry_states, "plan"),
    Pass(split_weights, "plan", _WINDOW),
    Pass(plan_arena, "plan"),
    Pass(plan_weights, "plan"),
    Pass(write, "emit"),
)
_WITH_MODEL = ("import", "normalize", "quantize", "optimize")  # phases that leave an ONNX model


def passes_until(name: str) -> tuple[Pass, ...]:
    """Return the passes up to one that leaves an ONNX model.

    Args:
        name: of a pass, or of a member of a group. A member that runs in rounds is the last one of
            the first round.

    Raises:
        UsageError: if no pass has this name, or none that leaves an ONNX model.
    """
    for i, one in enumerate(PASSES):
        members = [member.name for member in one.members]
        if name not in (one.name, *members):
            continue
        if one.phase not in _WITH_MODEL:
            raise UsageError(
                f"--save-after {name}: after pass lower there is no ONNX model any more, only "
                "steps of kernels: name an earlier pass"
            )
        if name in members:
            some = one.members[: members.index(name) + 1]
            one = replace(one, members=some, n_rounds=1)
        return (*PASSES[:i], one)
    names = [n for one in PASSES if one.phase in _WITH_MODEL for n in _names_of(one)]
    raise UsageError(f"--save-after {name}: there is no such pass; choose of {', '.join(names)}")


def _names_of(one):
    return [one.name, *(member.name for member in one.members)]


def missing_options(one: Pass, name: str, state: Conversion) -> str:
    """Return the options without which a pass does not run, or a member of it.

    Args:
        one: the last pass of `passes_until`.
        name: name of the pass or the member.
        state: the conversion before it.

    Returns:
        The options, or "" if the pass runs.
    """
    if not one.condition.holds(state):
        return one.condition.text
    levels = [member.level for member in one.members if member.name == name]
    return f"--optimize {levels[0]}" if levels and levels[0] > state.options.optimize else ""


def listing() -> str:
    """Return a table of all passes: phase, name, summary, and when the pass runs."""
    rows = [(one.phase, *row) for one in PASSES for row in _rows_of(one)]
    shown, phase = [], ""
    for row in rows:
        shown.append(("" if row[0] == phase else row[0], *row[1:]))
        phase = row[0]
    widths = [max(len(row[i]) for row in shown) for i in (0, 1)]
    lines = [
        f"{row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]}{row[3] and f' [{row[3]}]'}"
        for row in shown
    ]
    lines += ["", "A group runs its indented rewrites in rounds, until none changes the model."]
    return "\n".join(lines)


def _rows_of(one) -> Iterator[tuple[str, str, str]]:
    """Yield (name, summary, condition) of a pass, then of its members."""
    yield one.name, _first_line(inspect.getdoc(one.run)), one.condition.text
    for member in one.members:
        when = ["once, if the model is quantized"] if member.first_on else []
        levels = "--optimize 1, 2" if member.level == 1 else "--optimize 2"
        when += [] if levels in one.condition.text else [levels]
        when += ["not with --quantize or --float python"] * member.skips_expanded
        rules = sys.modules[member.apply.__module__].__doc__
        yield f"  {member.name}", _first_line(rules), ", ".join(when)


def _first_line(text):
    return (text or "").partition("\n")[0]


def rewrite_model(
    model: onnx.ModelProto,
    level: int,
    context: Context = PLAIN,
    notes: list[str] | None = None,
    group: str = "rewrite",
) -> tuple[onnx.ModelProto, dict[str, int]]:
    """Apply the rewrites of a group to a model that is not converted any further.

    Args:
        model: a simplified model.
        level: level of --optimize.
        context: context of a conversion.
        notes: gets a line for each rewrite that is omitted because it raised an error.
        group: the name of a pass that is a group.

    Returns:
        The rewritten model, and the number of places that each rewrite changed, by its name.
    """
    (one,) = (one for one in PASSES if one.name == group)
    return rewrites.run(model, rewrites.select(one.members, level, context), context, notes)
