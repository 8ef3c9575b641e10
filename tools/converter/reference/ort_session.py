"""onnxruntime as the reference: its plain kernels, no graph optimizations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx

from tools import limits

from ..errors import ConvertError
from ..load.ort_domain import release

if TYPE_CHECKING:
    import onnxruntime

_SECONDS = 10.0  # for one run; what is for a microcontroller takes far less here


def open_session(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    """A session on the CPU. Raises ImportError without onnxruntime, and kinds of its own."""
    import onnxruntime as ort

    class Session(ort.InferenceSession):
        """Says what it does: a loop of the model need not end."""

        def run(self, *args, **kwargs):
            limits.at("running the model in onnxruntime", most=_SECONDS)
            return super().run(*args, **kwargs)

    limits.at("loading the model into onnxruntime", most=_SECONDS)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1  # how sums are cut must not depend on the computer's cores
    serialized = release(model).SerializeToString()
    return Session(serialized, options, ["CPUExecutionProvider"])


def confirm(model: onnx.ModelProto, doubt: str) -> None:
    """Raises ConvertError where onnxruntime, too, finds that the model breaks ONNX's rules.

    doubt: what onnx says. Alone it does not count: its inference is strict where a run decides.
    """
    try:
        open_session(model)
    except ImportError:
        return
    except Exception as e:  # the runtime's own kinds; others are for what it lacks itself
        if type(e).__name__ in _INVALID and "not a registered" not in str(e):
            raise ConvertError(f"the model breaks ONNX's rules: {doubt}") from None


_INVALID = ("InvalidGraph", "InvalidArgument", "Fail")
