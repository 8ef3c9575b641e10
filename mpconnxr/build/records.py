"""Read the records of tensors in a model file, and the chunks that hold their bytes."""

import struct
from array import array

from .. import tensor
from ..errors import UnsupportedError, fail

STORAGE_ARENA = 0
STORAGE_DATA = 1
STORAGE_OBJECT = 2
STORAGE_STATE = 3

FLAG_PACKED = 1  # of a constant: its elements of less than a byte are packed
FLAG_OPEN = 2  # a run decides the shape: a dim of -1 - e is expression e

_MAX_RANK = 32
_FLOAT = 1


class Chunk:
    """A part of the file that is read as a whole.

    Attributes:
        kind: CHUNK_DATA or another constant of the reader.
        offset, nbytes: its bytes in the file.
        digest_at: offset of its SHA-256 in the tables.
        place: offset in the arena if it is streamed, else None.
        buffer: its bytes if they were read, else None.
        widens: bytes in memory for each byte in the file.
    """

    widens = 1

    def __init__(self, kind, offset, nbytes, digest_at):
        self.kind = kind
        self.offset = offset
        self.nbytes = nbytes
        self.digest_at = digest_at
        self.place = None
        self.buffer = None

    def digest(self, tables):
        """Return the chunk's SHA-256 from the tables."""
        return bytes(tables[self.digest_at : self.digest_at + 32])

    def has(self, offset, nbytes):
        """Return True if the chunk contains these bytes of the file."""
        return self.offset <= offset and offset + nbytes <= self.offset + self.nbytes


class TensorInfo:
    """The record of a tensor.

    Attributes:
        dtype: ONNX number.
        shape: tuple.
        storage: STORAGE_ARENA or another one.
        offset, nbytes: the tensor's bytes in its storage; for an open shape the most it can take.
        packed: bits of an element that is packed in the file, else 0.
        stored_nbytes: bytes that a constant takes in the file.
        is_open: True if a run decides the shape.
        chunk: the Chunk with a constant, else None.
    """

    # An attribute that an object does not set takes no heap in it.
    packed = stored_nbytes = nbytes = storage = 0
    is_open = False
    chunk = None

    def clear(self):
        """Reset all attributes, so that the object can hold another record."""
        self.packed = self.stored_nbytes = self.nbytes = self.storage = 0
        self.is_open = False
        self.chunk = None

    @property
    def is_streamed(self):
        """True for a constant that may be in memory only while a step runs."""
        return self.chunk is not None and self.chunk.place is not None


class Records:
    """The TensorInfos of a file, by number.

    There may be hundreds. All are checked first, and created again at each use, so that they are
    not all in memory.

    Attributes:
        state_nbytes: size of the tensors that last from run to run.
        has_dims, has_objects, has_state: features of the file.
    """

    has_dims = has_objects = has_state = False

    def __init__(self, reader):
        self._find_chunk = reader.data_chunk
        self._data_at = reader.tables_nbytes
        self._arena_nbytes = reader.arena_nbytes
        self.state_nbytes = 0

    def read(self, numbers):
        """Check all records, from their count on, and move `numbers` behind them."""
        self._numbers = numbers
        self._places = array("I", [0] * numbers.count())
        t = TensorInfo()
        for i in range(len(self)):
            self._places[i] = numbers.at
            self._record(t, i)
            t.clear()
        self._numbers = numbers.fork()

    def __len__(self):
        return len(self._places)

    def __getitem__(self, i):
        self._numbers.at = self._places[i]
        t = TensorInfo()
        self._record(t, i)
        return t

    def _record(self, t, i):
        numbers = self._numbers
        t.dtype = numbers.size()
        flags = numbers.size()
        if flags & 3:
            t.storage = flags & 3
        self._read_shape(t, i)
        if t.storage == STORAGE_DATA:
            t.offset += self._data_at
        code = tensor.code_of(t.dtype)
        if code is None and self.has_objects:
            self._check_object(t, i, flags >> 2)
            return
        if flags > 3 or code is None:
            self._check_flags(t, i, flags >> 2)
        self._check_size(t, i, struct.calcsize(code))
        if t.storage == STORAGE_DATA:
            self._place(t, i)
        elif t.storage != STORAGE_ARENA:
            self._check_state(t, i)

    def _read_shape(self, t, i):
        rank = self._numbers.count()
        if rank > _MAX_RANK:
            fail("tensor {}: rank".format(i))
        words = self._numbers.words(rank + 1)
        t.shape = tuple(words[:rank])
        t.offset = words[rank]
        if t.offset < 0:
            fail("a size is negative")

    def _check_object(self, t, i, flags):
        from ..io import objects

        if t.storage == STORAGE_DATA:
            t.stored_nbytes = self._numbers.size()
        objects.check(t, i, flags, t.storage == STORAGE_DATA, t.storage == STORAGE_OBJECT)
        if t.storage == STORAGE_DATA:
            self._place(t, i)

    def _check_flags(self, t, i, flags):
        if flags == FLAG_PACKED and t.storage == STORAGE_DATA:
            t.packed = tensor.packed_bits(t.dtype)
        if flags == FLAG_OPEN and self.has_dims and not t.storage:
            t.is_open = True
        if tensor.code_of(t.dtype) is None or flags and not t.packed and not t.is_open:
            raise UnsupportedError("tensor {}: dtype {} or flags {}".format(i, t.dtype, flags))

    def _check_size(self, t, i, size):
        t.nbytes = self._numbers.size() if t.is_open else _nelem(t, i) * size
        if t.offset % size:
            fail("tensor {}: alignment".format(i))
        if t.storage == STORAGE_ARENA and t.offset + t.nbytes > self._arena_nbytes:
            fail("tensor {} lies outside the arena".format(i))

    def _check_state(self, t, i):
        if t.storage != STORAGE_STATE or not self.has_state:
            fail("tensor {}: storage class".format(i))
        self.state_nbytes = max(self.state_nbytes, t.offset + t.nbytes)
        if self.state_nbytes >> 31:
            fail("tensor {}: size".format(i))

    def _place(self, t, i):
        if not t.stored_nbytes:
            t.stored_nbytes = (t.nbytes * t.packed + 7) // 8 if t.packed else t.nbytes
        t.chunk = self._find_chunk(t.offset, t.stored_nbytes)
        if t.chunk is None or t.chunk.widens > 1:
            t.stored_nbytes //= 2
            t.chunk = self._find_chunk(t.offset, t.stored_nbytes)
            if t.chunk is None or t.chunk.widens == 1 or t.dtype != _FLOAT:
                fail("tensor {} lies outside the data".format(i))
        if t.is_streamed and (t.packed or tensor.is_object(t.dtype)):
            fail("tensor {} cannot be streamed".format(i))


def _nelem(t, i):
    nelem = 1
    for d in t.shape:
        if d < 0:
            fail("tensor {}: negative dimension".format(i))
        nelem *= d
    return nelem
