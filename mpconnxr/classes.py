"""The classes that a classifier finds the likeliest.

from mpconnxr.classes import top_k
for label, score in top_k(model.outputs[0], 3, labels): ...
"""

from .errors import InputError


def top_k(output, k=1, labels=None):
    """The k largest elements: a list of (label, value), the largest first.

    output: a Tensor (of integers that stand for numbers: those numbers), a map as ZipMap gives,
    or a sequence of numbers. labels: by index; without them the index itself, or the map's key.
    Of equal values the one with the lower index comes first; NaN comes last. Raises InputError.
    """
    keys, values = labels, _values(output)
    if isinstance(values, dict):
        keys = sorted(values)
        values = [values[key] for key in keys]
        keys = labels or keys
    n = len(values)
    if isinstance(keys, dict):
        raise InputError("labels: a sequence is needed")
    if keys is not None and len(keys) < n:
        raise InputError("{} labels for {} values".format(len(keys), n))
    found = []
    while len(found) < min(k, n):
        found.append(_largest(values, found))
    return [(keys[i] if keys else i, values[i]) for i in found]


def _values(output):
    """A dict, or a sequence of numbers."""
    if getattr(output, "scale", None) is not None:
        return output.dequantize()
    if getattr(output, "dtype", "").startswith(("float", "bfloat")):
        return output.floats()
    data = getattr(output, "data", output)
    if isinstance(data, list) and len(data) == 1 and isinstance(data[0], dict):
        return data[0]
    return data


def _largest(values, found):
    """Index of the largest value that was not found yet."""
    best = -1
    for i in range(len(values)):
        if i not in found:
            v = values[i]
            if best < 0 or v > values[best] or v == v and values[best] != values[best]:
                best = i
    return best
