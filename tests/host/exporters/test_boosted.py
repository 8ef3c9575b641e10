"""LightGBM, XGBoost and CatBoost models of boosted_models.py agree with onnxruntime."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.host.exporters.against import check

FILES = sorted(Path(__file__).with_name("boosted").glob("*.onnx"))
LARGEST = (30, 40, 190, 2500, 1, 1)  # of six features: in the range of all three data sets


def test_the_collection_has_many_models():
    assert len(FILES) >= 20


@pytest.mark.parametrize("target", ["unix32"], indirect=True)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_model_agrees_with_onnxruntime(path, target):
    rng = np.random.default_rng(3)
    samples = (rng.random((8, 1, 6)) * LARGEST).astype(np.float32)
    samples[1::2] = rng.normal(0, 0.05, (4, 1, 6))  # as the diabetes data are
    check(target, onnx.load(path), [[x] for x in samples])
