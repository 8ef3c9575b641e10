"""Runs on MicroPython: one steady-state run between the marks of timing/blocks.c.

Arguments: the forms to prefer, with commas. Prints a JSON object with the bytes of the first
output, in hexadecimal, and of the heap that the run took.
"""

import gc
import json
import sys
from binascii import hexlify

import micropython
from on_device_ticks import fill

import mpconnxr
from mpconnxr import UnsupportedError


@micropython.asm_thumb
def _mark():
    data(2, 0x46DB)  # noqa: F821 - mov r11, r11


def _allocated(model):
    """Bytes that one run allocates: nothing if it needs no heap, frames of functions apart."""
    fill(model.inputs)
    micropython.heap_lock()
    try:
        model.run()
        return 0
    except UnsupportedError:  # as the heap is locked
        pass
    finally:
        micropython.heap_unlock()
    fill(model.inputs)
    gc.collect()
    total = micropython.mem_total()
    model.run()
    return micropython.mem_total() - total


def main(forms):
    """Mark a run."""
    wanted = {"prefer": forms} if forms else {}  # a program has its forms
    model = mpconnxr.load("model.bin", **wanted)
    for _ in range(2):
        fill(model.inputs)
        model.run()
    fill(model.inputs)
    gc.collect()
    _mark()
    model.run()
    _mark()
    output = model.outputs[0]
    seen = hexlify(output.view("B")).decode() if hasattr(output, "view") else ""
    print(json.dumps({"output": seen, "grown": _allocated(model)}))


main([form for form in sys.argv[1].split(",") if form])
