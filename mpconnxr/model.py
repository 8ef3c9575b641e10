"""A loaded model: every node prepared once, then run in order."""

import sys

from . import arena as arenas
from .errors import ModelError, MpconnxrError, UnsupportedError
from .node import Node
from .reader import CHUNK_GRIDS, CHUNK_IMAGES
from .records import STORAGE_DATA
from .tensor import Tensor, is_object


class Model:
    """A model that is ready to run.

    inputs, outputs: lists of Tensor, in the graph's order; their data are typed views into the
    arena. Fill inputs[i].data and call run(), or pass the values to run(). The shape and data of
    an output whose shape a run decides are those of the last run.
    """

    _prefer = ()  # forms of loops; see kernels

    def __init__(self, reader, arena=None):
        self._origin = reader.origin
        self.arena_nbytes = reader.arena_nbytes
        self._arena = arenas.make(reader.arena_nbytes, arena)
        self._stream = reader.stream
        self.state_nbytes = reader.state_nbytes
        # memory of the model's own, never in an arena that others may share
        self._state = arenas.make(reader.state_nbytes)
        self._tensors = {}
        self._slots = None  # of strings and maps
        self._runtime = None
        if reader.runtime_dims():
            from .dynamic import Runtime

            self._runtime = Runtime(*reader.runtime_dims())
        names = reader.io_names()
        _check_ends(reader)
        of = reader.tensors
        self.inputs = [self._tensor(reader, i, of[i], names.pop(0)) for i in reader.inputs]
        self.outputs = [self._tensor(reader, i, of[i], names.pop(0)) for i in reader.outputs]
        self._describe_borders(reader)
        self._steps = self._prepare_all(reader)
        self._tensors = self._slots = None

    def _tensor(self, reader, i, info, name=None):
        """Tensor i of the file. Streamed ones are not kept: there may be many, of one use."""
        t = self._tensors.get(i)
        if is_object(info.dtype):
            from . import objects

            self._slots = self._slots or objects.Slots()
            t = self._tensors[i] = t or self._slots.make(reader, info, i)
            t.name = name or t.name
        elif t is None or name:
            buffer, offset = reader.buffer(info, self._arena, self._state)
            if info.is_open:
                make = self._runtime.input if i in reader.inputs else self._runtime.tensor
                t = make(buffer, offset, info, name)
            else:
                t = Tensor(buffer, offset, info.nbytes, info.dtype, info.shape, name)
            if not info.is_streamed:
                self._tensors[i] = t
        return t

    def _describe_borders(self, reader):
        """Gives inputs and outputs what the file says of their integers and images."""
        grids, images = reader.chunk(CHUNK_GRIDS), reader.chunk(CHUNK_IMAGES)
        if grids:
            from . import borders

            borders.attach(self.inputs + self.outputs, grids)
        if images:
            from .images import attach

            attach(self.inputs, images)

    def _prepare_all(self, reader, body=None):
        """[(n, step)] of the graph, or of a body; before a step what reads its weights."""
        steps = []
        for i, node in enumerate(reader.nodes(body)):
            n, step = self._prepare(reader, i, node)
            if self._stream:
                steps += [(1, self._stream.read(chunk, self._arena)) for chunk in node[-1]]
            if n:
                steps.append((n, step))
        return steps

    def _prepare(self, reader, index, node):
        kernel, inputs, outputs, scratch, params, bodies, place, _ = node
        of = {i: reader.tensors[i] for i in inputs + outputs + scratch}
        for i in outputs + scratch:
            if of[i].storage == STORAGE_DATA:
                raise ModelError("step {} {} writes to a constant".format(index, kernel))
        node = Node(
            "step {} {}".format(index, kernel),
            [self._tensor(reader, i, of[i]) for i in inputs],
            [self._tensor(reader, i, of[i]) for i in outputs],
            [self._tensor(reader, i, of[i]) for i in scratch],
            params,
            [self._prepare_all(reader, body) for body in bodies],
        )
        module = _kernel(kernel)
        streams, proved = getattr(module, "STREAMS", ()), getattr(module, "PROVED", ())
        for k, i in enumerate(inputs):
            node.require(k in streams or not of[i].is_streamed, "streamed weights")
            node.require(k not in proved or of[i].storage == STORAGE_DATA, "no constant")
        if self._slots and not getattr(module, "OBJECTS", False):
            for i in of:
                node.require(not is_object(of[i].dtype), "strings or maps")
        try:
            if self._runtime:
                follows = self._runtime.step(module, node, place)
                if follows:
                    return 1, follows.step
            return module.prepare(node)
        except MpconnxrError:
            raise
        except MemoryError:
            raise UnsupportedError(node.name + ": not enough memory to prepare it")
        except Exception as e:  # a kernel's check was not tight enough: still the file's fault
            node.fail(repr(e))

    def run(self, x=None, deadline_us=None):
        """Computes the outputs.

        x: nothing if the inputs' data were filled; the value of the only input (array, bytes in C
           order, list, nested list, or a number for a scalar); a list or tuple of such values if
           there are several inputs; or a dict by input name. Of an input whose shape the caller
           decides also (value, shape).
        deadline_us: microseconds before which not to return, so that the time a run takes does
           not tell what it computed.
        Returns self.outputs; their data hold until the next run of a model in this arena. The
        inputs' memory may be overwritten: fill it before each run.
        Raises InputError.
        """
        if deadline_us is not None:
            return self.run_until(x, deadline_us)
        if x is not None:
            from .feed import fill

            fill(self.inputs, x)
        return self._compute()

    def _compute(self):
        """By itself, so that its frame needs no heap on firmware that lends large ones."""
        if self._runtime:
            self._runtime.start()
        for n, step in self._steps:
            step(0, n)
        if self._runtime:
            self._runtime.resize(self.outputs)
        return self.outputs

    def reset(self):
        """Forgets what the last run left for the next one: zeros, as after load."""
        for i in range(len(self._state)):
            self._state[i] = 0

    def close(self):
        """Closes the file that weights are streamed from; the model cannot run after it."""
        if self._stream:
            self._stream.close()

    def __getattr__(self, name):
        """profile, benchmark, run_async and others: see rare, which most programs never import."""
        from .rare import method

        return method(self, name)


def _check_ends(reader):
    for i in reader.inputs:
        if reader.tensors[i].storage == STORAGE_DATA:
            raise ModelError("an input is a constant")
    for i in reader.outputs:
        if reader.tensors[i].is_streamed:
            raise ModelError("an output is a constant that is streamed")


def _kernel(name):
    full = "mpconnxr.ops." + name
    try:
        __import__(full)
    except ImportError:
        raise UnsupportedError("no kernel " + name + " in this installation of mpconnxr")
    module = sys.modules[full]
    if not hasattr(module, "prepare"):
        raise UnsupportedError(name + " is not a kernel")
    return module
