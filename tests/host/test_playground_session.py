"""The playground's requests to MicroPython, on the target that a browser runs."""

import json
from random import Random

import pytest

from tests.fuzz.modelfile import read
from tests.fuzz.mutate import mutated
from tests.host.device import small
from tests.host.zoo import ROOT, ZOO, model_path
from tools import package
from tools.converter.convert import Options, convert
from tools.playground.assemble import PAGE

PACKAGE = package.folder()

ASK = """
import session
print(session.load("model.bin"))
for text in open("asked").read().split("\\n"):
    found = session.fill(text)
    while '"error"' not in found and '"outputs"' not in found:
        found = session.go(20)
    print(found)
"""

ASK_EACH = """
import session
for k in range({n}):
    found = session.load(str(k) + ".bin")
    print(found)
    if not found.startswith('{{"error"'):
        print(session.fill("0"))
        print(session.go(1000))
"""
CASES = 40


@pytest.fixture
def session(ready_target):
    """Return a function that runs a model; it returns the answers of load and of each run."""

    def ask(model, *requests):
        completed = ready_target("webassembly").run(
            ASK,
            files={
                "mpconnxr": PACKAGE,
                "session.py": PAGE / "session.py",
                "model.bin": model,
                "asked": "\n".join(map(json.dumps, requests)).encode(),
            },
        )
        assert (completed.stderr, completed.returncode) == ("", 0)
        return [json.loads(line) for line in completed.stdout.splitlines()]

    return ask


@pytest.mark.parametrize(
    "name",
    [
        "gesture_lstm_f32",
        "digits_cnn_qdq_s8",
        "espdl_streaming_tcn",
        "mlperf_kws_dscnn_int8",
        "skl_rf_wine_zipmap",
    ],
)
def test_blocks_have_the_offsets_of_the_plan(session, name):
    """The same bytes are in use at each step."""
    if not model_path(name).exists():
        pytest.skip(f"no model collection at {ZOO}")
    converted = convert(model_path(name))
    about, result = session(converted.data, 0)
    n = sum("/" not in step["step"] for step in about["steps"])
    planned = [(b.first, b.last, b.offset, b.nbytes) for b in converted.plan.blocks]
    shown = [(b["first"], b["last"], b["offset"], b["nbytes"]) for b in about["blocks"]]
    for step in range(-1, n + 1):
        assert used(shown, step) == used(planned, step), step
    assert all(output["agrees"] for output in result["outputs"])
    assert len(result["ms"]) == sum(s["timed"] is not None for s in about["steps"])


def used(blocks, step):
    """Return the offsets of all bytes in use at a step; sizes are multiples of 8."""
    own = [range(o, o + n + -n % 8) for first, last, o, n in blocks if first <= step <= last]
    return set().union(*own)


def test_values_that_json_lacks_become_strings(session):
    ends = [small.value("x", (4,)), small.value("n", (2,), 7)]
    outputs = [small.value("y", (4,)), small.value("m", (2,), 7)]
    proto = small.model([("Neg", "x", "y", {}), ("Add", "n n", "m", {})], ends, outputs)
    requests = [{"values": [0, 1e39, -1e39, 0.5]}, {"values": [1 << 60, -3]}]
    _, result = session(convert(proto).data, requests)
    y, m = (output["values"] for output in result["outputs"])
    assert y == [0, "-inf", "inf", -0.5] and m == [str(1 << 61), -6]


def test_state_is_zero_before_each_run(session):
    nodes = [("Add", "x s", "y", {}), ("Identity", "y", "n", {})]
    names = ("x", "s"), ("y", "n")
    proto = small.model(nodes, *([small.value(n, (2,)) for n in group] for group in names))
    data = convert(proto, Options(state={"s": "n"})).data
    about, *runs = session(data, *([{"values": [1, 2]}] for _ in range(2)))
    assert about["state"] and [run["outputs"][0]["values"] for run in runs] == [[1, 2]] * 2


def test_errors_are_answered(session):
    model = convert(ROOT / "examples" / "digits" / "digits.onnx").data
    _, *errors = session(model, 1, [], [{"values": [1]}], [{"values": "no"}], [{"file": "absent"}])
    assert all(list(error) == ["error"] for error in errors)
    assert "image" in errors[2]["error"]


def test_damaged_models_with_right_digests_do_no_harm(session, ready_target):
    """Each gives an error or runs, and MicroPython accepts the next one."""
    good = read(convert(ROOT / "examples" / "digits" / "digits.onnx").data)
    rng = Random(1)
    models = {f"{k}.bin": mutated(good, rng)[0] for k in range(CASES)}
    files = {"mpconnxr": PACKAGE, "session.py": PAGE / "session.py"} | models
    completed = ready_target("webassembly").run(ASK_EACH.format(n=CASES), files=files)
    assert (completed.stderr, completed.returncode) == ("", 0)
    results = [json.loads(line) for line in completed.stdout.splitlines()]
    assert len(results) >= CASES
    assert sum("error" in answer for answer in results) > CASES // 2


def test_a_damaged_model_is_reported(session):
    model = bytearray(convert(ROOT / "examples" / "digits" / "digits.onnx").data)
    model[80] ^= 1
    [about, *_] = session(bytes(model), 0)
    assert "damaged" in about["error"]
