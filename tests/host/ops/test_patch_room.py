"""Patches get memory for two positions a call, and more if the arena has it; same bytes."""

import json
from contextlib import ExitStack

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from tests.host.converter.plan.machine import FLOAT
from tests.host.device import small
from tools.bench.__main__ import main
from tools.converter import plan
from tools.converter.convert import Options, convert
from tools.converter.ir import Graph, Step, Tensor
from tools.converter.ops import _patch_room
from tools.converter.plan.widen import SHARE, widen
from tools.harness import Job, run_jobs

on_targets = pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
BYTES = TensorProto.UINT8


def chain(x_shape, *layers, seed=1):
    """Return a chain of QLinearConvs of bytes from layers (channels, kernel, attributes)."""
    rng = np.random.default_rng(seed)
    nodes, constants, channels = [], {"s": np.float32(0.01), "z": np.uint8(128)}, x_shape[1]
    for i, (m, kernel, attrs) in enumerate(layers):
        shape = (m, channels // attrs.get("group", 1), kernel, kernel)
        constants[f"w{i}"] = rng.integers(0, 256, shape, np.uint8)
        k = np.prod(shape[1:])
        constants[f"y{i}"] = np.float32(0.01 * 0.01 * 73 * np.sqrt(k) / 1.2)
        x = f"t{i - 1} y{i - 1}" if i else "x s"
        nodes.append(("QLinearConv", f"{x} z w{i} s z y{i} z", f"t{i}", attrs))
        channels = m
    nodes[-1] = (*nodes[-1][:2], "out", nodes[-1][3])
    inputs, outputs = [small.value("x", x_shape, BYTES)], [small.value("out", None, BYTES)]
    model = small.model(nodes, inputs, outputs, **constants)
    return onnx.shape_inference.infer_shapes(model, strict_mode=True)


PADDED = {"pads": [1, 1, 1, 1]}
HALVED = PADDED | {"strides": [2, 2]}
# Outputs over inputs at all distances, and groups.
CHAINS = [
    chain((1, 8, 9, 7), (8, 3, PADDED), (6, 3, PADDED), (9, 1, {}), (4, 3, {})),
    chain((1, 12, 11, 6), (8, 3, PADDED | {"group": 2}), (8, 1, {}), (12, 3, PADDED)),
    chain((1, 40, 6, 6), (16, 3, PADDED), (64, 1, {}), (16, 3, PADDED)),
    chain((1, 3, 24, 24), (8, 3, HALVED), (16, 3, PADDED), (8, 1, {})),
    # the third one's output lies as near to its input as its pieces let it
    chain((1, 2, 18, 24), (6, 3, HALVED), (12, 1, {}), *((m, 3, PADDED) for m in (12, 16, 24))),
]


def steps_of(converted):
    return [s for s in converted.graph.steps if s.kernel == "qconv" and s.scratch]


@on_targets
def test_more_positions_a_call_give_the_same_bytes(target, monkeypatch):
    rng = np.random.default_rng(3)
    x = [rng.integers(0, 256, _shape(model), np.uint8).tobytes() for model in CHAINS]
    models, pieces = [], []
    for nbytes, fill, most in [(0, False, 0), (300, True, 700), (1024, True, 16384)]:
        with ExitStack() as stack:
            patch = stack.enter_context(monkeypatch.context())
            patch.setattr(_patch_room, "NBYTES", nbytes)
            patch.setattr(_patch_room, "_MAX_NBYTES", most)
            if not fill:
                patch.setattr(plan, "fill_gaps", lambda *_: None)
                patch.setattr(plan, "widen", lambda _, placed, *__: placed)
            conversions = [convert(model, Options(strip=True)) for model in CHAINS]
        models += conversions
        pieces.append([s["piece"] for d in conversions for s in steps_of(d)])
    assert set(pieces[0]) == {1} and pieces[1] != pieces[2] and max(pieces[2]) > 60
    outcomes = run_jobs(target, [Job(m.data, [[v]]) for m, v in zip(models, x * 3, strict=True)])
    assert not any(o.error for o in outcomes), [o.message for o in outcomes if o.error]
    results = [o.runs[0].outputs[0] for o in outcomes]
    n = len(CHAINS)
    assert results[:n] == results[n : 2 * n] == results[2 * n :]
    assert all(len(set(out)) > 20 for out in results)


def _shape(model):
    return [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]


def test_outputs_stay_behind_the_reads_of_larger_pieces():
    over = 0
    for model in CHAINS:
        converted = convert(model, Options(strip=True))
        by_tensor = {b.tensor: b for b in converted.plan.blocks}
        for step in steps_of(converted):
            x, out = (by_tensor[t.root] for t in (step.inputs[0], step.outputs[0]))
            apart = x.offset + x.nbytes <= out.offset or out.offset + out.nbytes <= x.offset
            if not (apart or step.is_same_place(x.tensor) and x.offset == out.offset):
                assert 0 <= step.lead(x.tensor) <= x.offset - out.offset
                over += 1
    assert over > 3


def test_a_call_has_two_positions_if_the_arena_hardly_grows():
    """A patch has 64 * 9 bytes: one fits, two make the arena 3 % larger."""
    layers = (64, 3, PADDED), (64, 3, PADDED)
    model = chain((1, 64, 16, 16), *layers)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "widen", lambda _, placed, *__: placed)
        before = convert(model, Options(strip=True))
    after = convert(model, Options(strip=True))
    assert {s["piece"] for s in steps_of(after)} == {2}
    grown = after.plan.arena_bytes - before.plan.arena_bytes
    assert 0 <= grown <= 600 and grown * SHARE <= before.plan.arena_bytes
    limited = convert(model, Options(strip=True, arena=before.plan.arena_bytes))
    assert limited.plan.arena_bytes <= before.plan.arena_bytes


