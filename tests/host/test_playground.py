"""The playground: its page in headless Chromium, and the command that builds it.

MPCONNXR_PICTURE=docs/playground.png: writes the picture of the page there.
"""

import json
import os
import struct
import threading
from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.host import chromium
from tests.host.device import small
from tests.host.zoo import ROOT
from tools.converter.convert import Options, convert
from tools.converter.reference.ort_session import open_session
from tools.micropython import get_target
from tools.playground.__main__ import main
from tools.playground.assemble import IMAGE, PAGE, assemble
from tools.playground.serve import server

DIGITS = ROOT / "examples" / "digits"
F = np.float32


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    lacking = get_target("webassembly").missing()
    if lacking:
        pytest.skip(f"webassembly needs system packages: {' '.join(lacking)}")
    return assemble(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if not chromium.executable():
        pytest.skip("there is no Chromium: install chromium")
    with chromium.Chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def page(site, browser):
    """Yield the browser with the page open; check that the page logged no error."""
    browser.errors.clear()
    browser.size(1000, 800)
    with server(site, 0) as serving:
        thread = threading.Thread(target=serving.serve_forever, daemon=True)
        thread.start()
        browser.open(f"http://127.0.0.1:{serving.server_port}/index.html")
        yield browser
        browser.open("about:blank")
        serving.shutdown()
        thread.join()
    assert browser.errors == []


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "digits.bin"
    path.write_bytes(convert(DIGITS / "digits.onnx").data)
    return path


def pictures():
    with np.load(DIGITS / "digits_test.npz") as data:
        return data["images"], data["labels"]


def onnxruntime_of(path, *inputs):
    session = open_session(onnx.load(path))
    return session.run(None, dict(zip(session.inputs, inputs, strict=True)))


def drop(page, *paths):
    """Drop files after hiding earlier results."""
    page.value("results.hidden = error.hidden = true")
    page.drop(*paths)


def run(page):
    page.value("results.hidden = error.hidden = true, run.click()")


def finished(page):
    page.wait("!document.getElementById('results').hidden || !error.hidden")
    assert text_of(page, "#error") == ""


def text_of(page, selector):
    return page.value(f"document.querySelector({json.dumps(selector)}).textContent")


def texts_of(page, selector):
    result = f"Array.from(document.querySelectorAll({json.dumps(selector)}), e => e.textContent)"
    return page.value(result)


def values(page, k=0):
    """Return the displayed numbers of output k."""
    return [float(s) for s in texts_of(page, f".output:nth-child({k + 1}) td.value")]


def error_of(page):
    page.wait("!error.hidden")
    return text_of(page, "#error")


def set_value(page, element, value):
    page.value(
        f"{element}.value = {json.dumps(value)};"
        f"for (const type of ['input', 'change']) {element}.dispatchEvent(new Event(type))"
    )


def near(got, want):
    np.testing.assert_allclose(got, np.ravel(want), rtol=0, atol=1e-4 * np.abs(want).max())


def test_digits_run_on_an_input(page, digits, tmp_path):
    x = (pictures()[0][7] / 16).astype(F).reshape(1, 1, 8, 8)
    np.save(tmp_path / "x.npy", x)
    drop(page, digits, tmp_path / "x.npy")
    finished(page)
    [want] = onnxruntime_of(DIGITS / "digits.onnx", x)
    near(values(page), want)
    assert int(text_of(page, "tr.best td")) == want.argmax()
    kernels = texts_of(page, "#steps td:nth-child(3)")
    assert kernels == ["conv_max_pool", "conv_max_pool", "block_gemm", "block_gemm", ""]
    assert page.value("arena.querySelectorAll('rect').length") == 9
    assert "2,080" in text_of(page, "#figures") and "peak" in text_of(page, "#arena")
    assert page.value("document.querySelector('canvas').width") == 8


def test_the_test_vector_and_typed_numbers_are_inputs(page, digits):
    drop(page, digits)
    finished(page)
    assert "✓ agrees with onnxruntime" in text_of(page, ".output")
    x = np.linspace(0, 1, 64).astype(F)
    set_value(page, "source", "typed")
    set_value(page, "typed", json.dumps(x.tolist()))
    run(page)
    finished(page)
    near(values(page), onnxruntime_of(DIGITS / "digits.onnx", x.reshape(1, 1, 8, 8)))


def test_a_sample_of_an_archive_is_an_input(page, digits):
    """The archive has compressed bytes from 0 to 16, and labels, which are not an input."""
    drop(page, digits)
    finished(page)
    drop(page, DIGITS / "digits_test.npz")
    finished(page)
    set_value(page, "factor", "1/16")
    set_value(page, "sample", "11")
    run(page)
    finished(page)
    images, labels = pictures()
    x = (images[11] / 16).astype(F).reshape(1, 1, 8, 8)
    near(values(page), onnxruntime_of(DIGITS / "digits.onnx", x))
    assert int(text_of(page, "tr.best td")) == labels[11]


def test_the_example_runs(page):
    page.wait("!example.hidden")
    page.value("document.getElementById('try').click()")
    finished(page)
    assert int(text_of(page, "tr.best td")) == pictures()[1][0]


def test_the_page_is_drawn(page, tmp_path):
    page.size(900, 1260)
    page.wait("!example.hidden")
    page.value("document.getElementById('try').click()")
    finished(page)
    path = Path(os.environ.get("MPCONNXR_PICTURE", tmp_path / "page.png"))
    page.screenshot(path)
    assert struct.unpack_from(">II", path.read_bytes(), 16) == (900, 1260)


def test_inputs_and_outputs_of_other_types_are_shown(page, tmp_path):
    """They are shown by name, and integers as such."""
    ends = [small.value("a", (2, 3)), small.value("n", (3,), 7)]
    outputs = [small.value("y", (2, 3)), small.value("m", (3,), 7)]
    proto = small.model([("Relu", "a", "y", {}), ("Add", "n n", "m", {})], ends, outputs)
    (tmp_path / "model.bin").write_bytes(convert(proto).data)
    x = {"n": np.array([1, -2, 1 << 40]), "a": np.array([[1, -1, 0.5], [-2, 3, -4]], F)}
    np.savez(tmp_path / "inputs.npz", **x)
    drop(page, tmp_path / "model.bin", tmp_path / "inputs.npz")
    finished(page)
    assert values(page, 0) == [1, 0, 0.5, 0, 3, 0]
    assert values(page, 1) == [2, -4, 1 << 41]


def test_labels_and_scores_are_shown(page, tmp_path):
    """A forest, as scikit-learn exports it, gives strings or maps."""
    path = ROOT / "examples" / "forest" / "forest.onnx"
    model = tmp_path / "forest.bin"
    model.write_bytes(convert(path).data)
    drop(page, model)
    finished(page)
    assert "✓" in text_of(page, ".output")


def test_the_input_decides_an_open_size(page, tmp_path):
    ends = [small.value("x", ("n", 5))], [small.value("y", ("n", 3))]
    proto = small.model([("MatMul", "x w", "y", {})], *ends, w=small.floats(5, 3))
    (tmp_path / "model.bin").write_bytes(convert(proto, Options(bounds={"n": 4})).data)
    x = small.floats(3, 5, seed=5)
    np.save(tmp_path / "x.npy", x)
    drop(page, tmp_path / "model.bin", tmp_path / "x.npy")
    finished(page)
    near(values(page), x @ small.floats(5, 3))


REFUSED = {
    "model.onnx": (b"\x08\x08", "not converted yet"),
    "x.txt": (b"text", "neither a converted model nor an input"),
    "x.json": (b"[1,", "x.json"),
    "x.npy": (b"\x93NUMPY\x01\x00\xff\xffshort", "the file is cut off"),
    "x.npz": (b"PK\x03\x04" + bytes(40), "not a .npz file"),
    "bad.bin": (b"MPCONNXR" + bytes(100), "bad.bin: "),
    "short.bin": (b"MPCONNXR", "short.bin: "),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_files_are_refused(page, tmp_path, name):
    content, text = REFUSED[name]
    (tmp_path / name).write_bytes(content)
    drop(page, tmp_path / name)
    assert text in error_of(page)


def test_damaged_models_are_refused(page, digits, tmp_path):
    """Each gives an error or runs; the page accepts the next one."""
    good = digits.read_bytes()
    rng = np.random.default_rng(1)
    for k in range(12):
        bad = bytearray(good)
        for at in rng.integers(16, 1200, 1 + k % 3):
            bad[at] = rng.integers(256)
        (tmp_path / f"{k}.bin").write_bytes(bad)
        drop(page, tmp_path / f"{k}.bin")
        assert f"{k}.bin: " in error_of(page)
    drop(page, digits)
    finished(page)


def test_inputs_that_do_not_fit_are_refused(page, digits, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(63, F))
    drop(page, digits, tmp_path / "x.npy")
    assert "No array in the dropped files fits image" in error_of(page)
    for text, message in (
        ("[1, 2]", "2 values"),
        ('["a"]', "image"),
        ("{}", "no image"),
        ("", "JSON"),
    ):
        set_value(page, "source", "typed")
        set_value(page, "typed", text)
        run(page)
        assert message in error_of(page)
    set_value(page, "typed", json.dumps([0.5] * 64))
    run(page)
    finished(page)


def test_a_run_can_be_stopped(page, digits, tmp_path):
    n = 400  # to the third power: minutes of plain loops
    ends = [small.value("x", (n, n))], [small.value("y", (n, n))]
    proto = small.model([("MatMul", "x w", "y", {})], *ends, w=small.floats(n, n))
    (tmp_path / "large.bin").write_bytes(convert(proto).data)
    drop(page, tmp_path / "large.bin")
    page.wait("!document.getElementById('stop').hidden")
    page.value("document.getElementById('stop').click()")
    assert text_of(page, "#status") == "stopped"
    page.wait("!document.getElementById('run').disabled")
    drop(page, digits)
    finished(page)


def test_names_of_a_model_are_escaped(page, tmp_path):
    name = "<img src=x onerror=alert(1)>"
    proto = small.model(
        [("Relu", "x", "y", {})], [small.value("x", (2,))], [small.value("y", (2,))]
    )
    proto.graph.node[0].name = proto.graph.input[0].name = proto.graph.node[0].input[0] = name
    (tmp_path / "model.bin").write_bytes(convert(proto).data)
    drop(page, tmp_path / "model.bin")
    finished(page)
    assert name in text_of(page, "#inputs") and name in text_of(page, "#steps")
    assert page.value("document.images.length") == 0


@pytest.mark.parametrize("width", [360, 1000])
def test_nothing_is_wider_than_the_window(page, digits, width):
    page.size(width, 800)
    drop(page, digits)
    finished(page)
    assert page.value("document.documentElement.scrollWidth") <= width


def test_the_command_writes_a_folder(site, tmp_path, capsys):
    folder = tmp_path / "play"
    for _ in range(2):  # also over what it wrote before
        assert main(["--to", str(folder)]) == 0
    assert str(folder) in capsys.readouterr().out
    names = {path.name for path in folder.iterdir()}
    assert names == {p.name for p in PAGE.iterdir()} - {"session.py"} | {
        IMAGE,
        "digits.bin",
        "micropython.mjs",
        "micropython.wasm",
    }


def test_the_command_refuses_a_folder_with_other_files(tmp_path, capsys):
    (tmp_path / "thesis.txt").touch()
    assert main(["--to", str(tmp_path)]) == 2
    assert "has other files" in capsys.readouterr().err
