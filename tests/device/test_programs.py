"""Models that are programs give the bytes of the kernels on each machine, from their files alone.

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


def inputs_of(wanted):
    """The input of the network; for floats also some in which one element is special."""
    first = [x.copy() for x in wanted.inputs]
    found = [first]
    for value in SPECIAL if first[0].dtype.kind == "f" else ():
        x = first[0].copy()
        x.reshape(-1)[x.size // 2] = value
        found.append([x, *first[1:]])
    return found


@pytest.mark.parametrize("stream", [False, True], ids=["in_place", "streamed"])
@pytest.mark.parametrize("name", NETWORKS)
def test_the_bytes_of_the_kernels(machine, name, stream, tmp_path):
    if not LONG and (machine.name == "rp2040" or name == "mnist_8"):
        pytest.skip(SLOW)
    wanted = network(name)
    data = convert(wanted.model).data
    (tmp_path / "model.bin").write_bytes(data)
    inputs = inputs_of(wanted)
    given = {f"x{k}": b"".join(a.tobytes() for a in x) for k, x in enumerate(inputs)}
    given["model.bin"] = data
    made = build(data, machine.kind, stream)
    kernels = code_for(read_model(tmp_path / "model.bin"), Package(), machine.kind)
    script = SCRIPT.format(n=len(inputs))
    program = machine.run(script, made.files | given).splitlines()
    model = machine.run(script, {f.path: f.data for f in kernels} | given).splitlines()
    assert (program[0], model[0]) == ("Program", "Model")
    assert program[1:] == model[1:] and len(program) == 1 + len(inputs)
