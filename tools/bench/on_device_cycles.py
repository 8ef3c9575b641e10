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


@micropython.asm_thumb
def _mark():
    data(2, 0x46DB)  # noqa: F821 - mov r11, r11


def main(forms):
    """Mark a run."""
    wanted = {"prefer": forms} if forms else {}  # a program has its forms
    model = mpconnxr.load("model.bin", **wanted)
    for _ in range(2):
        fill(model.inputs)
        model.run()
    fill(model.inputs)
    gc.collect()
    total = micropython.mem_total()
    _mark()
    model.run()
    _mark()
    grown = micropython.mem_total() - total
    output = model.outputs[0]
    seen = hexlify(output.view("B")).decode() if hasattr(output, "view") else ""
    print(json.dumps({"output": seen, "grown": grown}))


main([form for form in sys.argv[1].split(",") if form])
