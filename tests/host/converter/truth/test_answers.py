"""What a model answers beside what is true: which output counts, classes and values."""

import numpy as np
import pytest

from tools.converter.errors import UsageError
from tools.converter.truth import Predictions, answers_of, predictions_of


def test_scores_are_compared_with_classes():
    scores = np.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]])
    answers = answers_of(scores, np.array([1, 0, 0, 1]))
    assert answers.accuracy == 0.75
    assert answers.is_right.tolist() == [True, True, False, True]
    assert answers.text() == "top-1 75.0%"


@pytest.mark.parametrize(
    "truth",
    [
        np.array([1, 0, 2]),
        np.array([1.0, 0.0, 2.0]),
        np.array([[1], [0], [2]]),
        np.eye(3)[[1, 0, 2]],
        np.eye(3, dtype=np.uint8)[[1, 0, 2]],
    ],
    ids=["integers", "floats", "a column", "one-hot", "one-hot integers"],
)
def test_classes_come_in_several_forms(truth):
    answers = answers_of(np.eye(3, dtype=np.float32)[[1, 0, 0]][:, None], truth)
    assert answers.are_classes and answers.accuracy == pytest.approx(2 / 3)


def test_a_sample_whose_scores_hold_nan_is_wrong():
    scores = np.array([[np.nan, 0.0], [1.0, 0.0]])
    answers = answers_of(scores, np.array([0, 0]))
    assert answers.accuracy == 0.5 and answers.has_nan.tolist() == [True, False]


@pytest.mark.parametrize(
    ("outputs", "threshold"), [([0.2, 0.9, 0.4], 0.5), ([-3.0, 2.0, -0.1], 0.0)]
)
def test_one_output_beside_zeros_and_ones_is_a_class(outputs, threshold):
    answers = answers_of(np.array(outputs, np.float32)[:, None], np.array([0, 1, 1]))
    assert answers.threshold == threshold and answers.predicted.tolist() == [0, 1, 0]


def test_the_threshold_of_the_float_model_applies_to_others():
    answers = answers_of(np.array([[0.2], [0.9]]), np.array([0, 1]), threshold=0.0)
    assert answers.predicted.tolist() == [1, 1]


def test_values_have_an_error_and_a_coefficient():
    truth, predicted = np.array([1.0, 2.0, 3.0, 4.0]), np.array([[1.5], [2.0], [3.0], [3.5]])
    answers = answers_of(predicted, truth)
    assert not answers.are_classes and answers.accuracy is None
    assert answers.mean_absolute_error == 0.25
    assert answers.r2 == pytest.approx(1 - 0.5 / 5.0)
    assert answers.text() == "mean absolute error 0.25, R² 0.9000"


def test_integers_may_be_values():
    answers = answers_of(np.array([[20.0], [31.0]]), np.array([20, 30]))
    assert not answers.are_classes and answers.mean_absolute_error == 0.5


def test_values_that_do_not_vary_have_no_coefficient():
    answers = answers_of(np.array([1.0, 2.0]), np.array([1.5, 1.5]))
    assert answers.r2 is None and "undefined: the true values do not vary" in answers.text()


def test_values_that_are_nan_do_not_count():
    answers = answers_of(np.array([1.0, np.nan, 4.0]), np.array([1.0, 2.0, 3.0]))
    assert answers.mean_absolute_error == 0.5 and answers.has_nan.sum() == 1
    answers = answers_of(np.array([np.nan, np.inf]), np.array([1.0, 2.5]))
    assert answers.text() == "NaN for every sample" and answers.r2 is None


def test_classes_of_the_model_itself_are_compared():
    answers = answers_of(np.array([[3], [7]]), np.array([3, 8]))
    assert answers.are_classes and answers.accuracy == 0.5
    answers = answers_of(np.array(["on", "off"], object), np.array(["on", "on"]))
    assert answers.accuracy == 0.5


@pytest.mark.parametrize(
    ("outputs", "truth", "message"),
    [
        (np.eye(3), [0, 3, 1], "true class 3 of sample 1: the model has the classes 0 to 2"),
        (np.eye(3), [0, 1, -1], "true class -1 of sample 2"),
        (np.eye(3), [0, 1], "3 outputs, but 2 true values"),
        (np.eye(3), [0.5, 1.0, 2.0], "the model gives 3 values a sample, but 1 are true"),
        (np.eye(3), ["a", "b", "c"], "labels=\\[...\\]"),
        (np.array([1, 2]), ["a", "b"], "the model's classes are numbers, the true ones are text"),
        (np.array(["a", "b"]), [1, 2], "the model's classes are text, the true ones are numbers"),
        (np.ones((0, 3)), [], "0 outputs"),
    ],
)
def test_outputs_that_do_not_belong_to_the_truth_are_refused(outputs, truth, message):
    with pytest.raises(UsageError, match=message):
        answers_of(outputs, np.array(truth))


SCORES, VALUE, PAIR = (np.ones((1, n), np.float32) for n in (4, 1, 2))
LABEL, MAPS, TEXT = np.array([7]), [{3: 0.2, 7: 0.8}], np.array(["on"])


