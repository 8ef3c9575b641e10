"""The operators of ai.onnx.ml with maps -> kernels dict_vectorizer and zip_map."""

from __future__ import annotations

import numpy as np

from tools.format.objects import SEQUENCE, STRING_KEYS, string_array

from ..errors import Problem
from ..ir import Tensor
from . import lowers
from ._ml_scores import FLOAT, cast
from ._strings import require_fixed

ML = "ai.onnx.ml"


@lowers("DictVectorizer", domain=ML, objects=True)
def lower_dict_vectorizer(node):
    x, out = node.inputs[0], node.outputs[0]
    keys = _keys(node, x, "string_vocabulary", "int64_vocabulary")
    require_fixed(out)
    if x.dtype & SEQUENCE or x.dtype & 15 != out.dtype or len(keys) != out.nelem:
        raise Problem(f"a map of {x} for {out}")
    node.emit("dict_vectorizer", [x, node.constant(keys)], [out])


@lowers("ZipMap", domain=ML, objects=True)
def lower_zip_map(node):
    x, out = cast(node, node.inputs[0], FLOAT), node.outputs[0]
    keys = _keys(node, out, "classlabels_strings", "classlabels_int64s")
    if len(x.shape) not in (1, 2) or x.shape[-1] != len(keys):
        raise Problem(f"{len(keys)} labels for scores of shape {list(x.shape)}")
    node.emit("zip_map", [x, node.constant(keys)], [out])


def _keys(node, t: Tensor, strings: str, ints: str) -> np.ndarray:
    """The keys in an attribute, of the map's dtype. Raises Problem."""
    name = strings if t.dtype & STRING_KEYS else ints
    found = node.attr(name)
    if not found:
        raise Problem(f"{name} is missing")
    return string_array(found) if t.dtype & STRING_KEYS else np.array(found, np.int64)
