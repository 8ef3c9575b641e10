"""profile, benchmark and deadlines follow docs/api.md."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
KERNELS = ["block_conv", "relu", "max_pool", "move", "block_gemm"]  # of small.mixed()
PROFILE = """
import mpconnxr
m = mpconnxr.load("m.bin", stream=False)
m.inputs[0].view("B")[:] = bytes([i % 60 for i in range(m.inputs[0].nbytes)])
before = bytes(m._arena)
y = m.profile(runs=3)
print([(s.step, s.name.split()[-1:], s.kernel, s.forms) for s in y.steps])
print(y.us == sum([s.us for s in y.steps]) > 0, all([s.us >= 0 for s in y.steps]))
print(y)
"""


@every_target
def test_a_profile_has_every_step(target):
    data = convert(small.mixed(), Options(optimize=1)).data
    first, consistent, *table = small.lines(target, PROFILE, m=data)
    form = "viper" if target.viper else "plain"
    steps = eval(first)
    assert [s[2] for s in steps] == KERNELS
    assert [s[0] for s in steps] == ["0", "1", "2", "3", "4"]
    assert all(s[1] for s in steps)
    assert all(any(form in f for f in s[3]) for s in steps)
    assert consistent == "True True"
    assert table[0].split() == ["step", "name", "kernel", "loops", "us", "share"]
    assert len(table) == len(steps) + 2 and len({len(line.rstrip()) for line in table[:-1]}) == 1
    shares = [float(line.split()[-1].rstrip("%")) for line in table[1:-1]]
    assert sum(shares) == pytest.approx(100, abs=0.3)


def looping():
    """Return a Loop of 7 rounds with an If: one step in the first 3 rounds, then two."""
    yes = helper.make_graph(
        [helper.make_node("Sin", ["b"], ["y0"])], "yes", [], [small.value("y0", (4,))]
    )
    no = helper.make_graph(
        [helper.make_node("Cos", ["b"], ["n1"]), helper.make_node("Tanh", ["n1"], ["n0"])],
        "no",
        [],
        [small.value("n0", (4,))],
    )
    nodes = [
        helper.make_node("Less", ["i", "three"], ["small"]),
        helper.make_node("If", ["small"], ["c"], then_branch=yes, else_branch=no),
        helper.make_node("Identity", ["go"], ["on"]),
    ]
    i64, boolean = TensorProto.INT64, TensorProto.BOOL
    body = helper.make_graph(
        nodes,
        "body",
        [small.value("i", (), i64), small.value("go", (), boolean), small.value("b", (4,))],
        [small.value("on", (), boolean), small.value("c", (4,))],
    )
    loop = ("Loop", "seven true x", "y", {"body": body})
    constants = {name: np.array(n, np.int64) for name, n in (("seven", 7), ("three", 3))}
    constants["true"] = np.array(True)
    values = [small.value("x", (4,))], [small.value("y", (4,))]
    return small.model([loop], *values, **constants)


@every_target
def test_a_profile_shows_the_steps_in_bodies(target):
    """They follow the step that runs them, whose time includes theirs."""
    script = """
import mpconnxr
m = mpconnxr.load("m.bin", stream=False)
right = list(m.run([0.1, 0.2, 0.3, 0.4])[0].data)
p = m.profile([0.1, 0.2, 0.3, 0.4], runs=3)
for s in p.steps:
    print(s.step, s.kernel, s.us)
again = list(m.run([0.1, 0.2, 0.3, 0.4])[0].data)
print(p.us, len(str(p).split("\\n")) - len(p.steps), again == right)
"""
    *lines, last = small.lines(target, script, m=small.binary(looping()))
    steps = [line.split() for line in lines]
    us = {(number, kernel): int(t) for number, kernel, t in steps}
    outer = [number for number, *_ in steps if "/" not in number]
    loop = next(number for number, kernel, _ in steps if kernel == "loop")
    inside = [(n, k) for n, k, _ in steps if n.startswith(loop + "/")]
    assert outer == sorted(outer, key=int) and len(inside) >= 6
    assert [n for n, *_ in steps].index(loop) + 1 == [(n, k) for n, k, _ in steps].index(inside[0])
    direct = sum(us[key] for key in inside if key[0].count("/") == 1)
    assert 0 < direct <= us[loop, "loop"]
    [branch] = [key for key in inside if key[1] == "branch"]
    deep = [int(t) for number, _, t in steps if number.startswith(branch[0] + "/")]
    assert len(deep) >= 3 and 0 < sum(deep) <= us[branch]
    total, frame, same = last.split()
    assert int(total) == sum(us[n, k] for n, k, _ in steps if "/" not in n)
    assert (frame, same) == ("2", "True")


@every_target
def test_a_profile_handles_streamed_and_stripped_files(target):
    script = """
