"""Build a model from a parsed file: allocate the arena, create the tensors, prepare every node.

Needed while a model is loaded, and dropped after it: see build.load.
"""

import sys

from .. import arena as arenas
from ..errors import ModelError, UnsupportedError
from ..tensor import Tensor, is_object
from .node import Node
from .reader import CHUNK_GRIDS, CHUNK_IMAGES, STORAGE_DATA
from .written import Written, common


class Loader:
    """Build the parts of a model from a Reader; a Model then takes them over.

    Attributes:
        arena, state: buffers.
        inputs, outputs: lists of Tensor.
        steps: [(n, step)] of the nodes, and of reads of streamed weights.
        runs: steps as a run takes them: neighbours of one table are joined.
        bodies: the steps of each body, inner bodies first.
        runtime: dynamic.runtime.Runtime of a model with run-time dims, else None.
        stream: Stream of a model whose weights are streamed, else None.
        prefer: forms of loops, see inspect.kernels.
    """

    prefer = ()
    _calls = None  # of the graph or body at hand
    _known_memories = None  # see _memories
    _infos = {}  # records of the last node's tensors; most nodes share one with it

    def __init__(self, reader, arena=None):
        self.origin = reader.origin
        self.callers_arena = arena
        self.arena = self._allocated(reader.arena_nbytes, arena, reader.memory)
        self.arena_nbytes = reader.arena_nbytes
        self._reader = reader
        # The model's own memory, never in an arena that others may share.
        self.state = self._allocated(reader.state_nbytes)
        self.stream = reader.stream
        self.runtime = None
        if reader.runtime_dims():
            from ..dynamic import runtime

            self.runtime = runtime.Runtime(*reader.runtime_dims())
        self._tensors = {}
        self._slots = None  # of strings and maps
        names = reader.io_names()
        _check_ends(reader)
        of = reader.tensors
        self.inputs = [self._tensor(reader, i, of[i], names.pop(0)) for i in reader.inputs]
        self.outputs = [self._tensor(reader, i, of[i], names.pop(0)) for i in reader.outputs]
        self._describe_interface(reader)
        self.bodies = []
        self._kernels = {}
        self._held = {}  # kernels whose steps a run makes
        self._tables = {}  # by the id of a step that they have
        self._written = Written()
        for i in reader.inputs:
            self._written.add(of[i])
        self.steps = self._prepare_all(reader)
        self.runs = _as_run(self.steps, self._tables)
        self._tables = None
        for i in reader.outputs:
            self._written.check(of[i], i, "the caller")
        if self.stream:
            self.stream.settle()

    def _allocated(self, nbytes, *callers_arena):
        return arenas.make(nbytes, *callers_arena)

    def _tensor(self, reader, i, info, name=None):
        """Return tensor i of the file. Streamed constants, maybe many, are made anew each time.

        Args:
            reader: the Reader.
            i: number of the tensor.
            info: its TensorInfo.
            name: name of an input or output.
        """
        t = self._tensors.get(i)
        if is_object(info.dtype):
            from ..io import objects

            self._slots = self._slots or objects.Slots()
            t = self._tensors[i] = t or self._slots.make(reader, info, i)
            t.name = name or t.name
        elif t is None or name:
            buffer, offset = reader.buffer(info, self.arena, self.state)
            if info.is_open and i in reader.inputs:
                from ..dynamic import sizes

                t = sizes.OpenInput(self.runtime, buffer, offset, info, name)
            elif info.is_open:
                t = self.runtime.tensor(buffer, offset, info, name)
            else:
                t = Tensor(buffer, offset, info.nbytes, info.dtype, info.shape, name)
            if not info.is_streamed:
                self._tensors[i] = t
        return t

    def _describe_interface(self, reader):
        """Set the scales, zero points and images of inputs and outputs from the file."""
        grids, records = reader.chunk(CHUNK_GRIDS), reader.chunk(CHUNK_IMAGES)
        if grids:
            from .grids import attach

            attach(self.inputs + self.outputs, grids)
        if records:
            from ..io import images

            images.attach(self.inputs, records)

    def _prepare_all(self, reader, body=None):
        """Return [(n, step)] of the graph, or of a body.

        A step that reads streamed weights comes before the step that uses them.
        """
        steps, outer, self._calls = [], self._calls, None
        for i, node in enumerate(reader.nodes(body)):
            n, step = self._prepare(reader, i, node)
            if self.stream:
                steps += [(1, self.stream.read(chunk, self.arena)) for chunk in node[-1]]
            if n:
                steps.append((n, step))
        if body:
            self.bodies.append(steps)
        if self._calls:
            self._calls.settle()
        self._calls = outer
        return steps

    def _prepare_bodies(self, reader, bodies):
        """Return the steps of each body. Then only bytes count as written that all write."""
        before, after, prepared = self._written.spans, None, []
        for body in bodies:
            self._written.spans = before
            prepared.append(self._prepare_all(reader, body))
            spans = self._written.spans
            after = spans if after is None else common(after, spans)
        if bodies:
            self._written.spans = after
        return prepared

    def _prepare(self, reader, index, node):
        """Check a node's tensors, prepare its kernel and return its (n, step)."""
        kernel, inputs, outputs, scratch, params, bodies, place, _ = node
        last, of = self._infos, {}
        for i in inputs + outputs + scratch:
            of[i] = last[i] if i in last else reader.tensors[i]
        self._infos = of
        name = "step {} {}".format(index, kernel)
        for i in outputs + scratch:
            if of[i].storage == STORAGE_DATA:
                raise ModelError(name + " writes to a constant")
        for i in inputs:
            self._written.check(of[i], i, name)
        for i in outputs:
            self._written.add(of[i])
        node = Node(
            name,
            [self._tensor(reader, i, of[i]) for i in inputs],
            [self._tensor(reader, i, of[i]) for i in outputs],
            [self._tensor(reader, i, of[i]) for i in scratch],
            params,
            self._prepare_bodies(reader, bodies),
        )
        node.overlaps = overlaps(node.inputs[:], node.outputs + node.scratch)
        module = self._kernels.get(kernel)
        if module is None:
            module = self._kernels[kernel] = _kernel(kernel)
        streams, proved = getattr(module, "STREAMS", ()), getattr(module, "PROVED", ())
        for k, i in enumerate(inputs):
            if of[i].is_streamed and k not in streams:
                node.fail("streamed weights")
            if k in proved and of[i].storage != STORAGE_DATA:
                node.fail("no constant")
        if self._slots and not getattr(module, "OBJECTS", False):
            for i in of:
                node.require(not is_object(of[i].dtype), "strings or maps")
        return node.guarded(self._follow, module, node, place)

    def _follow(self, module, node, place):
        """Return (n, step) of a node: its kernel's, or one that prepares the kernel in runs."""
        follows = self.runtime and self.runtime.step(module, node, place, self._memories)
        if follows:
            self._held[module.__name__] = True
            return 1, follows.step
        if hasattr(module, "CALLS"):
            n, step = self._emitted(module, node)
        else:
            self._held[module.__name__] = True
            n, step = module.prepare(node)
        # Loops may read indices from their outputs: nothing else may lie there.
        node.require(not n or not node.overlaps, "its tensors overlap")
        return n, step

    def _memories(self):
        """Return the calls.Memories of the model's buffers."""
        if self._known_memories is None:
            from .calls import Memories

            self._known_memories = Memories(self.arena, self.state, self._reader)
        return self._known_memories

    def is_free(self, name):
        """Return True if no run needs a kernel's module, such as "ops.qconv"."""
        return not self._held or name[4] != "_" and "mpconnxr." + name not in self._held

    def _emitted(self, module, node):
        """Return (n, step) of the calls that a kernel emits to the table of its graph."""
        if self._calls and self._calls.is_full():
            self._calls.settle()
            self._calls = None
        if self._calls is None:
            from .calls import Calls

            self._calls = Calls(self._memories())
        result = module.prepare(node, self._calls)
        if result:
            self._held[module.__name__] = True
            return result
        n, step = self._calls.step()
        self._tables[id(step)] = self._calls.table
        return n, step


