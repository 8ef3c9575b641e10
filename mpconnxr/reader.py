"""Reads a model file: docs/format.md in code. Nothing in the file is trusted.

Everything that later code takes for granted is proved here: each offset and length lies inside
the file, each tensor inside its chunk or the arena and aligned for its dtype, each index inside
its table. What the parameters of a kernel mean is checked by that kernel.
"""

import struct

from . import tensor
from .errors import UnsupportedError, fail
from .graph import Graph, read_ids
from .source import Source

VERSION = 1
HEADER_NBYTES = 96
DIGEST_AT = 24  # the 32 bytes of the header that hold the digest of header and tables

KIND_MODEL = 0
KIND_TENSORS = 1

CHUNK_DATA = 0
CHUNK_NAMES = 1
CHUNK_GOLDEN = 2
CHUNK_SOURCE = 3
CHUNK_GRIDS = 5
CHUNK_IMAGES = 6
_ALWAYS = (CHUNK_DATA, CHUNK_NAMES, CHUNK_GRIDS, CHUNK_IMAGES)
_CHUNK_WORDS = 11  # kind, offset, nbytes, sha256

STORAGE_ARENA = 0
STORAGE_DATA = 1
STORAGE_OBJECT = 2
STORAGE_STATE = 3

FLAG_OPEN = 2  # a run decides the shape: a dim of -1 - e is expression e
FLAG_PACKED = 1  # of a constant: its elements of less than a byte are packed

FEATURE_FLOAT64 = 1
FEATURE_RUNTIME_DIMS = 2
FEATURE_OBJECTS = 4
FEATURE_STATE = 8
_FEATURES_KNOWN = FEATURE_FLOAT64 | FEATURE_RUNTIME_DIMS | FEATURE_OBJECTS | FEATURE_STATE

_MAX_RANK = 32


def _has_doubles():
    tiny = 1e-10  # a variable, so that no compiler folds the sum in doubles of its own
    return 1.0 + tiny != 1.0


class TensorInfo:
    """A tensor's record: dtype (ONNX number), shape, storage class, offset and size in bytes.

    packed: bits of an element that is packed in the file, else 0; stored_nbytes: in the file;
    is_open: a run decides its shape, and nbytes are those of the most it can hold.
    """

    def __init__(self, dtype, storage, offset, stored_nbytes):
        self.dtype = dtype
        self.storage = storage
        self.offset = offset
        self.stored_nbytes = stored_nbytes
        self.nbytes = stored_nbytes
        self.packed = 0
        self.is_open = False
        self.shape = ()


