"""Attention and RotaryEmbedding in block floating point: near doubles, the same bits."""

import numpy as np
import pytest
from onnx import TensorProto

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

INF, NAN = np.inf, np.nan
TOLERANCE = 2e-6  # of the largest result


def run(target, nodes, inputs, out, options=None, **constants):
    """Return (kernels, result) of a model with these inputs, by name, and one output y."""
    dtypes = {"f": TensorProto.FLOAT, "i": TensorProto.INT64}
    infos = [small.value(n, x.shape, dtypes[x.dtype.kind]) for n, x in inputs.items()]
    proto = small.model(nodes, infos, [small.value("y", out)], **constants)
    proto.opset_import[0].version, proto.ir_version = 24, 11
    converted = convert(proto, options or Options(strip=True))
    [outcome] = run_jobs(target, [Job(converted.data, [[x.tobytes() for x in inputs.values()]])])
    assert not outcome.error, outcome.message
    result = np.frombuffer(outcome.runs[0].outputs[0], np.float32).reshape(out)
    return [step.kernel for step in converted.graph.steps], result


def attended(q, k, v, lengths=None, causal=False, scale=None):
    """Return attention of (batch, heads, rows, width) in doubles."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], 1) for x in (k, v))
    keys, queries = k.shape[2], q.shape[2]
    lengths = np.full(len(q), keys) if lengths is None else lengths
    before = lengths - queries if causal == "cached" else np.zeros(len(q), int)
    j, i = np.arange(keys), np.arange(queries)[:, None]
    seen = (j < lengths[:, None, None]) & (not causal or j <= i + before[:, None, None])
    seen = np.broadcast_to(seen[:, None], (len(q), q.shape[1], queries, keys))
    with np.errstate(invalid="ignore"):
        scores = q @ np.swapaxes(k, 2, 3) * (scale or q.shape[3] ** -0.5)
        scores = np.where(seen, scores, -INF)
        most = scores.max(3, keepdims=True, initial=-1e300)
        powers = np.where(seen, np.exp(scores - most), 0)
        return powers / np.maximum(powers.sum(3, keepdims=True), 1e-300) @ v


def heads(seed, batch, n, groups, queries, keys, k, width, size=1.0):
    rng = np.random.default_rng(seed)
    q = rng.normal(0, size, (batch, n, queries, k))
    keys_ = rng.normal(0, size, (batch, groups, keys, k))
    v = rng.normal(0, 1, (batch, groups, keys, width)) * np.exp(rng.normal(0, 2, (keys, 1)))
    return [x.astype(np.float32) for x in (q, keys_, v)]


# batch, heads, groups, queries, keys, width of keys, of values; size of numbers
SHAPES = [
    ((1, 8, 4, 1, 40, 8, 8), 1.0),
    ((2, 2, 2, 6, 33, 5, 3), 3.0),
    ((1, 3, 1, 17, 9, 1, 128), 1e-3),
    ((1, 1, 1, 2, 70, 128, 1), 30.0),
]


@pytest.mark.parametrize("is_flat", [False, True], ids=["split", "joined"])
@pytest.mark.parametrize(("shape", "size"), SHAPES)
def test_attention_is_near_doubles(ready_target, shape, size, is_flat):
    q, k, v = heads(7, *shape, size)
    expected, attributes = attended(q, k, v), {}
    inputs = {"q": q, "k": k, "v": v}
    out = expected.shape
    if is_flat:
        attributes = {"q_num_heads": shape[1], "kv_num_heads": shape[2]}
        inputs = {n: joined(x) for n, x in inputs.items()}
        expected = joined(expected)
    out = expected.shape
    results = []
    for name in UNIX_TARGETS:
        nodes = [("Attention", "q k v", "y", attributes)]
        kernels, got = run(ready_target(name), nodes, inputs, out)
        assert kernels == ["attention"]
        results.append(got)
    assert np.abs(results[0] - expected).max() <= TOLERANCE * np.abs(expected).max()
    for other in results[1:]:
        np.testing.assert_array_equal(other.view(np.int32), results[0].view(np.int32))


def joined(x):
    batch, _, rows, _ = x.shape
    return np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(batch, rows, -1)


@pytest.mark.parametrize("causal", [False, "cached"])
@pytest.mark.parametrize("target", ["unix32"], indirect=True)
def test_rows_beyond_a_caches_length_do_not_count(target, causal):
    """A query without any visible row gives 0."""
    q, k, v = heads(3, 4, 4, 2, 3, 20, 6, 5)
    lengths = np.array([0, 2, 13, 20])
    k[2, :, 13:], v[2, :, 13:] = 1e6, 1e6
    nodes = [("Attention", "q k v n", "y", {"is_causal": int(bool(causal))})]
    expected = attended(q, k, v, lengths, causal)
    inputs = {"q": q, "k": k, "v": v, "n": lengths}
    infos = [(small.value(n, x.shape, 1 if n != "n" else 7)) for n, x in inputs.items()]
    proto = small.model(nodes, infos, [small.value("y", expected.shape)])
    proto.graph.node[0].input[3:] = ["", "", "", "n"]
    proto.opset_import[0].version, proto.ir_version = 24, 11
    converted = convert(proto, Options(strip=True))
    assert [step.kernel for step in converted.graph.steps] == ["attention"]
    [outcome] = run_jobs(target, [Job(converted.data, [[x.tobytes() for x in inputs.values()]])])
    got = np.frombuffer(outcome.runs[0].outputs[0], np.float32).reshape(expected.shape)
    assert not got[0].any()
    assert np.abs(got - expected).max() <= TOLERANCE * np.abs(expected).max()


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_scores_far_apart_keep_their_digits(target):
    """A large negative score costs the others no digits; a large one wins alone."""
    q, k, v = heads(5, 1, 1, 1, 2, 6, 4, 4)
    k[0, 0, 2] = -2e4 * q[0, 0, 0]
    k[0, 0, 3] = 3e3 * q[0, 0, 1]
    expected = attended(q, k, v)
    _, got = run(
        target, [("Attention", "q k v", "y", {})], {"q": q, "k": k, "v": v}, expected.shape
    )
    assert np.abs(got - expected).max() <= TOLERANCE * np.abs(expected).max()


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_infinities_and_nan_spread_as_in_doubles(target):
    q, k, v = heads(9, 1, 4, 4, 2, 5, 3, 3)
    q[0, 0, 0, 0], k[0, 1, 2, 1], v[0, 2, 1, 1] = NAN, INF, -INF
    nodes = [("Attention", "q k v", "y", {})]
    _, got = run(target, nodes, {"q": q, "k": k, "v": v}, q.shape)
    assert np.isnan(got[0, 0, 0]).all() and np.isfinite(got[0, 0, 1]).all()
    assert (got[0, 2, :, 1] == -INF).all() and np.isfinite(got[0, 2, :, ::2]).all()
    exact = attended(q[:, 3:], k[:, 3:], v[:, 3:])
    np.testing.assert_allclose(got[:, 3:], exact, atol=TOLERANCE * np.abs(exact).max())


def steps(mask="", before="Mul"):
    """Return the nodes of attention as exporters write it, heads split and joined."""
    nodes = [
        ("Reshape", "x shape", "three", {}),
        ("Transpose", "three", "t", {"perm": [2, 0, 3, 1, 4]}),
    ]
    nodes += [
        ("Gather", f"t {i}", n, {"axis": 0})
        for n, i in zip("qkv", ("i0", "i1", "i2"), strict=True)
    ]
    nodes += [("Transpose", "k", "kt", {"perm": [0, 1, 3, 2]}), (before, "q root", "qs", {})]
    nodes += [("Mul", "kt root", "ks", {}), ("MatMul", "qs ks", "s", {})]
    nodes += [("Add", "s mask", "masked", {})] if mask else []
    nodes += [
        ("Softmax", "masked" if mask else "s", "p", {"axis": -1}),
        ("MatMul", "p v", "o", {}),
    ]
    return [
        *nodes,
        ("Transpose", "o", "j", {"perm": [0, 2, 1, 3]}),
        ("Reshape", "j flat", "y", {}),
    ]


@pytest.mark.parametrize("mask", ["", "inf", "float", "other"])
@pytest.mark.parametrize("target", ["unix32"], indirect=True)
def test_attention_of_exporters_becomes_one_step(target, mask):
    batch, rows, n, width = 2, 7, 3, 4
    x = small.floats(batch, rows, 3 * n * width)
    low = {"inf": -INF, "float": np.finfo(np.float32).min, "other": -1.0}.get(mask, 0)
    constants = {f"i{i}": np.array(i) for i in range(3)}
    constants["mask"] = np.triu(np.full((rows, rows), low, np.float32), 1)
    constants["mask"][np.tril_indices(rows)] = 0
    constants |= {"root": np.float32(0.8), "shape": np.array([batch, rows, 3, n, width])}
    constants["flat"] = np.array([batch, rows, n * width])
    if not mask:
        del constants["mask"]
    kernels, got = run(target, steps(mask), {"x": x}, (batch, rows, n * width), **constants)
    q, k, v = x.reshape(batch, rows, 3, n, width).transpose(2, 0, 3, 1, 4)
    assert (kernels == ["attention"]) == (mask != "other")
    if mask != "other":
        expected = joined(attended(q, k, v, causal=bool(mask), scale=0.64))
        assert np.abs(got - expected).max() <= TOLERANCE * np.abs(expected).max()


@pytest.mark.parametrize("target", ["unix32"], indirect=True)
def test_float_python_and_quantize_use_the_products(target):
    """Both need the operator's definition."""
    q, k, v = heads(1, 1, 2, 2, 3, 4, 4, 4)
    inputs, nodes = {"q": q, "k": k, "v": v}, [("Attention", "q k v", "y", {})]
    options = Options(strip=True, float="python")
    kernels, got = run(target, nodes, inputs, q.shape, options)
    assert "attention" not in kernels and "softmax" in kernels
    np.testing.assert_allclose(got, attended(q, k, v), 1e-4, 1e-5)


