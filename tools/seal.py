"""The seal of a model file: who made it, and which release it is (docs/format.md#seal).

    python -m tools.converter sign model.bin --sign KEY.pem --counter 3
    tools.seal.verify(Path("model.bin").read_bytes(), public_key)

A seal is the file's last chunk. It signs the header's digest, which covers the tables, which have
the digests of all other chunks.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools import keys
from tools.errors import ConvertError, UsageError
from tools.format import last_chunk, layout, reader

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_PREFIX = b"mpconnxr model\0"
_FIELDS = struct.Struct("<I32s32s64s")
_NONE = bytes(32)
# Prefix of an Ed25519 key in a SubjectPublicKeyInfo (RFC 8410).
_SPKI = bytes.fromhex("302a300506032b6570032100")


class SealError(ConvertError):
    """The file's seal is missing or wrong."""


@dataclass(frozen=True)
class Seal:
    """Contents of a seal; fields of keys that were not used are zeros.

    Attributes:
        counter: number that grows from release to release, 4 bytes.
        hmac: HMAC-SHA256 of the message, 32 bytes.
        public_key: raw Ed25519 key, 32 bytes.
        signature: raw Ed25519 signature, 64 bytes.
    """

    counter: int
    hmac: bytes
    public_key: bytes
    signature: bytes

    @property
    def is_signed(self) -> bool:
        """True if the file has a signature."""
        return self.public_key != _NONE


@dataclass(frozen=True)
class Keys:
    """Keys to make seals with.

    Attributes:
        private: key of the signature.
        hmac: key of the HMAC, any bytes.
    """

    private: Ed25519PrivateKey | None = None
    hmac: bytes | None = None


@dataclass(frozen=True)
class Request:
    """A seal to be made.

    Attributes:
        keys: keys to seal with.
        counter: its counter; None for the counter of the file's earlier seal, or else 0.
    """

    keys: Keys
    counter: int | None = None


def digest(data: bytes) -> bytes:
    """Return the header's SHA-256, by which a program can pin the file."""
    return data[layout.DIGEST_AT : layout.DIGEST_AT + layout.DIGEST_NBYTES]


def fingerprint(public_key: bytes) -> str:
    """Return the SHA-256 of a raw public key's DER form.

    `openssl pkey -pubin -outform der` writes that form.
    """
    return hashlib.sha256(_SPKI + public_key).hexdigest()


def seal_of(data: bytes) -> Seal | None:
    """Return the seal in a file, unverified; None if it has none."""
    return _seal_in(reader.read(data))


def sealed(data: bytes, signer: Keys, counter: int | None = None) -> bytes:
    """Return a model file with a seal, which replaces an earlier one.

    Args:
        data: the file.
        signer: keys to seal with.
        counter: counter of the seal; None for the counter of the earlier seal, or else 0.

    Raises:
        ConvertError: if it is not a valid model file.
    """
    stored = _intact(data)
    earlier = _seal_in(stored)
    if counter is None:
        counter = earlier.counter if earlier else 0
    checked_counter(counter)
    unsigned = last_chunk.added(unsealed(data), layout.CHUNK_SEAL, bytes(_FIELDS.size))
    return unsigned[: -_FIELDS.size] + _FIELDS.pack(*_fields(digest(unsigned), signer, counter))


def checked_counter(counter: int | None) -> int | None:
    """Return a counter; raise UsageError if it does not fit into its field."""
    if counter is not None and not 0 <= counter < 1 << 32:
        raise UsageError(f"counter {counter}: a number from 0 to 4294967295 is needed")
    return counter


def unsealed(data: bytes) -> bytes:
    """Return a file without its seal."""
    return last_chunk.removed(data) if seal_of(data) else data


def verify(data: bytes, public_key: bytes) -> Seal:
    """Return the seal of a file that the owner of a key signed, and that is unchanged since.

    Args:
        data: the whole file.
        public_key: 32 raw bytes, which keys.public_key reads from a PEM file.

    Raises:
        SealError: if the signature is missing or wrong.
        ConvertError: if it is not a model file.
    """
    seal = _seal_in(_intact(data))
    if seal is None or not seal.is_signed:
        raise SealError("the file is not signed")
    if seal.public_key != public_key:
        raise SealError(f"the file is signed by another key, {fingerprint(seal.public_key)}")
    if not keys.is_signature(public_key, seal.signature, _message(digest(data), seal.counter)):
        raise SealError("the file's signature is wrong: it was changed") from None
    return seal


def _fields(digest, signer, counter):
    message = _message(digest, counter)
    mac = _NONE if signer.hmac is None else hmac.digest(signer.hmac, message, "sha256")
    if signer.private is None:
        return counter, mac, _NONE, bytes(64)
    public = signer.private.public_key().public_bytes_raw()
    return counter, mac, public, signer.private.sign(message)


def _message(digest, counter):
    return _PREFIX + struct.pack("<I", counter) + digest


def _intact(data):
    """Parse a model file with right digests; raise SealError for others."""
    stored = reader.read(data)
    if not (stored.intact and all(chunk.intact for chunk in stored.chunks)):
        raise SealError("the file is damaged: its digests are wrong")
    if stored.kind != layout.KIND_MODEL:
        raise SealError("the file has tensors, not a model")
    return stored


def _seal_in(stored):
    last = stored.chunks[-1] if stored.chunks else None
    if last is None or last.kind != layout.CHUNK_SEAL or len(last.data) != _FIELDS.size:
        return None
    return Seal(*_FIELDS.unpack(last.data))
