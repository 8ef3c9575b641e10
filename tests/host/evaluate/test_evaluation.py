"""Accuracy, confusion, figures by class, worst samples and notes of a model's answers."""

import json

import numpy as np
import pytest

from tools.converter.truth import Predictions
from tools.errors import UsageError
from tools.evaluate.evaluation import evaluate

SCORES = np.array([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0.1, 0.8, 0.1]])


def of(scores, y, **options):
    return evaluate(lambda x: np.asarray(scores), None, np.asarray(y), **options)


def test_classes_have_accuracy_confusion_precision_and_recall():
    result = of(SCORES, [0, 1, 1, 2], labels=["a", "b", "c"])
    assert result.accuracy == 0.5 and result.count == 4
    assert result.confusion.tolist() == [[1, 0, 0], [1, 1, 0], [0, 1, 0]]
    figures = [(c.label, c.count, c.precision, c.recall) for c in result.per_class]
    assert figures == [("a", 1, 0.5, 1.0), ("b", 2, 0.5, 0.5), ("c", 1, None, 0.0)]
    worst = [(w.index, w.truth, w.answer, w.score) for w in result.worst]
    assert worst == [(3, "c", "b", 0.8), (2, "b", "a", 0.6)]
    text = result.text().splitlines()
    assert text[0] == "top-1 50.0% of 4 samples"
    assert "b            2      50.0%   50.0%" in text
    assert "b              1  1  ." in text


def test_predict_gets_the_samples():
    x = np.eye(3)
    assert evaluate(lambda samples: samples, x, np.arange(3)).accuracy == 1


def test_true_classes_may_be_labels():
    assert of(SCORES, ["a", "b", "a", "b"], labels=["a", "b", "c"]).accuracy == 1
    with pytest.raises(UsageError, match="the true class d is none of the labels a, b, c"):
        of(SCORES, ["a", "d", "a", "b"], labels=["a", "b", "c"])
    with pytest.raises(UsageError, match="2 labels, but the model has 3 classes"):
        of(SCORES, [0, 1, 1, 2], labels=["a", "b"])


def test_nan_counts_as_wrong_and_comes_first():
    scores = SCORES.copy()
    scores[1] = np.nan
    result = of(scores, [0, 1, 0, 1])
    assert result.accuracy == 0.75 and result.nan_count == 1
    assert result.worst[0].index == 1 and result.worst[0].answer == "NaN"
    assert result.confusion.sum() == 3 and result.per_class[1].count == 2
    assert result.notes == ["the model gives NaN for 1 of the samples, which count as wrong"]


def test_one_true_class_is_noted():
    [note] = of(SCORES, [1, 1, 1, 1]).notes
    assert "all samples have the same true class" in note


def test_one_output_has_two_classes():
    result = of([[0.2], [0.9], [0.8]], [0, 1, 0])
    assert result.confusion.tolist() == [[1, 1], [0, 1]]
    assert result.worst[0].index == 2 and result.worst[0].score == 0.8
    assert result.notes == ["class 1 is an output above 0.5"]


def test_values_have_errors():
    result = of([[1.0], [2.5], [9.0]], [1.0, 2.0, 3.5])
    assert result.accuracy is None and result.confusion is None and not result.per_class
    assert result.mean_absolute_error == 2.0
    assert [(w.index, w.truth, w.answer, w.score) for w in result.worst[:2]] == [
        (2, "3.5", "9", 5.5),
        (1, "2", "2.5", 0.5),
    ]
    assert result.text().startswith("mean absolute error 2, R² ")


def test_many_classes_are_listed_by_their_errors():
    y = np.arange(40)
    scores = np.eye(40)
    scores[7] = scores[8]
    text = of(scores, y).text().splitlines()
    assert "7            1          -    0.0%" in text
    assert any(line.split() == ["7", "8", "1"] for line in text)
    assert len(text) < 40


def test_classes_of_the_model_itself_are_evaluated():
    result = of(np.array(["on", "off", "on"], object), ["on", "on", "on"])
    assert [c.label for c in result.per_class] == ["off", "on"]
    assert result.accuracy == pytest.approx(2 / 3) and result.worst[0].score is None
    assert of([[3], [7]], [3, 8]).accuracy == 0.5


def test_a_report_is_json():
    report = json.loads(json.dumps(of(SCORES, [0, 1, 1, 2]).report()))
    assert report["accuracy"] == 0.5 and report["worst"][0]["index"] == 3


def test_infinite_scores_have_no_number_in_json():
    for y in ([1, 0], [0.5, 2.0]):
        outputs = [[np.inf, 0.0], [0.0, 1.0]] if y[0] == 1 else [np.inf, 1.0]
        json.dumps(of(outputs, y).report(), allow_nan=False)


def predictions(classes, y, **options):
    return evaluate(lambda x: Predictions(np.array(classes), SCORES), None, np.array(y), **options)


def test_text_classes_have_scores():
    result = predictions(["a", "b", "a", "b"], ["a", "b", "b", "c"])
    worst = [(w.index, w.truth, w.answer, w.score) for w in result.worst]
    assert worst == [(3, "c", "b", 0.8), (2, "b", "a", 0.6)]
    assert [c.label for c in result.per_class] == ["a", "b", "c"]


def test_names_go_with_the_columns_of_the_scores():
    result = predictions([10, 20, 10, 20], [10, 20, 20, 30], labels=["x", "y", "z"])
    assert [(c.label, c.count) for c in result.per_class] == [("x", 1), ("y", 2), ("z", 1)]
    assert result.worst[0].truth == "z" and result.worst[0].answer == "y"


def test_classes_that_the_model_lacks_are_noted():
    result = predictions([0, 1, 0, 1], [0, 1, 0, 7])
    assert result.accuracy == 0.75
    assert result.notes == ["1 of the samples have classes that the model lacks: 7"]
    assert [c.label for c in result.per_class] == ["0", "1", "2", "7"]


def test_an_evaluation_is_short_in_a_notebook():
    result = of(SCORES, [0, 1, 1, 2], labels=["a", "<b>", "c"])
    assert repr(result) == "<Evaluation: top-1 50.0% of 4 samples>"
    assert str(result) == result.text()
    page = result._repr_html_()
    assert page.startswith("<p>top-1 50.0% of 4 samples</p>")
    assert "<tr><td>&lt;b&gt;</td><td>2</td><td>50.0%</td><td>50.0%</td></tr>" in page
    assert "<tr><td>c</td><td>.</td><td>1</td><td>.</td></tr>" in page
    assert "table" not in of([[1.0], [2.5]], [1.0, 2.0])._repr_html_()
