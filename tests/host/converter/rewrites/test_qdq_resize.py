"""Linear Resize between DQ and Q gives onnxruntime's integers, graph optimizations off.

With weights of a quarter or a sixteenth and equal scales, many results are ties between two
integers: the rounding of float32 decides.
"""

import numpy as np
import pytest

from tests.host.converter.rewrites.qdq_net import (
    S8,
    U8,
    Net,
    by_onnxruntime,
    on_device,
    operators,
    rewritten,
)
from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.micropython import UNIX_TARGETS

A = 0.031007


def net_of(shape, scales=None, sizes=None, y_scale=A, zeros=(5, 5), dtype=S8, opset=17, **attrs):
    net = Net(opset)
    x = net.dq(net.input(shape, dtype), A, zeros[0], dtype)
    factors = net.constant([1, 1, *scales]) if scales else ""
    expected = [net.constant([*shape[:2], *sizes], np.int64)] if sizes else []
    roi = "" if opset > 11 else net.constant([])
    y = net.op("Resize", x, roi, factors, *expected, mode="linear", **attrs)
    return net.model(net.q(y, y_scale, zeros[1], dtype)), net.values()


def by(mode, *size):
    return net_of((1, 3, 7, 6), sizes=size, coordinate_transformation_mode=mode)


CASES = {
    "doubled": net_of((2, 5, 12, 9), [2, 2]),
    "doubled, uint8": net_of((1, 6, 10, 10), [2, 2], zeros=(130, 130), dtype=U8),
    "to another scale": net_of((1, 4, 9, 11), [2, 2], y_scale=0.0277),
    "to a third": net_of((1, 4, 9, 11), [2, 2], y_scale=3 * A, zeros=(-3, 9)),
    "that saturates": net_of((1, 3, 9, 9), [2, 4], y_scale=A / 3, zeros=(0, -128)),
    "halved": net_of((1, 5, 16, 12), [0.5, 0.5]),
    "one dim": net_of((1, 4, 6, 9), [1, 2]),
    "by 1.7 and 2.7": net_of((1, 3, 10, 5), [1.7, 2.7]),
    "of opset 11": net_of((1, 3, 6, 7), [2, 3], opset=11),
    "asymmetric": by("asymmetric", 14, 18),
    "align_corners": by("align_corners", 13, 11),
    "pytorch_half_pixel": by("pytorch_half_pixel", 1, 12),
    "of one row": net_of((1, 3, 1, 8), [2, 2]),
    "of tiny floats": net_of((1, 3, 5, 5), [2, 2], y_scale=2.0**-59),
}


@pytest.mark.parametrize("name", CASES)
def test_resize_becomes_one_operator(name):
    model = CASES[name][0]
    assert operators(rewritten(model)) == ["QLinearResize"]
    assert [s.kernel for s in convert(model, Options(strip=True)).graph.steps] == ["qblend"]


def test_the_operator_is_a_function_of_onnx_operators():
    """onnxruntime runs the rewritten model, with the outputs of the original."""
    for name, (model, values) in CASES.items():
        [want], [got] = (by_onnxruntime(m, values) for m in (model, rewritten(model)))
        assert np.array_equal(got, want), name


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_resize_gives_onnxruntimes_integers(target):
    models, inputs = zip(*CASES.values(), strict=True)
    for (name, case), [got] in zip(CASES.items(), on_device(target, models, inputs), strict=True):
        [want] = by_onnxruntime(*case)
        assert got.shape == want.shape and np.array_equal(got, want), name


def test_damaged_models_do_no_harm(target):
    report = small.damage(target, small.binary(CASES["one dim"][0]), "words", "1")
    assert report.ok and report.refused and report.ran, report


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_a_run_allocates_nothing(target):
    model, [x] = CASES["by 1.7 and 2.7"]
    script = (small.SCRIPTS / "allocation.py").read_text()
    files = {"model.bin": convert(model, Options(strip=True)).data, "x.bin": x.tobytes()}
    assert small.run(target, script, files).split()[:2] == ["0", "0"]


def test_extreme_scales_stay_in_float(target):
    net = Net()
    x = net.dq(net.input((1, 2, 3, 3)), 2.0**70)
    y = net.op("Resize", x, "", net.constant([1, 1, 2, 2]), mode="linear")
    model, xs = net.model(net.q(y, 2.0**70)), net.values()
    steps = [s.kernel for s in convert(model, Options(strip=True)).graph.steps]
    assert "qblend" not in steps and "resample" in steps
    [[got]], [want] = on_device(target, [model], [xs]), by_onnxruntime(model, xs)
    assert np.abs(got.astype(int) - want).max() <= 1


OTHERS = {
    "not linear": {"mode": "cubic"},
    "rare mode": {"coordinate_transformation_mode": "half_pixel_symmetric"},
    "antialias": {"antialias": 1},
}


@pytest.mark.parametrize("opset", [11, 12])
def test_sizes_of_old_opsets_are_supported(target, opset):
    """The node also has empty scales; the result's shape must be inferred."""
    net = Net(opset)
    x, empty = net.dq(net.input((1, 2, 3, 3)), A), net.constant([])
    y = net.op("Resize", x, empty, empty, net.constant([1, 2, 5, 4], np.int64), mode="linear")
    y = net.op("Reshape", net.qdq(y, A), net.constant([-1], np.int64))
    model, xs = net.model(net.q(y, A)), net.values()
    assert operators(rewritten(model)) == ["QLinearResize", "Reshape"]
    [[got]], [want] = on_device(target, [model], [xs]), by_onnxruntime(model, xs)
    assert np.array_equal(got, want)


@pytest.mark.parametrize("about", OTHERS)
def test_other_modes_stay_in_float(about):
    net = Net(19)
    x, attrs = net.dq(net.input((1, 2, 6, 6)), A), {"mode": "linear"} | OTHERS[about]
    y = net.op("Resize", x, "", net.constant([1, 1, 0.5, 0.5]), **attrs)
    [note] = convert(net.model(net.q(y, A)), Options(strip=True)).notes
    assert about in note
