"""`import mpconnxr` on a computer: convert, run, compare and deploy from Python."""

import doctest
import json
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import onnx_ir
import pytest
from onnx import TensorProto, helper

import mpconnxr
from mpconnxr import cpython
from mpconnxr_host import api
from tests.host.device import small
from tools import package
from tools.converter.reference.ort_session import open_session
from tools.dist.wheel import renamed

DIGITS = package.ROOT / "examples" / "digits" / "digits.onnx"


@pytest.fixture(scope="module")
def images():
    return np.random.default_rng(0).random((24, 1, 8, 8), np.float32)


@pytest.fixture(scope="module")
def digits():
    return mpconnxr.convert(DIGITS)


@pytest.fixture(scope="module")
def quantized(images):
    return mpconnxr.convert(DIGITS, quantize="int8", calibration=images)


def test_examples_in_docstrings_hold(monkeypatch):
    monkeypatch.chdir(package.ROOT)
    failed, tried = doctest.testmod(api)
    assert tried > 5 and not failed


def test_a_run_takes_and_returns_what_onnxruntime_does(digits, images):
    session = open_session(onnx.load(DIGITS))
    for image in images[:4]:
        [wanted] = session.run(None, {"image": image[None]})
        for x in (image, image[None], image[None].astype(float), [image], {"image": image}):
            [got] = digits.run(x)
            assert isinstance(got, np.ndarray) and got.dtype == np.float32
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


def test_outputs_outlive_the_next_run(digits, images):
    [first] = digits.run(images[0])
    before = first.copy()
    digits.run(images[1])
    assert (first == before).all()


@pytest.mark.parametrize("form", ["path", "text", "bytes", "proto", "ir"])
def test_a_model_may_be(form, digits):
    proto = onnx.load(DIGITS)
    model = {
        "path": DIGITS,
        "text": str(DIGITS),
        "bytes": DIGITS.read_bytes(),
        "proto": proto,
        "ir": onnx_ir.from_proto(proto),
    }[form]
    assert mpconnxr.convert(model).arena_nbytes == digits.arena_nbytes


@pytest.mark.parametrize("source", ["converted", "path", "text", "bytes"])
def test_load_takes(source, digits, images, tmp_path):
    path = digits.save(tmp_path / "digits.bin")
    what = {
        "converted": digits,
        "path": path,
        "text": str(path),
        "bytes": digits.model_file,
    }[source]
    [got] = mpconnxr.load(what).run(images[0])
    assert (got == digits.run(images[0])[0]).all()


def test_without_arrays_a_model_is_as_on_a_board(digits):
    [y] = mpconnxr.load(digits).run([0.25] * 64)
    assert not isinstance(y, np.ndarray) and len(y.data) == 10


def test_several_inputs_and_dtypes():
    inputs = [small.value("a", (2, 3), 6), small.value("b", (3,), 7)]
    proto = small.model(
        [("Cast", "a", "c", {"to": 7}), ("Add", "c b", "y", {})],
        inputs,
        [small.value("y", (2, 3), 7)],
    )
    model = mpconnxr.convert(proto)
    a, b = np.arange(6, dtype=np.int32).reshape(2, 3), np.array([1 << 40, -1, 7])
    assert [spec.name for spec in model.inputs] == ["a", "b"]
    for x in ([a, b], (a, b), {"b": b, "a": a}):
        assert (model.run(x)[0] == a + b).all()


def test_open_shapes_and_strings():
    nodes = [("Identity", "x", "y", {})]
    ends = [small.value("x", ("n", 2))], [small.value("y", ("n", 2))]
    model = mpconnxr.convert(small.model(nodes, *ends), bounds={"n": 4})
    for n in (1, 4, 2):
        x = np.full((n, 2), n, np.float32)
        assert model.run(x)[0].tolist() == x.tolist()
    ends = [small.value("x", (2,), 8)], [small.value("y", (2,), 8)]
    texts = mpconnxr.convert(small.model(nodes, *ends))
    assert texts.run(np.array(["é", ""]))[0].tolist() == ["é", ""]


