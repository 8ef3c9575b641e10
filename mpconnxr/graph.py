"""The graph section of a model file: nodes as words, bodies of nodes inside them."""

from . import tensor
from .errors import fail

_NODE_WORDS = 6  # before the tensor numbers of a node
_MAX_DEPTH = 8  # of bodies in bodies


def read_ids(words, at, n, n_tensors):
    """n tensor numbers; ModelError for one that is none."""
    ids = [words[at + k] for k in range(n)]
    for i in ids:
        if not 0 <= i < n_tensors:
            fail("tensor id {}".format(i))
    return ids


class Graph:
    """tables: the bytes that hold it; words: the same as int32; all: (first word, end, depth 0).

    kernels: names; n_tensors: how many tensors the file has.
    """

    def __init__(self, tables, words, all):
        self._tables = tables
        self._words = words
        self._all = all
        self.kernels = ()
        self.n_tensors = 0

    def nodes(self, body=None):
        """Yields (kernel, input ids, output ids, scratch ids, params as int32, bodies, place).

        place: word at which the parameters start, counted from the start of the graph.
        body: one of the bodies of a node, for the nodes in it; else those of the graph itself.
        """
        at, end, depth = body or self._all
        words = self._words
        while at < end:
            if at + _NODE_WORDS > end:
                fail("graph ends inside a node")
            kernel, n_in, n_out, n_scratch, n_params, n_bodies = [
                words[at + k] for k in range(_NODE_WORDS)
            ]
            n_ids = n_in + n_out + n_scratch
            at += _NODE_WORDS
            if min(n_in, n_out, n_scratch, n_params, n_bodies) < 0 or at + n_ids + n_params > end:
                fail("graph ends inside a node")
            if not 0 <= kernel < len(self.kernels):
                fail("kernel index {}".format(kernel))
            ids = read_ids(words, at, n_ids, self.n_tensors)
            params = tensor.view(self._tables, (at + n_ids) * 4, "i", n_params)
            place = at + n_ids - self._all[0]
            at += n_ids + n_params
            bodies = self._bodies(at, end, n_bodies, depth + 1)
            if bodies:
                at = bodies[-1][1]
            inputs, ids = ids[:n_in], ids[n_in:]
            yield self.kernels[kernel], inputs, ids[:n_out], ids[n_out:], params, bodies, place

    def _bodies(self, at, end, n, depth):
        """[(first word, end, depth)] of the n bodies of a node."""
        found = []
        if n and depth > _MAX_DEPTH:
            fail("bodies in bodies in bodies")
        for _ in range(n):
            size = self._words[at] if at < end else -1
            at += 1
            if size < 0 or at + size > end:
                fail("graph ends inside a body")
            found.append((at, at + size, depth))
            at += size
        return found
