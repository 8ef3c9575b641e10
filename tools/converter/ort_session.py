"""onnxruntime as the reference: its plain kernels, no graph optimizations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx

from .ort_domain import release

if TYPE_CHECKING:
    import onnxruntime


def open_session(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    """A session on the CPU. Raises ImportError without onnxruntime, and kinds of its own."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    serialized = release(model).SerializeToString()
    return ort.InferenceSession(serialized, options, ["CPUExecutionProvider"])
