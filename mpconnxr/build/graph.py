"""Read the graph section of a model file: nodes as numbers, with bodies of nodes inside them."""

from ..errors import fail

_MAX_DEPTH = 8  # of bodies in bodies


def read_ids(numbers, n, n_tensors):
    """Return n tensor ids. Raises ModelError for one beyond the file's tensors."""
    ids = numbers.take(n)
    for i in ids:
        if not 0 <= i < n_tensors:
            fail("tensor id {}".format(i))
    return ids


class NodeTable:
    """The nodes of a model file."""

    def __init__(self, numbers, kernels, n_tensors):
        """Skip the graph. numbers: stand before its length; kernels: names."""
        self._kernels = kernels
        self._n_tensors = n_tensors
        n = numbers.count()
        self._all = (numbers.fork(), n, 0)
        self._first = numbers.n_read
        numbers.skip(n)

    def nodes(self, body=None):
        """Yield the nodes of the graph, or of one body of a node.

        Each is (kernel, input ids, output ids, scratch ids, params as int32, bodies, place,
        reads). place: index of the parameters, in numbers counted from the start of the graph;
        reads: ids of the chunks of weights to read before.

        Args:
            body: one of the bodies of a node; None for the graph itself.
        """
        start, n, depth = body or self._all
        numbers = start.fork()
        end = numbers.n_read + n
        while numbers.n_read < end:
            kernel = numbers.size()
            if kernel >= len(self._kernels):
                fail("kernel index {}".format(kernel))
            n_in, n_out, n_scratch = numbers.count(), numbers.count(), numbers.count()
            n_params, n_bodies, n_reads = numbers.count(), numbers.count(), numbers.count()
            inputs = read_ids(numbers, n_in, self._n_tensors)
            outputs = read_ids(numbers, n_out, self._n_tensors)
            scratch = read_ids(numbers, n_scratch, self._n_tensors)
            place = numbers.n_read - self._first
            params = numbers.words(n_params)[:n_params]
            reads = numbers.take(n_reads)
            bodies = self._bodies(numbers, n_bodies, depth + 1)
            if numbers.n_read > end:
                fail("graph ends inside a node")
            yield self._kernels[kernel], inputs, outputs, scratch, params, bodies, place, reads

    def _bodies(self, numbers, n, depth):
        """Return (numbers at its start, number of nodes, depth) for each body of a node."""
        result = []
        if n and depth > _MAX_DEPTH:
            fail("bodies in bodies in bodies")
        for _ in range(n):
            size = numbers.count()
            result.append((numbers.fork(), size, depth))
            numbers.skip(size)
        return result
