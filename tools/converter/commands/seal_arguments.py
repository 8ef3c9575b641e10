"""Seal model files and print seals: options `--sign`, `--hmac` and `--counter`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from tools import keys

from ..errors import UsageError

if TYPE_CHECKING:
    from tools import seal


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options for seals to a parser."""
    group = parser.add_argument_group("seal (docs/security.md)")
    group.add_argument("--sign", type=Path, metavar="KEY.pem", help="sign with this Ed25519 key")
    group.add_argument(
        "--hmac", type=Path, metavar="FILE", help="seal with a secret that the boards share"
    )
    group.add_argument("--counter", type=int, metavar="N", help="release number, increasing")


def request_from(args: argparse.Namespace) -> seal.Request | None:
    """Return the seal that the arguments request, None if they request none.

    Raises:
        UsageError: if the arguments contradict each other.
        OSError: if a key cannot be read.
    """
    from tools import seal

    if not (args.sign or args.hmac):
        if args.counter is not None:
            raise UsageError("--counter needs --sign or --hmac: otherwise anyone could change it")
        return None
    private = keys.private_key(args.sign) if args.sign else None
    secret = keys.secret(args.hmac) if args.hmac else None
    return seal.Request(seal.Keys(private, secret), seal.checked_counter(args.counter))


def write_sealed(args: argparse.Namespace) -> bytes:
    """Seal args.file into args.output, and return the contents.

    Raises:
        ConvertError: if the file cannot be sealed.
        OSError: if a file cannot be read or written.
    """
    from tools import seal

    request = request_from(args)
    if request is None:
        raise UsageError("sign: --sign KEY.pem or --hmac FILE is needed")
    output = args.output or args.file
    if any(key and output.exists() and output.samefile(key) for key in (args.sign, args.hmac)):
        raise UsageError(f"{output}: this is a key, not a place for the model")
    data = seal.sealed(args.file.read_bytes(), request.keys, request.counter)
    _replace(output, data)
    return data


def print_sealed(data: bytes) -> None:
    """Print the digest of a file's contents, and its seal."""
    from tools import seal

    print(f"digest   {seal.digest(data).hex()}")
    print_seal(seal.seal_of(data))


def print_seal(stored: seal.Seal | None) -> None:
    """Print counter, key and HMAC of a seal, nothing without a seal."""
    from tools import seal

    if stored is None:
        return
    by = f"key {seal.fingerprint(stored.public_key)}" if stored.is_signed else "not signed"
    mac = "with" if any(stored.hmac) else "without"
    print(f"seal     counter {stored.counter}, {by}, {mac} HMAC")


def print_verified(path: Path, public: Path) -> None:
    """Print that a file is signed by the owner of a key.

    Raises:
        SealError: if it is not.
    """
    from tools import seal

    data = path.read_bytes()
    seal.verify(data, keys.public_key(public))
    print_sealed(data)
    print(f"the signature is right: {path} is what the owner of {public} signed")


def _replace(path, data):
    """Write a file so that a crash leaves the old one."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
