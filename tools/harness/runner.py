"""Runs jobs on MicroPython and prints what became of them, for tools/harness/batch.py to read.

`jobs.json` holds each job's number of samples. Job 3 is the model `3.bin`; the bytes of its
sample 1's input 0 are `3_1_0`. An event is a line of JSON: a job's start, each of its runs, its
end. The bytes of a run's outputs, one after another, follow its event as lines of base64, which
are short so that a small heap can hold them.
"""

import binascii
import gc
import json

import mpconnxr

try:
    from time import ticks_diff, ticks_us
except ImportError:  # a port without a clock
    ticks_us = None

_PIECE = 768  # bytes of a tensor in one line


def run_job(job, n_samples):
    """Loads a model and runs its samples. Any exception ends this job, not the others."""
    print(json.dumps({"start": job}))
    error = message = ""
    try:
        model = mpconnxr.load(f"{job}.bin")
        for sample in range(n_samples):
            _run_sample(model, f"{job}_{sample}_")
    except Exception as e:
        error, message = type(e).__name__, str(e)
    print(json.dumps({"end": job, "error": error, "message": message}))


def _run_sample(model, prefix):
    for i, t in enumerate(model.inputs):
        _fill(t.view("B"), prefix + str(i))
    seconds = None
    start = ticks_us and ticks_us()
    outputs = model.run()
    if ticks_us:
        seconds = ticks_diff(ticks_us(), start) / 1e6
    sizes, shapes = [t.nbytes for t in outputs], [t.shape for t in outputs]
    print(json.dumps({"seconds": seconds, "outputs": sizes, "shapes": shapes}))
    for t in outputs:
        data = t.view("B")
        for at in range(0, t.nbytes, _PIECE):
            line = binascii.b2a_base64(data[at : min(at + _PIECE, t.nbytes)])
            print(str(line, "ascii").strip())


def _fill(buffer, name):
    with open(name, "rb") as f:
        if f.readinto(buffer) != len(buffer) or f.read(1):
            raise ValueError(f"{name}: {len(buffer)} bytes are needed")


with open("jobs.json") as f:
    jobs = json.load(f)
for job, n_samples in enumerate(jobs):
    run_job(job, n_samples)
    gc.collect()
