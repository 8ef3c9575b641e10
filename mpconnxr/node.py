"""What a kernel's prepare() sees of one node: its tensors and its integer parameters.

A kernel module `mpconnxr.ops.NAME` has one entry point:

    prepare(node, calls)    if it says CALLS = True
    prepare(node) -> (n, step)

It checks everything that its loops take for granted (they have no bounds checks). Then it says
which calls of loops a run makes: see calls. Or, where that depends on what a run finds, it makes
what they need, and returns `step(lo, hi)`, which computes the part [lo, hi) of the outermost
loop's extent n and allocates nothing. A whole run is step(0, n). n == 0: nothing to compute, step
may be None.
"""

from .errors import ModelError, MpconnxrError
from .parameters import BIAS


class Node:
    """What a kernel works on.

    name: for messages; inputs, outputs, scratch: lists of Tensor; params: view of int32; bodies:
    a list of [(n, step)] for each subgraph, all prepared.
    """

    def __init__(self, name, inputs, outputs, scratch, params, bodies=()):
        self.bodies = bodies
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        self.scratch = scratch
        self.params = params

    runtime = None  # of a model with run-time dims: a dynamic.Runtime
    # Tensors that share memory and no kernel has allowed to, yet: see loading.overlaps.
    overlaps = ()

    def over(self, out, x, lead=None):
        """Lets out lie over x if out starts at least `lead` bytes before x, so that the kernel
        writes only where it has read x for the last time. lead None: both have as many items, and
        the kernel reads item i of x before it writes item i of out; wider items need more lead.
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
        """The run-time dim whose number is params[i]: has set(n) and bound."""
        self.require(self.runtime is not None, "a model without run-time dims")
        return self.runtime.dim(self.params[i], self.name)

    def fail(self, what):
        """Raises ModelError with the node's name."""
        raise ModelError("{}: {}".format(self.name, what))

    def require(self, condition, what):
        """ModelError that names this node unless the condition holds."""
        if not condition:
            self.fail(what)

    def guarded(self, prepare, *args):
        """prepare(*args); what it raises is an MpconnxrError, or the end of memory or stack."""
        try:
            return prepare(*args)
        except (MpconnxrError, MemoryError, RuntimeError):  # load says the last two
            raise
        except Exception as e:  # a kernel's check was not tight enough: still the file's fault
            self.fail(repr(e))

    def expect(self, n_inputs, n_outputs, n_params, n_scratch=0, n_bodies=0):
        """ModelError unless the node has exactly these counts."""
        self.require(len(self.bodies) == n_bodies, "bodies")
        counts = (len(self.inputs), len(self.outputs), len(self.params), len(self.scratch))
        if counts != (n_inputs, n_outputs, n_params, n_scratch):
            self.fail("has {} inputs, outputs, params, scratch".format(counts))

    def expect_dtype(self, dtype, *tensors):
        """ModelError unless all these tensors have this dtype (a name such as 'float32')."""
        for t in tensors:
            if t.dtype != dtype:
                self.fail("{} where {} is needed".format(t.dtype, dtype))

    def extents(self, first, n):
        """params[first : first + n] as a list; ModelError unless each is from 0 to BIAS - 1."""
        return self._within(0, first, n)

    def signed(self, first, n):
        """params[first : first + n] as a list; ModelError unless each is within +-(BIAS - 1)."""
        return self._within(1 - BIAS, first, n)

    def _within(self, least, first, n):
        values = list(self.params[first : first + n])
        if len(values) != n or first < 0:
            self.fail("params")
        if n and not least <= min(values) <= max(values) < BIAS:
            self.fail("parameter {} or {} out of range".format(min(values), max(values)))
        return values
