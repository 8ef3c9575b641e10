"""An interrupt's callback, soft or hard, must not run the model that is computing."""

import pytest

from tests.device.networks import NETWORKS
from tools.converter.convert import Options, convert
from tools.deploy.code import code_for
from tools.deploy.model_file import parse_model
from tools.deploy.modules import Package
from tools.program.build import build

SCRIPT = """
import gc
from array import array

import rp2

import mpconnxr
from mpconnxr import MpconnxrError


# 20 interrupts of each run, 2 ms apart: it computes when the first one comes, and the last.


@rp2.asm_pio()
def ticks():
    set(x, 19)
    label("tick")
    nop()[31]
    nop()[5]
    irq(rel(0))
    jmp(x_dec, "tick")
    label("end")
    jmp("end")


m = mpconnxr.load("model.bin")
for t in m.inputs:
    items = t.view("B")
    for i in range(len(items)):
        items[i] = i * 7 % 250
kept = [bytes(t.view("B")) for t in m.inputs]


def filled():
    for t, items in zip(m.inputs, kept):
        t.view("B")[:] = items


m.run()
wanted = [bytes(t.view("B")) for t in m.outputs]
counts = array("i", [0, 0, 0, 0])  # computing now, refused, ran meanwhile, other errors


def callback(_):
    if counts[0]:  # soft callbacks may come when the run has ended
        try:
            m.run()
            counts[2] += 1
        except MpconnxrError:
            counts[1] += 1
        except Exception:
            counts[3] += 1


for hard in (False, True):
    counts[1] = counts[2] = counts[3] = 0
    timer = rp2.StateMachine(0, ticks, freq=20000)
    timer.irq(callback, hard=hard)
    for i in range(8):
        if i == 2:
            gc.collect()
            before = gc.mem_alloc()
        filled()
        timer.restart()
        timer.active(1)
        counts[0] = 1
        m.run()
        counts[0] = 0
        timer.active(0)
        if [bytes(t.view("B")) for t in m.outputs] != wanted:
            print("other outputs")
    timer.irq(None)
    gc.collect()
    if gc.mem_alloc() - before > 200:
        print("refusals add up to", gc.mem_alloc() - before, "bytes")
    print(hard, counts[1] == 160 if hard else counts[1] > 3, counts[2], counts[3])
"""


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["program", "kernels"])
def test_a_run_in_an_interrupts_callback_is_refused(machine, mode):
    if machine.name != "rp2040":
        pytest.skip("no interrupts that this script can ask for")
    data = convert(NETWORKS["mlperf kws int8"]().model, Options(strip=True)).data
    if mode == "program":
        files = build(data, machine.kind, stream=False).files
    else:
        code = code_for(parse_model("m", data), Package(), machine.kind)
        files = {f.path: f.data for f in code}
    printed = machine.run(SCRIPT, files | {"model.bin": data}).split("\n")
    assert printed == ["False True 0 0", "True True 0 0", ""], printed