import mpconnxr
m = mpconnxr.load("m.bin")
for s in m.profile().steps:
    print(s.step, s.kernel, s.name == "")
"""
    printed = small.lines(target, script, m=small.binary(small.mixed(), optimize=1))
    kernels = [line.split(" ", 1)[1].rpartition(" ")[0] for line in printed]
    assert [k for k in kernels if k != "read weights"] == KERNELS
    assert kernels[0] == "read weights"
    assert all(line.endswith(" True") for line in printed)


@every_target
def test_measuring_restores_inputs_and_state(target):
    """The state is a sum that the next run continues, as with --state."""
    proto = small.model(
        [("Add", "x s", "t", {}), ("Identity", "t", "y", {})],
        [small.value("x", (3,)), small.value("s", (3,))],
        [small.value("y", (3,)), small.value("t", (3,))],
    )
    data = convert(proto, Options(state={"s": "t"})).data
    script = """
import mpconnxr
m = mpconnxr.load("m.bin")
print(list(m.run([1, 2, 3])[0].data))
m.profile([5, 5, 5], runs=2)
m.benchmark(3, [5, 5, 5])
print(list(m.run([1, 2, 3])[0].data))
m.inputs[0].data[0] = 7
m.benchmark(3)
print(m.inputs[0].data[0], m.state_nbytes)
"""
    assert small.lines(target, script, m=data) == [
        "[1.0, 2.0, 3.0]",
        "[2.0, 4.0, 6.0]",
        "7.0 12",
    ]


@every_target
def test_benchmark_reports_times(target, relu):
    script = """
import mpconnxr
from mpconnxr.inspect.timing import Benchmark
m = mpconnxr.load("m.bin")
b = m.benchmark(20, [1, -2, 3, -4, 5, -6])
print(b.n, 0 <= b.min_us <= b.p50_us <= b.p95_us <= b.p99_us <= b.max_us)
print(Benchmark(list(range(200, 0, -1))))
print(Benchmark([7]))
for n in (0, -1):
    try:
        m.benchmark(n)
    except mpconnxr.InputError as e:
        print(e)
try:
    m.profile(runs=0)
except mpconnxr.InputError as e:
    print(e)
"""
    assert small.lines(target, script, m=relu) == [
        "20 True",
        "200 runs: min 1, p50 100, p95 190, p99 198, max 200 us",
        "1 runs: min 7, p50 7, p95 7, p99 7, max 7 us",
        *["n: an integer from 1 to 1048576 is needed"] * 2,
        "runs: an integer from 1 to 1048576 is needed",
    ]


@every_target
def test_a_deadline_is_never_early(target, relu):
    script = """
import time
import mpconnxr
m = mpconnxr.load("m.bin")
for us in (0, 1, 700, 5000):
    for _ in range(10):
        start = time.ticks_us()
        outputs = m.run([1, -2, 3, -4, 5, -6], deadline_us=us)
        assert time.ticks_diff(time.ticks_us(), start) >= us
    print(us, list(outputs[0].data)[:3], outputs is m.outputs)
for us in (-1, 1 << 29):
    try:
        m.run(deadline_us=us)
    except mpconnxr.InputError as e:
        print(e)
"""
    assert small.lines(target, script, m=relu) == [
        *(f"{us} [1.0, 0.0, 3.0] True" for us in (0, 1, 700, 5000)),
        *["deadline_us: an integer from 0 to 268435456 is needed"] * 2,
    ]


@every_target
def test_a_plain_run_imports_no_timing_code(target, relu):
    script = """
import sys
import mpconnxr
m = mpconnxr.load("m.bin")
m.run([0] * 6)
print([n for n in ("rare", "timing", "profile", "slices", "queue", "classes", "kernels")
       if "mpconnxr." + n in sys.modules])
try:
    m.absent
except AttributeError as e:
    print(e)
print(hasattr(m, "profile"), hasattr(m, "other"))
"""
    assert small.lines(target, script, m=relu) == [
        "[]",
        "'Model' object has no attribute 'absent'",
        "True False",
    ]
