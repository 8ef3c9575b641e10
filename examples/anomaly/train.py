"""Train the autoencoder in numpy on a healthy fan; write anomaly.onnx beside this file.

    python -m examples.anomaly.train

It learns to compress the spectrum of a healthy fan to 4 numbers and to restore it; a spectrum that
it cannot restore is an anomaly. The model's output is the mean squared error divided by the error
that one in 200 healthy clips exceeds. The seeds are fixed: on one computer the results repeat.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from ..network import Gemm, Relu, forward, onnx_model, squared_error, train
from . import data

HERE = Path(__file__).parent
EPOCHS, N_TRAIN, N_TEST = 40, 1500, 400
_EXCEEDED = 1 / 200  # share of healthy clips that are classified as ill


def main() -> int:
    rng = np.random.default_rng(0)
    layers = [Gemm(rng, data.BANDS, 12), Relu(), Gemm(rng, 12, 4)]
    layers += [Gemm(rng, 4, 12), Relu(), Gemm(rng, 12, data.BANDS)]
    x = data.spectra(data.clips(N_TRAIN, seed=0)[0])
    mean, std = x.mean(0), x.std(0)
    z = (x - mean) / std
    train(layers, rng, z, z, EPOCHS, rate=0.01, loss=squared_error)
    fresh = (data.spectra(data.clips(N_TRAIN, seed=1)[0]) - mean) / std
    limit = np.quantile(errors(layers, fresh), 1 - _EXCEEDED)
    for label in data.LABELS:
        x = (data.spectra(data.clips(N_TEST, seed=2, labels=(label,))[0]) - mean) / std
        print(f"{label:10} {(errors(layers, x) > limit).mean():.1%} found ill")
    onnx.save(scoring(layers, mean, std, limit), HERE / "anomaly.onnx")
    return 0


def errors(layers, z: np.ndarray) -> np.ndarray:
    """Return the mean squared error of each sample."""
    return ((forward(layers, z) - z) ** 2).mean(1)


def scoring(layers, mean, std, limit) -> onnx.ModelProto:
    """Return the model: spectrum float32 (1, 20) -> score float32 (1, 1), error / limit."""
    model = onnx_model(layers, "anomaly", "z", (1, data.BANDS), "restored")
    graph = model.graph
    constants = {"mean": mean[None], "per_std": 1 / std[None], "per_limit": [[1 / limit]]}
    for name, value in constants.items():
        graph.initializer.append(numpy_helper.from_array(np.array(value, np.float32), name))
    first = [
        helper.make_node("Sub", ["spectrum", "mean"], ["centred"]),
        helper.make_node("Mul", ["centred", "per_std"], ["z"]),
    ]
    last = [
        helper.make_node("Sub", ["restored", "z"], ["difference"]),
        helper.make_node("Mul", ["difference", "difference"], ["squared"]),
        helper.make_node("ReduceMean", ["squared"], ["error"], axes=[1]),
        helper.make_node("Mul", ["error", "per_limit"], ["score"]),
    ]
    nodes = [*first, *graph.node, *last]
    del graph.node[:], graph.input[:], graph.output[:]
    graph.node.extend(nodes)
    shape = (1, data.BANDS)
    graph.input.append(helper.make_tensor_value_info("spectrum", TensorProto.FLOAT, shape))
    graph.output.append(helper.make_tensor_value_info("score", TensorProto.FLOAT, (1, 1)))
    onnx.checker.check_model(model, full_check=True)
    return model


if __name__ == "__main__":
    sys.exit(main())
