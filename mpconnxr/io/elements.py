"""The elements of a tensor, and its text, imported when a program first uses either."""

from ..errors import InputError
from ..tensor import Tensor, is_narrow

_SHOWN = 4  # elements


def element(t, i):
    """Return t[i]: an element of a vector, else row i as a Tensor in the same memory.

    Methods that stay in memory are short, so this also serves two special indexes: None returns
    the tensor's text, "len" its length.

    Args:
        t: the tensor.
        i: index; a negative one counts from the end.

    Raises:
        InputError: the tensor is a scalar, or the index is not an integer.
        IndexError: the index is out of range; Python ends `for row in t` by it.
    """
    if i is None:
        return text(t)
    if not t.shape:
        raise InputError("{}: a scalar has no elements: take data[0]".format(t.name))
    n = t.shape[0]
    if isinstance(i, str) and i == "len":
        return n
    if not isinstance(i, int):
        raise InputError("{}: an index is one integer".format(t.name))
    at = i + n if i < 0 else i
    if not 0 <= at < n:
        raise IndexError("{}: index {} of {} elements".format(t.name, i, n))
    if len(t.shape) == 1:
        return _number(t, at)
    nbytes = t.nbytes // n
    row = Tensor(t._buffer, t._offset + at * nbytes, nbytes, t._dtype, t.shape[1:], t.name)
    row.scale, row.zero_point = t.scale, t.zero_point
    return row


def floats(t):
    """Return a list of the elements as floats, in C order."""
    decode = float
    if is_narrow(t.dtype):
        from .narrow import kind

        decode = kind(t.dtype).decode
    return [decode(t.data[i]) for i in range(t.nelem)]


def _number(t, i):
    """Return element i as Python has it: a float whose elements appear as bits is decoded."""
    value = t.data[i]
    if not is_narrow(t.dtype):
        return value
    from .narrow import kind

    return kind(t.dtype).decode(value)


def text(t):
    """Return <Tensor logits float32 [1, 10]: 0.12, -3.4, 5, 0.5, ...>."""
    shown = ["{:.4g}".format(_number(t, i)) for i in range(min(_SHOWN, t.nelem))]
    more = ["..."] if t.nelem > _SHOWN else []
    return "<Tensor {}: {}>".format(about(t), ", ".join(shown + more))


def no_view(t, code):
    """Raise the InputError for a struct code that has no view, or is none."""
    shown = code if isinstance(code, str) else type(code)
    raise InputError("{}: no view of {!r}".format(t.name, shown))


def about(t):
    """Return name, dtype and shape."""
    return "{} {} {}".format(t.name, t.dtype, list(t.shape))


def text_of_model(model):
    """Return <Model image float32 [1, 64] -> logits float32 [1, 10], arena 2080 bytes>."""
    ends = [", ".join([about(t) for t in tensors]) for tensors in (model.inputs, model.outputs)]
    return "<Model {} -> {}, arena {} bytes>".format(ends[0], ends[1], model.arena_nbytes)
