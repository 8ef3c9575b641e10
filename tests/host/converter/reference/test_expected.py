"""--expect compares with the trained model's outputs: a valid .onnx may compute something else."""

import json
import re

import numpy as np
import onnx
import pytest

from tests.host.converter.check.test_check import negated, two_layers
from tests.host.device import small
from tests.host.device.binfile import File
from tests.host.device.test_format import GOLDEN
from tests.host.device.test_golden_objects import classifier
from tools.converter import __main__ as command
from tools.converter.convert import Options, convert
from tools.converter.errors import UsageError
from tools.converter.quantize.settings import Settings
from tools.converter.reference import golden
from tools.format import layout
from tools.run import __main__ as run

X = small.floats(2, 6, seed=9)
[Y] = golden.reference(two_layers(), [X])
VERIFY = "from mpconnxr import golden\nprint(golden.verify('m.bin').ok)\n"


def with_expected(y=Y, **options):
    return Options(golden=[X], expect=[y], **options)


def cli(tmp_path, model, y=Y, *options):
    """Convert with --expect; return (exit status, bytes of the file)."""
    onnx.save(model, tmp_path / "m.onnx")
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", y)
    paths = [str(tmp_path / name) for name in ("m.onnx", "m.bin", "x.npy", "y.npy")]
    words = [*paths[:2], "--golden", paths[2], "--expect", paths[3], *options]
    return command.main(words), (tmp_path / "m.bin").read_bytes()


@pytest.mark.parametrize("target", ["unix"], indirect=True)
def test_outputs_within_rounding_become_the_golden_vector(tmp_path, target, capfd):
    y = Y * np.float32(1.00005)
    status, data = cli(tmp_path, two_layers(), y)
    printed = capfd.readouterr().out.splitlines()
    assert status == 0 and not any(line.startswith("warning: the model") for line in printed)
    at = printed.index("expected: error 5.0e-05 of the largest value")
    assert printed[at + 1].startswith("checked: ")
    assert y.tobytes() in File(data).chunk(GOLDEN)
    assert small.lines(target, VERIFY, m=data) == ["True"]


@pytest.mark.parametrize("target", ["unix"], indirect=True)
def test_outputs_of_another_model_warn_and_fail_on_the_board(tmp_path, target, capfd):
    status, data = cli(tmp_path, negated(two_layers(), "v"))
    [line] = [
        line for line in capfd.readouterr().out.splitlines() if line.startswith("warning: the")
    ]
    assert (
        status == 0 and "output y is 2 of its largest value off, at most 0.0001 is right" in line
    )
    assert re.search(r"y has another class: \d instead of \d and 1 more rows", line)
    assert small.lines(target, VERIFY, m=data) == ["False"]


def test_json_contains_the_comparison(tmp_path, capfd):
    assert cli(tmp_path, negated(two_layers(), "v"), Y, "--json")[0] == 0
    result = json.loads(capfd.readouterr().out)
    assert result["expect"]["error"] == pytest.approx(2) and result["expect"]["warning"]
    assert result["check"]["checked"] and result["check"]["error"] < 1e-4


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y[:1], r"output y float32 \[2, 3\] is given shape \[1, 3\]"),
        (Y.astype(np.float64), r"output y float32 \[2, 3\] is given float64: convert it"),
    ],
)
def test_outputs_that_do_not_fit_are_refused(y, message):
    with pytest.raises(UsageError, match=f"--expect: {message}"):
        convert(two_layers(), with_expected(y))


def test_the_number_of_outputs_must_match():
    with pytest.raises(UsageError, match=r"--expect: 2 given, 1 needed: y float32 \[2, 3\]"):
        convert(two_layers(), Options(golden=[X], expect=[Y, Y]))


def test_expect_requires_golden():
    with pytest.raises(UsageError, match="--expect needs --golden"):
        convert(two_layers(), Options(expect=[Y]))


def test_quantize_compares_the_float_model():
    """The vector remains the quantized reference's: the error of quantization is not reported."""
    calibration = [{"x": small.floats(2, 6, seed=k)} for k in range(8)]
    converted = convert(two_layers(), with_expected(quantize=Settings(samples=calibration)))
    assert not converted.expected.warning and converted.expected.differences[0].relative < 1e-6
    assert Y.tobytes() not in File(converted.data).chunk(GOLDEN)
    other = convert(
        negated(two_layers(), "v"), with_expected(quantize=Settings(samples=calibration))
    )
    assert other.expected.warning


