"""Check where a model comes from: load(sha256=...), load(key=...), load(counter=...).

Imported only by such a load. docs/security.md has what each of them promises, docs/format.md where
a seal lies. A file is refused before anything but its header is interpreted.
"""

import hashlib
import os
import struct

from ..errors import InputError, ModelError, fail
from .reader import DIGEST_AT, HEADER, Reader

_SEAL_NBYTES = 132  # of the file, at its end
_SEAL = "<I32s"  # counter and HMAC: what a board reads of it
_MODEL = b"mpconnxr model\0"
_COUNTER = b"mpconnxr counter\0"
_BLOCK = 64  # bytes that SHA-256 takes at a time
_LEAST_KEY = 16  # bytes
_PIECE = 512  # bytes
_BYTES = (bytes, bytearray, memoryview)


class Origin:
    """The origin that a program demands of a model."""

    def __init__(self, verify, sha256, key, counter):
        """Check these arguments of mpconnxr.load. Raises InputError if they prove nothing."""
        if not verify:
            raise InputError("sha256, key and counter prove nothing with verify=False")
        if counter is not None and key is None:
            raise InputError("counter needs key: else anyone can write another one into a file")
        if counter is not None and not isinstance(counter, str):
            raise InputError("counter: a path is needed")
        self._digest = None if sha256 is None else _digest_of(sha256)
        self._key = None if key is None else _key_of(key)
        self._path = counter
        self._release = self._held = 0

    def reader(self, source, verify, stream):
        """Return a Reader of the file. Raises ModelError if the file has another origin."""
        self._reader = _Reader(self, source, stream)
        return self._reader

    def check(self, digest, end):
        """Raise ModelError unless the file has this origin.

        digest: the header's digest, which was checked; end: the last bytes of the file.
        """
        if self._digest is not None and _differ(self._digest, digest):
            raise ModelError("not the model that sha256 names")
        if self._key is None:
            return
        if len(end) < _SEAL_NBYTES:
            raise ModelError("not sealed with this key")
        release, mac = struct.unpack_from(_SEAL, end)
        message = _MODEL + struct.pack("<I", release) + digest
        if _differ(mac, hmac_sha256(self._key, message)):
            raise ModelError("not sealed with this key")
        if self._path is not None:
            self._release, self._held = release, _read(self._path, self._key)
            if release < self._held:
                raise ModelError(
                    "release {} of the model; {} counts {}".format(release, self._path, self._held)
                )

    def settle(self):
        """Count the release of a loaded model, after a check of its streamed weights."""
        if self._release > self._held:
            self._reader.check_streamed()
            try:
                _write(self._path, self._key, self._release, self._held)
            except OSError as e:
                raise OSError(e.errno, self._path)


class _Reader(Reader):
    def __init__(self, origin, source, stream):
        self._expected = origin
        Reader.__init__(self, source, stream=stream)

    def _check_digest(self):
        Reader._check_digest(self)
        n = min(self._source.nbytes, _SEAL_NBYTES)
        end = self._source.fetch(self._source.nbytes - n, n)
        self._expected.check(bytes(self._tables[DIGEST_AT : DIGEST_AT + 32]), end)

    def _check_head(self, head, kind):
        # it was read before the tables, in which it is once more, and only there has a digest
        if struct.unpack_from(HEADER, self._tables) != head:
            fail("it changes while it is read")
        Reader._check_head(self, head, kind)

    def check_streamed(self):
        """Check the digests of streamed weights, which otherwise the first run checks."""
        for c in self.chunks:
            if self.stream and c.place is not None:
                result = hashlib.sha256()
                for at in range(c.offset, c.offset + c.nbytes, _PIECE):
                    result.update(self._source.fetch(at, min(_PIECE, c.offset + c.nbytes - at)))
                if result.digest() != c.digest(self._tables):
                    fail("damaged (digest of the data)")


def _digest_of(x):
    """Return a SHA-256, 32 bytes, from bytes or hexadecimal digits. Raises InputError."""
    if isinstance(x, str):
        from binascii import unhexlify

        try:
            x = unhexlify(x)
        except ValueError:
            x = b""
    elif not isinstance(x, _BYTES):
        raise InputError("sha256: 64 hexadecimal digits or 32 bytes are needed")
    if len(x) != 32:
        raise InputError("sha256: 64 hexadecimal digits or 32 bytes are needed")
    return bytes(x)


def _key_of(x):
    if not isinstance(x, _BYTES):
        raise InputError("key: bytes are needed")
    if len(x) < _LEAST_KEY:
        raise InputError("key: at least {} bytes are needed".format(_LEAST_KEY))
    return bytes(x)


def hmac_sha256(key, message):
    """Return the HMAC (RFC 2104) with SHA-256, 32 bytes, for which MicroPython has no module."""
    if len(key) > _BLOCK:
        key = hashlib.sha256(key).digest()
    inner = hashlib.sha256(_padded(key, 0x36))
    inner.update(message)
    outer = hashlib.sha256(_padded(key, 0x5C))
    outer.update(inner.digest())
    return outer.digest()


def _padded(key, pad):
    block = bytearray([pad] * _BLOCK)
    for i in range(len(key)):
        block[i] ^= key[i]
    return block


def _differ(a, b):
    """Return True if two values of 32 bytes differ, in a time that does not depend on them."""
    bits = 0
    for i in range(32):
        bits |= a[i] ^ b[i]
    return bits != 0


# A counter is written to PATH.new, which then becomes PATH: at each moment one of the two is
# whole. FAT renames no file onto another: there PATH is removed first, and PATH.new counts until
# it is renamed. The HMAC distinguishes a truncated file from a whole one, and keeps those without
# the key from writing a count that no release reaches.


def _read(path, key):
    """Return the count of a counter's file; 0 without a file. Raises ModelError for damage."""
    held, coming = _record(path, key), _record(path + ".new", key)
    if held is None and not coming:
        raise ModelError("{} is damaged, or was written with another key".format(path))
    return max(held or 0, coming or 0)


def _record(path, key):
    """Return the count in one file of a counter; 0 without the file, None if it is damaged."""
    try:
        with open(path, "rb") as f:
            data = f.read(37)
    except OSError:
        return 0
    if len(data) != 36 or _differ(data[4:], hmac_sha256(key, _COUNTER + data[:4])):
        return None
    return struct.unpack("<I", data[:4])[0]


def _write(path, key, n, held):
    """Write a counter's file so that a power cut leaves a count that is valid.

    Args:
        path: path of the file.
        key: key of the HMAC.
        n: the new count.
        held: the count so far, 0 without a file.
    """
    if held and _record(path, key) != held:  # PATH.new alone has it: the power was cut
        _take_over(path)
    count = struct.pack("<I", n)
    with open(path + ".new", "wb") as f:
        f.write(count + hmac_sha256(key, _COUNTER + count))
    _take_over(path)


def _take_over(path):
    """Replace the counter's file by PATH.new."""
    try:
        os.rename(path + ".new", path)
    except OSError:
        os.remove(path)
        os.rename(path + ".new", path)
