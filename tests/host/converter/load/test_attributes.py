"""Attributes that are flags or norms are refused if they have other values."""

import pytest

from tests.host.device import small
from tools.converter.convert import convert
from tools.converter.errors import ConvertError


def one(op, attributes):
    x, y = small.value("x", (1, 2, 4, 4)), small.value("y", None)
    return small.model([(op, "x", "y", attributes)], [x], [y], 17)


@pytest.mark.parametrize(
    "op, attributes, text",
    [
        ("ReduceMax", {"axes": [1], "keepdims": 2}, "attribute keepdims is 2, it can be 0 or 1"),
        ("MaxPool", {"kernel_shape": [2, 2], "ceil_mode": -1}, "ceil_mode is -1"),
        ("LpPool", {"kernel_shape": [2, 2], "p": 0}, "attribute p is 0"),
        ("LpNormalization", {"p": -1}, "attribute p is -1"),
        ("Cast", {"to": 99}, "makes dtype 99"),
    ],
)
def test_other_values_of_flags_and_norms_are_refused(op, attributes, text):
    with pytest.raises(ConvertError, match=text):
        convert(one(op, attributes))
