"""A kernel's cost from measured steps: the sum of parts of its work that fits them best."""

from __future__ import annotations

from itertools import combinations

import numpy as np

_TERMS = 5  # a call, a multiply-accumulate, an element of input, of output, of a constant
_MOST_AT_ONCE = 3
_SAME = 1.05  # a fit with one term more must be better than by this factor
_MANY = 20  # steps, of which a tenth at each end may lie outside of the band


def fitted(samples: list[tuple]) -> dict:
    """samples: (work, instructions) of steps of one kernel. Returns a JSON object.

    terms: instructions of a call, a multiply-accumulate, an element of input, of output and of a
    constant; off: what was counted over what the terms give, at least and at most; n: how many
    steps.
    """
    work = np.array([(1, *w) for w, _ in samples], float)
    counted = np.array([max(count, 1) for _, count in samples], float)
    terms = _best(work, counted)
    rare = 10 if len(samples) >= _MANY else 0
    off = np.percentile(counted / (work @ terms), (rare, 100 - rare))
    return {
        "terms": [float(f"{t:.3g}") for t in terms],
        "off": [round(float(ratio), 2) for ratio in off],
        "n": len(samples),
    }


def _best(work, counted):
    """Terms, none negative, of which the fewest that fit about as well as any.

    One is for what the kernel works on: multiply-accumulates if it has some, else elements; so
    that what holds for the steps that were measured holds for larger ones.
    """
    needed = {1} if work[:, 1].any() else {2, 3, 4}
    most = min(_MOST_AT_ONCE, max(1, len(np.unique(work, axis=0)) - 1))
    best, least = None, np.inf
    for n in range(1, most + 1):
        for chosen in combinations(range(_TERMS), n):
            terms = _solved(work, counted, chosen) if needed & set(chosen) else None
            if terms is None:
                continue
            error = np.exp(np.abs(np.log(counted / (work @ terms))).mean())
            if error * _SAME < least:
                best, least = terms, error
    return _plain(work, counted) if best is None else best


def _plain(work, counted):
    """One and the same number of instructions for all there is to do."""
    terms = np.ones(_TERMS)
    return terms * (counted / (work @ terms)).mean()


def _solved(work, counted, chosen):
    """Least squares of relative errors; None if a term is negative or a step gets nothing."""
    columns = list(chosen)
    some, *_ = np.linalg.lstsq(work[:, columns] / counted[:, None], np.ones(len(counted)))
    terms = np.zeros(_TERMS)
    terms[columns] = some
    if not (some > 0).all() or not (work @ terms > 0).all():
        return None
    return terms * np.median(counted / (work @ terms))  # half of the steps take more