def turned(x, angles, interleaved):
    """Return x with pairs of its last axis turned by angles (..., pairs), in doubles."""
    n = angles.shape[-1]
    out, x = x.astype(np.float64), x.astype(np.float64)
    cos, sin = (f(angles).astype(np.float32).astype(np.float64) for f in (np.cos, np.sin))
    at = (
        [slice(0, 2 * n, 2), slice(1, 2 * n, 2)] if interleaved else [slice(0, n), slice(n, 2 * n)]
    )
    a, b = x[..., at[0]], x[..., at[1]]
    out[..., at[0]], out[..., at[1]] = a * cos - b * sin, a * sin + b * cos
    return out


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("pairs", [4, 3])
def test_rotary_embedding_turns_pairs(ready_target, interleaved, pairs):
    rng = np.random.default_rng(pairs)
    x = (rng.normal(0, 1, (2, 3, 5, 8)) * 10.0 ** rng.integers(-9, 9, (2, 3, 5, 1))).astype(
        np.float32
    )
    angles, places = rng.normal(0, 3, (9, pairs)), rng.integers(0, 9, (2, 5))
    expected = turned(x, angles[places][:, None], interleaved)
    attributes = {"interleaved": interleaved, "rotary_embedding_dim": 2 * pairs}
    tables = {"c": np.cos(angles).astype(np.float32), "s": np.sin(angles).astype(np.float32)}
    nodes, results = [("RotaryEmbedding", "x c s p", "y", attributes)], []
    for name in UNIX_TARGETS:
        inputs = {"x": x, "p": places}
        kernels, got = run(ready_target(name), nodes, inputs, x.shape, **tables)
        assert kernels == ["gather", "rotary"]
        results.append(got)
        np.testing.assert_array_equal(got.view(np.int32), results[0].view(np.int32))
    largest = np.abs(x).max(3, keepdims=True)
    assert (np.abs(results[0] - expected) <= 2.0**-22 * largest).all()


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_computed_angles_and_infinite_pairs_are_right(target):
    x = small.floats(1, 2, 8)
    x[0, 0, 1], x[0, 1, 6] = INF, NAN
    c, s = (f(small.floats(1, 2, 2, seed=4)) for f in (np.cos, np.sin))
    nodes = [("RotaryEmbedding", "x c s", "y", {"num_heads": 2})]
    inputs = {"x": x, "c": c, "s": s}
    _, got = run(target, nodes, inputs, x.shape)
    with np.errstate(invalid="ignore"):
        h = x.reshape(1, 2, 2, 4).astype(np.float64)
        a, b, c, s = h[..., :2], h[..., 2:], c[:, :, None], s[:, :, None]
        expected = np.concatenate([a * c - b * s, a * s + b * c], 3).reshape(x.shape)
    np.testing.assert_allclose(got, expected, 1e-6, 1e-6)
