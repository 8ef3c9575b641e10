"""Train a classifier on the file of `mpconnxr record`.

    python -m examples.own_data.train data.npz

It writes model.onnx (float32 (1, window * channels) -> label, probabilities) and labels.txt beside
data.npz. Needs scikit-learn and skl2onnx.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from skl2onnx import to_onnx
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def main(argv: list[str] | None = None) -> int:
    data = Path((sys.argv[1:] if argv is None else argv)[0])
    with np.load(data) as recorded:
        x, y, labels = recorded["x"], recorded["y"], recorded["labels"]
    x = x.reshape(len(x), -1).astype(np.float32)
    train_x, test_x, train_y, test_y = train_test_split(x, y, random_state=0, stratify=y)
    network = MLPClassifier((16,), max_iter=2000, random_state=0)
    model = make_pipeline(StandardScaler(), network).fit(train_x, train_y)
    right = (model.predict(test_x) == test_y).sum()
    print(f"{len(x)} windows; test accuracy {right} of {len(test_y)}")
    converted = to_onnx(model, x[:1], options={"zipmap": False})
    data.with_name("model.onnx").write_bytes(converted.SerializeToString())
    data.with_name("labels.txt").write_text("".join(f"{name}\n" for name in labels))
    return 0


if __name__ == "__main__":
    sys.exit(main())
