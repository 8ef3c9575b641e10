"""What a caller can say of a conversion."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tools import seal

from .file.borders import Image
from .quantize.settings import Settings


@dataclass
class Options:
    """What the command line can say, and what is taken where it says nothing.

    shapes: dims by input; sequences: the elements' dims by input that is a sequence or optional;
    dims: values by symbolic name; bind: arrays by input; strip: no names, source or golden vector
    in the file; vector: compute one for a check on this computer, where the file has none, too;
    golden: inputs of the golden vector (None: random ones); expect: outputs
    that the trained model itself computed of these; bounds: the most items
    that there can be of what a run decides, by name of a value; ops: folder of the user's own
    operators; allow_domains: domains that it may serve; optimize: level of the rewrites, 0 to 2,
    at 0 the device computes every operator (see simplify/keep);
    float: exact or fast16 (block floating point), or python, for products of float32;
    float64: keep, or float32, as which boards can compute it;
    quantize: how to make integers of a float model; images: inputs that take pictures, by name;
    state: the output, by input, that the next run finds in it; inner: values that are outputs
    too, behind the model's own, where the rewrites leave them; window: most bytes of weights that
    a board which streams them has in memory at one time; arena: bytes that it may have; weights:
    what those of products are rounded to; seal: what to seal the file with;
    check: run the model before and after the rewrites, and leave out one that changes its values;
    class_names: what a classifier's scores are for, in their order;
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
