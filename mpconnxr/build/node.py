"""The node that a kernel prepares: its tensors and its integer parameters.

A kernel module `mpconnxr.ops.NAME` has one entry point:

    prepare(node, calls)    if it says CALLS = True
    prepare(node) -> (n, step)

It checks everything that its loops take for granted (they have no bounds checks). Then it emits
the calls of loops that a run makes: see calls. A kernel whose calls depend on the data of a run,
or one with CALLS for a node where they do, instead allocates its buffers, and returns `step(lo,
hi)`, which computes the part [lo, hi) of the outermost loop's extent n and allocates nothing. A
whole run is step(0, n). If n == 0 there is nothing to compute, and step may be None.
"""

from ..errors import ModelError, MpconnxrError
from ..parameters import BIAS


class Node:
    """A node of the graph, as its kernel sees it.

    Attributes:
        name: text that names the node in messages.
        inputs, outputs, scratch: lists of Tensor.
        params: view of int32.
        bodies: a list of [(n, step)] for each subgraph, all prepared.
        runtime: the dynamic.runtime.Runtime of a model with run-time dims, else None.
        overlaps: tensors that share memory and that no kernel has allowed to yet: see
            loader.overlaps.
    """

    def __init__(self, name, inputs, outputs, scratch, params, bodies=()):
        self.bodies = bodies
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        self.scratch = scratch
        self.params = params

    runtime = None
    overlaps = ()

    def over(self, out, x, lead=None):
        """Allow `out` to share memory with `x`.

        The kernel must write only where it has read x for the last time. If that is so only with
        some parameters or with more lead, which the converter sees to, other files must give wrong
        numbers and no more: loops must stay within their buffers whatever x becomes.

        Args:
            out: an output.
            x: a tensor that the kernel reads.
            lead: bytes by which out must start before x, at least. None: both have the same number
                of elements, and the kernel reads element i of x before it writes element i of out;
                if the elements of out are wider, the lead is larger than 0.
        """
        if lead is None:
            if x.nelem != out.nelem:
                return
            more = out.nbytes - x.nbytes
            lead = max(0, more - more // max(out.nelem, 1))
        for o in self.overlaps:
            if o[0] is out and o[1] is x and o[2] >= lead:
                self.overlaps.remove(o)
                return

    def dim(self, i):
        """Return the dynamic.runtime.Dim whose number is params[i]."""
        self.require(self.runtime is not None, "a model without run-time dims")
        return self.runtime.dim(self.params[i], self.name)

    def fail(self, what):
        """Raise ModelError with the node's name."""
        raise ModelError("{}: {}".format(self.name, what))

    def require(self, condition, what):
        """Raise ModelError with the node's name unless the condition holds."""
        if not condition:
            self.fail(what)

    def guarded(self, prepare, *args):
        """Return prepare(*args), and turn its errors into MpconnxrErrors.

        MemoryError and RuntimeError (a full heap or stack) stay as they are: load reports them.

        Args:
            prepare: the function.
            *args: its arguments.
        """
        try:
            return prepare(*args)
        except (MpconnxrError, MemoryError, RuntimeError):  # load reports the last two
            raise
        except Exception as e:  # a kernel's check was not tight enough: still the file's fault
            self.fail(repr(e))

    def expect(self, n_inputs, n_outputs, n_params, n_scratch=0, n_bodies=0):
        """Raise ModelError unless the node has exactly these numbers of operands and bodies."""
        self.require(len(self.bodies) == n_bodies, "bodies")
        counts = (len(self.inputs), len(self.outputs), len(self.params), len(self.scratch))
        if counts != (n_inputs, n_outputs, n_params, n_scratch):
            self.fail("has {} inputs, outputs, params, scratch".format(counts))

    def expect_dtype(self, dtype, *tensors):
        """Raise ModelError unless all tensors have the dtype with this name, such as 'float32'."""
        for t in tensors:
            if t.dtype != dtype:
                self.fail("{} where {} is needed".format(t.dtype, dtype))

    def extents(self, first, n):
        """Return n params from `first` on. Raises ModelError unless each is 0 to BIAS - 1."""
        return self._within(0, first, n)

    def signed(self, first, n):
        """Return n params from `first` on. Raises ModelError unless within +-(BIAS - 1)."""
        return self._within(1 - BIAS, first, n)

    def _within(self, least, first, n):
        values = list(self.params[first : first + n])
        if len(values) != n or first < 0:
            self.fail("params")
        if n and not least <= min(values) <= max(values) < BIAS:
            self.fail("parameter {} or {} out of range".format(min(values), max(values)))
        return values
