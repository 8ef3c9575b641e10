"""The names of a model's classes, and the likeliest one: imported when a program asks for them.

model.predict(x)        'seven', or 7 where the file has no labels
"""

import sys

from .errors import InputError, fail


def labels(model):
    """The names in the model's file, a tuple of str; None if it has none. Raises ModelError."""
    found = _beside(model) if type(model).__name__ == "Program" else _in_file(model)
    model.labels = found  # from now on it is there
    return found


def _in_file(model):
    from .reader import CHUNK_LABELS, Reader

    reader = Reader(model._origin, True, wanted=(CHUNK_LABELS,), stream=True)
    try:
        data = reader.chunk(CHUNK_LABELS)
        if data is None:
            return None
        return tuple(str(bytes(data), "utf-8").split("\0")[:-1])
    except UnicodeError:
        fail("its labels are not text")
    finally:
        if reader.stream:
            reader.stream.close()


def _beside(model):
    """Of a program, from the module beside it."""
    name = model.__name__ + "_steps"
    try:
        __import__(name)
    except ImportError:
        return None
    return getattr(sys.modules.pop(name), "labels", None)


def predict(model, x=None):
    """Runs the model: the likeliest class of a classifier, or the value of another model.

    x: as for Model.run. A class is its label, or its number where the file has no labels; a model
    that gives classes itself, as scikit-learn's do, decides. Of several rows: a list.
    """
    outputs = model.run(x)
    names = model.labels
    for t in outputs:
        if t.dtype == "string" or not names and t.dtype == "int64" and _is_column(t):
            return _one_or_all([t.data[i] for i in range(t.nelem)])
    for t in outputs:
        if _are_scores(t, names):
            return _one_or_all(_classes(t, names))
    return _one_or_all(_values(outputs[0]))


def _is_column(t):
    """True for one item a row."""
    return t.nelem == (t.shape[0] if t.shape else 1)


def _are_scores(t, names):
    if not hasattr(t, "nbytes") or not t.shape or t.dtype.startswith(("string", "map", "seq")):
        return False
    n = t.shape[-1]
    return n == len(names) if names else n > 1 and t.dtype != "int64"


def _values(t):
    if t.dtype.startswith(("map", "seq")):
        from .classes import top_k

        return [top_k(t)[0][0]]
    if t.scale is not None:
        return t.dequantize()
    return t.floats() if "float" in t.dtype else list(t.data)


def _classes(t, names):
    """Of each row the class with the largest score, the first of equal ones."""
    values, n = _values(t), t.shape[-1]
    found = []
    for start in range(0, len(values), n):
        row = values[start : start + n]
        best = 0
        for i in range(1, n):
            if row[i] > row[best] or row[best] != row[best]:
                best = i
        found.append(names[best] if names else best)
    return found


def _one_or_all(found):
    if not found:
        raise InputError("predict: the outputs are empty")
    return found[0] if len(found) == 1 else found
