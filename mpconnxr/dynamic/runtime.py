"""Compute sizes that kernels decide during a run, and run steps that depend on them.

Imported only for a model that has such dims. A run-time dim is a number from 0 to its bound, for
which the converter has planned the memory. Shapes and parameters are expressions over the dims, in
postfix words (docs/format.md). If dims that a step depends on have changed, its kernel prepares it
again: such models allocate memory in a run.
"""

import struct
from array import array

from ..build.calls import prepared
from ..errors import InputError, ModelError, MpconnxrError, UnsupportedError, fail
from ..tensor import Tensor, code_of

CONSTANT, DIM, ADD, MULTIPLY, DIVIDE, MAXIMUM, MINIMUM = range(7)
_LIMIT = 1 << 40  # of a result on the way, so that no product grows without end
_MAX_STACK = 64


class Runtime:
    """The run-time dims of a model.

    Attributes:
        values: current number of each dim.
        bounds: the largest number of each dim.
        inputs: list of sizes.OpenInput.
        expressions: arrays of words.
        places: index of the expression of each parameter that has one, by its number in the graph.
    """

    def __init__(self, words, n_dims):
        if n_dims >= len(words):
            fail("run-time dims do not fill their space")
        self.bounds = [words[i] for i in range(n_dims)]
        if n_dims and min(self.bounds) < 0:
            fail("bound of a run-time dim")
        self.values = [0] * n_dims
        self._decided = []  # numbers of the dims that inputs decide
        self.inputs = []
        self.expressions = []
        at = self._read_expressions(words, n_dims + 1, words[n_dims])
        self._read_places(words, at)

    def _read_expressions(self, words, at, n):
        if not 0 <= n <= len(words):
            fail("number of expressions")
        for _ in range(n):
            size = words[at] if at < len(words) else 0
            if size < 1 or at + 1 + size > len(words):
                fail("expressions do not fill their space")
            self.expressions.append(array("i", [words[at + 1 + k] for k in range(size)]))
            self._check(self.expressions[-1])
            at += 1 + size
        return at

    def _check(self, expression):
        depth = 0
        for word in expression:
            operation = word & 7
            if operation > MINIMUM or operation == DIM and not 0 <= word >> 3 < len(self.values):
                fail("an expression's word")
            depth += 1 if operation <= DIM else -1
            if not 0 < depth <= _MAX_STACK:
                fail("an expression's operands")
        if depth != 1:
            fail("an expression's operands")

    def _read_places(self, words, at):
        """Read which parameters of the graph are expressions."""
        self.places = {}
        if (len(words) - at) % 2:
            fail("expressions do not fill their space")
        for k in range(at, len(words), 2):
            if not 0 <= words[k + 1] < len(self.expressions):
                fail("number of an expression")
            self.places[words[k]] = words[k + 1]

    def start(self):
        """Begin a run: only the dims that inputs decide are known. Raises InputError."""
        for i in range(len(self.values)):
            if i not in self._decided:
                self.values[i] = 0
        for t in self.inputs:
            t.check()

    def claim(self, raw):
        """Return the number of the dim that is the extent `raw`, -1 - e, of an input.

        None: expression e is not one dim alone.
        """
        e = -1 - raw
        words = self.expressions[e] if e < len(self.expressions) else ()
        if len(words) != 1 or words[0] & 7 != DIM:
            return None
        self._decided.append(words[0] >> 3)
        return words[0] >> 3

    @staticmethod
    def resize(tensors):
        """Compute the shapes of the tensors that depend on dims."""
        for t in tensors:
            if isinstance(t, OpenTensor):
                t.resize()

    def evaluate(self, e):
        """Return the current value of an expression. Raises InputError where it has none."""
        stack = []
        for word in self.expressions[e]:
            if word & 7 <= DIM:
                stack.append(self.values[word >> 3] if word & 7 else word >> 3)
                continue
            b = stack.pop()
            stack.append(_applied(word & 7, stack.pop(), b))
        return stack[0]

    def dims_of(self, e):
        """Return the numbers of the dims in an expression."""
        return [word >> 3 for word in self.expressions[e] if word & 7 == DIM]

    def shape(self, raw):
        """Return a shape with each extent -1 - e replaced by the value of expression e."""
        shape = tuple([d if d >= 0 else self.evaluate(-1 - d) for d in raw])
        if shape and min(shape) < 0:
            raise InputError("an extent of {} comes out of the inputs".format(min(shape)))
        return shape

    def tensor(self, buffer, offset, info, name):
        """Return an OpenTensor, whose shape is computed from the dims.

        Args:
            buffer: as for Tensor.
            offset: as for Tensor.
            info: the tensor's TensorInfo; a dimension of -1 - i is the value of expression i.
            name: name of an input or output.
        """
        for d in info.shape:
            if d < 0 and -1 - d >= len(self.expressions):
                fail("number of an expression")
        return OpenTensor(self, buffer, offset, info, name)

    def dim(self, number, name):
        """Return the Dim that a kernel sets. name: text that names the kernel's step."""
        if not 0 <= number < len(self.values):
            raise ModelError("{}: no run-time dim {}".format(name, number))
        return Dim(self, number, name)

    def step(self, kernel, node, place, memories):
        """Return the OpenStep of a node; None if its shapes and parameters depend on no dim.

        Args:
            kernel: the kernel's module.
            node: the Node.
            place: number of the graph's parameters before those of the node.
            memories: returns the calls.Memories.
        """
        tensors = []
        for t in node.inputs + node.outputs + node.scratch:
            if isinstance(t, OpenTensor) and t not in tensors:
                tensors.append(t)
        params = {}
        for k in range(len(node.params)):
            if place + k in self.places:
                params[k] = self.places[place + k]
        dims = []
        for e in list(params.values()) + [-1 - d for t in tensors for d in t.raw if d < 0]:
            dims += [d for d in self.dims_of(e) if d not in dims]
        node.runtime = self
        if not tensors and not params:
            return None
        return OpenStep(self, kernel, node, tensors, params, dims, memories())


