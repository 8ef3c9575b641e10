"""zip_map: each row of scores as a map from labels to scores.

    out[n] = {keys[c]: x[n, c]}

Serves ZipMap (all opsets).

    x    float32 (N, C);  keys  int64 or strings (C)
    out  a list of N maps
Raises ModelError. A step allocates boxed floats.
"""

from ..io.objects import Maps

# params: none

OBJECTS = True


def prepare(node):
    node.expect(2, 1, 0)
    x, keys = node.inputs
    out = node.outputs[0]
    node.require(isinstance(out, Maps) and out.is_sequence, "no list of maps")
    node.expect_dtype("float32", x)
    node.expect_dtype(out.keys, keys)
    node.require(out.values == "float32", "values of " + out.values)
    node.require(not getattr(keys, "is_open", False), "strings of a shape that a run decides")
    node.require(keys.nelem > 0 and x.nelem % keys.nelem == 0, "sizes")
    labels = [keys.data[i] for i in range(keys.nelem)]
    out.data = [dict([(k, 0.0) for k in labels]) for _ in range(x.nelem // keys.nelem)]
    return len(out.data), _ZipMap(x.data, labels, out.data).step


class _ZipMap:
    """The step; its extent is rows."""

    def __init__(self, x, labels, maps):
        self.x, self.labels, self.maps = x, labels, maps

    def step(self, lo, hi):
        n = len(self.labels)
        while lo < hi:
            row = self.maps[lo]
            for i, label in enumerate(self.labels):
                row[label] = self.x[lo * n + i]
            lo += 1
