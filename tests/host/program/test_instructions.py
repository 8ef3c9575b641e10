"""Programs load and run in fewer instructions than the kernels do."""

import pytest
from onnx import helper

from tests.device.networks import NETWORKS
from tests.host import zoo
from tests.host.device import small
from tools.bench.measure import count, input_files
from tools.converter.convert import Options, convert
from tools.deploy.code import code_for
from tools.deploy.model_file import parse_model
from tools.deploy.modules import Package
from tools.machine import Machine
from tools.program.build import build

TARGET = "mps2-an385-v6m"
SCRIPT = """
@micropython.viper
def ticks() -> int:
    timer = ptr32(COUNTER)
    i = 0
    return int(timer[i]) & 0x3fffffff

import mpconnxr
times = [ticks()]
model = mpconnxr.load("model.bin")
times.append(ticks())
model.run()
times.append(ticks())
FILL
filled = ticks()
model.run()
times.append(ticks() - filled + times[-1])
print(*[round((b - a & 0x3fffffff) / TICKS) for a, b in zip(times, times[1:])])
"""
# The most instructions of a load, and of a run beside what the kernels take.
CASES = {"digits float32": (7_000_000, 1.0), "digits int8": (7_000_000, 1.0)}


FILL = """
for i, t in enumerate(model.inputs):
    with open("x%d" % i, "rb") as f:
        f.readinto(t.view("B"))
"""


def counted(target, files, data, fill=""):
    """Return the instructions of load, first and second run; `fill` sets the inputs."""
    address, per_instruction = target.counter
    script = SCRIPT.replace("COUNTER", str(address)).replace("TICKS", str(per_instruction))
    script = script.replace("FILL", fill)
    completed = target.run(
        "import micropython\n" + script, files | {"model.bin": data}, icount=True
    )
    assert completed.returncode == 0 and not completed.stderr, completed.stderr
    return [int(n) for n in completed.stdout.split()]


@pytest.mark.parametrize("network", CASES)
def test_programs_take_fewer_instructions(ready_target, network):
    target = ready_target(TARGET)
    machine = Machine.for_arch(target.arch)
    data = convert(NETWORKS[network]().model, Options(strip=True)).data
    kernels = {f.path: f.data for f in code_for(parse_model("m", data), Package(), machine)}
    original = counted(target, kernels, data)
    load, _, run = counted(target, build(data, machine, stream=False).files, data)
    most, share = CASES[network]
    print(f"{network}: load {load} ({original[0]} with kernels), run {run} ({original[2]})")
    assert load <= most
    assert run <= share * original[2]


# Of MLPerf Tiny's person detection: instructions to load it, for each of a run.
VWW, MOST_OF_A_RUN, MOST_WITH_KERNELS = "mlperf_vww_mobilenet_int8", 0.93, 3.6


@pytest.mark.slow
@pytest.mark.skipif(VWW not in zoo.models(), reason="the model collection is absent")
def test_loading_takes_less_than_a_run(ready_target):
    target = ready_target("mps2-an385")
    machine = Machine.for_arch(target.arch)
    data = convert(zoo.model_path(VWW), Options(strip=True)).data
    kernels = {f.path: f.data for f in code_for(parse_model("m", data), Package(), machine)}
    load, _, run = counted(target, build(data, machine, stream=False).files, data)
    original, _, _ = counted(target, kernels, data)
    print(f"load {load} ({original} with kernels), run {run}")
    assert load <= MOST_OF_A_RUN * run
    assert original <= MOST_WITH_KERNELS * run


# The most instructions of a call outside of its loop; on RISC-V code in .mpy files is called as
# viper is.
STEPS = {"mps2-an385": 840, "mps2-an385-v6m": 950, "mps2-an386": 840, "virt-rv32": 1190}
N_STEPS = 200


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_a_tiny_step_costs_few_instructions(ready_target, name):
    """Compares chains of different lengths: a run's own instructions are not a step's."""
    target = ready_target(name)
    long, short = (_outside_of_loops(target, n) for n in (N_STEPS, N_STEPS // 2))
    step, original = ((a - b) / (N_STEPS - N_STEPS // 2) for a, b in zip(long, short, strict=True))
    print(
        f"{name}: {step:.1f} instructions a step outside of its loop, {original:.0f} with kernels"
    )
    assert 0 < step <= STEPS[name]


def _outside_of_loops(target, n_steps):
    """Return the instructions of a run outside of loops: as a program, and with kernels."""
    converted = convert(_tiny(n_steps), Options(strip=True))
    assert len(converted.graph.steps) == n_steps
    made = build(converted.data, Machine.for_arch(target.arch), stream=False)
    files = input_files(converted) | made.files
    del files["mpconnxr"]
    _, _, run = counted(target, files, converted.data, FILL)
    kernels = count(converted, target.name)
    return run - kernels.in_loops, kernels.instructions - kernels.in_loops


def _tiny(n_steps):
    """Return a chain of operators on 8 floats."""
    nodes, x = [], "x"
    for i in range(n_steps):
        op = ("Add", "Relu", "Mul", "Neg", "Sub", "Abs")[i % 6]
        inputs = [x, "y"] if op in ("Add", "Mul", "Sub") else [x]
        nodes.append(helper.make_node(op, inputs, [x := f"v{i}"]))
    infos = [small.value(name, (8,)) for name in ("x", "y", x)]
    return small.model(nodes, infos[:2], infos[2:])
