"""A step whose calls read what its earlier calls wrote fails the conversion, by its name."""

import numpy as np
import pytest

from tests.host.converter.rewrites.qdq_net import Net
from tests.host.device import small
from tests.host.random_layers import layer
from tools.converter.convert import Options, convert
from tools.converter.ops import _move, _qoverlap
from tools.converter.verify import InternalError, calls

OPTIONS = Options(strip=True, vector=False)


@pytest.mark.parametrize(
    ("module", "kind", "seed", "step"),
    [
        (_qoverlap, "conv", 1, r"QLinearConv_0 \(qconv\): call 3, patches\.patches"),
        (_qoverlap, "depthwise", 5, r"QLinearConv_0 \(qdepthwise\): call 3, planes\.planes"),
        (_qoverlap, "conv_transpose", 1, r"qconv\): call \d+, patches\.patches"),
        (_move.overlap, "moves", 5, r"\(move\): call 1, move\.copy"),
    ],
)
def test_a_too_short_lead_is_refused(module, kind, seed, step, monkeypatch):
    model = layer(kind, seed)[0]
    convert(model, OPTIONS)
    monkeypatch.setattr(module, "lag", lambda read, written: 0)
    with pytest.raises(InternalError, match=f"after pass plan: .*{step}.* reads its input"):
        convert(model, OPTIONS)


def test_many_calls_are_verified_on_request(monkeypatch):
    """By default a note says that they were not verified."""
    model = layer("conv", 1)[0]
    monkeypatch.setattr(calls, "_MOST_CALLS", 3)
    assert any(
        "QLinearConv_0 (qconv): too many pieces" in n for n in convert(model, OPTIONS).notes
    )
    monkeypatch.setattr(_qoverlap, "lag", lambda read, written: 0)
    convert(model, OPTIONS)
    with pytest.raises(InternalError, match="call 3"):
        convert(model, Options(strip=True, vector=False, verify=True))


def test_calls_of_all_steps_are_limited(monkeypatch):
    net = Net()
    x = net.dq(net.input([1, 3, 95, 95]), 0.02)
    for _ in range(3):
        w = net.weights((3, 3, 3, 3), np.float32(0.01))
        x = net.qdq(net.op("Conv", x, w, strides=[2, 2]), 0.02)
    model = net.model(net.q(x, 0.02))
    assert not [n for n in convert(model, OPTIONS).notes if "pieces" in n]
    monkeypatch.setattr(calls, "_MOST_OF_ALL", 10)
    [note] = [n for n in convert(model, OPTIONS).notes if "pieces" in n]
    assert "Conv_" in note and "and 1 more: too many" in note


def test_nothing_is_recorded_where_nothing_overlaps(monkeypatch):
    monkeypatch.setattr(calls, "record", None)
    model = small.model(
        [("Transpose", "x", "y", {"perm": [1, 0]})],
        [small.value("x", (5, 7))],
        [small.value("y", (7, 5))],
    )
    convert(model, Options(strip=True, vector=False, keep_inputs=True))
    with pytest.raises(TypeError):
        convert(model, OPTIONS)
