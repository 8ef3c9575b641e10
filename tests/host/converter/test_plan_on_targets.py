"""A plan changes where values lie, never what comes out: the same bytes from each, on targets."""

import pytest

from tests.host import zoo
from tools.converter import layout
from tools.converter.convert import Options, convert
from tools.converter.plan import plan
from tools.harness import Job, run_jobs

MODELS = (
    "mnist_8",
    "digits_cnn_qop_u8",
    "sensor_features_f32",
    "skl_gnb_wine",
    "tinymaix_mnist_dw_int8",
    "tract_lgbm_regressor_tensor",
)

pytestmark = zoo.needs_zoo


def graph_of(name):
    """(graph, inputs) of a model of the collection, with its first sample."""
    sample = zoo.sample(name, 0, "input")
    shapes = dict(zip(zoo.input_names(name), [x.shape for x in sample], strict=True))
    done = convert(zoo.model_path(name), Options(shapes=shapes, strip=True))
    return done.graph, [x.tobytes() for x in sample]


def planned(graph, **options):
    return layout.model_bytes(graph, plan(graph, **options).arena_bytes)


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_in_place_changes_no_result(target):
    jobs, saved = [], 0
    for name in MODELS:
        graph, sample = graph_of(name)
        files = [planned(graph, in_place=False), planned(graph)]
        saved += layout.arena_bytes(files[0]) - layout.arena_bytes(files[1])
        jobs += [Job(data, [sample]) for data in files]
    outcomes = run_jobs(target, jobs, timeout=300)
    assert saved > 0
    assert not any(o.error for o in outcomes), [o.message for o in outcomes]
    outputs = [o.runs[0].outputs for o in outcomes]
    assert outputs[::2] == outputs[1::2]
