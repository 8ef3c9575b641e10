"""Programs load and run in fewer instructions than the kernels do, on ARMv6-M code."""

import pytest

from tests.device.networks import NETWORKS
from tools.converter.convert import Options, convert
from tools.deploy.code import code_for
from tools.deploy.machine import Machine
from tools.deploy.model_file import parse_model
from tools.deploy.modules import Package
from tools.program.build import build

TARGET = "mps2-an385-v6m"
# QEMU's timer counts 1.6 ticks an instruction.
SCRIPT = """
@micropython.viper
def ticks() -> int:
    timer = ptr32(0x40028018)
    i = 0
    return int(timer[i]) & 0x3fffffff

import mpconnxr
times = [ticks()]
model = mpconnxr.load("model.bin")
times.append(ticks())
model.run()
times.append(ticks())
model.run()
times.append(ticks())
print(*[round((b - a & 0x3fffffff) / 1.6) for a, b in zip(times, times[1:])])
"""
# The most instructions of a load, and of a run beside what the kernels take.
CASES = {"digits float32": (7_000_000, 1.0), "digits int8": (7_000_000, 1.0)}


def counted(target, files, data):
    done = target.run("import micropython\n" + SCRIPT, files | {"model.bin": data}, icount=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return [int(n) for n in done.stdout.split()]


@pytest.mark.parametrize("network", CASES)
def test_instructions(ready_target, network):
    target = ready_target(TARGET)
    machine = Machine.for_arch(target.arch)
    data = convert(NETWORKS[network]().model, Options(strip=True)).data
    kernels = {f.path: f.data for f in code_for(parse_model("m", data), Package(), machine)}
    usual = counted(target, kernels, data)
    load, _, run = counted(target, build(data, machine, stream=False).files, data)
    most, share = CASES[network]
    print(f"{network}: load {load} ({usual[0]} with kernels), run {run} ({usual[2]})")
    assert load <= most
    assert run <= share * usual[2]
