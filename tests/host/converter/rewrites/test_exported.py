"""Rewrites find their patterns in models as exporters write them.

The models are written by the scripts in exported/.
"""

from pathlib import Path

import pytest

from tests.host.converter.rewrites.graphs import RTOL, compare, randn
from tools.converter import load, pipeline
from tools.converter.simplify import simplify

MODELS = sorted((Path(__file__).parent / "exported").glob("*.onnx"))
# By model: rewrites that find something in it, and the most nodes that it has then.
FOUND = {
    "channels_last": ({"transposes", "transposes_pushed"}, 5),
    "gates": ({"gates", "layer_norm"}, 6),
    "gru_cell": ({"unrolled"}, 4),
    "keras_lstm": ({"unrolled"}, 4),
    "keras_pool": ({"pads"}, 5),
    "lstm_cell": ({"unrolled"}, 4),
    "normalized": ({"batch_norm"}, 3),
    "padded": ({"pads"}, 3),
}


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_patterns_are_found_in_exported_models(path):
    pytest.importorskip("onnxruntime")
    model = simplify(load.load(path))
    rewritten, log = pipeline.rewrite_model(model, 2)
    expected, n_nodes = FOUND[path.stem.removesuffix("_script")]
    assert expected <= log.keys()
    assert len(rewritten.graph.node) <= n_nodes
    [x] = model.graph.input
    shape = [d.dim_value for d in x.type.tensor_type.shape.dim]
    compare(model, rewritten, [randn(*shape)], RTOL)
