"""Models with shapes that a run decides, and for each model inputs that lead to several shapes."""

import numpy as np
from onnx import helper, numpy_helper

from tests.host.ops.runtime_case import BOOL, FLOAT, INT64, RNG, Case, f32, node, value


def sparse(*shape):
    """Return three inputs: all zeros, without zeros, and with some zeros."""
    some = (RNG.integers(0, 3, shape) == 0) * f32(*shape)
    return [[np.zeros(shape, np.float32)], [1 + f32(*shape) ** 2], [some.astype(np.float32)]]


def masks(n, *others):
    some = RNG.integers(0, 2, n).astype(bool)
    return [[*others, m] for m in (np.zeros(n, bool), np.ones(n, bool), some)]


def nonzero():
    nodes = ["NonZero x0 -> i", "Transpose i -> t", "Cast t -> f"]
    nodes[2] = ("Cast t -> f", {"to": FLOAT})
    nodes += ["Mul f half -> y", "MatMul f w -> z", ("ReduceSum f axes -> s", {"keepdims": 0})]
    constants = {"half": np.float32(0.5), "w": f32(2, 3), "axes": np.array([0])}
    outputs = {"i": INT64, "y": FLOAT, "z": FLOAT, "s": FLOAT}
    return Case(nodes, sparse(3, 5), outputs, constants)


def picked_by_nonzero():
    """Return a Gather of the rows that NonZero finds, concatenated with constant rows."""
    nodes = [
        "NonZero x1 -> i",
        "Squeeze i first -> j",
        "Gather x0 j -> rows",
        ("Concat fixed rows fixed -> y", {"axis": 0}),
        "Shape y -> shape",
        "Softmax y -> p",
    ]
    constants = {"first": np.array([0]), "fixed": f32(2, 3)}
    return Case(nodes, masks(4, f32(4, 3)), {"y": FLOAT, "shape": INT64, "p": FLOAT}, constants)


def compressed():
    nodes = [
        ("Compress x0 x1 -> a", {"axis": 1}),
        "Relu a -> r",
        ("Transpose r -> t", {"perm": [1, 0, 2]}),
        "Reshape t flat -> f",
        "Reshape a free -> u",
        ("ReduceMean f -> m", {"axes": [1]}),
    ]
    constants = {"flat": np.array([0, 4]), "free": np.array([2, -1])}
    outputs = {"a": FLOAT, "r": FLOAT, "f": FLOAT, "u": FLOAT, "m": FLOAT}
    return Case(nodes, masks(5, f32(2, 5, 2)), outputs, constants)


def compressed_flat():
    outputs = {"y": FLOAT, "n": INT64}
    return Case(["Compress x0 x1 -> y", "Size y -> n"], masks(4, f32(3, 2)), outputs)


def compressed_twice():
    """Return two values of one run-time size from different nodes: a run compares the sizes."""
    nodes = ["Compress x0 x1 -> a", "Compress w x1 -> b", "Add a b -> y", "Exp y -> z"]
    return Case(nodes, masks(6, f32(6)), {"y": FLOAT, "z": FLOAT}, {"w": f32(6)})


def unique(**attrs):
    samples = [[x] for x in RNG.integers(0, [[1], [3], [99]], (3, 8)).astype(np.float32)]
    if "axis" in attrs:
        samples = [[RNG.integers(0, n, (4, 3, 2)).astype(np.float32)] for n in (1, 2, 99)]
    outputs = {"y": FLOAT, "first": INT64, "inverse": INT64, "counts": INT64}
    nodes = [("Unique x0 -> y first inverse counts", attrs), "Neg y -> z"]
    return Case(nodes, samples, outputs | {"z": FLOAT})


def unique_counts_only():
    samples = [[RNG.integers(0, 3, 9)], [np.zeros(9, np.int64)]]
    return Case(["Unique x0 -> y _ _ counts"], samples, {"counts": INT64})


def suppressed(**attrs):
    boxes = RNG.uniform(0, 1, (2, 6, 4)).astype(np.float32)
    scores = RNG.uniform(0, 1, (2, 3, 6)).astype(np.float32)
    scores[0, 1, 2] = scores[0, 1, 4]
    numbers = [(2, 0.4, 0.3), (6, 1.0, 0.0), (0, 0.5, 0.5), (4, 0.1, 2.0)]
    samples = [
        [boxes, scores, np.array([n]), np.float32([iou]), np.float32([least])]
        for n, iou, least in numbers
    ]
    nodes = [("NonMaxSuppression x0 x1 x2 x3 x4 -> y", attrs), "Gather y two -> z"]
    nodes[1] = ("Gather y two -> z", {"axis": 1})
    return Case(nodes, samples, {"y": INT64, "z": INT64}, {"two": np.array([2])})


def ranges():
    nodes = ["Range x0 x1 x2 -> y", "Mul y y -> z", ("CumSum y zero -> c", {})]
    numbers = [(0, 7, 1), (3, 3, 1), (10, -5, -4), (1, 9, 1), (5, 1, 2)]
    samples = [[np.array(v) for v in sample] for sample in numbers]
    outputs = {"y": INT64, "z": INT64, "c": INT64}
    return Case(nodes, samples, outputs, {"zero": np.array(0)}, {"y": 8})


