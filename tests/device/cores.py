"""Runs programs for two cores: prints for each model whether its outputs have the bytes of the
kernels' in each of some runs on one core, on one core that makes the second one's calls first, and
on two cores; and what a run allocated.

models: a line for each: name of its file, STREAMED or IN_PLACE, how many inputs there are, runs.
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
    """To the next meeting; whether there is one."""
    what[1][1] = _ALL
    cores.shared[7] = -1
    cores.run(what)
    return cores.shared[7] >= 0


def second_first(model):
    """A run of a model in place in which the second core's part always comes first."""
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
        wanted, usual = outputs(model, x, model.run)
        for _ in range(2):
            same["one"] = same["one"] and wanted == outputs(one, x, one.run)[0]
        if not streamed:
            got, _ = outputs(one, x, lambda: second_first(one))
            same["turned"] = same["turned"] and wanted == got
        for i in range(runs):
            got, grown = outputs(two, x, two.run)
            same["two"] = same["two"] and wanted == got
            if i and not usual:  # some loops box floats, whoever calls them
                most = max(most, grown)
    two.close()
    found = ["{}={}".format(key, same[key]) for key in ("one", "turned", "two")]
    print(name, type(two).__name__, " ".join(found), most)


with open("models") as f:
    for line in f.read().split("\n"):
        if line:
            name, kind, n, runs = line.split(" ")
            compare(name, kind == "STREAMED", int(n), int(runs))
