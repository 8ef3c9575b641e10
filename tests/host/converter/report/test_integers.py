"""The report's section on quantization."""

from pathlib import Path

import pytest

from tests.host import zoo
from tests.host.converter.quantize.net import calibration, net, outputs, prepared
from tools.converter.convert import Options, convert
from tools.converter.quantize.settings import Settings
from tools.converter.report import page
from tools.converter.report.integers import quantization

HEADING = "<h2>Quantization</h2>"


@pytest.fixture(scope="module")
def quantized():
    return convert(net(), Options(quantize=Settings(samples=calibration())))


def test_a_float_model_has_no_section():
    converted = convert(net())
    assert quantization(converted) is None and HEADING not in page(converted, "t")


def test_each_layer_shows_its_scale_and_error(quantized):
    result, html = quantization(quantized), page(quantized, "t")
    assert HEADING in html
    assert {row.node for row in result.layers} >= {"first", "second", "last"}
    for row in result.layers:
        figures = (f"{row.scale:.4g}", str(row.zero_point), f"{row.total:.1f}", row.node)
        assert all(f">{figure}<" in html for figure in figures)
    assert quantized.quantized.attempts[-1].what in html


def test_scales_are_those_of_the_quantized_values(quantized):
    """The range of the last layer's output has 255 steps of its scale."""
    rows = {row.node: row for row in quantization(quantized).layers}
    y = outputs(prepared(net()), calibration())
    assert rows["last"].scale == pytest.approx((y.max() - y.min()) / 255, rel=0.01)
    assert rows["last"].zero_point == round(-128 - y.min() / rows["last"].scale)
    assert all(row.scale > 0 and -128 <= row.zero_point <= 127 for row in rows.values())
    least, most = rows["first"].weight_scales
    assert 0 < least < most  # a scale for each channel
    assert rows["pool"].weight_scales is None


def test_products_are_listed_by_dtype(quantized):
    rows = quantization(quantized).dtypes
    assert sum(row.macs for row in rows) == quantized.report()["macs"]
    assert sum(row.share for row in rows) == pytest.approx(1)
    assert {row.dtype for row in rows} <= {"int8", "uint8"}


def test_weights_of_fewer_bits_have_their_rows():
    converted = convert(net(), Options(weights="int8"))
    result, html = quantization(converted), page(converted, "t")
    assert [row.node for row in result.narrowed] == [row.node for row in converted.narrowed] != []
    assert all(f"{row.weights:.1f}" in html for row in result.narrowed)


@zoo.needs_zoo
def test_an_already_quantized_model_shows_its_dtypes():
    converted = convert(Path(zoo.model_path("mlperf_kws_dscnn_int8")), Options(strip=True))
    result = quantization(converted)
    assert not result.layers and result.dtypes[0].dtype == "int8"
    assert HEADING in page(converted, "t")
