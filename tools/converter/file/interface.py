"""Describe a file's inputs and outputs beyond dtype and shape: quantization grids and images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import onnx
from onnx import defs

from tools.format import layout

from ..errors import UsageError
from ..external_weights import array_of
from ..ir import Graph, Tensor
from ..protos import opset_of

# Operators whose output has their input's grid.
_KEEPING = ("Flatten", "Identity", "MaxPool", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
_LARGEST = 1e30  # largest scale that a board accepts: see mpconnxr/build/grids.py
_ORDERS = ("gray", "rgb", "bgr")
_LAYOUTS = ("chw", "hwc")
_FITS = ("crop", "stretch")


@dataclass(frozen=True)
class Image:
    """An input that takes pictures: value = (pixel / scale - mean) / std, with pixels 0 to 255."""

    order: str = "rgb"
    layout: str = "chw"
    fit: str = "crop"
    scale: float = 255.0
    mean: Sequence[float] = (0.0, 0.0, 0.0)
    std: Sequence[float] = (1.0, 1.0, 1.0)


def image_from(text: str) -> Image:
    """Parse a value of --image, such as 'rgb,chw,crop,scale=255,mean=0.5/0.5/0.5,std=0.25'.

    Raises:
        UsageError: if a word is unknown or a number is wrong.
    """
    fields = {}
    for word in filter(None, text.split(",")):
        key, equals, value = word.partition("=")
        if equals and key in ("scale", "mean", "std"):
            fields[key] = _numbers(key, value)
        elif not equals and key in (*_ORDERS, *_LAYOUTS, *_FITS):
            group = [key in names for names in (_ORDERS, _LAYOUTS, _FITS)].index(True)
            fields[("order", "layout", "fit")[group]] = key
        else:
            known = ", ".join((*_ORDERS, *_LAYOUTS, *_FITS, "scale=", "mean=", "std="))
            raise UsageError(f"--image: {word} is none of {known}")
    return Image(**fields)


def _numbers(key, text):
    """Parse one number for scale, three for mean and std."""
    try:
        values = [float(part) for part in text.split("/")]
    except ValueError:
        values = []
    if len(values) not in ((1,) if key == "scale" else (1, 3)):
        raise UsageError(
            f"--image: {key}={text}: give one number, or one for each channel, such as 0.4/0.5/0.6"
        )
    if key != "mean" and 0.0 in values:
        raise UsageError(f"--image: {key}={text}: must not be 0")
    return values[0] if key == "scale" else tuple(values * (3 // len(values)))


def grids_of(model: onnx.ModelProto, graph: Graph) -> dict[str, tuple[float, int]]:
    """Return (scale, zero_point) of the inputs and outputs that are quantized, by name."""
    grids = _Grids(model)
    pairs = {t.name: grids.of_input(t.name) for t in graph.inputs}
    pairs |= {t.name: grids.of_output(t.name) for t in graph.outputs}
    return {name: grid for name, grid in pairs.items() if grid}


def grids_chunk(grids: Mapping[str, tuple[float, int]], graph: Graph) -> bytes:
    """Return scale and zero_point of each input and output as bytes; b"" if none has them."""
    if not grids:
        return b""
    tensors = [*graph.inputs, *graph.outputs]
    return b"".join(layout.GRID.pack(*grids.get(t.name, (0.0, 0))) for t in tensors)


class _Grids:
    """Find the grids of a model's inputs and outputs by the operators that use them."""

    def __init__(self, model):
        self.model, self.nodes = model, model.graph.node
        self.constants = {t.name: t for t in model.graph.initializer}

    def of_input(self, name):
        """Return (scale, zero_point) by the first operator that reads it, None if unknown."""
        for node in self.nodes:
            if name in node.input:
                if node.op_type in _KEEPING and node.input[0] == name:
                    return self.of_input(node.output[0])
                at = list(node.input).index(name)
                return self._pair(node, at, "DequantizeLinear")
        return None

    def of_output(self, name):
        for node in self.nodes:
            if name in node.output:
                if node.op_type in _KEEPING:
                    return self.of_output(node.input[0])
                return self._pair(node, None, "QuantizeLinear")
        return None

    def _pair(self, node, at, converting):
        """Return the grid at input `at` of a node, or of its output; None if it is unknown."""
        if node.op_type == converting:
            names = list(node.input[1:3])
        elif node.domain in ("", "ai.onnx") and node.op_type.startswith("QLinear"):
            names = self._of_operator(node, at)
        else:
            return None
        arrays = [array_of(self.constants[n]) for n in names if n in self.constants]
        if len(arrays) != len(names) or not arrays or any(a.size != 1 for a in arrays):
            return None
        scale = float(arrays[0].reshape(-1)[0])
        if not 0.0 < scale < _LARGEST:
            return None
        return scale, int(arrays[1].reshape(-1)[0]) if len(arrays) > 1 else 0

    def _of_operator(self, node, at):
        schema = defs.get_schema(node.op_type, opset_of(self.model, ""), "")
        words = [i.name for i in schema.inputs]
        prefix = "y" if at is None else words[at]
        names = (f"{prefix}_scale", f"{prefix}_zero_point")
        return [node.input[words.index(word)] for word in names if word in words]


