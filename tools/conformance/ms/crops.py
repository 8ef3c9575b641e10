"""Cases of image crops, transposed convolutions, inverse matrices and blocked n-grams."""

from __future__ import annotations

import numpy as np

from .making import Spec, makes


@makes("CropAndResize")
def crop(draw):
    """Draw boxes inside the image, across its edge, flipped, and of one pixel."""
    for c in draw.each(
        32,
        mode=[None, "bilinear", "nearest"],
        extrapolation_value=[None, 0.5, -3.0],
        low=[0.0, -0.3],
        size=[(1, 1), (1, 4), (3, 2), (5, 6)],
    ):
        images, count = draw.size(1, 3), draw.size(1, 4)
        x = draw.floats((images, draw.size(1, 3), draw.size(1, 7), draw.size(2, 7)))
        rois = draw.scales((count, 4), c.low, 1 - c.low)
        where = draw.ints((count,), np.int32, 0, images - 1)
        inputs = [x, rois, where, np.array(c.size, np.int32)]
        yield Spec(inputs, c.attributes("mode", "extrapolation_value"), (3,))


@makes("ConvTransposeWithDynamicPads")
def transposed_convolution(draw):
    """Yield cases with pads at one end and at both, with groups and strides."""
    for c in draw.each(
        28,
        pads=[(0, 0, 0, 0), (1, 0, 1, 0), (1, 0, 0, 1), (0, 1, 1, 1)],
        group=[None, 1, 2],
        strides=[None, [1, 1], [2, 1], [2, 3]],
        dilations=[None, [1, 2]],
        bias=[True, False],
        fixed=[(1, 2, 3), (2,)],
    ):
        group = c.group or 1
        x = draw.floats((draw.size(1, 2), 2 * group, draw.size(2, 5), draw.size(2, 5)))
        w = draw.floats((2 * group, draw.size(1, 3), draw.size(2, 3), draw.size(2, 3)))
        inputs = [x, w, np.array(c.pads, np.int64)]
        if c.bias:
            inputs.append(draw.floats((w.shape[1] * group,)))
        attributes = c.attributes("group", "strides", "dilations")
        fixed = [i for i in c.fixed if i < len(inputs)]
        yield Spec(inputs, {"kernel_shape": list(w.shape[2:])} | attributes, fixed)


@makes("Inverse")
def inverse(draw):
    """Draw batches; zeros on the diagonal force rows to be swapped."""
    for c in draw.each(
        30, dtype=[np.float32, np.float32, np.float64, np.float16], turned=[True, False]
    ):
        n = draw.size(1, 7)
        batch = tuple(draw.size(1, 3) for _ in range(draw.size(0, 2)))
        x = draw.floats((*batch, n, n), scale=0.1) + 1.5 * np.eye(n)
        x = np.roll(x, draw.size(0, n), -2) if c.turned else x
        yield Spec([x.astype(c.dtype)])


@makes("NGramRepeatBlock")
def block_repeats(draw):
    """Draw few different tokens, so that they repeat, and n-grams longer than the text."""
    for c in draw.each(28, ngram_size=[1, 2, 3, 5], most=[2, 3, 6]):
        batch, vocabulary = draw.size(1, 3), draw.size(c.most, 9)
        ids = draw.ints((batch, draw.size(1, 9)), np.int64, 0, c.most - 1)
        yield Spec([ids, draw.floats((batch, vocabulary))], c.attributes("ngram_size"))


@makes("SampleOp")
def sample(draw):
    """Draw tensors of all ranks."""
    for _ in range(20):
        yield Spec([draw.floats(draw.shape(0, 4))])