def float_range():
    samples = [[np.float32(v)] for v in (0, 0.25, 2.9, 3)]
    constants = {"zero": np.float32(0), "step": np.float32(0.5)}
    return Case(["Range zero x0 step -> y"], samples, {"y": FLOAT}, constants, {"y": 6})


def shape_chain():
    """Return Range, ConstantOfShape, Expand, Tile and Slice of the output of Shape."""
    nodes = [
        "NonZero x0 -> i",
        "Transpose i -> t",
        "Shape t -> shape",
        "Gather shape first -> n",
        "Range zero n one -> r",
        ("ConstantOfShape shape -> c", {"value": numpy_helper.from_array(np.array([7]))}),
        "Unsqueeze n first1 -> n1",
        ("Concat n1 three -> wide", {"axis": 0}),
        "Expand row wide -> e",
        "Tile t twice -> tt",
        "Slice t from end -> part",
        "Add c t -> sum",
    ]
    constants = {
        "first": np.array(0),
        "first1": np.array([0]),
        "zero": np.array(0),
        "one": np.array(1),
        "three": np.array([3]),
        "row": f32(1, 3),
        "twice": np.array([2, 1]),
        "from": np.array([1]),
        "end": np.array([-1]),
    }
    outputs = {"r": INT64, "c": INT64, "e": FLOAT, "tt": INT64, "part": INT64, "sum": INT64}
    return Case(nodes, sparse(2, 4), outputs, constants)


def filled():
    nodes = ["ConstantOfShape x0 -> c", "Expand x1 x0 -> e", "Add c e -> y"]
    samples = [[np.array(s), f32(1, 3)] for s in ([2, 3], [0, 3], [4, 3])]
    return Case(nodes, samples, {"e": FLOAT, "y": FLOAT}, bounds={"c": 4, "e": 4})


def top_k():
    samples = [[f32(3, 6), np.array([k])] for k in (0, 1, 4, 6)]
    nodes = [("TopK x0 x1 -> v i", {"axis": 1}), "Abs v -> a"]
    return Case(nodes, samples, {"v": FLOAT, "i": INT64, "a": FLOAT})


def sliced():
    x = f32(5, 4)
    pairs = [([1, 0], [4, 3]), ([0, -1], [9, 9]), ([3, 1], [1, 2]), ([-2, -9], [5, -1])]
    samples = [[x, np.array(a), np.array(b)] for a, b in pairs]
    return Case(["Slice x0 x1 x2 -> y", "Relu y -> z"], samples, {"y": FLOAT, "z": FLOAT})


def sliced_backwards():
    x = f32(7)
    samples = [[x, np.array([a]), np.array([b])] for a, b in [(6, -8), (-1, 2), (2, 5), (99, 0)]]
    constants = {"axes": np.array([0]), "steps": np.array([-2])}
    return Case(["Slice x0 x1 x2 axes steps -> y"], samples, {"y": FLOAT}, constants)


def loop_case(trips, condition, samples, bounds=None):
    body = helper.make_graph(
        [
            helper.make_node("Add", ["s", "one"], ["s_new"]),
            helper.make_node("ReduceSum", ["s_new"], ["total"], keepdims=0),
            helper.make_node("Less", ["total", "limit"], ["go_on"]),
        ],
        "body",
        [value("i", [], INT64), value("go", [], BOOL), value("s", [2])],
        [value("go_on", [], BOOL), value("s_new", [2]), value("s_new", [2])],
    )
    text = f"Loop {trips} {condition} x0 -> end all"
    nodes = [(text, {"body": body}), ("Concat all all -> y", {"axis": 1})]
    constants = {"one": np.float32(1), "limit": np.float32(9), "yes": np.array(True)}
    constants["most"] = np.array(6)
    return Case(nodes, samples, {"end": FLOAT, "all": FLOAT, "y": FLOAT}, constants, bounds)


def stopped_loop():
    samples = [[np.float32([a, 0])] for a in (0, 6, 99, -99)]
    return loop_case("most", "yes", samples)


def loop_of_some_rounds():
    samples = [[np.float32([a, 0]), np.array(n)] for a, n in ((0, 3), (0, 0), (-9, 8), (8, 5))]
    return loop_case("x1", "yes", samples, {"all": 8})


def nonzero_in_a_branch():
    yes = [node("NonZero x0 -> i"), node("ReduceSum i axes -> a")]
    no = [node("Mul w w -> a")]
    branches = {
        "then_branch": helper.make_graph(yes, "yes", [], [value("a", [2, 1], INT64)]),
        "else_branch": helper.make_graph(no, "no", [], [value("a", [2, 1], INT64)]),
    }
    samples = [[x, np.array(b)] for [x] in sparse(2, 3) for b in (True, False)]
    constants = {"axes": np.array([1]), "w": np.array([[3], [4]])}
    return Case([("If x1 -> y", branches)], samples, {"y": INT64}, constants)


CASES = [
    nonzero,
    picked_by_nonzero,
    compressed,
    compressed_flat,
    compressed_twice,
    unique,
    lambda: unique(sorted=0),
    lambda: unique(axis=1),
    lambda: unique(axis=-1, sorted=0),
    unique_counts_only,
    suppressed,
    lambda: suppressed(center_point_box=1),
    ranges,
    float_range,
    shape_chain,
    filled,
    top_k,
    sliced,
    sliced_backwards,
    stopped_loop,
    loop_of_some_rounds,
    nonzero_in_a_branch,
]
