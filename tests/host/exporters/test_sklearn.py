"""scikit-learn through skl2onnx, in float32 and in default exports, agrees with onnxruntime."""

import warnings

import numpy as np
import pytest

from tests.host.exporters.against import check

pytest.importorskip("skl2onnx", reason="exporting needs scikit-learn and skl2onnx")

from skl2onnx import to_onnx  # noqa: E402

from tests.host.exporters import estimators  # noqa: E402

NAMED = estimators.named()
OPSETS = {"IsolationForest": {"": 18, "ai.onnx.ml": 3}}  # those that are not the exporter's newest


MODELS = [(name, np.float32) for name in NAMED]
MODELS += [
    (name, np.float64)
    for name, estimator in NAMED.items()
    if not any(f"{kind}(" in str(estimator) for kind in estimators.SINGLE_ONLY)
    or "Calibrated" in name
]


def test_there_are_many_estimators():
    assert len(MODELS) >= 150


@pytest.mark.slow
@pytest.mark.parametrize("target", ["unix32"], indirect=True)
@pytest.mark.parametrize(("name", "dtype"), MODELS)
def test_an_estimator_agrees_with_onnxruntime(name, dtype, target):
    """Models are float32 without ZipMap, or by default float64 with it."""
    estimator, x = estimators.fitted(NAMED[name], dtype)
    model = exported(estimator, x[:1], plain=dtype is np.float32)
    reference = exported(estimator, x[:1].astype(np.float32), plain=dtype is np.float32)
    check(target, model, [[x[k : k + 1]] for k in range(3)], reference)


def exported(estimator, x, plain):
    """Export a trained estimator; `plain` omits ZipMap."""
    opset = OPSETS.get(type(estimator).__name__)
    options = {"zipmap": False} if plain and hasattr(estimator, "classes_") else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return to_onnx(estimator, x, options=options, target_opset=opset)
        except NameError:  # this one has no such option
            return to_onnx(estimator, x, target_opset=opset)
