"""How many positions of a convolution of bytes become patches in one call of the loops.

The loops take two positions at a time in less than twice the instructions of one, and each call
costs some thousand. So a step starts with a fixed room, asks for what it lacks to two positions
(Step.lacks), and takes what the arena has free (Step.grow).
"""

from __future__ import annotations

import math

from ..ir import Step
from ..shapes.extent import any_open
from . import _qoverlap
from ._qweights import Geometry, padded

NBYTES = 1024  # of a step that asks for nothing
_MOST_NBYTES = 16384  # calls cost next to nothing then
# Instructions on a Cortex-M3.
_CALL = 4000  # of a piece's loops
_ALONE = 0.6  # a product more, of a position that is the last of an odd number
_BYTE = 10  # that a byte of scratch has to save
_PAIR = 1.9  # a product of two positions at a time
_WORTH = 0.01  # of a step's instructions: for less, none takes what is free


def piece_of(positions, record: int, products, nbytes: int) -> int:
    """Positions a call, of so many bytes of scratch. record: bytes a position; products: of it."""
    most = max(nbytes // record, 1)
    if any_open([positions, products]):
        return most
    if positions <= most:
        return max(positions, 1)
    least = math.ceil(positions / math.ceil(positions / most))  # that makes no call more

    near = [n for n in (least, least + 1, most - most % 2) if 0 < n <= most]
    return min(near, key=lambda n: _cost(positions, products, n) + n * record * _BYTE)


def _cost(positions, products, piece):
    """Instructions beside those of pairs of positions."""
    calls, rest = divmod(positions, piece)
    alone = calls * (piece % 2) + rest % 2
    return (calls + (rest > 0)) * _CALL + alone * _ALONE * products


def lacking(positions, piece: int, record: int) -> int:
    """Bytes of scratch that a step lacks to two positions a call."""
    return 0 if any_open([positions]) or positions < 2 or piece > 1 else record


def grow(step: Step, nbytes: int, most_lead: int | None) -> None:
    """Gives a step more positions a call, as Step.grow. The room of its table stays."""
    [scratch] = step.scratch
    if any_open((*step.params, scratch.nelem)):
        return
    positions, k = step["oh"] * step["ow"], step["c"] * step["kh"] * step["kw"]
    record = 4 + padded(k)
    beside = scratch.nelem - step["piece"] * record
    taken = min(nbytes, max(_MOST_NBYTES, beside + 2 * record))
    room = taken - beside
    geometry, products = _geometry_of(step), k * step["m"]
    most = _cost(positions, products, step["piece"]) - _WORTH * _PAIR * products * positions
    while (piece := piece_of(positions, record, products, room)) > step["piece"]:
        if _cost(positions, products, piece) > most:
            return
        behind = step.behind
        if behind:
            behind = _qoverlap.behind(geometry, piece, step.inputs[0], step.outputs[0])
        if most_lead is None or behind.get(0, most_lead + 1) <= most_lead:
            step["piece"], step.behind, step.lacks = piece, behind, 0
            scratch.shape = (taken,)  # as other steps do: they share a record of the file
            return
        room = (piece - 1) * record


def _geometry_of(step):
    named = {name: step[name] for name in ("strides", "dilations", "pads")}
    counts = [step[name] for name in ("n", "g", "c", "h", "w", "m", "kh", "kw", "oh", "ow")]
    return Geometry(counts, step["x_strides"], step["out_strides"], **named)
