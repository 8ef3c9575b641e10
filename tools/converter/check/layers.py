"""Find the first layer of a file whose values differ from the reference's."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from onnx import helper

from ..convert import convert
from ..converted import Converted
from ..file import on_host
from ..ir import walk
from ..options import Options
from ..protos import copied, set_all
from ..reference import golden
from ..reference.compare import distances
from ..reference.ort_session import open_session
from ..reference.rounded import Rounded
from ..reference.tolerance import largest_of, relative_of
from .run_file import MOST_WORK, work_of

# Relative power of the noise by rounding steps deep inside a correct quantized model.
_MOST_NOISE = 0.1


def first_that_deviates(converted: Converted, options: Options) -> str:
    """Return a sentence that names the first wrong layer, with a space behind it; "" without any.

    Only values are compared that model and file have under the same name, with the same dtype and
    shape. Rewrites that merge layers leave no values between them, so the model is first converted
    again with all values as outputs. If a fault of merging disappears by that, the file itself is
    run.
    """
    if work_of(converted.graph) > MOST_WORK["cpython"]:
        return ""
    for with_all in (True, False):
        with suppress(Exception):  # the file is known to be wrong
            expected = _values(converted, options)
            result = _with_outputs(converted, options, expected) if with_all else converted
            if not with_all and Rounded(converted.reference).is_any():
                # Quantized convolutions may write channels last, in the same shape.
                expected = {name: y for name, y in expected.items() if y.ndim < 3}
            deviation = _first_deviation(result, converted, options, expected)
            if deviation is not None:
                return f"The first layer that deviates is {deviation[0].node} ({deviation[1]}). "
    return ""


def _values(converted, options):
    """Return onnxruntime's values of all nodes by name, if they are arrays of numbers."""
    model = converted.reference
    names = [name for node in model.graph.node for name in node.output if name]
    ending = copied(model)
    set_all(ending.graph.output, [helper.make_empty_tensor_value_info(name) for name in names])
    feed = golden.feed_of(model, converted.vector.inputs, options.state)
    values = dict(zip(names, open_session(ending).run(names, feed), strict=True))
    return {
        name: y
        for name, y in values.items()
        if isinstance(y, np.ndarray) and y.dtype.kind in "biuf"
    }


def _with_outputs(converted, options, values):
    """Convert the model with these values as outputs, behind its own outputs."""
    model = copied(converted.reference)
    known = {o.name for o in model.graph.output}
    for name, y in values.items():
        if name not in known:
            dtype = helper.np_dtype_to_tensor_dtype(y.dtype)
            model.graph.output.append(helper.make_tensor_value_info(name, dtype, y.shape))
    own = {"ops": options.ops, "allow_domains": options.allow_domains, "state": options.state}
    kind = {"float": options.float, "float64": options.float64, "optimize": options.optimize}
    return convert(model, Options(strip=True, **own, **kind))


def _first_deviation(result, converted, options, expected):
    """Run a file; return (step, name of its value) of the first value that deviates, else None.

    A value is compared right before its first reader, because several steps may write it.

    Args:
        result: the conversion to run.
        converted: the original conversion.
        options: its options.
        expected: onnxruntime's values by name.
    """
    steps, relative = result.graph.steps, relative_of(result.graph, options.float)
    may_step = Rounded(converted.reference).is_any()
    due: dict[int, list] = {}  # by step: (producer's number, value, memory) to compare before it
    wrong = []

    def compare(k):
        for number, t, output in due.pop(k, ()):
            if _differs(t, output, expected.get(t.name), relative, may_step):
                wrong.append((number, t.name))

    def each(run, outputs):
        if not run.step.isdigit() or not outputs:
            return
        number = int(run.step)
        for t, output in zip(steps[number].outputs, outputs, strict=True):
            if output is not None:
                due.setdefault(_first_reader(result.graph, number, t), []).append(
                    (number, t, output)
                )
        compare(number + 1)

    with on_host.package(options.ops):
        import mpconnxr
        from mpconnxr.inspect.trace import follow

        model = mpconnxr.load(result.data)
        for t, x in zip(model.inputs, converted.vector.inputs, strict=True):
            t.view("B")[:] = np.ascontiguousarray(x).tobytes()
        follow(model, each)
        compare(len(steps))
    if not wrong:
        return None
    number, name = min(wrong)
    return steps[number], name


def _first_reader(graph, number, t):
    """Return the number of the top-level step before which to compare a value; -1 without any.

    Args:
        graph: the graph.
        number: number of the step that computes the value.
        t: the value.
    """
    for k in range(number + 1, len(graph.steps)):
        if any(x.root is t.root for step in walk([graph.steps[k]]) for x in step.inputs):
            return k
    return len(graph.steps) if any(o.root is t.root for o in graph.outputs) else -1


def _differs(t, output, right, relative, may_step):
    """Return True if a value in the arena differs too much from the right one.

    Args:
        t: the value.
        output: its memory.
        right: onnxruntime's array, or None.
        relative: largest error of floats, relative to the largest magnitude.
        may_step: quantization may round values differently.
    """
    if right is None or right.dtype != t.np_dtype or right.shape != t.shape:
        return False
    got = np.frombuffer(bytes(output.view("B")), t.np_dtype).reshape(t.shape)
    if may_step:
        noise, signal = distances(got, right).astype(float), np.abs(right.astype(float))
        return bool((noise**2).sum() > _MOST_NOISE * max((signal**2).sum(), 1.0))
    bound = relative * largest_of(right) if right.dtype.kind == "f" else 0
    return bool((distances(got, right) > bound).any())
