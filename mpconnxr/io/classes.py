"""The likeliest classes of a classifier.

top_k returns the labels with the largest scores:

    from mpconnxr.io.classes import top_k
    for label, score in top_k(model.outputs[0], 3, labels): ...
"""

from math import exp

from ..arguments import MISFITS, integer, number
from ..errors import InputError
from ..turn import SHORT, fresh

_MOST = 1 << 30  # of k
_INF = float("inf")


def top_k(output, k=1, labels=None, softmax=False, threshold=None):
    """Return the k largest elements: a list of (label, value), the largest first.

    Of equal values the one with the lower index comes first; NaN comes last.

    Args:
        output: a Tensor (integers with a scale count as their real values), a map as ZipMap
            returns, or a sequence of numbers.
        k: number of elements.
        labels: names by index; None for the index itself, or the map's key.
        softmax: return probabilities, for a model that ends in logits.
        threshold: the least that the largest value has to be; if it is less, or NaN, the list is
            [(None, that value)].

    Raises:
        InputError: an argument does not fit.
    """
    try:
        integer("k", k, 0, _MOST)
        if isinstance(labels, dict):
            raise InputError("labels: a sequence is needed")
        check_threshold(threshold)
        try:
            return _top_k(output, k, labels, softmax, threshold)
        except MISFITS:
            raise InputError("output: a Tensor, map or numbers are needed; labels: a sequence")
    except MemoryError:
        raise fresh(SHORT)


def _top_k(output, k, labels, softmax, threshold):
    """Do what top_k does, for arguments that are checked except output and labels."""
    keys, values = labels, _values(output)
    if isinstance(values, dict):
        keys = sorted(values)
        values = [values[key] for key in keys]
        keys = labels or keys
    n = len(values)
    if keys is not None and len(keys) < n:
        raise InputError("{} labels for {} values".format(len(keys), n))
    best_first = []
    while len(best_first) < min(k, n):
        best_first.append(_largest(values, best_first))
    if softmax:
        values = probabilities(values)
    if best_first and not is_enough(values[best_first[0]], threshold):
        return [(None, values[best_first[0]])]
    return [(keys[i] if keys else i, values[i]) for i in best_first]


def probabilities(logits):
    """Return the softmax of numbers, a new list. All are NaN if one of them is."""
    largest = max(logits) if len(logits) else 0
    powers = [1.0 if v == largest else exp(v - largest) for v in logits]
    total = sum(powers)
    return [p / total for p in powers]


def check_threshold(threshold):
    """Raise InputError unless it is a number or None."""
    if threshold is not None:
        number("threshold", threshold, -_INF, _INF)


def is_enough(score, threshold):
    """Return True if the score reaches the threshold, or if that is None. NaN reaches none."""
    return threshold is None or score >= threshold


def _values(output):
    """Return a ZipMap's dict, or an output's numbers in a sequence."""
    if getattr(output, "scale", None) is not None:
        return output.dequantize()
    if getattr(output, "dtype", "").startswith(("float", "bfloat")):
        return output.floats()
    data = getattr(output, "data", output)
    if isinstance(data, list) and len(data) == 1 and isinstance(data[0], dict):
        return data[0]
    return data


def _largest(values, best_first):
    """Return the index of the largest value that is not in `best_first`."""
    best = -1
    for i in range(len(values)):
        if i not in best_first:
            v = values[i]
            if best < 0 or v > values[best] or v == v and values[best] != values[best]:
                best = i
    return best