def images_chunk(
    images: Mapping[str, Image], graph: Graph, grids: Mapping[str, tuple[float, int]]
) -> bytes:
    """Return a record for each input that takes pictures.

    Raises:
        UsageError: if an image does not fit its input.
    """
    numbers = {t.name: i for i, t in enumerate(graph.inputs)}
    chunk = b""
    for name, image in images.items():
        if name not in numbers:
            raise UsageError(f"--image: no input {name}; there are {', '.join(numbers)}")
        t = graph.inputs[numbers[name]]
        _check(t, image)
        words = _ORDERS.index(image.order), _LAYOUTS.index(image.layout), _FITS.index(image.fit)
        affine = _affine(image)
        if not (np.abs(affine) < _LARGEST).all():
            raise UsageError(f"--image: {name}: mean, std and scale give values without bounds")
        is_float = t.np_dtype == np.float32
        tables = [] if is_float else _tables(t, affine[: _channels(image)], grids.get(name))
        chunk += layout.IMAGE.pack(numbers[name], *words, len(tables))
        chunk += layout.IMAGE_SCALES.pack(*affine.ravel()) if is_float else b"".join(tables)
    return chunk


def _channels(image):
    return 1 if image.order == "gray" else 3


def _affine(image) -> np.ndarray:
    """Return factor and offset per channel, float32 (3, 2): value = pixel * factor + offset."""
    std, mean = np.asarray(image.std, float), np.asarray(image.mean, float)
    with np.errstate(all="ignore"):
        affine = np.stack([1.0 / (image.scale * std), -mean / std], axis=1)
        return affine.astype(np.float32)


def _tables(t, affine, grid) -> list[bytes]:
    """Return tables of the integer for each pixel: one table for each channel, or one for all.

    An integer is round((pixel * factor + offset) / scale) + zero_point, computed exactly, half to
    even and saturated. Without a grid the real value itself is rounded.

    Args:
        t: the input.
        affine: (factor, offset) of each channel.
        grid: (scale, zero_point), or None.
    """
    scale, zero = grid or (1.0, 0)
    step, limits = Fraction(float(np.float32(scale))), np.iinfo(t.np_dtype)
    tables = []
    for factor, offset in affine.tolist():
        values = (pixel * Fraction(factor) + Fraction(offset) for pixel in range(256))
        levels = [min(max(round(v / step) + zero, limits.min), limits.max) for v in values]
        tables.append(np.array(levels, t.np_dtype).tobytes())
    return tables[:1] if len(set(tables)) == 1 else tables


def _check(t: Tensor, image: Image) -> None:
    channels = _channels(image)
    dims = t.shape[-3:]
    at = 2 if image.layout == "hwc" else 0
    if len(dims) != 3 or dims[at] != channels or any(d != 1 for d in t.shape[:-3]):
        shape = list(t.shape)
        raise UsageError(f"--image: {t.name} {shape} is no {image.order} image in {image.layout}")
    if t.np_dtype not in (np.float32, np.int8, np.uint8):
        raise UsageError(f"--image: {t} is not an image: float32, int8 or uint8 is needed")
