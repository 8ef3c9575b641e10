"""GridSample of float32 on MicroPython agrees with numpy's float64."""

import itertools

import numpy as np
import pytest

from tests.host.ops.against_ort import Node, compare
from tests.host.ops.single_node import INF, NAN, Case, check, on_targets

rng = np.random.default_rng(5)


def reflected(v, d, align):
    low, reach = (0.0, d - 1.0) if align else (-0.5, float(d))
    if reach == 0:
        return np.full_like(v, low)
    v = np.abs((v - low) % (2 * reach))
    return low + np.where(v > reach, 2 * reach - v, v)


def taps(v, d, mode, padding, align):
    """Return indices and weights (places, taps) of the d elements around each coordinate."""
    v = v.astype(np.float64)
    v = (v + 1) / 2 * (d - 1) if align else ((v + 1) * d - 1) / 2
    if mode == "nearest":
        at, share = np.round(v)[:, None], np.ones((len(v), 1))
    else:
        if padding == "reflection":
            v = reflected(v, d, align)
        r = v - np.floor(v)
        if mode == "linear":
            at, share = np.floor(v)[:, None] + np.arange(2), np.stack([1 - r, r], 1)
        else:
            at = np.floor(v)[:, None] + np.arange(-1, 3)
            far, near = np.stack([1 + r, 2 - r]), np.stack([r, 1 - r])
            far = ((far - 5) * far + 8) * far * -0.75 + 3
            near = (1.25 * near - 2.25) * near * near + 1
            share = np.stack([far[0], near[0], near[1], far[1]], 1)
    if padding == "zeros":
        share = np.where((at < 0) | (at > d - 1), 0.0, share)
    elif padding == "reflection":
        at = np.floor(reflected(at, d, align) + 0.25)
    return np.clip(at, 0, d - 1).astype(int), share


def sampled(x, grid, mode="linear", padding_mode="zeros", align_corners=0):
    n, c, h, w = x.shape
    out = np.empty((n, c, *grid.shape[1:-1]))
    for b in range(n):
        places = grid[b].reshape(-1, 2)
        ix, sx = taps(places[:, 0], w, mode, padding_mode, align_corners)
        iy, sy = taps(places[:, 1], h, mode, padding_mode, align_corners)
        elements = x[b].astype(np.float64)[:, iy[:, :, None], ix[:, None, :]]
        weights = sy[:, :, None] * sx[:, None, :]
        elements = np.where(weights, elements, 0.0)
        out[b] = (elements * weights).sum((2, 3)).reshape(out.shape[1:])
    return out.astype(np.float32)


@on_targets
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_coordinates_in_and_around_images_agree(target, mode):
    nodes, expected = [], []  # half of 2**-26 is 1.1e-6 of 300 items
    for padding, align in itertools.product(("zeros", "border", "reflection"), (0, 1)):
        for h, w, reach in ((1, 2, 4), (7, 5, 1.01), (3, 300, 1.2), (4, 4, 20)):
            x = (1 + rng.random((2, 2, h, w))).astype(np.float32)
            grid = ((2 * rng.random((2, 5, 4, 2)) - 1) * reach).astype(np.float32)
            attrs = {"mode": mode, "padding_mode": padding, "align_corners": align}
            nodes.append(Node("GridSample", [x, grid], attrs, 20))
            expected.append([sampled(x, grid, **attrs)])
    compare(target, nodes, expected, rtol=2e-7, atol=2e-6)


@on_targets
def test_coordinates_of_elements_give_these(target):
    h, w = 3, 4
    x = np.float32([[3e38, INF, -INF, NAN], [1e-40, 0, 1, -2], [-3e38, 7, INF, 1e-20]])
    y, x_at = np.meshgrid(np.arange(h), np.arange(w), indexing="ij")
    at = np.stack([(2 * x_at + 1) / w - 1, (2 * y + 1) / h - 1], -1)
    corners = np.stack([2 * x_at / (w - 1) - 1, 2 * y / (h - 1) - 1], -1)
    x = x[None, None]
    cases = []
    for mode in ("nearest", "linear"):
        grid = np.float32(at)[None, :, :, :]
        if mode == "linear":  # of thirds there are none
            grid, expected = grid[:, 1:2], x[:, :, 1:2]
        else:
            expected = x
        cases.append(Case(expected, "GridSample", x, grid, mode=mode))
    grid = np.float32(corners)[None][:, :, ::3]
    cases.append(Case(x[..., ::3], "GridSample", x, grid, align_corners=1))
    check(target, cases)


@on_targets
def test_coordinates_of_nan_are_handled(target):
    x = np.float32([[[[1, 2], [3, 4]]]])
    grid = np.float32([[[[NAN, 0], [0, NAN], [INF, -INF], [-INF, 0.5]]]])
    cases = [Case(np.zeros((1, 1, 1, 4), np.float32), "GridSample", x, grid)]
    expected = np.float32([[[[0, 0, 2, 3]]]])
    cases.append(Case(expected, "GridSample", x, grid, padding_mode="border"))
    check(target, cases)
