"""Changes a model file in ways that know what its parts mean.

A change edits a File and says in words what it did, or returns None where the file has nothing of
its kind. Most changes leave a file that loads unless the device checks what they break, so that
runs are reached. Digests are always right.
"""

from __future__ import annotations

import struct
from random import Random

from tools.format import layout

from ..modelfile import File
from .chunks import chunk, contents, reads
from .extents import extents
from .graph import bodies, borders, features, kernel, operands_moved, steps
from .parameters import parameter, parameters_moved
from .tensors import arena, dims, dtype, overlap, place, same_tensor, storage

# How often each change is made.
_SHARES = {
    overlap: 24,
    parameter: 26,
    contents: 12,
    same_tensor: 6,
    place: 6,
    dims: 7,
    dtype: 4,
    storage: 2,
    arena: 2,
    chunk: 4,
    reads: 2,
    parameters_moved: 2,
    steps: 2,
    operands_moved: 2,
    kernel: 1,
    bodies: 3,
    borders: 1,
    extents: 8,
    features: 0.3,
}
_CHANGES, _WEIGHTS = list(_SHARES), list(_SHARES.values())


def mutated(file: File, rng: Random) -> tuple[bytes, list[str]]:
    """The bytes of a damaged copy, and what was changed."""
    file, done = file.copy(), []
    wanted = rng.choices((1, 2, 3, 4), (50, 25, 15, 10))[0]
    for _ in range(20):
        if len(done) == wanted:
            break
        (change,) = rng.choices(_CHANGES, _WEIGHTS)
        said = change(file, rng)
        if said:
            done.append(said)
    data = file.data()
    if rng.random() < 0.03:
        data, said = _raw(data, rng)
        done.append(said)
    return data, done


def _raw(data, rng):
    """Bits of the tables, without a look at what they mean; a right digest all the same."""
    n, found = _tables_nbytes(data), bytearray(data)
    said = []
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.choice((rng.randrange(12, 24), rng.randrange(56, n), rng.randrange(56, n)))
        found[at] ^= 1 << rng.randrange(8)
        said.append(str(at))
    n = _tables_nbytes(found)
    return layout.signed(bytes(found[:n])) + found[n:], f"bits of bytes {', '.join(said)}"


def _tables_nbytes(data):
    return struct.unpack_from(layout.HEADER, data)[5]
