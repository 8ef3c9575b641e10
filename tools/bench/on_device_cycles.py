"""Run on MicroPython: one steady-state run between the marks of timing/blocks.c.

Arguments: preferred forms, separated by commas. Prints a JSON object with the first output's bytes
in hexadecimal and the bytes that the run allocates.
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
    """Return the bytes that one run allocates; 0 if only frames of functions do."""
    fill(model.inputs)
    micropython.heap_lock()
    try:
        model.run()
        return 0
    except UnsupportedError:  # it allocates, but the heap is locked
        pass
    finally:
        micropython.heap_unlock()
    fill(model.inputs)
    gc.collect()
    total = micropython.mem_total()
    model.run()
    return micropython.mem_total() - total


def main(forms):
    """Run the model once between two marks."""
    options = {"prefer": forms} if forms else {}  # a program has fixed forms
    model = mpconnxr.load("model.bin", **options)
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
