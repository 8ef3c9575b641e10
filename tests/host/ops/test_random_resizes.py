"""Random Resize and Upsample nodes on MicroPython, against onnxruntime.

MPCONNXR_LONG=1: 4,000 instead of 200.
"""

import os

import numpy as np
import pytest

from tests.host.ops.against_ort import compare
from tests.host.ops.random_resizes import random_resize
from tools.converter.errors import UnsupportedModel
from tools.converter.reference import golden

BATCHES = 20 if os.environ.get("MPCONNXR_LONG") == "1" else 1
EACH = 200
REFUSED = "a roi along an axis of scale 1"


def converts(node, expected):
    """Return False for a crop that ONNX and onnxruntime see differently."""
    try:
        node.converted(expected)
    except UnsupportedModel as e:
        assert REFUSED in str(e), f"{node}: {e}"
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_resizes_agree_with_onnxruntime(target, batch):
    pytest.importorskip("onnxruntime")
    seeds = range(batch * EACH, (batch + 1) * EACH)
    nodes = [random_resize(np.random.default_rng(seed)) for seed in seeds]
    pairs = [(node, golden.reference(node.model(), node.values())) for node in nodes]
    pairs = [(node, due) for node, due in pairs if due is not None and converts(node, due)]
    assert len(pairs) > 0.7 * EACH
    compare(target, *map(list, zip(*pairs, strict=True)), rtol=1e-4, atol=1e-5)
