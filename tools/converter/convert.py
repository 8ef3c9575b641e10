"""The whole way from an .onnx to the bytes of model.bin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
from onnx import checker, shape_inference
from onnx_ir import serde

from . import aside, verify
from .conversion import Conversion
from .converted import Converted
from .errors import ConvertError
from .file.stage import write
from .load.stage import load
from .lower.stage import lower
from .numbers.stage import narrow
from .options import Options
from .plan.stage import plan
from .quantize.stage import quantize
from .rewrites.stage import rewrite
from .simplify.stage import simplify

STAGES = (load, simplify, quantize, rewrite, narrow, lower, plan, write)

# What the libraries raise, wherever they meet what no checker saw.
_INVALID = (checker.ValidationError, shape_inference.InferenceError, serde.SerdeError)


def convert(source: Path | onnx.ModelProto, options: Options | None = None) -> Converted:
    """Converts a model. Raises ConvertError (UnsupportedModel names every reason at once)."""
    state = Conversion(source, options or Options())
    try:
        with aside.kept(), verify.every_pass(state.options.verify):
            for stage in STAGES:
                _run(stage, state)
                aside.keep_those_of(*state.models())
            constants = aside.constants_of(state.rewritten)
            answers = state.answers if state.options.vector else None
            of_answers = aside.constants_of(answers) if answers else {}
    except _INVALID as e:
        while e.__cause__:
            e = e.__cause__
        text = " ".join(str(e).split())
        raise ConvertError(f"the model breaks ONNX's rules: {text}") from e
    return Converted(
        state.data,
        state.graph,
        state.arena,
        state.notes,
        state.nodes_before,
        state.rewritten,
        constants,
        state.log,
        state.quantized,
        state.narrowed,
        state.grids,
        answers,
        of_answers,
        state.vector,
        state.no_vector,
        state.expected,
    )


def _run(stage: Callable[[Conversion], None], state: Conversion) -> None:
    """Run a stage, and verify the model that it leaves."""
    before = state.model
    stage(state)
    if before is not None:
        keeps_dtypes = stage is not quantize  # --io int8 is meant to change them
        verify.passed(before, state.model, stage.__name__, keeps_dtypes=keeps_dtypes)
