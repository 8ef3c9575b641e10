"""Run programs on one core and on two, and compare the outputs with those of the kernels.

Runs are made on one core, on one core that makes the second one's calls first, and on two. Prints
for each model whether all outputs have the kernels' bytes, and what a run allocated.

models: for each model a line: name of its file, STREAMED or IN_PLACE, number of inputs, number of
runs.
"""

import gc

import mpconnxr
from mpconnxr import cores
from mpconnxr.build.load import load_all

_ALL = 0x1FFFFFFF


def outputs(model, x, run):
    for t, raw in zip(model.inputs, x):
        t.view("B")[:] = raw
    gc.collect()
    before = gc.mem_alloc()
    run()
    grown = gc.mem_alloc() - before
    return [bytes(t.view("B")) for t in model.outputs], grown


def begin(model):
    for what in (model._what, model._second):
        words = what[1]
        words[0] = words[3] = words[4] = 0
    cores.shared[0] = 0


def part(what):
    """Run a part up to the next meeting of the cores; return False if it was the last one."""
    what[1][1] = _ALL
    cores.shared[7] = -1
    cores.run(what)
    return cores.shared[7] >= 0


def second_first(model):
    """Run a model in place so that the second core's part always runs first."""
    begin(model)
    while part(model._second) | part(model._what):
        pass


def compare(name, streamed, n, runs):
    source = name if streamed else bytearray(open(name, "rb").read())
    one, two = mpconnxr.load(source), mpconnxr.load(source, cores=2)
    [model] = load_all((source,), True, None, (), True)
    same = {"one": True, "turned": True, "two": True}
    most = 0
    for k in range(n):
        with open("{}.{}".format(name, k), "rb") as f:
            x = [f.read(t.nbytes) for t in model.inputs]
        outputs(model, x, model.run)
        expected, original = outputs(model, x, model.run)
        for _ in range(2):
            same["one"] = same["one"] and expected == outputs(one, x, one.run)[0]
        if not streamed:
            got, _ = outputs(one, x, lambda: second_first(one))
            same["turned"] = same["turned"] and expected == got
        for i in range(runs):
            got, grown = outputs(two, x, two.run)
            same["two"] = same["two"] and expected == got
            if i and not original:  # some loops box floats, whoever calls them
                most = max(most, grown)
    two.close()
    results = ["{}={}".format(key, same[key]) for key in ("one", "turned", "two")]
    print(name, type(two).__name__, " ".join(results), most)


with open("models") as f:
    for line in f.read().split("\n"):
        if line:
            name, kind, n, runs = line.split(" ")
            compare(name, kind == "STREAMED", int(n), int(runs))
