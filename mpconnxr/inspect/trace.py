"""Report the results of each step: Model.trace(). Only a program that calls it imports this.

trace prints a line for each step:

    model.trace(x, 2)               # with the range of its outputs
    model.trace(x, 1, dump="out")   # each output also as out/STEP_K.npy, for numpy on a computer
"""

from .. import tensor
from ..arguments import function, integer
from ..build.reader import CHUNK_NODES, STORAGE_STATE
from ..errors import InputError, MpconnxrError
from ..rare import alone, compute
from ..turn import SHORT, fresh
from .kernels import Listing
from .profile import StepTime, exchange, text
from .timing import clock

_SHOWN = 8  # elements at level 3
# Names in a .npy of the dtypes that numpy has.
_NPY = {"bool": "|b1", "int8": "|i1", "uint8": "|u1", "string": None}
for _kind, _name in (("i", "int"), ("u", "uint"), ("f", "float")):
    for _n in (2, 4, 8):
        _NPY["{}{}".format(_name, 8 * _n)] = "<{}{}".format(_kind, _n)


class _Written(Listing):
    """A Listing with the tensors that each step writes.

    Attributes:
        written: for each of `rows` the tensors that the step writes, in the model's memory; None
            for a tensor whose shape a run decides, or of strings.
    """

    def __init__(self, model):
        self.written = {}
        self._kept = model._state
        Listing.__init__(self, model, (CHUNK_NODES,))

    def _prepare(self, reader, index, node):
        at = len(self.rows)
        done = Listing._prepare(self, reader, index, node)
        self.written[at] = [self._tensor_of(reader, reader.tensors[i]) for i in node[2]]
        return done

    def _tensor_of(self, reader, info):
        if info.is_open or tensor.is_object(info.dtype):
            return None
        state = self._kept if info.storage == STORAGE_STATE else self.state
        buffer, offset = reader.buffer(info, self.arena, state)
        return tensor.Tensor(buffer, offset, info.nbytes, info.dtype, info.shape, "")


def follow(model, each, x=None):
    """Run the model once; call each(step, outputs) after each step.

    Args:
        model: the model.
        each: function. step: a profile.StepTime with the time of this call; a step within a body
            comes each time that it runs. outputs: a list of Tensor, None where the run decides the
                shape;
            they hold until the next step.
        x: as for Model.run.

    Raises:
        InputError, UnsupportedError: an argument does not fit, or the board has no clock.
        Exception: as `each` does.
    """
    try:
        return alone(model, _followed, model, function("each", each), x, clock())
    except MemoryError:
        raise fresh(SHORT)


def _followed(model, each, x, time):
    listing = _Written(model)
    names = bytes(listing.chunk(CHUNK_NODES) or b"").split(b"\0")[:-1]
    lists = [model._steps] + model._bodies
    places = sum(listing.bodies, listing.steps)
    inner = [step for steps in lists for _, step in steps]
    raised = []  # by the caller's function, which is no fault of the model

    def followed(k):
        at, is_read = places[k]
        number, kernel, taken = listing.rows[at]
        name = text(names[at]) if len(names) == len(listing.rows) else ""
        forms = [] if is_read else sorted(set(taken.values()))
        step = StepTime(number, name, "read weights" if is_read else kernel, forms)
        outputs = [] if is_read else listing.written[at]

        def run(lo, hi):
            start = time.ticks_us()
            inner[k](lo, hi)
            step.us = time.ticks_diff(time.ticks_us(), start)
            try:
                each(step, outputs)
            except Exception as e:
                raised.append(e)
                raise

        return run

    default, model._runs = model._runs, model._steps
    exchange(lists, [followed(k) for k in range(len(inner))])
    try:
        compute(model, x)
        return model.outputs
    except MpconnxrError as e:
        raise raised[0] if raised else e
    finally:
        model._runs = default
        exchange(lists, inner)


def trace(model, x=None, level=1, write=print, dump=None):
    """Run the model and write a report of each step. Return the outputs, as Model.run does.

    Args:
        model: the model.
        x: as for Model.run.
        level: 0 nothing, 1 a line a step with its time, 2 also the dtype, shape and range of its
            outputs, 3 also their first elements.
        write: function that gets each line.
        dump: a folder for each tensor as STEP_K.npy; a tensor in a body is saved as the body's
            last run leaves it.

    Raises:
        InputError, UnsupportedError, OSError: an argument does not fit, the board has no clock, or
            the folder cannot be written.
    """
    try:  # in a function that has no closure: arguments of one take memory before it begins
        return _traced(model, x, level, write, dump)
    except MemoryError:
        raise fresh(SHORT)


def _traced(model, x, level, write, dump):
    integer("level", level, 0, 3)
    function("write", write)
    if dump is not None and not isinstance(dump, str):
        raise InputError("dump: the path of a folder is needed")

    def each(step, outputs):
        if level:
            write("{:5} {:28} {:16} {:>9} us".format(step.step, step.name, step.kernel, step.us))
        for k, t in enumerate(outputs):
            if level > 1:
                write("      -> " + ("decided in the run" if t is None else _about(t, level)))
            if t is not None and dump is not None:
                save(t, "{}/{}_{}.npy".format(dump, step.step.replace("/", "-"), k))

    return follow(model, each, x)


def _about(t, level):
    """Return a text: dtype, shape, range and number of finite values, and the first elements."""
    values = _values(t)
    finite = [v for v in values if v - v == 0]
    text = "{} {}".format(t.dtype, list(t.shape))
    if finite:
        mean = sum(finite) / len(finite)
        text += ": {:.5g} to {:.5g}, mean {:.5g}".format(min(finite), max(finite), mean)
    if len(finite) < len(values):
        text += ", {} not finite".format(len(values) - len(finite))
    if level > 2:
        text += ", " + " ".join(["{:.5g}".format(v) for v in values[:_SHOWN]])
    return text


def _values(t):
    if not tensor.is_narrow(t.dtype):
        return list(t.data)
    from ..io.narrow import kind

    decode = kind(t.dtype).decode
    return [decode(v) for v in t.data]


def save(t, path):
    """Write a tensor as a .npy file; as bytes if numpy lacks its dtype."""
    npy = _NPY.get(t.dtype)
    shape = "".join(["{}, ".format(d) for d in (t.shape if npy else (t.nbytes,))])
    head = "{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}".format(npy or "|u1", shape)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    try:
        with open(path, "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + bytes((len(head) & 255, len(head) >> 8)))
            file.write(head.encode())
            file.write(t.view("B"))
    except OSError as e:
        raise OSError(e.errno, path)