def _applied(operation, a, b):
    """Return the result of an operation of an expression. Raises InputError."""
    if operation == DIVIDE:
        if not b:
            raise InputError("an extent of 0 divides another")
        a //= b
    elif operation == ADD:
        a += b
    elif operation == MULTIPLY:
        a *= b
    else:
        a = max(a, b) if operation == MAXIMUM else min(a, b)
    if not -_LIMIT < a < _LIMIT:
        raise InputError("an extent beyond all memory")
    return a


class Dim:
    """A run-time dim, for the kernel that decides it.

    Attributes:
        bound: the largest number it may be.
    """

    def __init__(self, runtime, number, name):
        self._values, self._number, self._name = runtime.values, number, name
        self.bound = runtime.bounds[number]

    def set(self, n):
        """Set the dim. Raises InputError for a number outside 0 to the bound."""
        if not 0 <= n <= self.bound:
            raise InputError(
                "{}: {} elements, planned for 0 to {} (--bound)".format(self._name, n, self.bound)
            )
        self._values[self._number] = n


class OpenTensor(Tensor):
    """A tensor whose shape is computed from run-time dims; it is empty before the first run."""

    def __init__(self, runtime, buffer, offset, info, name):
        Tensor.__init__(self, buffer, offset, info.nbytes, info.dtype, (), name)
        self._runtime = runtime
        self.arena_nbytes = info.nbytes  # the most it can take there
        self._size = struct.calcsize(code_of(info.dtype))
        self.raw = info.shape
        self.shape = tuple([max(d, 0) for d in self.raw])
        self.nbytes = self.nelem = 0

    def resize(self):
        """Compute the current shape. Raises InputError if no memory was planned for it."""
        shape = self._runtime.shape(self.raw)
        nelem = 1
        for d in shape:
            nelem *= d
        if nelem * self._size > self.arena_nbytes:
            raise InputError("shape {}: beyond what was planned for (--bound)".format(shape))
        self.shape, self.nelem, self.nbytes = shape, nelem, nelem * self._size
        self._data = None


class OpenStep:
    """A step that is prepared again when dims have changed."""

    def __init__(self, runtime, kernel, node, tensors, params, dims, memories):
        self.values, self.kernel, self.node = runtime.values, kernel, node
        self.tensors, self.params, self.dims = tensors, params, dims
        self.memories = memories
        self.key = self.inner = None
        self.n = 0
        self.overlaps = node.overlaps  # prepare() removes those that it allows

    def step(self, lo, hi):
        """Run the step, after preparing it again if the dims have changed."""
        key = [self.values[d] for d in self.dims]
        if key != self.key:
            self.key = None
            try:
                self.renew()
            except MpconnxrError as e:
                if isinstance(e, UnsupportedError):
                    raise
                raise InputError("{} (for extents {} of this run)".format(e, key))
            self.key = key
        if self.n:
            self.inner(0, self.n)

    def renew(self):
        """Prepare the step for the dims of this run."""
        self.node.guarded(self._prepare)

    def _prepare(self):
        """Prepare the kernel for the present values of the dims."""
        node = self.node
        for t in self.tensors:
            t.resize()
        params = array("i", node.params)
        for k in self.params:
            value = node.runtime.evaluate(self.params[k])
            node.require(-(1 << 31) <= value < 1 << 31, "parameter")
            params[k] = value
        node.params = params
        node.overlaps = list(self.overlaps)
        self.n, self.inner = prepared(self.kernel, node, self.memories)
        node.require(not self.n or not node.overlaps, "its tensors overlap")