@pytest.mark.parametrize(
    ("outputs", "truth", "classes", "scores"),
    [
        ([LABEL, SCORES], [1], [7], SCORES),
        ([VALUE, SCORES], [1], None, SCORES),
        ([LABEL, MAPS], [1], [7], [[0.2, 0.8]]),
        ([MAPS], [1], [7], [[0.2, 0.8]]),
        ([LABEL], [1], [7], None),
        ([VALUE], [1], None, VALUE),
        ([LABEL, VALUE], [1], [7], None),
        ([SCORES, VALUE], [0.5], None, VALUE),
        ([SCORES], [1.0], None, SCORES),
        ([SCORES, PAIR], np.ones((1, 2)), None, PAIR),
        ([LABEL, PAIR], np.ones((1, 2)), [7], PAIR),
        ([LABEL, MAPS], np.ones((1, 2)), [7], [[0.2, 0.8]]),
        ([SCORES, LABEL, TEXT], ["on"], ["on"], SCORES),
        ([SCORES, TEXT, LABEL], [7], [7], SCORES),
    ],
)
def test_outputs_with_the_answer_are_chosen(outputs, truth, classes, scores):
    found = predictions_of([outputs], np.array(truth))
    assert (found.classes is None) == (classes is None)
    assert classes is None or found.classes.tolist() == classes
    assert (found.scores is None) == (scores is None)
    assert scores is None or np.array_equal(found.scores, scores)


def test_a_model_without_such_an_output_is_refused():
    with pytest.raises(UsageError, match=r"shapes \[1, 4\], \[1, 1\]\) has 3 values a sample"):
        predictions_of([[SCORES, VALUE]], np.ones((2, 3)))
    with pytest.raises(UsageError, match="different shapes"):
        predictions_of([[np.ones((1, 2))], [np.ones((1, 3))]], np.array([0, 1]))


def test_maps_have_scores_of_their_keys_or_a_likeliest_key():
    found = predictions_of([[[{"a": 0.2, "b": 0.8}]], [[{"a": 0.6, "b": 0.4}]]], np.array([0, 1]))
    assert found.scores.tolist() == [[0.2, 0.8], [0.6, 0.4]]
    assert found.keys.tolist() == ["a", "b"] and found.classes.tolist() == ["b", "a"]
    found = predictions_of([[[{3: 0.2, 7: 0.8}]], [[{5: 0.2}]]], np.array([0, 1]))
    assert found.scores is None and found.classes.tolist() == [7, 5]


WRONG_WAY = np.array([[-1.5, 1.5], [0.5, -0.5], [-2.0, 2.0]])  # of classes 0, 1, 0


def test_a_class_that_the_model_names_is_its_answer():
    answers = answers_of(Predictions(np.array([0, 1, 0]), WRONG_WAY), np.array([0, 1, 1]))
    assert answers.predicted.tolist() == [0, 1, 0] and answers.accuracy == pytest.approx(2 / 3)
    assert answers.scores_of(answers.predicted).tolist() == [-1.5, -0.5, -2.0]


ROWS = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.6, 0.1], [0.1, 0.1, 0.8]])


@pytest.mark.parametrize("classes", [[1, 2, 3], [10, 20, 30], [-1, 0, 1], ["a", "b", "c"]])
@pytest.mark.parametrize("n", [3, 4], ids=["without the highest class", "all classes"])
def test_classes_are_any_numbers_or_text(classes, n):
    classes = np.array(classes)
    own, truth = classes[[0, 1, 1, 2]][:n], classes[[0, 1, 0, 2]][:n]
    answers = answers_of(Predictions(own, ROWS[:n]), truth)
    assert answers.accuracy == pytest.approx(1 - 1 / n)
    if n == 4:
        assert answers.scores_of(own).tolist() == [0.7, 0.8, 0.6, 0.8]
    else:  # which class has which column is not known
        assert np.isnan(answers.scores_of(own)).all()
    [hot] = [np.eye(3)[[0, 1, 0, 2]]]
    answers = answers_of(Predictions(own, ROWS[:n], classes), hot[:n])
    assert answers.accuracy == pytest.approx(1 - 1 / n)


def test_a_class_that_the_test_lacks_keeps_the_columns_of_0_1_2():
    answers = answers_of(Predictions(np.array([0, 1, 1]), ROWS[:3]), np.array([0, 1, 0]))
    assert answers.scores_of(answers.predicted).tolist() == [0.7, 0.8, 0.6]


@pytest.mark.parametrize(
    ("own", "truth"),
    [([3, 5, 5, 9], "truth"), ([0, 1, 1, 2], "truth"), (["x", "y", "y", "z"], [0, 1, 0, 2])],
)
def test_names_join_numbers_and_text(own, truth):
    truth = np.array(["x", "y", "x", "z"]) if truth == "truth" else np.array(truth)
    names = ["x", "y", "z"]
    assert answers_of(Predictions(np.array(own), ROWS), truth, names=names).accuracy == 0.75
    with pytest.raises(UsageError, match="--labels-file NAMES.txt"):
        answers_of(Predictions(np.array(own), None), truth)


def test_text_of_a_truth_that_the_scores_say_is_named():
    assert answers_of(ROWS, np.array(["x", "y", "x", "z"]), names=["x", "y", "z"]).accuracy == 0.75
    with pytest.raises(UsageError, match="the true class q is none of the labels x, y, z"):
        answers_of(ROWS, np.array(["x", "y", "q", "z"]), names=["x", "y", "z"])


def test_integers_beside_fractions_are_values():
    answers = answers_of(np.array([20, 31]), np.array([20.5, 31.0]))
    assert not answers.are_classes and answers.mean_absolute_error == 0.25


@pytest.mark.parametrize("truth", [np.array([False, True]), np.array([b"no", b"yes"])])
def test_booleans_and_bytes_are_classes(truth):
    answers = answers_of(np.array([[0.2], [0.9]]), truth, names=["no", "yes"])
    assert answers.are_classes and answers.accuracy == 1


@pytest.mark.parametrize("classes", [[1, 2, 3], [10, 20, 30]])
def test_numbers_that_are_no_classes_count_in_the_order_of_the_scores(classes):
    own = np.array(classes)[[0, 1, 1, 2]]
    assert answers_of(Predictions(own, ROWS), np.array([0, 1, 0, 2])).accuracy == 0.75
