"""How many positions of a convolution of bytes become patches in one call of the loops.

The loops take two positions at a time in less than twice the instructions of one, and each call
costs some thousand. So a step starts with a fixed room, asks for what it lacks to two positions
(Step.lacks), and takes what the arena has free (Step.grow). With more than twice the memory, a
Cortex-M4 or M33 has items and weights as halfwords, and takes half of the instructions a product
(room_for).
"""

from __future__ import annotations

import math

from ..ir import Step
from ..shapes.extent import any_open
from . import _qoverlap
from ._qweights import AS_IT_IS, Geometry, padded

NBYTES = 1024  # of a step that asks for nothing
_MOST_NBYTES = 16384  # calls cost next to nothing then
# Instructions on a Cortex-M3.
_CALL = 4000  # of a piece's loops
_ALONE = 0.6  # a product more, of a position that is the last of an odd number
_BYTE = 10  # that a byte of scratch has to save
_PAIR = 1.9  # a product of two positions at a time
_LEAST_WITH_ROOM = 10  # positions, which a step asks for
_HALVES = 0.5  # instructions that a product of halfwords takes less
_ROWS = 5  # a part of a piece's positions that makes no whole rows
_WIDEN = 0.9  # that a weight takes to become one
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


def first_piece(rows, width, m: int, record: int, products) -> tuple[int, int, list[int]]:
    """(positions a call, bytes of scratch, what it lacks of them: see Step) of a step."""
    positions = rows * width
    piece = piece_of(positions, record, products, NBYTES)
    nbytes, lacks = piece * record, [record] if piece < 2 else []
    if any_open([rows, width, m, products]) or positions < 2:
        return piece, nbytes, []
    if with_room := _with_room(rows, width, m, record, products, NBYTES):
        piece, nbytes, lacks = with_room, room_for(with_room, record), []
    wanted = room_for(least := min(positions, _LEAST_WITH_ROOM), record)
    if with_room < least and _with_room(rows, width, m, record, products, wanted):
        lacks.insert(0, max(wanted - nbytes, 0))
    return piece, nbytes, lacks


def room_for(piece: int, record: int) -> int:
    """Bytes of scratch for so many positions as halfwords, and for weights: see loops/qdot."""
    k = record - 4
    return 2 * record + (piece + piece % 2) * (2 * k + 4) + 8 * k


def _with_room(rows: int, width: int, m: int, record: int, products: int, nbytes: int) -> int:
    """Positions a call with room in so many bytes; 0 where it is not worth it.

    Whole rows of them, if that makes hardly more calls: a program then repeats what it calls.
    """
    positions = rows * width
    most = (nbytes - room_for(0, record)) // (2 * record - 4) & -2
    if m % 4 or min(most, positions) < 2:
        return 0
    calls = math.ceil(positions / most)
    piece = min(math.ceil(positions / calls) + 1 & -2, positions)
    even = width * (1 + width % 2)
    if even < piece < positions and piece % even * _ROWS <= piece:
        piece -= piece % even
    calls = math.ceil(positions / piece)
    fewer = piece_of(positions, record, products, nbytes)
    more = calls * (_WIDEN * products + _CALL) - math.ceil(positions / fewer) * _CALL
    return piece if more < _HALVES * products * positions else 0


def grow(step: Step, nbytes: int, most_lead: int | None) -> None:
    """Gives a step more positions a call, as Step.grow. The room of its table stays."""
    [scratch] = step.scratch
    if any_open((*step.params, scratch.nelem)):
        return
    positions, k = step["oh"] * step["ow"], step["c"] * step["kh"] * step["kw"]
    record = 4 + padded(k)
    beside = 8 * step["g"] * step["m"] if step["table.bits"] != AS_IT_IS[0] else 0
    taken = min(nbytes, max(_MOST_NBYTES, beside + room_for(2, record)))
    room = taken - beside
    geometry, products = _geometry_of(step), k * step["m"]
    room_size = room
    sizes = step["oh"], step["ow"], step["m"]
    while piece := _with_room(*sizes, record, products, room_size):
        if _takes(step, geometry, piece, most_lead):
            scratch.shape = (taken,)
            return
        room_size = room_for(piece - 2, record) if piece > 3 else 0
    most = _cost(positions, products, step["piece"]) - _WORTH * _PAIR * products * positions
    while (piece := piece_of(positions, record, products, room)) > step["piece"]:
        if _cost(positions, products, piece) > most:
            return
        if _takes(step, geometry, piece, most_lead):
            scratch.shape = (taken,)  # as other steps do: they share a record of the file
            return
        room = (piece - 1) * record


def _takes(step, geometry, piece, most_lead):
    """True if the step then takes so many positions: its output may lie where it lies."""
    behind = step.behind
    if behind:
        behind = _qoverlap.behind(geometry, piece, step.inputs[0], step.outputs[0])
    fits = most_lead is None or behind.get(0, most_lead + 1) <= most_lead
    if fits:
        step["piece"], step.behind, step.lacks = piece, behind, ()
    return fits


def _geometry_of(step):
    named = {name: step[name] for name in ("strides", "dilations", "pads")}
    counts = [step[name] for name in ("n", "g", "c", "h", "w", "m", "kh", "kw", "oh", "ow")]
    return Geometry(counts, step["x_strides"], step["out_strides"], **named)
