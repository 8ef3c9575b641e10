"""Profile model.bin on MicroPython, and print lines of JSON for tools/run/profile.py.

Its inputs are the files input_0, input_1, ... A call of main() is appended to this text.
"""

import json

import mpconnxr


def main(runs, folder):
    """Profile the model and print the results.

    Args:
        runs: number of runs.
        folder: folder of the files, with a / at its end.
    """
    model = mpconnxr.load(folder + "model.bin")
    for i, t in enumerate(model.inputs):
        with open(folder + "input_" + str(i), "rb") as f:
            f.readinto(t.view("B"))
    for s in model.profile(runs=runs).steps:
        step = {"step": s.step, "name": s.name, "kernel": s.kernel, "forms": s.forms, "us": s.us}
        print(json.dumps(step))
    b = model.benchmark(runs)
    times = (b.min_us, b.p50_us, b.p95_us, b.p99_us, b.max_us)
    print(json.dumps({"n": b.n, "times": times}))
