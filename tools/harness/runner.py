"""Run jobs on MicroPython and print their outcomes for tools/harness/batch.py.

`jobs.json` has each job's number of samples, and the shapes of their inputs for a model whose
callers determine them. Job 3 is the model `3.bin`; its sample 1's input 0 is the file `3_1_0`. The
output has a line of JSON at a job's start, after each run, and at its end. After that of a run
come its outputs' bytes as lines of base64, short enough for a small heap. Strings and maps are
JSON both ways: see tools/harness/objects.py.
"""

import binascii
import gc
import json
import struct

import mpconnxr

try:
    from time import ticks_diff, ticks_us
except ImportError:  # a port without a clock
    ticks_us = None

_CHUNK = 768  # bytes of a tensor in one line


def run_job(job, n_samples, shapes):
    """Load a model and run its samples; an exception ends this job only."""
    print(json.dumps({"start": job}))
    error = message = ""
    try:
        model = mpconnxr.load(f"{job}.bin")
        for sample in range(n_samples):
            _run_sample(model, f"{job}_{sample}_", shapes[sample] if shapes else ())
    except Exception as e:
        error, message = type(e).__name__, str(e)
    print(json.dumps({"end": job, "error": error, "message": message}))


def _run_sample(model, prefix, shapes):
    for i, t in enumerate(model.inputs):
        if hasattr(t, "set_shape"):
            t.set_shape(tuple(shapes[i]))
        if hasattr(t, "view"):
            _fill(t.view("B"), prefix + str(i))
        else:
            _fill_object(t, prefix + str(i))
    seconds = None
    start = ticks_us and ticks_us()
    outputs = model.run()
    if ticks_us:
        seconds = ticks_diff(ticks_us(), start) / 1e6
    arrays = [t.view("B") if hasattr(t, "view") else _object_bytes(t) for t in outputs]
    sizes, shapes = [len(data) for data in arrays], [t.shape for t in outputs]
    print(json.dumps({"seconds": seconds, "outputs": sizes, "shapes": shapes}))
    for data in arrays:
        for at in range(0, len(data), _CHUNK):
            line = binascii.b2a_base64(data[at : min(at + _CHUNK, len(data))])
            print(str(line, "ascii").strip())


def _fill(buffer, name):
    with open(name, "rb") as f:
        if f.readinto(buffer) != len(buffer) or f.read(1):
            raise ValueError(f"{name}: must have {len(buffer)} bytes")


def _fill_object(t, name):
    from mpconnxr.feed import fill_one

    with open(name) as f:
        x = json.load(f)
    if t.dtype != "string":
        x = {key: _number(value) for key, value in x}
    fill_one(t, x)


def _number(value):
    if isinstance(value, list):
        return struct.unpack("<d", binascii.unhexlify(value[0]))[0]
    return value


def _object_bytes(t):
    if t.dtype == "string":
        return json.dumps({"shape": list(t.shape), "data": t.data}).encode()
    maps = t.data if isinstance(t.data, list) else [t.data]
    return json.dumps([[[key, _plain(x[key])] for key in x] for x in maps]).encode()


def _plain(value):
    if isinstance(value, float):
        return [binascii.hexlify(struct.pack("<d", value)).decode()]
    return value


with open("jobs.json") as f:
    jobs = json.load(f)
for job, (n_samples, shapes) in enumerate(jobs):
    run_job(job, n_samples, shapes)
    gc.collect()
