"""Fit a kernel's cost to measured steps: a non-negative sum of a few terms of its work."""

from __future__ import annotations

from itertools import combinations

import numpy as np

_TERMS = 5  # a call, a multiply-accumulate, an element of input, of output, of a constant
_MOST_AT_ONCE = 3
_SAME = 1.05  # another term must reduce the error by more than this factor
_MANY = 20  # steps; from here on, "off" leaves out a tenth of them at each end


def fitted(samples: list[tuple]) -> dict:
    """Fit the terms of one kernel's cost.

    Args:
        samples: (work, instructions) of each measured step of the kernel.

    Returns:
        A JSON object. "terms": instructions per call, multiply-accumulate, element of input,
            element of output and element of a constant. "off": [low, high] of measured divided by
            estimated instructions. "n": number of steps.
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
    """Return the fewest non-negative terms that fit about as well as any others.

    At least one term belongs to the kernel's main work, multiply-accumulates if it has any and
    elements otherwise, so that the fit also holds for steps larger than those measured.
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
    """Return equal terms for all parts of the work, the fallback if no other fit is possible."""
    terms = np.ones(_TERMS)
    return terms * (counted / (work @ terms)).mean()


def _solved(work, counted, chosen):
    """Return the terms with the least relative errors, scaled so that half of the steps take more.

    Args:
        work: (steps, terms): how often each step has each term.
        counted: the counted instructions of each step.
        chosen: indices of the terms that may differ from 0.

    Returns:
        The cost of each term; None if a chosen one is not positive, or a step costs nothing.
    """
    columns = list(chosen)
    some, *_ = np.linalg.lstsq(work[:, columns] / counted[:, None], np.ones(len(counted)))
    terms = np.zeros(_TERMS)
    terms[columns] = some
    if not (some > 0).all() or not (work @ terms > 0).all():
        return None
    return terms * np.median(counted / (work @ terms))  # half of the steps take more
