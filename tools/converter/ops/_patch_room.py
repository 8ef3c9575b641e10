"""Choose how many patches (im2col rows) of a byte convolution one call of the loops computes.

The loops compute two positions together in less than twice the instructions of one, and each call
costs some thousand. So a step starts with a fixed scratch, requests what it lacks for two
positions (Step.lacks), and takes what the arena has free (Step.grow). With more than twice the
memory, a Cortex-M4 or M33 keeps elements and weights as halfwords, and takes half of the
instructions for each product (see halfword_nbytes).
"""

from __future__ import annotations

import math

from ..ir import Step
from ..shapes.extent import any_open
from . import _qoverlap
from ._qweights import AS_IT_IS, Geometry, padded

NBYTES = 1024  # scratch of a step that requests nothing
_MAX_NBYTES = 16384  # with more the calls cost hardly less
# Instructions on a Cortex-M3.
_CALL = 4000  # of a call
_ALONE = 0.6  # more for each product of a position without a partner
_BYTE = 10  # that a byte of scratch has to save
_PAIR = 1.9  # of a product, with two positions at a time
_HALFWORDS = 0.5  # less for a product of halfwords
_WIDEN = 0.9  # to turn a weight into a halfword
_MIN_GAIN = 0.01  # share of a step's instructions that more scratch has to save
_MIN_HALFWORD_POSITIONS = 10  # that a step requests scratch for
_ROWS = 5  # 1 / 5 of the positions may be dropped for the sake of whole rows


def positions_at_once(positions, record: int, products, nbytes: int) -> int:
    """Return the number of positions for each call.

    Args:
        positions: positions of the output.
        record: bytes of a patch.
        products: products of a position.
        nbytes: bytes of scratch.
    """
    most = max(nbytes // record, 1)
    if any_open([positions, products]):
        return most
    if positions <= most:
        return max(positions, 1)
    least = math.ceil(positions / math.ceil(positions / most))  # fewest for that many calls
    near = [n for n in (least, least + 1, most - most % 2) if 0 < n <= most]
    return min(near, key=lambda n: _cost(positions, products, n) + n * record * _BYTE)


def _cost(positions, products, piece):
    """Return the extra instructions of calls with `piece` positions each.

    Loops compute pairs of positions; a call and a position without a partner cost extra.

    Args:
        positions: number of positions.
        products: products of a position.
        piece: positions of a call.
    """
    calls, rest = divmod(positions, piece)
    alone = calls * (piece % 2) + rest % 2
    return (calls + (rest > 0)) * _CALL + alone * _ALONE * products


def first_choice(rows, width, m: int, record: int, products) -> tuple[int, int, list[int]]:
    """Choose the scratch that a step starts with.

    Args:
        rows: rows of the output.
        width: columns of the output.
        m: output channels of a group.
        record: bytes of a patch.
        products: products of a position.

    Returns:
        The positions for each call, the bytes of scratch, and Step.lacks.
    """
    positions = rows * width
    piece = positions_at_once(positions, record, products, NBYTES)
    nbytes, lacks = piece * record, [record] if piece < 2 else []
    if any_open([rows, width, m, products]) or positions < 2:
        return piece, nbytes, []
    if as_halfwords := _halfword_positions(rows, width, m, record, products, NBYTES):
        piece, nbytes, lacks = as_halfwords, halfword_nbytes(as_halfwords, record), []
    required = halfword_nbytes(least := min(positions, _MIN_HALFWORD_POSITIONS), record)
    if as_halfwords < least and _halfword_positions(rows, width, m, record, products, required):
        lacks.insert(0, max(required - nbytes, 0))
    return piece, nbytes, lacks


def halfword_nbytes(piece: int, record: int) -> int:
    """Return the scratch for positions and weights as halfwords (see loops/qdot) [bytes]."""
    k = record - 4
    return 2 * record + (piece + piece % 2) * (2 * k + 4) + 8 * k


def _halfword_positions(
    rows: int, width: int, m: int, record: int, products: int, nbytes: int
) -> int:
    """Return how many positions each call takes as halfwords; 0 if these are not worth it.

    They form whole rows if that makes hardly more calls: a program can then repeat its calls.

    Args:
        rows: rows of the output.
        width: positions of a row.
        m: output channels of a group.
        record: bytes of a position as bytes.
        products: products of a position.
        nbytes: size of the scratch.
    """
    positions = rows * width
    most = (nbytes - halfword_nbytes(0, record)) // (2 * record - 4) & -2
    if m % 4 or min(most, positions) < 2:
        return 0
    calls = math.ceil(positions / most)
    piece = min(math.ceil(positions / calls) + 1 & -2, positions)
    even = width * (1 + width % 2)
    if even < piece < positions and piece % even * _ROWS <= piece:
        piece -= piece % even
    calls = math.ceil(positions / piece)
    fewer = positions_at_once(positions, record, products, nbytes)
    more = calls * (_WIDEN * products + _CALL) - math.ceil(positions / fewer) * _CALL
    return piece if more < _HALFWORDS * products * positions else 0


def grow(step: Step, nbytes: int, most_lead: int | None) -> None:
    """Let a step compute more positions at a time, as Step.grow. Its table keeps its scratch."""
    [scratch] = step.scratch
    if any_open((*step.params, scratch.nelem)):
        return
    positions, k = step["oh"] * step["ow"], step["c"] * step["kh"] * step["kw"]
    record = 4 + padded(k)
    beside = 8 * step["g"] * step["m"] if step["table.bits"] != AS_IT_IS[0] else 0
    taken = min(nbytes, max(_MAX_NBYTES, beside + halfword_nbytes(2, record)))
    geometry, products = _geometry_of(step), k * step["m"]
    nbytes_left = taken - beside
    sizes = step["oh"], step["ow"], step["m"]
    halfword_budget = nbytes_left
    while piece := _halfword_positions(*sizes, record, products, halfword_budget):
        if _set_positions(step, geometry, piece, most_lead):
            scratch.shape = (taken,)
            return
        halfword_budget = halfword_nbytes(piece - 2, record) if piece > 3 else 0
    most = _cost(positions, products, step["piece"]) - _MIN_GAIN * _PAIR * products * positions
    while (piece := positions_at_once(positions, record, products, nbytes_left)) > step["piece"]:
        if _cost(positions, products, piece) > most:
            return
        if _set_positions(step, geometry, piece, most_lead):
            scratch.shape = (taken,)  # as other steps do: they share a record of the file
            return
        nbytes_left = (piece - 1) * record


def _set_positions(step, geometry, piece, most_lead):
    """Set how many positions a call of a step computes, if the output may then stay where it is.

    Args:
        step: the step; changed.
        geometry: its Geometry.
        piece: positions of a call.
        most_lead: the largest lead that the offsets allow; None without a limit.

    Returns:
        False if the lead would be larger.
    """
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
