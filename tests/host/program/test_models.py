"""Programs give the same bytes as the kernels, and allocate nothing."""

import os

import pytest

from tests.host import zoo
from tests.host.device import small
from tests.host.program import programs
from tools.converter.convert import Options, convert
from tools.converter.quantize.settings import Settings
from tools.program.call import CannotRecord

LONG = os.environ.get("MPCONNXR_LONG") == "1"
MOST_MACS = 60_000_000 if LONG else 1_500_000
MOST_PLAIN_MACS = MOST_MACS if LONG else 400_000  # of targets without native code
TARGETS = ("unix", "unix32", "unix-plain")
N_SAMPLES = 2


@pytest.fixture(scope="module")
def collection():
    """Return {name: (model file, its samples, MACs)} of the models that are small enough."""
    result = {}
    for name in zoo.models():
        converted = zoo.converted(name)
        if (macs := converted.report()["macs"]) <= MOST_MACS:
            shapes = [t.shape for t in converted.graph.inputs]
            samples = [zoo.sample(name, k, "input") for k in range(N_SAMPLES)]
            result[name] = (
                converted.data,
                [x for x in samples if [a.shape for a in x] == shapes],
                macs,
            )
    return result


def check(target, models, stream):
    """Run models {name: (data, samples)} as programs and kernels; return the programs' names."""
    bundles, files, lines = [], {}, []
    for name, (data, samples) in models.items():
        try:
            bundles.append(programs.made(data, target, stream))
        except CannotRecord:
            continue
        files[f"{name}.bin"] = data
        for k, x in enumerate(samples):
            files[f"{name}.bin.{k}"] = b"".join(a.tobytes() for a in x)
        lines.append(f"{name}.bin {'STREAMED' if stream else 'IN_PLACE'} {len(samples)}\n")
    files["models"] = "".join(lines).encode()
    printed = programs.run(target, programs.SCRIPT, bundles, files)
    assert len(printed) == len(lines)
    for line in printed:
        name, kind, same, grown = line.split()
        assert (kind, same) == ("program", "same"), line
        # where words have 32 bits, as on boards, it is machine code that makes the calls
        assert grown == "0" or target.name != "unix32", line
    return [line.split(".")[0] for line in lines]


@pytest.mark.slow
@zoo.needs_zoo
@pytest.mark.parametrize("stream", [False, True], ids=["in_place", "streamed"])
@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_programs_of_the_collection_give_the_bytes_of_kernels(target, collection, stream):
    most = MOST_MACS if target.viper else MOST_PLAIN_MACS
    models = {k: (data, x) for k, (data, x, macs) in collection.items() if macs <= most}
    names = check(target, models, stream)
    assert "digits_cnn_qdq_s8" in names and len(names) >= 12


@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_small_programs_give_the_bytes_of_kernels(target):
    check(target, {"small": quantized()}, False)


def quantized():
    """Return an int8 model of several kinds of steps, and two inputs."""
    data = [small.floats(1, 2, 5, 6, seed=k) for k in range(8)]
    settings = Settings(samples=[{"x": x} for x in data])
    converted = convert(small.mixed(), Options(strip=True, quantize=settings))
    return converted.data, [[x] for x in data[:2]]
