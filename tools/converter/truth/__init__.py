"""Judge a model by data with true classes or values: --test, and `mpconnxr evaluate`."""

from .answers import Answers, answers_of
from .data import Data, Spec, checked_truth, files_of, read_data, split
from .predictions import Predictions, predictions_of

__all__ = [
    "Answers",
    "Data",
    "Predictions",
    "Spec",
    "answers_of",
    "checked_truth",
    "files_of",
    "predictions_of",
    "read_data",
    "split",
]