def _as_run(steps, tables):
    """Return the steps with neighbours of one table joined. tables: the table of a step, by id."""
    result, k = [], 0
    while k < len(steps):
        n, step = steps[k]
        table = tables.get(id(step))
        k += 1
        while table and k < len(steps) and steps[k][1] is table.rest:
            n += steps[k][0]
            k += 1
        result.append((n, step))
    return result if len(result) < len(steps) else steps


def overlaps(inputs, outputs):
    """Return (tensor, other, gap) of the tensors that share memory: the step writes the first.

    gap: bytes by which it starts before the other. An open shape counts with the most bytes it can
    take.

    Args:
        inputs: tensors that a step reads; the outputs are appended.
        outputs: tensors that the step writes.
    """
    result = []
    for a in outputs:
        nbytes = a.nbytes or getattr(a, "arena_nbytes", 0)
        for b in inputs if nbytes else ():
            if a._buffer is b._buffer:
                gap = b._offset - a._offset
                other_nbytes = b.nbytes or getattr(b, "arena_nbytes", 0)
                if other_nbytes and -other_nbytes < gap < nbytes:
                    result.append((a, b, gap))
        inputs.append(a)
    return result


def _check_ends(reader):
    """Raise ModelError if an input is a constant, or an output a streamed constant."""
    for i in reader.inputs:
        if reader.tensors[i].storage == STORAGE_DATA:
            raise ModelError("an input is a constant")
    for i in reader.outputs:
        if reader.tensors[i].is_streamed:
            raise ModelError("an output is a constant that is streamed")


def _kernel(name):
    """Import a kernel's module by name. Raises UnsupportedError."""
    full, why = "mpconnxr.ops." + name, ""
    module = None
    if name[:1] != "_":  # shared modules of kernels have such names: no file may import them
        try:
            __import__(full)
            module = sys.modules[full]
        except MemoryError:  # load reports it, and drops half imported modules
            raise
        except Exception as e:  # absent, compiled for another machine, another syntax, ...
            why = ": " + repr(e)
    if not hasattr(module, "prepare"):
        raise UnsupportedError("no kernel " + name + " in this installation of mpconnxr" + why)
    return module
