"""Read a model file: docs/format.md in code. Nothing in the file is trusted.

This module and records prove what later code takes for granted: each offset and length lies inside
the file, each tensor inside its chunk or the arena and aligned for its dtype, each index inside
its table. A kernel checks the meaning of its parameters.
"""

import struct

from ..errors import UnsupportedError, check_digest, fail
from .graph import NodeTable, read_ids
from .numbers import Numbers
from .records import (  # noqa: F401 (who takes STORAGE_* from here leaves records to this module)
    STORAGE_ARENA,
    STORAGE_DATA,
    STORAGE_STATE,
    Chunk,
    Records,
)
from .source import Source, allocate

MAGIC = b"MPCONNXR"
VERSION = 10
HEADER = "<8sHHIII32xII"
HEADER_NBYTES = 64
DIGEST_AT = 24  # the 32 bytes of the header that hold the digest of header and tables

KIND_MODEL = 0
KIND_TENSORS = 1

CHUNK_DATA = 0
CHUNK_NAMES = 1
CHUNK_GOLDEN = 2
CHUNK_SOURCE = 3
CHUNK_NODES = 4
CHUNK_GRIDS = 5
CHUNK_IMAGES = 6
CHUNK_STREAMED = 7
CHUNK_HALVES = 8
CHUNK_LABELS = 10
STREAMED = (CHUNK_STREAMED, CHUNK_HALVES)
_ALWAYS = (CHUNK_DATA, CHUNK_NAMES, CHUNK_GRIDS, CHUNK_IMAGES)

FEATURE_FLOAT64 = 1
FEATURE_RUNTIME_DIMS = 2
FEATURE_OBJECTS = 4
FEATURE_STATE = 8
_FEATURES_KNOWN = 15


def _has_doubles():
    tiny = 1e-10  # a variable, so that no compiler folds the sum in doubles of its own
    return 1.0 + tiny != 1.0