def test_a_call_has_one_position_if_two_cost_more():
    converted = convert(chain((1, 64, 4, 4), (8, 3, PADDED)), Options(strip=True))
    assert [s["piece"] for s in steps_of(converted)] == [1]


def test_the_largest_steps_get_memory_first():
    """If all four would enlarge the arena, two of them get memory."""

    def grow(step, nbytes, _):
        step.scratch[0].shape = (nbytes // 4,)

    steps = [
        Step("any", [], [], [], [Tensor("s", FLOAT, (10,))], macs=macs, grow=grow, lacks=[400])
        for macs in (3, 9, 5, 7)
    ]

    def place(graph):
        return [], 20_000 + sum(step.scratch[0].nbytes - 40 for step in graph.steps)

    graph = Graph([], [], steps)
    _, nbytes = widen(graph, place(graph), None, place)
    assert nbytes == 20_800 and [s.scratch[0].nbytes for s in steps] == [40, 440, 40, 440]
    _, nbytes = widen(graph, place(graph), 20_800, place)
    assert nbytes == 20_800


@pytest.mark.parametrize(
    ("positions", "record", "products", "nbytes", "piece"),
    [
        (100, 148, 36 * 64, 1036, 6),  # not 7, which leaves one of each call alone
        (49, 40, 36 * 4, 1024, 25),  # a call more would cost more than one alone
        (5, 100, 9000, 1024, 5),
        (5, 2000, 9000, 1024, 1),
        (0, 8, 4, 1024, 1),
    ],
)
def test_pieces_are_even_if_that_is_cheaper(positions, record, products, nbytes, piece):
    assert _patch_room.positions_at_once(positions, record, products, nbytes) == piece


@pytest.mark.slow
def test_instructions_of_long_patches_are_bounded(ready_target, tmp_path, capsys):
    """With one position a call it was 2.95 and 2.02 a multiply-accumulate."""
    model = chain((1, 64, 12, 12), (64, 3, PADDED), (64, 3, PADDED))
    onnx.save(model, tmp_path / "m.onnx")
    for name, most in (("mps2-an385", 2.4), ("mps2-an386", 1.75)):
        ready_target(name)
        args = ["--no-c", "--strip", "--target", name, "--json"]
        assert main([str(tmp_path / "m.onnx"), *args]) == 0
        [row] = json.loads(capsys.readouterr().out)
        assert row["instructions"] <= most * row["macs"] and row["heap_growth_bytes"] == 0
