"""Declare what a caller can request of a conversion."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .quantize.settings import Settings, check_choice

if TYPE_CHECKING:
    import numpy as np

    from tools import seal

    from .file.interface import Image

FLOAT_MODES = ("exact", "fast16", "python")  # of --float
WEIGHT_BITS = {"f32": 24, "f16": 16, "int16": 16, "int8": 8, "int4": 4}  # by value of --weights


@dataclass
class Options:
    """The options of a conversion, with their defaults.

    Attributes:
        shapes: dims by input.
        sequences: dims of the elements, by input that is a sequence or an optional.
        dims: values by symbolic name.
        bind: arrays by input, which becomes a constant.
        keep_inputs: runs do not overwrite the inputs.
        strip: the file has no names, source or golden vector.
        vector: compute a golden vector for a check on this computer, even if the file has none.
        golden: inputs of the golden vector; None for random ones.
        expect: outputs that the trained model itself computed from `golden`.
        bounds: by name of a value, the most elements of an axis that a run decides.
        ops: folder of the user's own operators.
        allow_domains: domains that the folder may serve.
        optimize: level of the rewrites, 0 to 2; at 0 the device computes every operator (see
            simplify/keep).
        float: how products of float32 are computed: exact or fast16 (block floating point), or
            python.
        float64: keep, or float32, which most boards can compute.
        quantize: how a float model becomes one of integers.
        images: inputs that take pictures, by name.
        state: for an input, the output that the next run finds in it.
        inner: inner values that become outputs behind the model's own, unless rewrites remove
            them.
        window: the most bytes of weights that a board which streams them holds at one time.
        arena: the most bytes of the arena.
        weights: format to which the weights of products are rounded.
        seal: how to seal the file.
        check: run the model before and after the rewrites, and skip one that changes its values.
        class_names: names of a classifier's classes, in the order of its scores.
        verify: verify the model's types, inputs and outputs after every pass.
    """

    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    sequences: Mapping[str, Sequence[Sequence[int]]] = field(default_factory=dict)
    dims: Mapping[str, int] = field(default_factory=dict)
    bind: Mapping[str, np.ndarray] = field(default_factory=dict)
    keep_inputs: bool = False
    strip: bool = False
    vector: bool = False
    golden: Sequence[np.ndarray] | None = None
    expect: Sequence[np.ndarray] | None = None
    bounds: Mapping[str, int] = field(default_factory=dict)
    ops: Path | None = None
    allow_domains: Sequence[str] = field(default_factory=list)
    optimize: int = 2
    float: str = "exact"
    float64: str = "keep"
    quantize: Settings | None = None
    images: Mapping[str, Image] = field(default_factory=dict)
    state: Mapping[str, str] = field(default_factory=dict)
    inner: Collection[str] = ()
    window: int | None = None
    arena: int | None = None
    weights: str = "f32"
    seal: seal.Request | None = None
    check: bool = True
    class_names: Sequence[str] = ()
    verify: bool = False

    def __post_init__(self) -> None:
        """Raise UsageError for a value that there is not."""
        check_choice("float", self.float, FLOAT_MODES)
        check_choice("float64", self.float64, ("float32", "keep"))
        check_choice("weights", self.weights, tuple(WEIGHT_BITS))
        check_choice("optimize", self.optimize, (0, 1, 2))
