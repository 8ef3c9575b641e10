"""Unpack constants that the file holds with several elements a byte.

Imported only by models that have some.
"""

from array import array

from .. import forms
from ..errors import UnsupportedError
from ..tensor import code_of, packed_bits


def unpacked(buffer, offset, dtype, n):
    """Return n elements as a byte each, which a buffer holds packed from `offset` on.

    dtype: ONNX number of an integer of less than a byte.
    """
    try:
        out = bytearray(n)
    except MemoryError:
        raise UnsupportedError("not enough memory to unpack {} elements".format(n))
    bits = packed_bits(dtype)
    sign = 1 << bits - 1 if code_of(dtype) == "b" else 0
    p = array("i", [offset, n, bits, sign, 8 // bits])
    forms.get("unpack").unpack(buffer, buffer, out, p)
    return out
