"""A tensor's items and what it looks like: imported when a program first asks for either."""

from .errors import InputError
from .tensor import Tensor, is_narrow

_SHOWN = 4  # items


def item(t, i):
    """t[i]: of one dimension the number, of more the i-th row, a Tensor in the same memory.

    A negative index counts from the end. None gives the text that stands for the tensor, "len" the
    number of its items: so the methods that stay in memory for these are the shortest. Raises
    InputError for a scalar, and for what is not an integer; IndexError for an integer beyond, by
    which Python ends `for row in t`.
    """
    if i is None:
        return text(t)
    if not t.shape:
        raise InputError("{}: a scalar has no items: take data[0]".format(t.name))
    n = t.shape[0]
    if isinstance(i, str) and i == "len":
        return n
    if not isinstance(i, int):
        raise InputError("{}: an index is one integer".format(t.name))
    at = i + n if i < 0 else i
    if not 0 <= at < n:
        raise IndexError("{}: index {} of {} items".format(t.name, i, n))
    if len(t.shape) == 1:
        return _number(t, at)
    nbytes = t.nbytes // n
    row = Tensor(t._buffer, t._offset + at * nbytes, nbytes, t._dtype, t.shape[1:], t.name)
    row.scale, row.zero_point = t.scale, t.zero_point
    return row


def floats(t):
    """A list of the elements as Python floats, in C order."""
    decode = float
    if is_narrow(t.dtype):
        from .narrow import kind

        decode = kind(t.dtype).decode
    return [decode(t.data[i]) for i in range(t.nelem)]


def _number(t, i):
    """As Python has it: a float whose elements appear as their bits is decoded."""
    value = t.data[i]
    if not is_narrow(t.dtype):
        return value
    from .narrow import kind

    return kind(t.dtype).decode(value)


def text(t):
    """<Tensor logits float32 [1, 10]: 0.12, -3.4, 5, 0.5, ...>"""
    shown = ["{:.4g}".format(_number(t, i)) for i in range(min(_SHOWN, t.nelem))]
    more = ["..."] if t.nelem > _SHOWN else []
    return "<Tensor {}: {}>".format(about(t), ", ".join(shown + more))


def no_view(t, code):
    """Raise the InputError for a struct code that has no view, or is none."""
    shown = code if isinstance(code, str) else type(code)
    raise InputError("{}: no view of {!r}".format(t.name, shown))


def about(t):
    """Name, dtype and shape."""
    return "{} {} {}".format(t.name, t.dtype, list(t.shape))


def text_of_model(model):
    """<Model image float32 [1, 64] -> logits float32 [1, 10], arena 2080 bytes>"""
    ends = [", ".join([about(t) for t in tensors]) for tensors in (model.inputs, model.outputs)]
    return "<Model {} -> {}, arena {} bytes>".format(ends[0], ends[1], model.arena_nbytes)
