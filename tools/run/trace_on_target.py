"""Trace model.bin on MicroPython, and print the lines that tools/run/trace.py parses.

Its inputs are the files input_0, input_1, ... A call of main() is appended to this text. It prints
`S {json}` for each step, then `T DTYPE DIMS` for each tensor that the step wrote (`T ?` if the run
decides its shape), followed by lines of `B BASE64` unless with_values is 0.
"""

import binascii
import json

import mpconnxr
from mpconnxr.inspect.trace import follow

PIECE = 768  # bytes in a line: small next to any heap


def main(with_values, folder):
    """Run the model and print the trace.

    Args:
        with_values: 0 to omit the tensors' values.
        folder: folder of the files, with a / at its end.
    """
    model = mpconnxr.load(folder + "model.bin")
    for i, t in enumerate(model.inputs):
        with open(folder + "input_" + str(i), "rb") as f:
            f.readinto(t.view("B"))

    def each(s, outputs):
        step = {"step": s.step, "name": s.name, "kernel": s.kernel, "forms": s.forms, "us": s.us}
        print("S", json.dumps(step))
        for t in outputs:
            if t is None:
                print("T ?")
                continue
            print("T", t.dtype, ",".join([str(d) for d in t.shape]))
            data = t.view("B")
            for at in range(0, len(data) if with_values else 0, PIECE):
                text = binascii.b2a_base64(data[at : at + PIECE])
                print("B", str(text, "ascii").strip())

    follow(model, each)
