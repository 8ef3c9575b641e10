"""Judge a model by data with true classes or values: --test, and `mpconnxr evaluate`."""

from .answers import Answers, answers_of, is_row, output_of, stacked
from .data import Data, Spec, checked_truth, files_of, read_data, split

__all__ = [
    "Answers",
    "Data",
    "Spec",
    "answers_of",
    "checked_truth",
    "files_of",
    "is_row",
    "output_of",
    "read_data",
    "split",
    "stacked",
]
