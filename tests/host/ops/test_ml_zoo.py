"""Models of scikit-learn and XGBoost on MicroPython: the same labels as onnxruntime's."""

import numpy as np
import pytest

from tests.host import zoo
from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.load import load
from tools.converter.reference import golden
from tools.harness import Job, run_jobs

MODELS = [
    "onnxmltools_xgb_regressor",
    "skl_dt_breast_cancer",
    "skl_extratrees_iris",
    "skl_gbr_diabetes",
    "skl_gnb_wine",
    "skl_hgb_breast_cancer",
    "skl_kmeans_iris",
    "skl_linearsvc_digits",
    "skl_logreg_scaler_breast_cancer",
    "skl_mlp_digits",
    "skl_pca_ridge_diabetes",
    "skl_rf_digits",
    "skl_rfr_diabetes",
    "skl_svc_rbf_wine",
    "skl_voting_wine",
    "tract_xgb_classifier",
]
SAMPLES = 10
ROWS = 200  # of a test set

pytestmark = zoo.needs_zoo


def batches(name):
    """Return [(inputs, reference outputs)]: the samples, and rows of any test set."""
    results = [
        (zoo.sample(name, k, "input"), zoo.sample(name, k, "output")) for k in range(SAMPLES)
    ]
    results = [pair for pair in results if pair[0]]
    rows = zoo.model_path(name).with_name("testset.npz")
    if rows.exists():
        inputs = [np.load(rows)["x"][:ROWS].astype(np.float32)]
        reference = golden.reference(load(zoo.model_path(name)), inputs)
        results += [(inputs, reference)] if reference else []
    assert results
    return results


def outputs_of(target, name, inputs):
    shapes = dict(zip(zoo.input_names(name), (x.shape for x in inputs), strict=True))
    converted = convert(zoo.model_path(name), Options(shapes=shapes, strip=True))
    [outcome] = run_jobs(target, [Job(converted.data, [[x.tobytes() for x in inputs]])])
    assert not outcome.error, outcome.message
    pairs = zip(outcome.runs[0].outputs, converted.graph.outputs, strict=True)
    return [np.frombuffer(raw, t.np_dtype).reshape(t.shape) for raw, t in pairs]


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
@pytest.mark.parametrize("name", MODELS)
def test_real_models_agree_with_onnxruntime(target, name):
    for inputs, reference in batches(name):
        for got, want in zip(outputs_of(target, name, inputs), reference, strict=True):
            assert got.dtype == want.dtype and got.shape == want.shape
            if want.dtype == np.int64:
                np.testing.assert_array_equal(got, want)
            else:
                np.testing.assert_allclose(got, want, 1e-4, bound(name) * np.abs(want).max())


def bound(name):
    """Return the allowed error, relative to the largest value: larger where there are products."""
    operators = {node.op_type for node in load(zoo.model_path(name)).graph.node}
    return 2e-5 if operators & {"Conv", "Gemm", "MatMul"} else 1e-5


SCRIPT = """
import mpconnxr
model = mpconnxr.load("model.bin")
label, scores = model.run(open("x.bin", "rb").read())
print(label.data[0], *scores.data)
"""


def test_a_forest_fits_a_small_heap(ready_target):
    """It has 4,110 nodes and 20,650 weights, 366 KB of ONNX; a Pico's heap is 242 KB."""
    inputs, (label, scores) = batches("skl_rf_digits")[0]
    data = convert(zoo.model_path("skl_rf_digits"), Options(strip=True)).data
    files = {"model.bin": data, "x.bin": inputs[0].tobytes()}
    printed = small.run(ready_target("unix32"), SCRIPT, files, heap=128 << 10).split()
    assert int(printed[0]) == label[0]
    np.testing.assert_allclose([float(v) for v in printed[1:]], scores[0], 1e-5, 1e-6)


@pytest.mark.parametrize("name", ["skl_rf_digits", "skl_svc_rbf_wine"])
def test_real_models_run_on_an_emulated_cortex_m3(ready_target, name):
    inputs, reference = batches(name)[0]
    label, scores = outputs_of(ready_target("mps2-an385"), name, inputs)
    np.testing.assert_array_equal(label, reference[0])
    np.testing.assert_allclose(scores, reference[1], 1e-5, 1e-6)
