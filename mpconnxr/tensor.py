"""Typed views into a buffer, and the tensor that a model shows to its user.

MicroPython's memoryview has no `cast`. A view here is a memoryview slice whose own words were
rewritten to another element type: it indexes, slices and passes into viper like an array, and
keeps the buffer alive. Where that does not work (importing this module tests it), a small class
takes its place; native loops are not used then (see forms).
"""

import struct
import sys

from .errors import UnsupportedError
from .turn import SHORT, fresh

# struct codes by ONNX TensorProto.DataType; '?' has no view (strings, complex). Floats of 16 bits
# and fewer appear as their bits; a dtype of fewer than 8 bits takes a byte.
_CODES = "?fBbHhiq?BHdIQ??HBBBBBbBBBbBB"
_NAMES = (
    "undefined float32 uint8 int8 uint16 int16 int32 int64 string bool "
    "float16 float64 uint32 uint64 complex64 complex128 bfloat16 "
    "float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0 "
    "uint2 int2 float6e2m3 float6e3m2"
)
_WRITABLE = 0x80
_named = {}  # names in use; as strings of their own all of them would take more heap
_coded = {}  # codes in use: an index into a string takes thousands of instructions


def code_of(dtype):
    """Return the struct code of an ONNX dtype number; None if it has no typed view."""
    if dtype in _coded:
        return _coded[dtype]
    if 0 < dtype < len(_CODES) and _CODES[dtype] != "?":
        _coded[dtype] = _CODES[dtype]
        return _coded[dtype]
    return None


def is_object(dtype):
    """Return True for strings and maps, Python objects outside of the arena: see io.objects."""
    return dtype == 8 or dtype >= 64


def name_of(dtype):
    """Return the name of an ONNX dtype number, such as 'float32'."""
    if dtype not in _named:
        _named[dtype] = _NAMES.split(" ")[dtype]
    return _named[dtype]


def packed_bits(dtype):
    """Return the bits of an element that a file may hold packed; 0 for other dtypes."""
    return {21: 4, 22: 4, 23: 4, 25: 2, 26: 2}.get(dtype, 0)


def _id(view):
    at = id(view)  # of 0x40000000..0x7fffffff it comes out negative on 32-bit words
    return at & 0x7FFFFFFF if at < 0 else at


def address(view):
    """Return the address of a memoryview's own words; on 32-bit machines as an int32."""
    at = _id(view) & 0xFFFFFFFF
    return at - 0x100000000 if at >> 31 else at


def words(view):
    """Return the words of the object that a memoryview is, to read and write them.

    Word 1 is typecode | writable | offset << 8, word 2 the length; both count elements.
    """
    import uctypes

    word = uctypes.UINT64 if sys.maxsize > 0x7FFFFFFF else uctypes.UINT32
    return uctypes.struct(_id(view), {"w": (uctypes.ARRAY | 0, word | 3)}).w


def place_words(view):
    """Return word 1 alone, in 32 bits: reading more of them makes an object each time."""
    import uctypes

    more = 4 if sys.maxsize > 0x7FFFFFFF else 0  # the upper half of word 0, which comes first
    return uctypes.struct(_id(view) + more, {"w": (uctypes.ARRAY | 0, uctypes.UINT32 | 3)}).w


def shown(views, how):
    """Return the objects through which loops/program moves views. how: the loop's HOW, or 0."""
    if how == 2:
        from array import array

        return array("q", [_id(view) + 8 for view in views])
    return [place_words(view) for view in views] if how else None


def _retyped(buffer, offset, code, n):
    mv = memoryview(buffer)[offset : offset + n * struct.calcsize(code)]
    _retype(words(mv), code, n)
    return mv


