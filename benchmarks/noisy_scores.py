"""python -m benchmarks.noisy_scores: count the answers that noise in a model's scores changes.

For the classifiers of the collection that have data to test with. The page docs/quantize.md and
the line below the converter's table of layers quote the figures.
"""

from __future__ import annotations

import numpy as np
import onnx

from tools.bench.measure import collection
from tools.converter.reference.ort_session import open_session

_DECIBELS = (10, 20, 30, 40)
_REPEATS = 20  # draws of the noise
_MOST_CLASSES = 1000


def scores_of(folder) -> np.ndarray | None:
    """Return the scores of a float model for its test data; None if there are none."""
    data, model = folder / "testset.npz", onnx.load(folder / "model.onnx")
    dims = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    if not data.is_file() or len(model.graph.input) != 1 or not all(dims):
        return None
    x = np.load(data)["x"]
    x = (x / x.max() if x.dtype.kind == "u" else x).astype(np.float32)  # images: from 0 to 1
    session = open_session(model)
    rows = [session.run(None, {session.inputs[0]: one.reshape(dims)})[0] for one in x]
    scores = np.array(rows, np.float32).reshape(len(x), -1)
    return scores if 2 <= scores.shape[1] <= _MOST_CLASSES else None


def changed(scores: np.ndarray, decibels: float, rng: np.random.Generator) -> float:
    """Return the share of answers that noise with this distance to the scores changes."""
    deviation = np.sqrt(np.square(scores).mean() / 10 ** (decibels / 10))
    noise = rng.normal(scale=deviation, size=(_REPEATS, *scores.shape))
    return float(np.mean((scores + noise).argmax(axis=-1) != scores.argmax(axis=-1)))


def main() -> None:
    """Print a line for each model."""
    rng = np.random.default_rng(0)
    print(f"{'model':32}" + "".join(f"{d:>8} dB" for d in _DECIBELS))
    for folder in sorted(collection().glob("*_f32")):
        scores = scores_of(folder)
        if scores is not None:
            shares = (changed(scores, d, rng) for d in _DECIBELS)
            print(f"{folder.name:32}" + "".join(f"{share:>11.1%}" for share in shares))


if __name__ == "__main__":
    main()
