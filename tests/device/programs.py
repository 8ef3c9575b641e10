"""Run models as programs and with the kernels, and compare the outputs.

Prints for each model and each of its inputs whether all outputs have the same bytes, and what a
run of the program allocates beyond a run with the kernels. An InputError counts as an output.

models: for each model a line: name of its file, STREAMED or IN_PLACE, number of inputs.
"""

import gc

import mpconnxr
from mpconnxr.build.load import load_all


def outputs(model, x):
    for t, raw in zip(model.inputs, x):
        t.view("B")[:] = raw
    gc.collect()
    before = gc.mem_alloc()
    try:
        model.run()
    except mpconnxr.InputError as e:
        return str(e), 1
    grown = gc.mem_alloc() - before
    return [bytes(t.view("B")) for t in model.outputs], grown


def described(model):
    tensors = model.inputs + model.outputs
    return [(t.name, t.dtype, t.shape, t.nelem, t.scale, t.zero_point) for t in tensors]


def compare(name, streamed, n):
    source = name if streamed else bytearray(open(name, "rb").read())
    program = mpconnxr.load(source)
    [model] = load_all((source,), True, None, (), True)
    is_program = type(program) is not type(model)
    same = described(program) == described(model)
    most = 0
    for k in range(n):
        with open("{}.{}".format(name, k), "rb") as f:
            x = [f.read(t.nbytes) for t in model.inputs]
        outputs(model, x)
        expected, original = outputs(model, x)
        got, _ = outputs(program, x)
        again, grown = outputs(program, x)
        same = same and expected == got == again
        if not original:  # some loops box floats, whoever calls them
            most = max(most, grown)
    print(name, "program" if is_program else "kernels", "same" if same else "differs", most)


with open("models") as f:
    for line in f.read().split("\n"):
        if line:
            name, kind, n = line.split(" ")
            compare(name, kind == "STREAMED", int(n))
