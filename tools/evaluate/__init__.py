"""Evaluate a model on data with true classes or values: accuracy, confusion, the worst samples.

data = read_data("test.npz:x,y")
[x] = data.arrays["x"]
print(evaluate(predict, x, data.truth).text())
"""

from tools.converter.truth import Data, read_data

from .evaluation import ClassFigures, Evaluation, WorstSample, evaluate

__all__ = ["ClassFigures", "Data", "Evaluation", "WorstSample", "evaluate", "read_data"]
