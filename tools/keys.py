"""Reads the keys of seals from files.

    openssl genpkey -algorithm ed25519 -out key.pem
    openssl pkey -in key.pem -pubout -out pub.pem
    openssl rand -out secret.key 32

PEM files come from these commands or any other tool; a secret is the bytes of its file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tools.errors import UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

LEAST_SECRET = 16  # bytes; RFC 2104 advises as many as the hash has, 32
_MOST = 65536  # bytes of a file with a key


def private_key(path: Path) -> Ed25519PrivateKey:
    """The Ed25519 private key in a PEM file without a password. Raises UsageError, OSError."""
    serialization, ed25519 = _cryptography()
    contents = _contents(path)
    try:
        key = serialization.load_pem_private_key(contents, password=None)
    except TypeError:
        raise UsageError(
            f"{path}: the key has a password: openssl pkey -in {path} -out FILE removes it"
        ) from None
    except Exception:  # cryptography raises several kinds for what is not a key that it knows
        key = None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise UsageError(
            f"{path}: an Ed25519 private key in PEM is needed: openssl genpkey -algorithm ed25519"
        )
    return key


def public_key(path: Path) -> bytes:
    """The 32 raw bytes of the Ed25519 public key in a PEM file. Raises UsageError, OSError."""
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
    """True if the owner of a raw Ed25519 public key signed the message. Raises UsageError."""
    _, ed25519 = _cryptography()
    from cryptography.exceptions import InvalidSignature

    try:
        ed25519.Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def secret(path: Path) -> bytes:
    """The bytes of a file as the key of an HMAC. Raises UsageError, OSError."""
    contents = _contents(path)
    if len(contents) < LEAST_SECRET:
        raise UsageError(
            f"{path}: a secret has at least {LEAST_SECRET} bytes: openssl rand -out FILE 32"
        )
    return contents


def _contents(path):
    with path.open("rb") as file:
        contents = file.read(_MOST + 1)
    if len(contents) > _MOST:
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
