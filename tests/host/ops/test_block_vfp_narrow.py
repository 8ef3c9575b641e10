"""FPU convolutions with weights of fewer bits are near onnxruntime's with these weights."""

import numpy as np
import pytest

from tests.host.device import small
from tests.host.ops.test_block_vfp import CLIP, NEAR, RELU, conv, input_of, on_fpus
from tools.converter.convert import Options, convert
from tools.converter.reference import golden

# Computes twice, in whole and in parts, and allocates nothing.
SCRIPT = """
import gc
import micropython
import mpconnxr
before = 0  # its place among the names, not made while it counts
for i in range(int(open("n").read())):
    model = mpconnxr.load(f"{i}.bin")
    x = open(f"x{i}", "rb").read()
    model.inputs[0].view("B")[:] = x
    for n, step in model._steps:
        for k in range(n):
            step(k, k + 1)
    parts = bytes(model.outputs[0].view("B"))
    model.inputs[0].view("B")[:] = x
    model.run()
    model.inputs[0].view("B")[:] = x
    before = micropython.mem_total()
    model.run()
    grown = micropython.mem_total() - before
    whole = bytes(model.outputs[0].view("B"))
    exact = any("block_narrow" in forms for _, _, forms in model.kernels())
    print("exact" if exact else "vfp", grown, parts == whole, whole[: len(whole) // 3].hex())
    del model, step, x, whole, parts
    gc.collect()
"""


def roomy(model):
    """Return the model with a larger output behind it, so that memory is free before it."""
    [out] = model.graph.output
    twice = ("Add", f"{out.name} {out.name}", "twice", {})
    nodes = [twice, ("Concat", "twice " * 3, "all", {"axis": 0})]
    made = small.model(nodes, [], [])
    model.graph.node.extend(made.graph.node)
    out.CopyFrom(small.value("all", [None] * len(out.type.tensor_type.shape.dim)))
    return model


MODELS = {
    "points": conv((1, 40, 9, 15), (30, 40, 1, 1)),
    "points of groups": conv((2, 24, 9, 9), (40, 12, 1, 1), RELU, group=2),
    "rows": conv((1, 5, 12, 40), (24, 5, 3, 3), RELU, pads=[1] * 4),
    "one channel": conv((2, 1, 30, 14), (17, 1, 5, 3), CLIP, pads=[2, 1, 2, 1]),
    "depthwise": conv((1, 30, 20, 7), (30, 1, 3, 3), CLIP, pads=[1] * 4, group=30),
    "two for each channel": conv((1, 12, 24, 9), (24, 1, 3, 3), pads=[1] * 4, group=12),
    "pooled": conv((1, 6, 14, 44), (20, 6, 3, 3), RELU, pool=[2, 2], pads=[1] * 4),
}


@on_fpus
@pytest.mark.parametrize("weights", ["int16", "int8", "int4"])
def test_narrow_products_in_the_fpu_are_near_onnxruntime(target, weights):
    sources = [roomy(type(m).FromString(m.SerializeToString())) for m in MODELS.values()]
    conversions = [convert(source, Options(strip=True, weights=weights)) for source in sources]
    files = {"n": str(len(conversions)).encode()}
    for i, (one, source) in enumerate(zip(conversions, sources, strict=True)):
        files |= {f"{i}.bin": one.data, f"x{i}": input_of(source).tobytes()}
    lines = small.run(target, SCRIPT, files).splitlines()
    for name, one, source, line in zip(MODELS, conversions, sources, lines, strict=True):
        taken, grown, same, result = line.split()
        assert (taken, grown, same) == ("vfp", "0", "True"), name
        [expected] = golden.reference(one.model, [input_of(source)])
        expected = expected.ravel()[: expected.size // 3]
        got = np.frombuffer(bytes.fromhex(result), np.float32)
        assert np.abs(got - expected).max() <= NEAR * np.abs(expected).max(), name


@on_fpus
def test_integers_compute_if_memory_is_short(target):
    source = conv((1, 3, 9, 7), (5, 3, 3, 3), pads=[1] * 4)
    data = convert(source, Options(strip=True, weights="int8")).data
    [line] = small.run(
        target, SCRIPT, {"n": b"1", "0.bin": data, "x0": input_of(source).tobytes()}
    ).splitlines()
    taken, _, same, _ = line.split()
    assert (taken, same) == ("exact", "True")
