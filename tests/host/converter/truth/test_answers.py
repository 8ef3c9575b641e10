"""What a model answers beside what is true: which output counts, classes and values."""

import numpy as np
import pytest

from tools.converter.errors import UsageError
from tools.converter.truth import answers_of, output_of, stacked


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
        (np.eye(3), ["a", "b", "c"], "labels are needed"),
        (np.array([1, 2]), ["a", "b"], "the model's classes are numbers, the true ones are text"),
        (np.array(["a", "b"]), [1, 2], "the model's classes are text, the true ones are numbers"),
        (np.ones((0, 3)), [], "0 outputs"),
    ],
)
def test_outputs_that_do_not_belong_to_the_truth_are_refused(outputs, truth, message):
    with pytest.raises(UsageError, match=message):
        answers_of(outputs, np.array(truth))


SCORES, VALUE, PAIR = np.ones((1, 4), np.float32), np.ones((1, 1), np.float32), np.ones((1, 2))
LABEL, MAPS, TEXT = np.array([1]), [{0: 0.5, 1: 0.5}], np.array(["on"])


@pytest.mark.parametrize(
    ("outputs", "truth", "index"),
    [
        ([LABEL, SCORES], np.array([1, 2]), 1),
        ([VALUE, SCORES], np.array([1, 2]), 1),
        ([LABEL, MAPS], np.array([1, 2]), 1),
        ([LABEL], np.array([1, 2]), 0),
        ([VALUE], np.array([1, 2]), 0),
        ([SCORES, VALUE], np.array([0.5, 2.0]), 1),
        ([SCORES], np.array([1.0, 2.0]), 0),
        ([SCORES, PAIR], np.ones((5, 2)), 1),
        ([SCORES, TEXT], np.array(["on", "off"]), 1),
    ],
)
def test_the_output_with_the_answer_is_chosen(outputs, truth, index):
    assert output_of(outputs, truth) == index


def test_a_model_without_such_an_output_is_refused():
    with pytest.raises(UsageError, match=r"shapes \[1, 4\], \[1, 1\]\) has 3 values a sample"):
        output_of([SCORES, VALUE], np.ones((2, 3)))


def test_maps_become_scores_or_classes():
    maps = [[{0: 0.2, 1: 0.8}], [{0: 0.6, 1: 0.4}]]
    assert stacked(maps).tolist() == [[0.2, 0.8], [0.6, 0.4]]
    assert stacked([[{"a": 0.2, "b": 0.8}]]).tolist() == ["b"]
    assert stacked([[{3: 0.2, 7: 0.8}]]).tolist() == [7]
    with pytest.raises(UsageError, match="different shapes"):
        stacked([np.ones(2), np.ones(3)])