class Reader:
    """The validated contents of a file.

    Attributes:
        origin: the source, as for mpconnxr.load.
        memory: view of the file if it is in memory, else None.
        arena_nbytes: size of the arena, including streamed weights if they are streamed.
        streamed_nbytes: size of the arena if weights are streamed.
        state_nbytes: size of the tensors that last from run to run.
        chunks: list of Chunk.
        tensors: Records.
        inputs, outputs: tensor ids.
        kernels: names.
        stream: a Stream if weights are not in memory, else None.
    """

    def __init__(self, source, verify=True, kind=KIND_MODEL, extra=(), stream=False):
        """Read and validate the tables, and fetch the chunks that a model needs.

        Args:
            source: as for mpconnxr.load.
            verify: check digests.
            kind: KIND_MODEL or KIND_TENSORS.
            extra: further kinds of chunks to read.
            stream: leave weights in the file if that is not in memory.
        """
        self.origin = source
        self.stream = None
        self._source = Source(source)
        self.memory = self._source.memory
        self._kinds = _ALWAYS + extra
        try:
            self._read(verify, kind, stream and self._source.memory is None)
        except BaseException:
            self._source.close()
            raise
        if self.stream is None:
            self._source.close()

    def _read(self, verify, kind, stream):
        """Read the file and check it. Raises ModelError."""
        nbytes = self._source.nbytes
        if nbytes < HEADER_NBYTES:
            fail("shorter than a header")
        head = struct.unpack_from(HEADER, self._source.fetch(0, HEADER_NBYTES))
        self._check_lengths(head, nbytes)
        self.tables_nbytes = head[5]
        self._tables = self._source.fetch(0, self.tables_nbytes)
        if verify:
            self._check_digest()
        self._check_head(head, kind)
        n_chunks, names_nbytes = head[6:]
        names_at = HEADER_NBYTES + 32 * n_chunks
        at = names_at + names_nbytes
        if at > self.tables_nbytes:
            fail("tables end too early")
        self.kernels = self._read_kernels(names_at, names_nbytes)
        numbers = Numbers(self._tables, at, self.tables_nbytes)
        self._read_numbers(numbers, head[3], n_chunks)
        if stream and any([c.kind in STREAMED for c in self.chunks]):
            from ..stream import Stream

            self.stream = Stream(self._source, self.chunks, self._tables if verify else None)
            self.arena_nbytes = self.streamed_nbytes
        self._fetch_chunks(verify)

    def _read_numbers(self, numbers, features, n_chunks):
        """Read the tables of chunks, tensors, inputs, outputs and nodes from the numbers."""
        self.arena_nbytes, self.streamed_nbytes = numbers.size(), numbers.size()
        if self.streamed_nbytes < self.arena_nbytes:
            fail("the streamed arena is smaller than the other")
        self._read_chunks(numbers, n_chunks)
        self.tensors = records = Records(self)
        records.has_dims = features & FEATURE_RUNTIME_DIMS
        records.has_objects = features & FEATURE_OBJECTS
        records.has_state = features & FEATURE_STATE
        records.read(numbers)
        self.state_nbytes = records.state_nbytes
        n_tensors = len(self.tensors)
        self.inputs = read_ids(numbers, numbers.count(), n_tensors)
        self.outputs = read_ids(numbers, numbers.count(), n_tensors)
        self._runtime = None
        if records.has_dims:
            n_words = numbers.count()
            self._runtime = (numbers.take(n_words), numbers.count())
        self._graph = NodeTable(numbers, self.kernels, n_tensors)
        numbers.check_padding()

    def _check_lengths(self, head, nbytes):
        magic, _, _, _, file_nbytes, tables_nbytes, _, _ = head
        if magic != MAGIC:
            fail("it does not start with MPCONNXR")
        if file_nbytes != nbytes:
            fail("{} bytes long, should be {}".format(nbytes, file_nbytes))
        if not HEADER_NBYTES <= tables_nbytes <= nbytes or tables_nbytes % 16:
            fail("tables reach beyond the file")

    def _check_head(self, head, kind):
        _, version, file_kind, features = head[:4]
        if version != VERSION:
            raise UnsupportedError(
                "file format {}, this package reads {}: convert it again".format(version, VERSION)
            )
        if file_kind != kind:
            fail("it has " + ("tensors, not a model" if file_kind else "a model, not tensors"))
        if features & ~_FEATURES_KNOWN:
            raise UnsupportedError("needs features {} of a newer mpconnxr".format(features))
        if features & FEATURE_FLOAT64 and not _has_doubles():
            raise UnsupportedError("needs float64, which this firmware does not have")

    def _check_digest(self):
        import hashlib

        digest = hashlib.sha256(memoryview(self._tables)[:DIGEST_AT])
        digest.update(memoryview(self._tables)[DIGEST_AT + 32 :])
        if digest.digest() != bytes(self._tables[DIGEST_AT : DIGEST_AT + 32]):
            fail("damaged (digest of the tables)")

    def _read_kernels(self, at, nbytes):
        names = bytes(self._tables[at : at + nbytes]).split(b"\0")
        if names.pop():
            fail("a kernel's name does not end")
        for name in names:
            if not name:
                fail("a kernel without a name")
            for c in name:
                # the name becomes part of a module path: lower case, digits, underscore only
                if not (97 <= c <= 122 or 48 <= c <= 57 or c == 95):
                    fail("kernel name")
        return [str(name, "ascii") for name in names]

    def _read_chunks(self, numbers, n):
        """Read the table of n chunks, and check that they lie in the file."""
        self.chunks, self._last_chunk = [], None  # the last one that data_chunk gave
        offset = self.tables_nbytes
        for i in range(n):
            kind, nbytes = numbers.size(), numbers.size()
            chunk = Chunk(kind, offset + -offset % 16, nbytes, HEADER_NBYTES + 32 * i)
            offset = chunk.offset + nbytes
            if offset > self._source.nbytes:
                fail("a chunk lies outside the file")
            if kind in STREAMED:
                chunk.place = numbers.size()
                chunk.widens = 2 if kind == CHUNK_HALVES else 1
                end = chunk.place + nbytes * chunk.widens
                if chunk.place % 8 or nbytes % chunk.widens or end > self.streamed_nbytes:
                    fail("a streamed chunk lies outside the arena")
            self.chunks.append(chunk)
        if offset != self._source.nbytes:
            fail("bytes after the last chunk")

    def data_chunk(self, offset, nbytes):
        """Return the chunk of data that contains these bytes of the file, or None."""
        if not self._last_chunk or not self._last_chunk.has(offset, nbytes):
            self._last_chunk = self._find(offset, nbytes)
        return self._last_chunk

    def _find(self, offset, nbytes):
        for c in self.chunks:
            if c.has(offset, nbytes) and (c.kind == CHUNK_DATA or c.kind in STREAMED):
                return c

    def _fetch_chunks(self, verify):
        for c in self.chunks:
            if c.kind in self._kinds or c.kind in STREAMED and self.stream is None:
                c.buffer = self._source.fetch(c.offset, c.nbytes)
                if verify:
                    check_digest(c.digest(self._tables), c.buffer)
                if c.widens > 1:
                    from .widen import widened

                    c.buffer = widened(c.buffer, allocate(2 * c.nbytes))

    def buffer(self, t, arena, state=None):
        """Return (buffer, offset) of the bytes of a tensor."""
        if t.storage == STORAGE_ARENA:
            return arena, t.offset
        if t.storage == STORAGE_STATE:
            return state, t.offset
        within = (t.offset - t.chunk.offset) * t.chunk.widens
        if t.packed:
            from .unpack import unpacked

            return unpacked(t.chunk.buffer, within, t.dtype, t.nbytes), 0
        if t.chunk.buffer is None:
            return arena, t.chunk.place + within
        return t.chunk.buffer, within

    def parts(self):
        """Return (buffer, offset in self.memory; None for a copy) of the data in memory."""
        result = [c for c in self.chunks if c.buffer is not None and c.nbytes]
        return [(c.buffer, None if type(c.buffer) is bytearray else c.offset) for c in result]

    def runtime_dims(self):
        """Return (words that describe the run-time dims, number of dims), or None."""
        return self._runtime

    def nodes(self, body=None):
        """Yield the nodes of the graph, or of one of a node's bodies: see NodeTable.nodes."""
        return self._graph.nodes(body)

    def chunk(self, kind):
        """Return the bytes of the first chunk of a kind, one of `extra`; None without any."""
        for c in self.chunks:
            if c.kind == kind:
                return c.buffer
        return None

    def io_names(self):
        """Return the names of inputs and outputs; 'input_0', ... if the file was stripped."""
        n_in, n_out = len(self.inputs), len(self.outputs)
        names = bytes(self.chunk(CHUNK_NAMES) or b"").split(b"\0")
        if len(names) == n_in + n_out + 1:
            try:
                return [str(name, "utf-8") for name in names[:-1]]
            except UnicodeError:
                pass  # names are for people: a damaged one is no reason to refuse unverified files
        return ["input_%d" % i for i in range(n_in)] + ["output_%d" % i for i in range(n_out)]