def test_integers_of_a_quantized_file_are_compared_as_floats():
    """With --io int8 inputs and outputs are integers."""
    calibration = [{"x": small.floats(2, 6, seed=k)} for k in range(8)]
    settings = Settings(samples=calibration, io="int8")
    model = two_layers()
    plain = convert(model, Options(quantize=settings))
    data = File(plain.data).chunk(layout.CHUNK_GRIDS)
    [x_grid, y_grid] = [layout.GRID.unpack_from(data, k * layout.GRID.size) for k in (0, 1)]
    dtypes = [t.np_dtype for t in (*plain.graph.inputs, *plain.graph.outputs)]
    assert all(dtype.kind in "iu" for dtype in dtypes)
    x = on_grid(X, x_grid, dtypes[0])
    [y] = golden.reference(model, [((x.astype(float) - x_grid[1]) * x_grid[0]).astype("f4")])
    for right in (y, on_grid(y, y_grid, dtypes[1])):
        converted = convert(model, Options(golden=[x], expect=[right], quantize=settings))
        [difference] = converted.expected.differences
        assert difference.is_right and difference.error <= y_grid[0], difference
        other = convert(model, Options(golden=[x], expect=[right[::-1]], quantize=settings))
        assert "output y is " in other.expected.warning


def on_grid(x, grid, dtype):
    ends = np.iinfo(dtype)
    return np.clip(np.round(x / grid[0]) + grid[1], ends.min, ends.max).astype(dtype)


def of_one(op):
    values = [small.value(name, (1, 3)) for name in "xy"]
    return small.model([(op, "x", "y", {})], values[:1], values[1:])


def test_infinities_and_nan_equal_only_themselves():
    model = of_one("Log")
    x = np.float32([[-1, 0, 2]])
    [y] = golden.reference(model, [x])
    assert np.isnan(y[0, 0]) and np.isinf(y[0, 1])
    converted = convert(model, Options(golden=[x], expect=[y]))
    assert converted.expected.text == "no error" and not converted.expected.warning
    others = {"nan for 0.0 at [0, 0]": [0, -np.inf, y[0, 2]]}
    others["-inf for inf at [0, 1]"] = [np.nan, np.inf, y[0, 2]]
    for first, row in others.items():
        wrong = np.float32([row])
        result = convert(model, Options(golden=[x], expect=[wrong])).expected
        assert "output y: a value is finite in one and not in the other" in result.text
        assert first in result.text and first in result.warning and "promised" not in result.text
        assert result.report()["error"] is None  # which JSON has no infinity for


def test_expected_zeros_report_the_absolute_error():
    model = of_one("Abs")
    x = np.float32([[0.5, 0, 0]])
    result = convert(model, Options(golden=[x], expect=[np.zeros_like(x)])).expected
    assert result.text == "error 5.0e-01 where all finite values are 0"


def test_rounded_weights_are_not_an_export_error():
    converted = convert(two_layers(), with_expected(weights="int4"))
    assert not converted.expected.warning and Y.tobytes() not in File(converted.data).chunk(GOLDEN)


def test_rows_of_numbers_are_compared_with_maps():
    model = classifier()
    x = small.floats(2, 4, seed=3)
    label, maps = golden.reference(model, [x])
    rows = np.array([list(m.values()) for m in maps], np.float32)
    converted = convert(model, Options(golden=[x], expect=[label, rows]))
    assert not converted.expected.warning
    converted = convert(model, Options(golden=[x], expect=[label[::-1], rows[::-1]]))
    assert "output maps is " in converted.expected.warning
    with pytest.raises(UsageError, match=r"given float32 \[2, 2\]: a row of numbers .* \[2, 3\]"):
        convert(model, Options(golden=[x], expect=[label, rows[:, :2]]))


def test_run_compares_with_expected_outputs(tmp_path, ready_target, capfd):
    ready_target("unix")
    cli(tmp_path, two_layers())
    capfd.readouterr()
    paths = {name: str(tmp_path / name) for name in ("m.bin", "x.npy", "y.npy")}
    words = [paths["m.bin"], paths["x.npy"], "--expect", paths["y.npy"]]
    assert run.main([*words, "--json"]) == 0
    [error] = json.loads(capfd.readouterr().out)["errors"]
    assert error["max_rel"] < 1e-5
    np.save(tmp_path / "y.npy", Y + 1)
    assert run.main(words) == 0
    assert "error of y: max 1 " in capfd.readouterr().out
    np.save(tmp_path / "y.npy", Y.astype(np.float64))
    assert run.main(words) == 2
    assert "--expect: output y float32 [2, 3] is given float64" in capfd.readouterr().err
