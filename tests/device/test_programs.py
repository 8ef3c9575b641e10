"""Programs give the bytes of the kernels on each machine, from their files alone.

MPCONNXR_LONG=1: on the emulated Pico, too, and with mnist_8.
"""

import os
from functools import cache

import numpy as np
import pytest

from tests.device.networks import NETWORKS
from tools.converter.convert import convert
from tools.deploy.code import code_for
from tools.deploy.model_file import read_model
from tools.deploy.modules import Package
from tools.program.build import build

# Prints all outputs' bytes for each input.
SCRIPT = """
from binascii import hexlify
import mpconnxr
model = mpconnxr.load("model.bin")
print(type(model).__name__)
for k in range({n}):
    with open("x{{}}".format(k), "rb") as f:
        for t in model.inputs:
            t.view("B")[:] = f.read(t.nbytes)
    model.run()
    print(*[str(hexlify(bytes(t.view("B"))), "ascii") for t in model.outputs])
"""
LONG = os.environ.get("MPCONNXR_LONG") == "1"
SLOW = "takes minutes: MPCONNXR_LONG=1"
# What floats may be: loops leave these to others that are imported then.
SPECIAL = (np.inf, np.nan, 1e-41, 3e38)


@cache
def network(name):
    return NETWORKS[name]()


def inputs_of(expected):
    """Return the network's input; for floats, also copies with one special element each."""
    first = [x.copy() for x in expected.inputs]
    results = [first]
    for value in SPECIAL if first[0].dtype.kind == "f" else ():
        x = first[0].copy()
        x.reshape(-1)[x.size // 2] = value
        results.append([x, *first[1:]])
    return results


@pytest.mark.parametrize("stream", [False, True], ids=["in_place", "streamed"])
@pytest.mark.parametrize("name", NETWORKS)
def test_programs_give_the_bytes_of_the_kernels(machine, name, stream, tmp_path):
    if not LONG and (machine.name == "rp2040" or name == "mnist_8"):
        pytest.skip(SLOW)
    expected = network(name)
    data = convert(expected.model).data
    (tmp_path / "model.bin").write_bytes(data)
    inputs = inputs_of(expected)
    feed = {f"x{k}": b"".join(a.tobytes() for a in x) for k, x in enumerate(inputs)}
    feed["model.bin"] = data
    made = build(data, machine.kind, stream)
    kernels = code_for(read_model(tmp_path / "model.bin"), Package(), machine.kind)
    script = SCRIPT.format(n=len(inputs))
    program = machine.run(script, made.files | feed).splitlines()
    model = machine.run(script, {f.path: f.data for f in kernels} | feed).splitlines()
    assert (program[0], model[0]) == ("Program", "Model")
    assert program[1:] == model[1:] and len(program) == 1 + len(inputs)