class Reader:
    """The validated contents of a file.

    arena_nbytes; state_nbytes: of what lasts from run to run; tensors: [TensorInfo]; inputs,
    outputs: tensor ids; kernels: names; nodes(): the graph. Of the chunks only the `wanted` kinds
    are read (and their digests checked).
    """

    def __init__(self, source, verify=True, kind=KIND_MODEL, wanted=_ALWAYS):
        self.origin = source
        self._source = Source(source)
        self._wanted = wanted
        try:
            self._read(verify, kind)
        finally:
            self._source.close()

    def _read(self, verify, kind):
        nbytes = self._source.nbytes
        if nbytes < HEADER_NBYTES:
            fail("shorter than a header")
        head = struct.unpack_from("<8sHHIII", self._source.fetch(0, HEADER_NBYTES))
        self._check_lengths(head, nbytes)
        self._tables = self._source.fetch(0, head[5])
        if verify:
            self._check_digest()
        self._check_head(head, kind)
        words = tensor.view(self._tables, 0, "i", head[5] // 4)
        self._words = words
        self.arena_nbytes = words[14]
        counts = [words[i] for i in range(15, 22)]
        if self.arena_nbytes < 0 or min(counts) < 0:
            fail("a count is negative")
        n_chunks, n_tensors, n_dims, n_inputs, n_outputs, kernels_nbytes, graph_words = counts
        at = HEADER_NBYTES // 4
        end = at + n_chunks * _CHUNK_WORDS + n_tensors * 3 + n_dims + n_inputs + n_outputs
        # the graph ends where the first chunk starts, up to padding
        end += kernels_nbytes // 4 + graph_words
        self._runtime = (end, words[22], words[23]) if head[3] & FEATURE_RUNTIME_DIMS else None
        if self._runtime:
            if words[22] < 0 or words[23] < 0:
                fail("a count is negative")
            end += words[23]
        if kernels_nbytes % 4 or not 0 <= len(words) - end < 4:
            fail("tables do not fill their space")
        at = self._read_chunks(at, n_chunks, verify)
        at = self._read_tensors(at, n_tensors, n_dims)
        self.inputs = read_ids(words, at, n_inputs, n_tensors)
        self.outputs = read_ids(words, at + n_inputs, n_outputs, n_tensors)
        at += n_inputs + n_outputs
        self.kernels = self._read_kernels(at * 4, kernels_nbytes)
        at += kernels_nbytes // 4
        self._graph = Graph(self._tables, words, (at, at + graph_words, 0))
        self._graph.kernels, self._graph.n_tensors = self.kernels, n_tensors

    def _check_lengths(self, head, nbytes):
        magic, _, _, _, file_nbytes, tables_nbytes = head
        if magic != b"MPCONNXR":
            fail("it does not start with MPCONNXR")
        if file_nbytes != nbytes:
            fail("{} bytes long, should be {}".format(nbytes, file_nbytes))
        if not HEADER_NBYTES <= tables_nbytes <= nbytes or tables_nbytes % 16:
            fail("tables reach beyond the file")

    def _check_head(self, head, kind):
        _, version, file_kind, features, _, _ = head
        if version != VERSION:
            raise UnsupportedError(
                "file format {}, this package reads {}: convert it again".format(version, VERSION)
            )
        if file_kind != kind:
            fail("it holds " + ("tensors, no model" if file_kind else "a model, not tensors"))
        if features & ~_FEATURES_KNOWN:
            raise UnsupportedError("needs features {} of a newer mpconnxr".format(features))
        if features & FEATURE_FLOAT64 and not _has_doubles():
            raise UnsupportedError("needs float64, which this firmware does not have")
        self._has_objects = features & FEATURE_OBJECTS
        self._has_state = features & FEATURE_STATE

    def _check_digest(self):
        import hashlib

        digest = hashlib.sha256(memoryview(self._tables)[:DIGEST_AT])
        digest.update(memoryview(self._tables)[DIGEST_AT + 32 :])
        if digest.digest() != bytes(self._tables[DIGEST_AT : DIGEST_AT + 32]):
            fail("damaged (digest of the tables)")

    def _read_chunks(self, at, n, verify):
        self._chunks = chunks = []
        last = len(self._words) * 4
        for _ in range(n):
            kind, offset, nbytes = self._words[at], self._words[at + 1], self._words[at + 2]
            if offset != last + -last % 16 or nbytes < 0 or offset + nbytes > self._source.nbytes:
                fail("a chunk lies outside the file or not behind the one before")
            buffer = None
            if kind in self._wanted:
                buffer = self._load_chunk(offset, nbytes, at * 4 + 12 if verify else 0)
            chunks.append((kind, offset, nbytes, buffer))
            last = offset + nbytes
            at += _CHUNK_WORDS
        if last != self._source.nbytes:
            fail("bytes after the last chunk")
        return at

    def _load_chunk(self, offset, nbytes, digest_at):
        buffer = self._source.fetch(offset, nbytes)
        if digest_at:
            import hashlib

            if hashlib.sha256(buffer).digest() != bytes(self._tables[digest_at : digest_at + 32]):
                fail("damaged (digest of the data)")
        return buffer

    def _read_tensors(self, at, n, n_dims):
        words = self._words
        self.tensors = []
        self.state_nbytes = 0
        dims, dims_end = at + n * 3, at + n * 3 + n_dims
        for i in range(n):
            info = words[at + 2 * n + i]
            t = TensorInfo(info & 255, info >> 16 & 255, words[at + 2 * i], words[at + 2 * i + 1])
            rank = info >> 8 & 255
            if rank > _MAX_RANK or dims + rank > dims_end:
                fail("tensor {}: rank".format(i))
            t.shape = tuple([words[dims + k] for k in range(rank)])
            dims += rank
            self._check_tensor(i, t, info >> 24 & 255)
            self.tensors.append(t)
        if dims != dims_end:
            fail("dims without a tensor")
        return dims_end

    def _check_tensor(self, i, t, flags):
        code = tensor.code_of(t.dtype)
        if flags == FLAG_PACKED and t.storage == STORAGE_DATA:
            t.packed = tensor.packed_bits(t.dtype)
        if code is None and self._has_objects:
            from . import objects

            objects.check(t, i, flags)
            if t.storage == STORAGE_DATA:
                self._chunk_of(t, i)
            return
        t.is_open = flags == FLAG_OPEN and self._runtime is not None and not t.storage
        if code is None or flags and not t.packed and not t.is_open:
            raise UnsupportedError("tensor {}: dtype {} or flags {}".format(i, t.dtype, flags))
        nelem = 1
        for d in t.shape:
            if d < 0 and not t.is_open:
                fail("tensor {}: negative dimension".format(i))
            nelem *= d
        size = struct.calcsize(code)
        t.nbytes = nelem * size if not t.is_open else t.stored_nbytes
        stored_nbytes = (nelem * t.packed + 7) // 8 if t.packed else t.nbytes
        if t.stored_nbytes != stored_nbytes or min(t.offset, t.nbytes) < 0 or t.offset % size:
            fail("tensor {}: size or alignment".format(i))
        if t.storage == STORAGE_ARENA:
            if t.offset + t.nbytes > self.arena_nbytes:
                fail("tensor {} lies outside the arena".format(i))
        elif t.storage == STORAGE_DATA:
            self._chunk_of(t, i)
        elif t.storage == STORAGE_STATE and self._has_state:
            self.state_nbytes = max(self.state_nbytes, t.offset + t.nbytes)
        else:
            fail("tensor {}: storage class".format(i))

    def _chunk_of(self, t, i):
        for chunk in self._chunks:
            kind, first, nbytes, _ = chunk
            inside = first <= t.offset and t.offset + t.stored_nbytes <= first + nbytes
            if inside and kind == CHUNK_DATA:
                return chunk
        fail("tensor {} lies outside the data".format(i))

    def _read_kernels(self, at, nbytes):
        names = bytes(self._tables[at : at + nbytes]).rstrip(b"\0").split(b"\0")
        if names == [b""]:
            return []
        for name in names:
            if not name:
                fail("a kernel without a name")
            for c in name:
                # the name becomes part of a module path: lower case, digits, underscore only
                if not (97 <= c <= 122 or 48 <= c <= 57 or c == 95):
                    fail("kernel name")
        return [str(name, "ascii") for name in names]

    def buffer(self, t, arena, state=None):
        """(buffer, offset) in which the bytes of a tensor lie."""
        if t.storage == STORAGE_ARENA:
            return arena, t.offset
        if t.storage == STORAGE_STATE:
            return state, t.offset
        _, offset, _, buffer = self._chunk_of(t, -1)
        if t.packed:
            from .unpack import unpacked

            return unpacked(buffer, t.offset - offset, t.dtype, t.nbytes), 0
        return buffer, t.offset - offset

    def runtime_dims(self):
        """None, or (words that describe the run-time dims, number of dims)."""
        if self._runtime is None:
            return None
        first, n_dims, n_words = self._runtime
        return self._words[first : first + n_words], n_dims

    def nodes(self, body=None):
        """The nodes of the graph, or of one of a node's bodies: see Graph.nodes."""
        return self._graph.nodes(body)

    def chunk(self, kind):
        """Bytes of the first chunk of a wanted kind; None if the file has none."""
        for k, _, _, buffer in self._chunks:
            if k == kind:
                return buffer
        return None

    def io_names(self):
        """Names of inputs and outputs, in order; 'input_0', ... where the file was stripped."""
        n_in, n_out = len(self.inputs), len(self.outputs)
        names = bytes(self.chunk(CHUNK_NAMES) or b"").split(b"\0")
        if len(names) == n_in + n_out + 1:
            try:
                return [str(name, "utf-8") for name in names[:-1]]
            except UnicodeError:
                pass  # names are for people: a damaged one is no reason to refuse unverified files
        return ["input_%d" % i for i in range(n_in)] + ["output_%d" % i for i in range(n_out)]
