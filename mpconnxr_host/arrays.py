"""Let models on a computer take and return numpy arrays.

mpconnxr/cpython.py calls `run` for a model's run that gets an array. On a board there is no numpy.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import ml_dtypes  # noqa: F401 (numpy then knows bfloat16, int4 and others by name)
import numpy as np

from mpconnxr.errors import InputError
from tools.format.objects import text_of

_LOCK = threading.RLock()
# numpy's names of dtypes that ONNX spells otherwise.
_NUMPY_NAMES = {
    "float8e4m3fn": "float8_e4m3fn",
    "float8e4m3fnuz": "float8_e4m3fnuz",
    "float8e5m2": "float8_e5m2",
    "float8e5m2fnuz": "float8_e5m2fnuz",
    "float8e8m0": "float8_e8m0fnu",
    "float4e2m1": "float4_e2m1fn",
    "float6e2m3": "float6_e2m3fn",
    "float6e3m2": "float6_e3m2fn",
}


def run(
    run_on_board: Callable[..., Any], model: Any, x: Any, deadline_us: int | None
) -> list[np.ndarray]:
    """Run a model with numpy arrays.

    Args:
        run_on_board: Model.run as boards have it.
        model: the model.
        x: the value of the only input, a list or tuple of values, or a dict by input name.
        deadline_us: as of Model.run.

    Returns:
        A copy of each output. Strings are arrays of objects; maps stay dicts.

    Raises:
        InputError: an array's dtype or shape does not fit its input.
    """
    with _LOCK:  # another run would overwrite the outputs
        outputs = run_on_board(model, _values(model, x), deadline_us)
        return [_array(t) for t in outputs]


def has_arrays(x: Any) -> bool:
    """Return True if a value for Model.run is, or contains, a numpy array."""
    values = x.values() if isinstance(x, dict) else x if isinstance(x, list | tuple) else (x,)
    return any(isinstance(value, np.ndarray | np.generic) for value in values)


def _values(model: Any, x: Any) -> Any:
    """Return what Model.run takes in the place of arrays."""
    tensors = {t.name: t for t in model.inputs}
    if isinstance(x, dict):
        return {n: _value(tensors[n], v) if n in tensors else v for n, v in x.items()}
    if len(model.inputs) == 1:
        [only] = x if isinstance(x, list | tuple) and len(x) == 1 else [x]
        return _value(model.inputs[0], only)
    if len(x) == len(model.inputs):
        return [_value(t, v) for t, v in zip(model.inputs, x, strict=True)]
    return x


def _value(t: Any, value: Any) -> Any:
    if isinstance(value, list | int | float | str):
        value = _of_python(t, value)
    if not isinstance(value, np.ndarray | np.generic):
        return value
    if t.dtype == "string":
        if value.dtype.kind not in "OUS":
            raise InputError(f"{t.name}: {value.dtype} values where strings are needed")
        return [text_of(text) for text in value.reshape(-1).tolist()]
    dtype = _dtype(t)
    if not _fits(value, dtype):
        text = f"{t.name}: {value.dtype} values where {t.dtype} is needed"
        if value.dtype.kind in "biu" and "float" in t.dtype:
            text += ": scale them as for the training, and convert them with .astype()"
        raise InputError(text)
    is_open = hasattr(t, "set_shape")
    if not is_open and not _is_shape(np.shape(value), t.shape):
        raise InputError(f"{t.name}: shape {np.shape(value)} where {t.shape} is needed")
    data = np.ascontiguousarray(value, dtype).tobytes()
    return (data, np.shape(value)) if is_open else data


def _of_python(t: Any, value: Any) -> np.ndarray:
    """Return a list or a number as an array, in which integers may stand for floats."""
    try:
        array = np.asarray(value)
    except ValueError as e:
        raise InputError(f"{t.name}: {e}") from None
    is_float = t.dtype != "string" and _dtype(t).kind not in "iub"
    return array.astype(float) if is_float and array.dtype.kind in "iu" else array


def _fits(value: np.ndarray | np.generic, dtype: np.dtype[Any]) -> bool:
    """Return True if a cast changes no value but by rounding floats to other floats."""
    if dtype.kind in "iub":
        return value.dtype.kind in "iub" and bool((value.astype(dtype) == value).all())
    return np.can_cast(value.dtype, dtype, "same_kind") and value.dtype.kind not in "iub"


def _is_shape(shape: tuple[int, ...], needed: tuple[int, ...]) -> bool:
    """Return True for the needed shape, with or without leading dimensions of 1."""
    return _without_ones(shape) == _without_ones(needed)


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    first = next((i for i, n in enumerate(shape) if n != 1), len(shape))
    return tuple(shape[first:])


def _array(t: Any) -> Any:
    """Return a copy of an output's elements."""
    if not hasattr(t, "view"):  # strings and maps
        if t.dtype != "string":
            return _copied(t.data)
        result = np.empty(t.shape, object)
        result.reshape(-1)[:] = list(t.data)
        return result
    return np.frombuffer(bytes(t.view("B")), _dtype(t)).reshape(t.shape)


def _copied(data: Any) -> Any:
    """Return a copy of a map, or of the maps in a list: the next run writes to the same ones."""
    if isinstance(data, list):
        return [_copied(element) for element in data]
    return dict(data) if isinstance(data, dict) else data


def _dtype(t: Any) -> np.dtype[Any]:
    name: str = _NUMPY_NAMES.get(t.dtype, t.dtype)
    return np.dtype(name)
