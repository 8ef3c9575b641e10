"""Read keys for seals from files.

    openssl genpkey -algorithm ed25519 -out key.pem
    openssl pkey -in key.pem -pubout -out pub.pem
    openssl rand -out secret.key 32

PEM files come from these commands or any other tool; a secret consists of the bytes of its file.
Functions raise UsageError if a file is not such a key, and OSError if it cannot be read.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tools.errors import UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

MIN_SECRET_NBYTES = 16  # bytes; RFC 2104 advises as many as the hash has, 32
_MAX = 65536  # bytes of a key's file


def private_key(path: Path) -> Ed25519PrivateKey:
    """Return the Ed25519 private key in a PEM file without a password."""
    serialization, ed25519 = _cryptography()
    contents = _contents(path)
    try:
        key = serialization.load_pem_private_key(contents, password=None)
    except TypeError:
        raise UsageError(
            f"{path}: the key has a password: openssl pkey -in {path} -out FILE removes it"
        ) from None
    except Exception:  # cryptography raises various errors for invalid keys
        key = None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise UsageError(
            f"{path}: an Ed25519 private key in PEM is needed: openssl genpkey -algorithm ed25519"
        )
    return key


def public_key(path: Path) -> bytes:
    """Return the 32 raw bytes of the Ed25519 public key in a PEM file."""
    serialization, ed25519 = _cryptography()
    contents = _contents(path)
    try:
        key = serialization.load_pem_public_key(contents)
    except Exception:  # as above
        key = None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise UsageError(
            f"{path}: an Ed25519 public key in PEM is needed: openssl pkey -in KEY -pubout"
        )
    return key.public_bytes_raw()


def is_signature(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Return True if the owner of a raw Ed25519 public key signed the message."""
    _, ed25519 = _cryptography()
    from cryptography.exceptions import InvalidSignature

    try:
        ed25519.Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def secret(path: Path) -> bytes:
    """Return the bytes of a file as the key of an HMAC."""
    contents = _contents(path)
    if len(contents) < MIN_SECRET_NBYTES:
        raise UsageError(
            f"{path}: a secret has at least {MIN_SECRET_NBYTES} bytes: openssl rand -out FILE 32"
        )
    return contents


def _contents(path):
    with path.open("rb") as file:
        contents = file.read(_MAX + 1)
    if len(contents) > _MAX:
        raise UsageError(f"{path}: too long for a key")
    return contents


def _cryptography():
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise UsageError(
            "signatures need the package cryptography: pip install cryptography"
        ) from None
    return serialization, ed25519
