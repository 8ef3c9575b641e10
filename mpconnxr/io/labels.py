"""The names of a model's classes, and the likeliest one, imported at the first use of either.

Model.predict runs a model and returns the name of the likeliest class:

    model.predict(x)        # 'seven', or 7 if the file has no labels
"""

import sys

from ..errors import InputError
from ..rare import alone, compute
from ..turn import SHORT, fresh


def labels(model):
    """Return the labels in the model's file, a tuple of str, or None. Raises ModelError."""
    try:
        result = _beside(model) if type(model).__name__ == "Program" else _in_file(model)
        model.labels = result  # from now on it is there
        return result
    except MemoryError:
        raise fresh(SHORT)


def _in_file(model):
    """Return the labels in the model's file; None if it has none."""
    from ..build.reader import CHUNK_LABELS, Reader

    reader = Reader(model._origin, True, extra=(CHUNK_LABELS,), stream=True)
    try:
        data = reader.chunk(CHUNK_LABELS)
        if data is None:
            return None
        return tuple(str(bytes(data), "utf-8").split("\0")[:-1])
    except UnicodeError:
        from ..inspect.profile import text

        return tuple([text(name) for name in bytes(data).split(b"\0")[:-1]])
    finally:
        if reader.stream:
            reader.stream.close()


def _beside(model):
    """Return the labels of a program, from its module NAME_steps; None without any."""
    name = model.__name__ + "_steps"
    try:
        __import__(name)
    except ImportError:
        return None
    return getattr(sys.modules.pop(name), "labels", None)


def predict(model, x=None, softmax=False, threshold=None, score=False):
    """Run the model; return the likeliest class of a classifier, or the value of another model.

    A class is its label, or its number where the file has no labels. A model that gives classes
    itself, as scikit-learn's do, decides. For several rows the result is a list.

    Args:
        model: the model.
        x: as for Model.run.
        softmax: make scores probabilities, for a model that ends in logits.
        threshold: the least score of a class; if the largest score is less, the class is None.
        score: return (class, score) instead of the class.

    Raises:
        InputError: also for one of the last three arguments if the model has no scores.
    """
    try:
        names = model.labels
        return alone(model, _predicted, model, x, names, softmax, threshold, score)
    except MemoryError:
        raise fresh(SHORT)


def _predicted(model, x, names, softmax, threshold, score):
    """Run the model and return the class of each row, or of its only row: see predict."""
    compute(model, x)
    outputs = model.outputs
    own = None
    for t in outputs:
        if t.dtype == "string" or own is None and t.dtype == "int64" and _is_column(t):
            own = [t.data[i] for i in range(t.nelem)]
            if t.dtype == "string" or not names:
                break
    if softmax or score or threshold is not None:
        return _one_or_all(_with_scores(outputs, names, own, softmax, threshold, score))
    if own is not None and (not names or own and isinstance(own[0], str)):
        return _one_or_all(own)
    for t in outputs:
        if _are_scores(t, names):
            return _one_or_all(_classes(t, names, own))
    return _one_or_all(_values(outputs[0]) if outputs else ())


def _with_scores(outputs, names, own, softmax, threshold, score):
    """Return the class of each row, or (class, score): see predict. Raises InputError.

    Args:
        outputs: the model's outputs.
        names: the labels, or None.
        own: classes that the model itself returns, or None.
        softmax: return probabilities.
        threshold: the least score of a class; below it the class is None.
        score: return (class, score).
    """
    from .classes import check_threshold, is_enough, probabilities

    check_threshold(threshold)
    rows, keys = _rows(outputs, names)
    if own and len(own) != len(rows):
        own = None
    result = []
    for i, row in enumerate(rows):
        name = own[i] if own else None
        best = _answer(row, name, keys[i])
        if softmax:
            row = probabilities(row)
        if name is None or names and not isinstance(name, str):
            name = keys[i][best] if keys[i] else best
        if not is_enough(row[best], threshold):
            name = None
        result.append((name, row[best]) if score else name)
    return result


def _rows(outputs, names):
    """Return the scores of each row, and its classes' names or None. Raises InputError."""
    for t in outputs:
        if t.dtype.startswith(("map", "seq")):
            maps = t.data if isinstance(t.data, list) else [t.data]
            keys = [sorted(row) for row in maps]
            return [[row[key] for key in k] for row, k in zip(maps, keys)], keys
        if t.dtype != "string" and _are_scores(t, names):
            values, n = _values(t), t.shape[-1]
            rows = [values[i : i + n] for i in range(0, len(values), n)]
            return rows, [names] * len(rows)
    raise InputError("predict: no output has scores of classes")


def _is_column(t):
    """Return True if the tensor has one element in each row."""
    return t.nelem == (t.shape[0] if t.shape else 1)


def _are_scores(t, names):
    if not hasattr(t, "nbytes") or not t.shape or t.dtype.startswith(("string", "map", "seq")):
        return False
    n = t.shape[-1]
    return n == len(names) if names else n > 1 and t.dtype != "int64"


def _values(t):
    if t.dtype.startswith(("map", "seq")):
        from .classes import top_k

        rows = t.data if isinstance(t.data, list) else [t.data]
        return [top_k(row)[0][0] for row in rows]
    if t.scale is not None:
        return t.dequantize()
    return t.floats() if "float" in t.dtype else list(t.data)


def _classes(t, names, own):
    """Return the class of each row: see _answer."""
    values, n = _values(t), t.shape[-1]
    if own and len(own) * n != len(values):
        own = None
    result = []
    for start in range(0, len(values), n):
        best = _answer(values[start : start + n], own and own[start // n], names)
        result.append(names[best] if names else best)
    return result


def _answer(row, own, keys):
    """Return the index of the class that a row of scores and the model's own class answer.

    A binary SVC without probabilities is exported with the scores [-s, s] in the wrong order, so
    that the class which the model returns has the smaller one. Its classes are taken to be 0 and
    1, or -1 and 1.

    Args:
        row: the scores.
        own: the class that the model itself returns, or None.
        keys: the classes of the scores, or None.
    """
    if keys and own in keys:
        return keys.index(own)
    if len(row) == 2 and row[0] == -row[1] and own in (-1, 0, 1):
        return max(own, 0)
    return _best(row)


def _best(row):
    """Return the index of the largest number, the first of equal ones."""
    best = 0
    for i in range(1, len(row)):
        if row[i] > row[best] or row[best] != row[best]:
            best = i
    return best


def _one_or_all(result):
    if not result:
        raise InputError("predict: the outputs are empty, or there are none")
    return result[0] if len(result) == 1 else result
