"""Run samples on a board, one after another, for tools/evaluate/predict.py.

The model stays loaded between the commands, and inputs arrive in pieces: a board has room for one
sample.
"""

import binascii

import mpconnxr

try:
    from time import ticks_diff, ticks_us
except ImportError:  # a port without a clock
    ticks_us = None

_CHUNK = 768  # bytes of a tensor in one line
model = None


def load(path):
    """Load the model."""
    global model
    model = mpconnxr.load(path)


def fill(i, at, text):
    """Write bytes into an input from an offset on."""
    data = binascii.a2b_base64(text)
    model.inputs[i].view("B")[at : at + len(data)] = data


def run():
    """Run the model; print the microseconds, then each output in lines of base64."""
    start = ticks_us and ticks_us()
    outputs = model.run()
    print(ticks_diff(ticks_us(), start) if ticks_us else -1)
    for t in outputs:
        data = t.view("B")
        for at in range(0, len(data), _CHUNK):
            line = binascii.b2a_base64(data[at : min(at + _CHUNK, len(data))])
            print(str(line, "ascii").strip())
        print("-")