@pytest.mark.parametrize(
    "x, message",
    [
        (np.zeros((8, 9)), "shape (8, 9) where (1, 1, 8, 8) is needed"),
        (np.zeros((8, 8), complex), "complex128 values where float32 is needed"),
        (np.zeros((8, 8), np.uint8), "uint8 values where float32 is needed: "),
        (np.zeros((8, 8), int), "and convert them with .astype()"),
        ([np.zeros((8, 8), bool)], "bool values where float32 is needed: "),
        ({"image": np.zeros(64, np.int8)}, "int8 values where float32 is needed: "),
        ({"picture": np.zeros(64)}, "no input picture; there are image"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(digits, x, message):
    for model in (digits, mpconnxr.load(digits.model_file)):
        with pytest.raises(mpconnxr.InputError) as caught:
            model.run(x)
        assert message in str(caught.value)


def test_lists_of_integers_are_numbers_as_on_a_board(digits):
    [wanted] = digits.run(np.ones((8, 8), np.float32))
    for x in ([[1] * 8] * 8, [[[1] * 8] * 8], [[[1.0] * 8] * 8]):
        assert (digits.run(x)[0] == wanted).all()


def test_floats_are_not_cut_to_integers():
    ends = [small.value("x", (2,), 6)], [small.value("y", (2,), 6)]
    model = mpconnxr.convert(small.model([("Neg", "x", "y", {})], *ends))
    with pytest.raises(mpconnxr.InputError):
        model.run(np.array([0.5, 1.5]))


def test_integers_do_not_wrap_around():
    ends = [small.value("x", (2,), 3)], [small.value("y", (2,), 3)]  # int8
    model = mpconnxr.convert(small.model([("Neg", "x", "y", {})], *ends))
    for x in (np.array([127, -1]), np.uint8([127, 0]), [5, -7]):
        assert model.run(x)[0].tolist() == [-int(n) for n in x]
    for x in (np.array([300, 1]), [300, 1], np.uint8([200, 1])):
        with pytest.raises(mpconnxr.InputError, match="where int8 is needed"):
            model.run(x)


def test_integers_are_no_values_of_a_float_input(digits):
    """Bytes of a picture may stand for 0 to 1; a list of integers is what it says."""
    with pytest.raises(mpconnxr.InputError, match="uint8 values where float32"):
        digits.run(np.zeros((8, 8), np.uint8))
    assert (digits.run([[1] * 8] * 8)[0] == digits.run(np.ones((8, 8)))[0]).all()


def test_big_endian_arrays_have_the_same_values(digits, images, classes):
    swapped = images.astype(">f4")
    assert (digits.run(swapped[0])[0] == digits.run(images[0])[0]).all()
    assert mpconnxr.evaluate(DIGITS, swapped, classes).accuracy == 1
    assert mpconnxr.compare(DIGITS, digits, swapped)[0].relative < 1e-5


def test_values_by_name_may_be_lists(digits, images):
    [y] = digits.run({"image": images[0].tolist()})
    assert isinstance(y, np.ndarray) and (y == digits.run(images[0])[0]).all()


def test_state_is_kept_and_reset():
    nodes = [("Add", "x s", "y", {}), ("Identity", "y", "n", {})]
    ends = ([small.value(n, (1,)) for n in group] for group in (("x", "s"), ("y", "n")))
    model = mpconnxr.convert(small.model(nodes, *ends), state={"s": "n"})
    assert [model.run([1.0])[0].item() for _ in range(2)] == [1, 2]
    model.reset()
    assert model.run([1.0])[0].item() == 1


def test_threads_get_their_own_outputs():
    ends = [small.value("x", (64,))], [small.value("y", (64,))]
    model = mpconnxr.convert(small.model([("Neg", "x", "y", {})], *ends))
    with ThreadPoolExecutor(4) as pool:
        results = pool.map(lambda v: (v, model.run(np.full(64, v))[0]), [1.0, 2.0, 3.0, 4.0] * 10)
        assert all((y == -v).all() for v, y in results)


def test_a_model_is_not_written_over(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(DIGITS.read_bytes())
    for call in (mpconnxr.convert, mpconnxr.report):
        with pytest.raises(mpconnxr.UsageError, match="written over"):
            call(path, path)
    assert path.read_bytes() == DIGITS.read_bytes()


def test_float_and_quantized_models_have_one_threshold():
    rng = np.random.default_rng(0)
    w = rng.normal(size=(8, 1)).astype(np.float32)
    x = rng.normal(size=(64, 8)).astype(np.float32)
    y = x @ w
    low, high = y.min(), y.max()
    ends = [small.value("x", (1, 8))], [small.value("y", (1, 1))]
    weights = {"w": w / (high - low), "b": np.float32([-low / (high - low)])}
    proto = small.model([("Gemm", "x w b", "y", {})], *ends, **weights)
    truth = ((y - low) / (high - low) > 0.5).astype(int)
    model = mpconnxr.convert(proto, quantize="int8", calibration=x, test=(x, truth))
    assert model.evaluation.threshold == model.of_float.threshold == 0.5
    assert model.of_float.accuracy == 1 and model.accuracy > 0.9


def test_names_that_do_not_fit_are_not_matched_by_position():
    ends = [small.value("b", (2,)), small.value("a", (2,))], [small.value("y", (2,))]
    model = mpconnxr.convert(small.model([("Sub", "b a", "y", {})], *ends))
    x = {"a": np.ones((3, 2)), "c": np.zeros((3, 2))}
    with pytest.raises(mpconnxr.UsageError, match="holds a, c; the inputs are b, a"):
        mpconnxr.evaluate(model, x, np.zeros((3, 2)))


def test_true_booleans_are_classes(digits, images):
    assert mpconnxr.evaluate(digits, images, np.zeros(len(images), bool)).accuracy is not None
    with pytest.raises(mpconnxr.UsageError, match="NaN"):
        mpconnxr.evaluate(digits, images, np.full(len(images), np.nan))


def test_a_note_comes_once():
    x = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    relu = small.model(
        [("Relu", "x", "y", {})], [small.value("x", (3,))], [small.value("y", (3,))]
    )
    notes = mpconnxr.convert(relu, quantize="int8", calibration=x).notes
    assert sum("changes nothing" in note for note in notes) == 1
    assert len(set(notes)) == len(notes)


def test_figures_of_a_conversion(digits):
    assert digits.inputs == [api.Spec("image", "float32", (1, 1, 8, 8))]
    assert digits.outputs[0].shape == (1, 10)
    assert digits.steps == 4 and digits.macs == 66_624 and len(digits) == len(digits.model_file)
    assert 0 < digits.weights_nbytes < len(digits) and not digits.warnings
    assert digits.check.is_checked
    assert digits.needs.total == digits.fit("pico").needs.total > digits.arena_nbytes
    assert digits.fit("esp32").verdict == "fits"


def test_quantization_is_compared_with_the_original(quantized, digits, images):
    [row] = mpconnxr.compare(DIGITS, quantized, images)
    assert row.name == "logits" and 20 < row.snr_db < 60 and row.agreement > 0.8
    assert len(quantized) < len(digits) and len(quantized.layers) == 4
    [exact] = mpconnxr.compare(DIGITS, digits, {"image": images})
    assert exact.relative < 1e-5 and exact.agreement == 1


@pytest.mark.parametrize("form", ["float64", "by name", "samples", "file"])
def test_calibration_may_be(form, quantized, images, tmp_path):
    path = tmp_path / "images.npy"
    np.save(path, images)
    calibration = {
        "float64": images.astype(float),
        "by name": {"image": images},
        "samples": [{"image": image[None]} for image in images],
        "file": path,
    }[form]
    again = mpconnxr.quantize(DIGITS, calibration)
    assert again.model_file == quantized.model_file


@pytest.fixture(scope="module")
def classes(digits, images):
    """Return the class that the float model gives each image."""
    return np.array([int(digits.run(image)[0].argmax()) for image in images])


def test_accuracy_on_test_data(images, classes):
    model = mpconnxr.convert(
        DIGITS, quantize="int8", calibration=images, test=(images.astype(float), classes)
    )
    answers = [int(model.run(image)[0].argmax()) for image in images]
    assert model.accuracy == np.mean(answers == classes) == model.evaluation.accuracy
    assert model.of_float.accuracy == 1
    assert mpconnxr.convert(DIGITS, test=(images, classes)).accuracy == 1


def trained(estimator, classes, labels=None, **options):
    """Return a classifier's accuracy in scikit-learn, and what `convert` returns for it.

    The test samples lack one class of three.
    """
    to_onnx = pytest.importorskip("skl2onnx", reason="exporting needs skl2onnx").to_onnx
    from sklearn.datasets import make_classification

    n = len(classes)
    x, y = make_classification(300, 6, n_informative=5, n_redundant=0, n_classes=n, random_state=0)
    x, y = x.astype(np.float32), np.asarray(classes)[y]
    estimator.fit(x[:200], y[:200])
    is_test = np.arange(300) >= 200
    if n > 2:
        is_test &= y != classes[-1]
    xv, yv = x[is_test], y[is_test]
    truth = np.asarray(labels)[np.searchsorted(classes, yv)] if labels else yv
    if options.pop("quantize", None):
        options |= {"quantize": "int8", "calibration": x[:200]}
    zipmap = {} if options.pop("zipmap", False) else {"zipmap": False}
    onx = to_onnx(estimator, x[:1], options=zipmap)
    model = mpconnxr.convert(onx, test=(xv, truth), labels=labels, **options)
    return estimator.score(xv, yv), model, xv, yv


@pytest.mark.parametrize("classes", [[0, 1], [-1, 1], [1, 2, 3], [10, 20, 30], ["a", "b"]])
@pytest.mark.parametrize("zipmap", [False, True])
def test_the_label_output_is_a_models_answer(classes, zipmap):
    """Scores of a binary SVC are in the wrong order, and classes need not be 0, 1, 2."""
    svm = pytest.importorskip("sklearn.svm", reason="training needs scikit-learn")
    accuracy, model, x, y = trained(svm.SVC(), classes, zipmap=zipmap)
    assert model.accuracy == pytest.approx(accuracy) and 0.7 < accuracy < 1
    loaded = mpconnxr.load(model)
    assert np.mean([loaded.predict(one) == c for one, c in zip(x, y, strict=True)]) == accuracy
    index = model.evaluation.worst[0].index
    if zipmap or len(classes) == 2:
        [own, scores] = model.run(x[index][None])
        row = scores[0] if zipmap else dict(zip(classes, scores[0], strict=True))
        assert model.evaluation.worst[0].score == pytest.approx(row[own[0]])


@pytest.mark.parametrize("classes", [[0, 1, 2], [1, 2, 3], ["a", "b", "c"]])
@pytest.mark.parametrize("zipmap", [False, True])
def test_a_quantized_classifier_is_tested(classes, zipmap):
    networks = pytest.importorskip("sklearn.neural_network", reason="training needs scikit-learn")
    network = networks.MLPClassifier((16,), max_iter=60, random_state=0)
    accuracy, model, _, _ = trained(network, classes, zipmap=zipmap, quantize=True)
    assert model.of_float.accuracy == pytest.approx(accuracy)
    assert model.accuracy == pytest.approx(accuracy, abs=0.05)


@pytest.mark.parametrize("classes", [[1, 2, 3], ["a", "b", "c"]])
def test_classes_and_maps_are_compared(classes):
    keys = {"classlabels_int64s": classes} if classes[0] == 1 else {"classlabels_strings": classes}

    def model(op):
        nodes = [
            (op, "x", "best", {"axis": 1, "keepdims": 0}),
            ("Gather", "classes best", "label", {}),
            helper.make_node("ZipMap", ["x"], ["map"], domain="ai.onnx.ml", **keys),
        ]
        kind = TensorProto.INT64 if classes[0] == 1 else TensorProto.STRING
        row = helper.make_map_type_proto(
            kind, helper.make_tensor_type_proto(TensorProto.FLOAT, ())
        )
        outputs = [
            small.value("label", (1,), kind),
            helper.make_value_info("map", helper.make_sequence_type_proto(row)),
        ]
        constants = {"classes": np.array(classes, object if kind == TensorProto.STRING else int)}
        return small.model(nodes, [small.value("x", (1, 3))], outputs, **constants)

    x = np.array([[0.1, 0.7, 0.2], [0.5, 0.5, 0.5]], np.float32)
    converted = mpconnxr.convert(model("ArgMax"))
    label, scores = mpconnxr.compare(model("ArgMax"), converted, x)
    assert label.agreement == scores.agreement == 1 and label.largest == scores.largest == 0
    label, _ = mpconnxr.compare(model("ArgMin"), converted, x)
    assert label.agreement == 0.5 and label.largest == 1


def test_labels_name_the_classes_of_the_test():
    svm = pytest.importorskip("sklearn.svm", reason="training needs scikit-learn")
    names = ["no", "yes"]
    accuracy, model, x, y = trained(svm.SVC(), [0, 1], labels=names)
    assert model.accuracy == accuracy and model.evaluation.worst[0].truth in names
    loaded = mpconnxr.load(model)
    answers = [names.index(loaded.predict(one)) for one in x]
    assert np.mean(answers == y) == accuracy
    with pytest.raises(mpconnxr.UsageError, match="--labels-file NAMES.txt"):
        mpconnxr.evaluate(mpconnxr.convert(DIGITS), np.zeros((2, 1, 8, 8)), ["a", "b"])


def test_labels_apply_to_the_float_model(images, classes):
    names = [f"digit {i}" for i in range(10)]
    test = images, np.array(names)[classes]
    model = mpconnxr.convert(DIGITS, quantize="int8", calibration=images, test=test, labels=names)
    assert model.of_float.accuracy == 1 and model.accuracy > 0.8


@pytest.mark.parametrize("target", ["unix", "cpython"])
def test_targets_evaluate_alike(target, ready_target, quantized, images, classes, tmp_path):
    ready_target(target)
    path = quantized.save(tmp_path / "digits.bin")
    answers = [int(quantized.run(image)[0].argmax()) for image in images]
    for model in (quantized, path):
        result = mpconnxr.evaluate(model, {"image": images}, classes, target=target)
        assert result.confusion.sum() == len(images) and len(result.per_class) >= 2
        assert result.answers.predicted.tolist() == answers


def test_evaluation_refuses_samples_without_truth(digits, images):
    with pytest.raises(mpconnxr.UsageError, match="24 samples, but 2 true values"):
        mpconnxr.evaluate(digits, images, [1, 2])


def test_the_notebook_runs(tmp_path, monkeypatch):
    notebook = json.loads((package.ROOT / "examples" / "notebook.ipynb").read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5 and not any(cell["outputs"] for cell in cells)
    monkeypatch.chdir(tmp_path)
    names = {}
    for cell in cells:
        exec("".join(cell["source"]), names)
    assert names["small"].accuracy > 0.9
    assert (tmp_path / "digits.bin").read_bytes() == names["small"].model_file


def test_integers_are_not_taken_for_floats(images):
    with pytest.raises(mpconnxr.UsageError, match="uint8, but input image takes float32"):
        mpconnxr.quantize(DIGITS, (images * 255).astype(np.uint8))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: mpconnxr.convert(DIGITS, arna=9), "no option arna: did you mean arena?"),
        (lambda: mpconnxr.convert(DIGITS, board="pico3"), "no board pico3: did you mean pico"),
        (lambda: mpconnxr.convert(DIGITS, calibration=[1.0]), "calibration: only with quantize"),
        (lambda: mpconnxr.convert(7), "not int"),
        (lambda: mpconnxr.convert(DIGITS, quantize="int4"), "quantize 'int4': choose from int8"),
        (lambda: mpconnxr.convert(DIGITS, quantize=True), "quantize True: choose from int8"),
        (lambda: mpconnxr.quantize(DIGITS, [1.0], io="uint8"), "io 'uint8': choose from float"),
        (lambda: mpconnxr.quantize(DIGITS, [1.0], method="m"), "method 'm': choose from minmax"),
        (lambda: mpconnxr.quantize(DIGITS, ([[1.0]], [1, 2])), "samples: setting an array"),
        (lambda: mpconnxr.convert(DIGITS, float="fast99"), "float 'fast99': choose from exact"),
        (lambda: mpconnxr.convert(DIGITS, weights="foo"), "weights 'foo': choose from f32"),
        (lambda: mpconnxr.convert(DIGITS, arena="6X"), "arena 6X: not a number of bytes"),
        (lambda: mpconnxr.convert(DIGITS, test=np.zeros(3)), "test: a pair is needed"),
        (lambda: mpconnxr.flash(b"", target="pico"), "invalid choice: 'pico'"),
        (lambda: mpconnxr.flash("x.bin", emulator="rp2040"), "unrecognized arguments: --emulator"),
        (lambda: mpconnxr.boards("x"), "mpconnxr.boards() lists them"),
    ],
)
def test_a_wrong_argument_is_named(call, message):
    with pytest.raises(mpconnxr.UsageError) as caught:
        call()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "samples, message",
    [
        (
            np.zeros((2, 1, 8, 7), np.float32),
            "shape [2, 1, 8, 7], but input image is [1, 1, 8, 8]",
        ),
        ({"Z": np.zeros((2, 64))}, "samples of Z; the inputs are image"),
        (np.zeros((2, 1, 8, 8), int), "int64, but input image takes float32"),
        (np.zeros((0, 1, 8, 8)), "at least one"),
    ],
)
def test_samples_that_do_not_fit_are_not_compared(digits, samples, message):
    with pytest.raises(mpconnxr.UsageError) as caught:
        mpconnxr.compare(DIGITS, digits, samples)
    assert message in str(caught.value)


def test_a_file_of_another_model_is_not_compared(digits):
    ends = [small.value("x", (2,))], [small.value("y", (2,))]
    with pytest.raises(mpconnxr.UsageError, match="other inputs or outputs"):
        mpconnxr.compare(small.model([("Neg", "x", "y", {})], *ends), digits, np.zeros((1, 2)))


def test_one_sample_and_floats_of_python_are_compared(digits, images):
    [one] = mpconnxr.compare(DIGITS, digits, images[0].astype(float))
    [listed] = mpconnxr.compare(DIGITS, digits, images.tolist())
    assert one.relative < 1e-5 and listed.relative < 1e-5


def test_texts_are_compared():
    ends = [small.value("x", (2,), 8)], [small.value("y", (2,), 8)]
    proto = small.model([("Identity", "x", "y", {})], *ends)
    [row] = mpconnxr.compare(proto, mpconnxr.convert(proto), np.array([["a", "b"]]))
    assert row.agreement == 1 and row.largest == 0


def test_an_arena_has_a_unit(digits):
    assert mpconnxr.convert(DIGITS, arena="6K").arena_nbytes == digits.arena_nbytes


def test_a_model_that_cannot_be_read_is_refused():
    with pytest.raises(mpconnxr.ConvertError, match="no ONNX model"):
        mpconnxr.convert(b"not a model")


def test_a_report_is_a_page(digits, tmp_path):
    text = digits.report(tmp_path / "page.html")
    assert text.startswith("<!") and (tmp_path / "page.html").read_text() == text
    assert "srcdoc" in digits._repr_html_() and len(repr(text)) < 50
    assert digits.predict(np.zeros(64)) in range(10) and digits.labels == ()


def test_flash_writes_the_files_that_the_command_writes(digits, tmp_path, capsys):
    facts = mpconnxr.flash(digits, to=tmp_path / "files", board="pico", quiet=True)
    assert facts["status"] == 0 and "digits.bin" in facts["files"]
    assert (tmp_path / "files" / "digits.bin").read_bytes() == digits.model_file
    assert not capsys.readouterr().out


def test_boards_and_targets_are_listed():
    assert {"pico", "esp32"} <= {board.name for board in mpconnxr.boards()}
    assert mpconnxr.targets()["cpython"] is True


@pytest.mark.slow
def test_advice_for_a_board():
    advice = mpconnxr.advise(DIGITS, "pico", seconds=60)
    assert advice.fits and advice.plain.placements


def test_unknown_names_are_no_attributes():
    assert not hasattr(mpconnxr, "no_such_name")


def test_the_package_knows_the_names_of_its_tools():
    assert set(cpython._OF_TOOLS) == set(api.__all__)


def test_importing_the_package_imports_no_tools():
    program = (
        "import sys, mpconnxr; print([m for m in sys.modules if 'onnx' in m and 'mpc' not in m])"
    )
    completed = subprocess.run(
        [sys.executable, "-c", program], cwd=package.ROOT, capture_output=True, text=True
    )
    assert completed.stdout == "[]\n", completed.stderr


def test_the_package_alone_says_what_to_install(tmp_path):
    with zipfile.ZipFile(tmp_path / "p.zip", "w") as archive:
        for path in package.SOURCES.rglob("*.py"):
            archive.write(path, f"mpconnxr/{path.relative_to(package.SOURCES)}")
    program = "import mpconnxr\nprint(mpconnxr.load.__name__)\nmpconnxr.convert"
    completed = subprocess.run(
        [sys.executable, "-IS", "-c", f"import sys; sys.path.insert(0, 'p.zip')\n{program}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert completed.stdout == "load\n"
    assert "mpconnxr.convert: install mpconnxr with pip" in completed.stderr


def test_a_wheel_has_the_tools_under_another_name():
    source = "from tools import limits\nif x:\n    from tools.limits import nbytes  # tools\n"
    assert renamed(source + "'from tools import x'\n") == (
        "from mpconnxr_host.tools import limits\nif x:\n"
        "    from mpconnxr_host.tools.limits import nbytes  # tools\n'from tools import x'\n"
    )
    with pytest.raises(ValueError, match="from tools.limits import"):
        renamed("import tools.limits\n")
