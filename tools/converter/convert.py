"""Convert an .onnx to the bytes of model.bin: run the passes of pipeline.py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import onnx
from onnx import checker, shape_inference
from onnx_ir import serde

from . import pipeline, verify
from .conversion import Conversion
from .converted import Converted
from .errors import ConvertError, UsageError
from .external_weights import without_placeholders
from .load import ort_domain
from .options import Options
from .pipeline import Pass
from .simplify import keep

# What the libraries raise, wherever they meet what no checker saw.
_INVALID = (checker.ValidationError, shape_inference.InferenceError, serde.SerdeError)


def convert(source: Path | onnx.ModelProto, options: Options | None = None) -> Converted:
    """Convert a model.

    Args:
        source: an .onnx file, or a model in memory, which is not changed.
        options: what the caller requests.

    Raises:
        ConvertError: if the model cannot be converted. UnsupportedModel names every reason.
    """
    state = Conversion(source, options or Options())
    with _converting(state):
        _run(pipeline.PASSES, state)
        answers = state.answers if state.options.vector else None
        state.weights.release_others(state.rewritten, *([answers] if answers else []))
    return Converted(
        state.data,
        state.graph,
        state.arena,
        state.notes,
        state.nodes_before,
        state.rewritten,
        state.weights,
        state.log,
        state.quantized,
        state.narrowed,
        state.grids,
        answers,
        state.vector,
        state.no_vector,
        state.expected,
    )


def model_after(source: Path | onnx.ModelProto, name: str, options: Options) -> onnx.ModelProto:
    """Convert a model up to one pass, and return the ONNX model that this pass leaves.

    Args:
        source: an .onnx file, or a model in memory, which is not changed.
        name: name of a pass, or of a member of a group (see pipeline.passes_until).
        options: what the caller requests.

    Raises:
        ConvertError: if the model cannot be converted that far.
        UsageError: if no such pass leaves an ONNX model, or it does not run with these options.
    """
    *before, last = pipeline.passes_until(name)
    state = Conversion(source, options)
    with _converting(state):
        _run(before, state)
        if missing := pipeline.missing_options(last, name, state):
            raise UsageError(f"--save-after {name}: this pass runs with {missing} only")
        _run([last], state)
        return saved(without_placeholders(state.model))


def saved(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model of the conversion as other tools read it."""
    return keep.undeclared(ort_domain.release(model))


@contextmanager
def _converting(state: Conversion) -> Iterator[None]:
    """Verify passes as the options say, and name errors of the libraries."""
    try:
        with verify.every_pass(state.options.verify):
            yield
    except _INVALID as e:
        while e.__cause__:
            e = e.__cause__
        text = " ".join(str(e).split())
        raise ConvertError(f"the model breaks ONNX's rules: {text}") from e


def _run(passes: Sequence[Pass], state: Conversion) -> None:
    """Run the passes whose conditions hold, and verify the model that each leaves."""
    for one in passes:
        before = state.model
        if not one.condition.holds(state):
            continue
        one(state)
        if state.model is before:
            continue
        if before is not None and one.changes != "outputs":
            verify.passed(before, state.model, one.name, keeps_dtypes=one.changes != "dtypes")
        state.weights.release_others(*state.models())
