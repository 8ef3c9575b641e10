"""Run samples through a model on a target, and report outputs, errors and time."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from onnx import TensorProto

from tools import limits
from tools.converter import own
from tools.converter.__main__ import files_read
from tools.converter.convert import Options
from tools.errors import RunError, UsageError
from tools.format import reader
from tools.format.dtypes import dtype_name
from tools.format.objects import is_object
from tools.harness import Job, Run, input_bytes, output_value, run_jobs
from tools.micropython import get_target
from tools.progress import progress

from . import vector
from .compare import Errors, ExpectedOutputs, Reference, inner_values
from .layers import Layers
from .models import Notify, Ready, checked, open_model
from .samples import Sample, output_name, random_samples, sample_of, samples_in

_WORKERS = 2
_FAR = 0.1  # error of the largest value that no int8 model has within its range
_OUTSIDE = (
    "random inputs lie outside of the range that the model was quantized for, where its errors "
    "are large: compare it for real inputs, X.npy or --samples DIR"
)
_QUANTIZING = ("levels", "quantize", "wide_quantize")  # kernels of QuantizeLinear
_JOB_NBYTES = 32 << 20  # of the samples in one job: the target's heap grows with them


def execute(args: Namespace, options: Options, notify: Notify) -> dict:
    """Run all samples and return the report: dicts, lists, numbers and arrays ("values")."""
    if args.compare and not args.compare.exists():
        raise RunError(f"{args.compare}: No such file or directory")
    operators = inner_values(args.compare) if args.layers else {}
    options = replace(options, inner=tuple(operators))
    model = open_model(args.model, options, notify)
    if vector.applies(args, model):
        return vector.run_vector(args, model)
    samples = _samples(args, model)
    for sample in samples:
        sample.arrays = checked(sample.arrays, model.inputs)
    ready = [model.ready(sample.arrays) for sample in samples]
    _refuse_overwriting(args, samples, ready)
    zeros = {s.name: np.zeros(s.shape, s.dtype) for s in ready[0].states}
    reference = None
    if args.expect:
        reference = ExpectedOutputs(args.expect, ready[0].outputs)
    elif args.compare:
        reference = Reference(args.compare, options.state, zeros, operators, options.bind)
        reference.check([sample.arrays for sample in samples])
    kernels = own.kernels_in(options.ops)
    runs = run_samples("run", args.target, args.timeout, samples, ready, kernels)
    outputs = [outputs_of(run, r) for run, r in zip(runs, ready, strict=True)]
    report = _figures(args, runs, ready)
    report["samples"] = [
        _sample(args, *parts) for parts in zip(samples, ready, runs, outputs, strict=True)
    ]
    if reference:
        layers = Layers(operators)
        inner = [_inner(run, r) for run, r in zip(runs, ready, strict=True)]
        report["errors"] = _errors(reference, samples, outputs, ready[0].outputs, layers, inner)
        is_far = any(e["max_rel"] > _FAR for e in report["errors"])
        if args.random and is_far and _quantizes_floats(ready[0].data):
            notify(_OUTSIDE)
        if args.layers:
            report["layers"] = layers.figures()
    return report


def _quantizes_floats(data):
    """Return True if a model has a fixed scale for its inputs of floats."""
    stored = reader.read(data)
    has_floats = any(stored.tensors[i].dtype == TensorProto.FLOAT for i in stored.inputs)
    return has_floats and any(node.kernel in _QUANTIZING for node in stored.nodes)


def _samples(args, model):
    if args.samples:
        return samples_in(args.samples)
    if args.random:
        return random_samples(model.inputs, args.random, args.seed)
    return [sample_of(args.inputs)]


def _refuse_overwriting(args, samples, ready):
    """Raise UsageError if an output would overwrite a file that is read."""
    if not args.output_dir:
        return
    names = [
        output_name(sample.number, i, suffix)
        for sample, r in zip(samples, ready, strict=True)
        for i in range(len(r.outputs))
        for suffix in (".npy", ".json")
    ]
    read = [*files_read(args.model, args.options), *args.inputs]
    read += [path for path in (args.samples, args.compare, args.ops) if path]
    if reason := limits.overwritten([args.output_dir / name for name in names], read):
        raise UsageError(reason)


def outputs_of(run: Run, ready: Ready) -> list[np.ndarray | list]:
    """Return the outputs of a run, arrays or lists of maps."""
    return [value for _, value in _values(run, ready)[: len(ready.outputs)]]


def _inner(run, ready):
    """Return (name, array) of the inner values."""
    return _values(run, ready)[len(ready.outputs) :]


def _values(run, ready):
    """Return (name, array) of a run's outputs and then of its inner values."""
    specs = [*ready.outputs, *ready.inner]
    parts = zip(run.outputs, run.shapes, specs, strict=True)
    return [(s.name, output_value(raw, s.number, s.dtype, tuple(d))) for raw, d, s in parts]


