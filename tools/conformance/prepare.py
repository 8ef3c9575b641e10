"""Convert cases in worker processes: each becomes a job for the device, or a verdict."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field

import numpy as np
import onnx

from tools.converter.convert import Options, convert
from tools.converter.errors import ConvertError, UnsupportedModel
from tools.converter.protos import free_inputs
from tools.converter.shape_fixing import shape_fixing_inputs
from tools.format.layout import element_bytes
from tools.format.objects import STRING
from tools.harness import input_bytes

from .cases import Case, elements

TIME_LIMIT = 300  # seconds of processor time for one conversion
DEFAULT_LEVEL = Options().optimize


@dataclass
class Prepared:
    """A converted case, or the reason why it cannot run.

    Attributes:
        verdict: status of the case (see suite.STATUSES) if there is no model to run; else "".
        reason: reason of the verdict.
        model: bytes of model.bin.
        sample: bytes of each input.
        outputs: (dtype code of model.bin, numpy dtype) of each output.
        bound: an input was made a constant.
        macs: nominal multiply-accumulates.
        optimize: level of the conversion.
    """

    verdict: str = ""
    reason: str = ""
    model: bytes = b""
    sample: list[bytes] = field(default_factory=list)
    outputs: list[tuple[int, np.dtype]] = field(default_factory=list)
    bound: bool = False
    macs: int = 0
    optimize: int = DEFAULT_LEVEL


class _TooLong(BaseException):
    """Raised at the time limit; not an Exception, so that no handler swallows it."""


def prepare_all(
    cases: Sequence[Case], workers: int = 2, on_case: Callable[[], None] = lambda: None
) -> list[Prepared]:
    """Convert all cases.

    Args:
        cases: the cases.
        workers: number of processes.
        on_case: called after each case.

    Returns:
        A Prepared for each case, in order.
    """
    results: list[Prepared] = []
    while len(results) < len(cases):
        with ProcessPoolExecutor(workers) as pool:
            try:
                for result in pool.map(prepare, cases[len(results) :], chunksize=1):
                    results.append(result)
                    on_case()
            except BrokenProcessPool:
                pass
        if len(results) < len(cases):
            results.append(_alone(cases[len(results)]))
            on_case()
    return results


def _alone(case):
    """Convert one case in its own process, after a worker died near it."""
    with ProcessPoolExecutor(1) as pool:
        try:
            return pool.submit(prepare, case).result()
        except BrokenProcessPool:
            return Prepared("failed", "converter crashed: its process died")


def prepare(case: Case) -> Prepared:
    """Convert a case with the shapes of its inputs. Never raises."""

    def too_long(*_):
        raise _TooLong

    previous = signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, TIME_LIMIT)
    try:
        return _prepare(case)
    except UnsupportedModel as e:
        reasons = dict.fromkeys(f"{f.what}: {f.problem.reason}" for f in e.findings)
        return Prepared("unsupported", "; ".join(reasons))
    except ConvertError as e:
        return Prepared("unsupported", str(e).splitlines()[0])
    except _TooLong:
        return Prepared("failed", f"conversion takes more than {TIME_LIMIT} s")
    except Exception as e:
        return Prepared(
            "failed", f"converter crashed: {type(e).__name__}: {' '.join(str(e).split())}"
        )
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def _prepare(case):
    model = onnx.load_model_from_string(case.model)
    reason = _no_tensor(model.graph)
    if reason:
        return Prepared("unsupported", reason)
    prepared = _converted(case, model, DEFAULT_LEVEL)
    return prepared if prepared.verdict != "folded" else _kept(case, model)


def _kept(case, model):
    """Convert a case that would be folded to nothing so that the device computes it."""
    try:
        return _converted(case, model, 0, at_run_time=True)
    except ConvertError:
        return _converted(case, model, 0)


def _converted(case, model, level, at_run_time=False):
    """Convert a case.

    Args:
        case: the case.
        model: its model.
        level: --optimize.
        at_run_time: leave inputs that determine shapes to the device, if a kernel can take them.
    """
    names = [i.name for i in free_inputs(model.graph)]
    values = dict(zip(names, case.inputs, strict=True))
    fixing = shape_fixing_inputs(model, at_run_time)
    bind = {name: values[name] for name in fixing if name in values}
    sequences = _sequences(model.graph, values)
    for name, arrays in sequences.items():
        values.pop(name)
        values.update((f"{name}/{i}", x) for i, x in enumerate(arrays))
    shapes = {i.name: values[i.name].shape for i in free_inputs(model.graph) if i.name in values}
    options = Options(
        shapes={name: shape for name, shape in shapes.items() if name not in bind},
        sequences={name: [x.shape for x in arrays] for name, arrays in sequences.items()},
        bind=bind,
        strip=True,
        optimize=level,
    )
    converted = convert(model, options)
    if not converted.graph.steps:
        return Prepared("folded", "the device has nothing to compute")
    return Prepared(
        model=converted.data,
        sample=[_bytes(values[t.name], t) for t in converted.graph.inputs],
        outputs=[(t.dtype, t.np_dtype) for t in converted.graph.outputs],
        bound=bool(bind),
        macs=converted.report()["macs"],
        optimize=level,
    )


def _no_tensor(graph):
    """Return why a graph has inputs or outputs that no case can provide; "" if it has none."""
    for kind, infos in (("input", free_inputs(graph)), ("output", graph.output)):
        for info in infos:
            kind_of_value = info.type.WhichOneof("value")  # None: inferred from the operator
            if kind_of_value not in (None, "tensor_type", "sequence_type", "optional_type"):
                return f"{kind} of kind {kind_of_value.removesuffix('_type')}"
    return ""


def _sequences(graph, values):
    """Return {name: arrays} of the inputs that are sequences or optionals."""
    sequences = {}
    for info in free_inputs(graph):
        if info.type.WhichOneof("value") != "tensor_type":
            value = values[info.name]
            sequences[info.name] = value if isinstance(value, list) else elements([value])
    return sequences


def _bytes(value, t):
    if t.dtype == STRING and value.size == t.nelem:
        return input_bytes(value)
    value = np.ascontiguousarray(value)
    if value.dtype != t.np_dtype or value.size != t.nelem:
        raise ConvertError(f"the case has {value.dtype} {list(value.shape)} for input {t}")
    return element_bytes(value)
