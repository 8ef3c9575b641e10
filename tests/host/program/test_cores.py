"""Programs for two cores: the same bytes as one core's, whoever comes first, and nothing hangs."""

import numpy as np
import pytest
from onnx import helper

from tests.host import zoo
from tests.host.device import small
from tests.host.device.small import floats, value
from tests.host.loop_calls import calls
from tests.host.program import programs
from tests.host.program.test_models import LONG, quantized
from tests.host.test_loop_access import watched
from mpconnxr import forms
from tools.converter.convert import Options, convert
from tools.converter.quantize.settings import Settings
from tools.program import cores
from tools.program.bundle import bundle, has_form
from tools.program.memory import UNKNOWN
from tools.program.record import Call, CannotRecord, Loop, Part, Place
from tools.program.touched import _ITEMS, Bytes, merged, touched

SCRIPT = (small.SCRIPTS / "cores.py").read_text()
TARGETS = ("unix", "unix32", "unix-plain")
ZOO = {"mlperf_kws_dscnn_int8": 20, "mlperf_vww_mobilenet_int8": 5, "digits_cnn_qdq_s8": 200}
N_RUNS = 2000 if LONG else 60


def pair_of(data, target, stream=False):
    machine = programs.machine_of(target)
    found = cores.record_pair(data, lambda *form: has_form(machine, *form), stream)
    assert found, "no step of it is cut"
    return found


def made(data, target, stream=False):
    pair = pair_of(data, target, stream)
    return bundle(data, pair.cores[0], programs.machine_of(target), pair.cores[1])


def network():
    """A network in int8 of convolutions in place, some with strides, an average and a Gemm."""
    nodes = [
        ("Conv", "x w0", "a", {"pads": [1, 1, 1, 1]}),
        ("Relu", "a", "b", {}),
        ("Conv", "b w1", "c", {"pads": [1, 1, 1, 1], "group": 12, "strides": [2, 2]}),
        ("Conv", "c w2", "d", {}),
        ("Relu", "d", "e", {}),
        ("Conv", "e w3", "f", {"pads": [1, 1, 1, 1], "group": 12}),
        ("GlobalAveragePool", "f", "g", {}),
        ("Flatten", "g", "h", {}),
        ("Gemm", "h w4", "y", {}),
    ]
    return small.model(
        nodes,
        [value("x", (1, 3, 16, 14))],
        [value("y", (1, 40))],
        w0=floats(12, 3, 3, 3),
        w1=floats(12, 1, 3, 3, seed=2),
        w2=floats(12, 12, 1, 1, seed=3),
        w3=floats(12, 1, 3, 3, seed=4),
        w4=floats(12, 40, seed=5),
    )


@pytest.fixture(scope="module")
def model():
    """The network's file, and two inputs."""
    samples = [floats(1, 3, 16, 14, seed=k) for k in range(8)]
    settings = Settings(samples=[{"x": x} for x in samples])
    done = convert(network(), Options(strip=True, quantize=settings))
    return done.data, [[x] for x in samples[:2]]


def check(target, models, stream=False):
    """models: {name: (data, samples, runs)}"""
    bundles, files, lines = [], {}, []
    for name, (data, samples, runs) in models.items():
        bundles.append(made(data, target, stream))
        files[f"{name}.bin"] = data
        for k, x in enumerate(samples):
            files[f"{name}.bin.{k}"] = b"".join(np.ascontiguousarray(a).tobytes() for a in x)
        kind = "STREAMED" if stream else "IN_PLACE"
        lines.append(f"{name}.bin {kind} {len(samples)} {runs}\n")
    files["models"] = "".join(lines).encode()
    printed = programs.run(target, SCRIPT, bundles, files)
    assert len(printed) == len(models)
    for line in printed:
        *said, grown = line.split()[1:]
        assert said == ["Pair", "one=True", "turned=True", "two=True"], line
        # where words have 32 bits, as on boards, it is machine code that makes the calls
        assert grown == "0" or target.name != "unix32", line


@pytest.mark.parametrize("stream", [False, True], ids=["in_place", "streamed"])
@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_the_same_bytes(target, model, stream):
    check(target, {"network": (*model, 3 if target.name == "unix-plain" else N_RUNS)}, stream)


@zoo.needs_zoo
@pytest.mark.parametrize("target", ("unix", "unix32"), indirect=True)
def test_models_of_the_collection(target):
    check(target, {name: of_zoo(name, runs) for name, runs in ZOO.items()})


def of_zoo(name, runs):
    data = convert(zoo.model_path(name), Options(strip=True)).data
    return data, [zoo.sample(name, 0, "input")], runs * (20 if LONG else 1)