def _figures(args, runs, ready):
    """Return the common figures.

    The seconds are the mean of an inference, None without a clock; bytes are the largest model's.
    """
    seconds = [run.seconds for run in runs]
    return {
        "model": str(args.model),
        "target": args.target,
        "conversions": len({id(r) for r in ready}),
        "file_bytes": max(len(r.data) for r in ready),
        "arena_bytes": max(r.arena_bytes for r in ready),
        "seconds": None if None in seconds else sum(seconds) / len(seconds),
    }


def run_samples(
    command: str,
    target: str,
    timeout: float,
    samples: Sequence[Sample],
    ready: Sequence[Ready],
    kernels: Mapping[str, Path] | None = None,
) -> list[Run]:
    """Run all samples on a target; neighbours with the same model share a job.

    Samples of a model with state are steps of one sequence, in one job.

    Args:
        command: its name, for the progress.
        target: name of the target.
        timeout: seconds that one inference may take.
        samples: the inputs.
        ready: the model of each sample.
        kernels: {name: file} to add to mpconnxr/ops/.

    Raises:
        RunError: if a sample cannot be run.
    """
    most = -(-len(samples) // _WORKERS)
    if any(r.states for r in ready):
        most = len(samples)
        if any(r is not ready[0] for r in ready):
            raise RunError("samples of one shape are needed: state is kept from one to the next")
    else:
        most = min(most, max(1, _JOB_NBYTES // max(1, *map(_nbytes, samples))))
    groups = _groups(ready, most)
    jobs = [
        Job(
            ready[group[0]].data,
            [_raw(samples[i], ready[i]) for i in group],
            shapes=[[np.shape(samples[i].arrays[k]) for k in ready[i].fed] for i in group],
        )
        for group in groups
    ]
    with limits.lifted(), progress(command, target, len(samples), "sample") as bar:
        outcomes = run_jobs(
            get_target(target),
            jobs,
            timeout * most,
            _WORKERS,
            jobs_a_process=1,
            on_run=bar.update,
            kernels=kernels,
        )
    for group, outcome in zip(groups, outcomes, strict=True):
        if outcome.error:
            at = min(len(outcome.runs), len(group) - 1)
            number = samples[group[at]].number
            hint = ": --timeout SECONDS allows more" if outcome.error == "timeout" else ""
            raise RunError(f"sample {number}: {outcome.error}: {outcome.message}{hint}")
    return [run for outcome in outcomes for run in outcome.runs]


def _nbytes(sample):
    return sum(x.nbytes for x in sample.arrays if isinstance(x, np.ndarray))


def _groups(ready, most):
    """Return lists of indices of neighbours with the same model, at most `most` each."""
    groups: list[list[int]] = []
    for i, r in enumerate(ready):
        if groups and ready[groups[-1][0]] is r and len(groups[-1]) < most:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def _raw(sample, ready):
    """Return the bytes of a sample's inputs, as the target reads them."""
    return [input_bytes(_taken(sample.arrays[i], ready.casts.get(i))) for i in ready.fed]


def _taken(x, dtype):
    """Return x as `dtype`; unchanged if dtype is None."""
    return x if dtype is None else x.astype(dtype)


def _sample(args, sample, ready, run, outputs):
    """Return the report's entry of one sample; write its outputs to --output-dir."""
    described = []
    for i, (spec, y) in enumerate(zip(ready.outputs, outputs, strict=True)):
        dtype = dtype_name(spec.number) if is_object(spec.number) else str(y.dtype)
        entry = {"name": spec.name, "dtype": dtype, "shape": list(np.shape(y))}
        if args.output_dir:
            args.output_dir.mkdir(parents=True, exist_ok=True)
            entry["file"] = str(_saved(args.output_dir, sample.number, i, y))
        else:
            entry["values"] = y
        described.append(entry)
    return {"sample": sample.number, "seconds": run.seconds, "outputs": described}


def _saved(folder, number, i, y):
    """Write an output, a list of maps as .json, all else as .npy; return the path."""
    if isinstance(y, list):
        path = folder / output_name(number, i, ".json")
        path.write_text(json.dumps(y))
        return path
    path = folder / output_name(number, i)
    np.save(path, y.astype(str) if y.dtype.kind == "O" else y)
    return path


def _errors(reference, samples, outputs, specs, layers, inner):
    """Run the reference on all samples, and compare.

    Args:
        reference: runs a sample's arrays, and returns its outputs.
        samples: the samples, with arrays.
        outputs: the target's outputs for each sample.
        specs: the model's outputs, by name.
        layers: collects the statistics of inner values for --layers.
        inner: (name, array) of the target's inner values for each sample.

    Returns:
        For each output a dict of its name and the figures of its errors over all samples.
    """
    errors = [Errors() for _ in specs]
    for sample, got, values in zip(samples, outputs, inner, strict=True):
        expected = reference.run(sample.arrays)
        layers.add(values, reference.values)
        if len(expected) != len(got):
            raise RunError(f"--compare: {len(expected)} outputs there, {len(got)} here")
        for e, a, b, spec in zip(errors, got, expected, specs, strict=True):
            try:
                e.add(a, b)
            except RunError as error:
                raise RunError(f"--compare: output {spec.name}: {error}") from None
    return [{"name": spec.name} | e.figures() for spec, e in zip(specs, errors, strict=True)]