def _retype(held, code, n):
    size = struct.calcsize(code)
    if (held[1] >> 8) % size:
        raise ValueError("misaligned")
    held[1] = ((held[1] >> 8) // size << 8) | (held[1] & _WRITABLE) | ord(code)
    held[2] = n


def _retyping_works():
    try:
        if not isinstance(memoryview(b""), memoryview) or sys.implementation.name != "micropython":
            return False
        buffer = bytearray(32)
        struct.pack_into("<i", buffer, 8, -7)
        struct.pack_into("<f", buffer, 12, 0.5)
        i, f = _retyped(buffer, 8, "i", 2), _retyped(buffer, 8, "f", 2)
        h = _retyped(buffer, 6, "h", 3)
        h[2] = -2
        ok = len(i) == 2 and len(h) == 3 and f[1] == 0.5 and h[1] == -7
        return ok and struct.unpack_from("<h", buffer, 10)[0] == -2
    except MemoryError:  # proves nothing
        raise
    except Exception:  # any other surprise at all means: do not use it
        return False


RETYPES = _retyping_works()


def view(buffer, offset, code, n):
    """Return a typed view of n elements at a byte offset of a buffer, without copying.

    The buffer is a bytearray, bytes or a memoryview of bytes; the view is writable if the buffer
    is. Raises UnsupportedError beyond the reach of a memoryview, 16 MB on 32-bit machines.
    """
    try:
        if code == "B":
            return memoryview(buffer)[offset : offset + n]
        if RETYPES:
            return _retyped(buffer, offset, code, n)
    except OverflowError:
        raise UnsupportedError("a tensor {} bytes into a buffer is out of reach".format(offset))
    from . import structview

    return structview.view(buffer, offset, code, n)


def is_aligned(buffer):
    """Return True if typed views of every dtype into this bytes-like buffer work."""
    if not RETYPES or not len(buffer):
        return True
    import uctypes

    if uctypes.addressof(buffer) % 8:
        return False
    try:  # a slice also carries its own offset, which has to be a multiple as well
        _retyped(buffer, 0, "q", len(buffer) // 8)
    except ValueError:
        return False
    return True


class Tensor:
    """A typed part of memory with a shape.

    Attributes:
        name: str or None.
        dtype: 'float32', ...
        shape: tuple of ints.
        nelem: number of elements.
        nbytes: size in bytes.
        data: typed view (C order).
        scale, zero_point: an integer q means (q - zero_point) * scale; None for other elements.
        image: io.images.Image of an input that takes pictures, else None.
        fed: the typecode that feed fills it by, None before the first time.
    """

    scale = zero_point = image = None
    fed = None  # see feed

    def __init__(self, buffer, offset, nbytes, dtype, shape, name=None):
        self._buffer = buffer
        self._offset = offset
        self._dtype = dtype
        self._data = None
        self.nbytes = nbytes
        self.shape = shape
        self.name = name
        self.nelem = nbytes // struct.calcsize(code_of(dtype))

    @property
    def dtype(self):
        """The dtype's name in ONNX, such as 'float32'."""
        return name_of(self._dtype)

    @property
    def data(self):
        """The elements, a typed view into the arena."""
        if self._data is None:
            self._data = self.view(code_of(self._dtype))
        return self._data

    def like(self, buffer, offset):
        """Return a tensor of this dtype and shape at an offset of another buffer."""
        return Tensor(buffer, offset, self.nbytes, self._dtype, self.shape, self.name)

    def light_fields(self):
        """Return the argument `of` for a turn.LightTensor of this tensor."""
        of = self.nbytes, self.dtype, self.shape, self.name, self.nelem, self.scale
        of += self.zero_point, self._buffer, self._offset, self.nbytes, self._dtype
        return of + (self.shape, self.name)

    def __bool__(self):
        return True  # whatever its length

    def __len__(self):
        return self["len"]

    def __getitem__(self, i):
        try:
            return _io("elements").element(self, i)
        except MemoryError:
            raise fresh(SHORT)

    get = __getitem__  # for a LightTensor, by a name that firmware has

    def __repr__(self):
        return self[None]

    def floats(self):
        """Return a new list of the elements as floats, in C order, for any dtype."""
        try:
            return _io("elements").floats(self)
        except MemoryError:
            raise fresh(SHORT)

    def quantize(self, x):
        """Fill the tensor with the integers for numbers x: rounded half to even, saturated.

        Raises InputError for numbers that do not fit, as in Model.run, or if the tensor has no
        scale.
        """
        try:
            _io("integers").quantize(self, x)
        except MemoryError:
            raise fresh(SHORT)

    def dequantize(self):
        """Return a new list of the real numbers that the integers represent. Raises InputError."""
        try:
            return _io("integers").dequantize(self)
        except MemoryError:
            raise fresh(SHORT)

    def load_image(self, buf, width, height, format):
        """Fill an input that takes pictures: cropped or stretched, nearest pixels, scaled.

        Args:
            buf: bytes-like, rows from the top without padding.
            width: width of the picture in pixels.
            height: height of the picture in pixels.
            format: 'rgb888', 'rgb565' (low byte first), 'rgb565be' or 'gray8'.

        Raises:
            InputError: an argument does not fit, or the input takes no pictures.
        """
        try:
            if self.image is None:
                from .errors import InputError

                raise InputError("{}: the file does not say that it is an image".format(self.name))
            self.image.load(self, buf, width, height, format)
        except MemoryError:
            raise fresh(SHORT)

    def view(self, code):
        """Return the bytes as elements of another struct code, one of bBhHiIlLqQfd."""
        try:
            if code in "bBhHiIlLqQfd":  # others are pointers
                n = self.nbytes // struct.calcsize(code)
                return view(self._buffer, self._offset, code, n)
        except (ArithmeticError, TypeError, ValueError):  # none, several of them, or misaligned
            pass
        except MemoryError:
            raise fresh(SHORT)
        _io("elements").no_view(self, code)


def full_tensor(light, buffer, offset, nbytes, dtype, shape, name, picture=None):
    """Return the Tensor of a LightTensor.

    Args:
        light: the LightTensor.
        buffer: as for Tensor.
        offset: as for Tensor.
        nbytes: as for Tensor.
        dtype: as for Tensor.
        shape: as for Tensor.
        name: as for Tensor.
        picture: the file's record of the image that the input takes, or None: see io.images.
    """
    t = Tensor(buffer, offset, nbytes, dtype, shape, name)
    t.scale, t.zero_point = light.scale, light.zero_point
    if picture:
        if "image" not in light.__dict__:
            _io("images").attach([t], picture)
            light.image = t.image  # with its table, once that is made
        t.image = light.image
    return t


def is_narrow(dtype):
    """Return True for floats (by name) whose elements appear as their bits."""
    return "float" in dtype and dtype not in ("float32", "float64")


def range_of(dtype):
    """Return (least, greatest) value of an integer dtype by name; None for floats."""
    if dtype == "bool":
        return 0, 1
    if dtype.startswith("uint"):
        return 0, (1 << int(dtype[4:])) - 1
    if dtype.startswith("int"):
        half = 1 << int(dtype[3:]) - 1
        return -half, half - 1
    return None


def _io(name):
    """Return a module of io, which is found by name as it imports this module."""
    return __import__("mpconnxr.io." + name, None, None, (name,))
