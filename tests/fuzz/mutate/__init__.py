"""Change a model file with knowledge of what its parts mean.

A change edits a File and returns its description, or None if the file has nothing to change. Most
changed files load unless the device checks what is broken, so that runs are reached. Digests are
always right.
"""

from __future__ import annotations

import struct
from random import Random

from tools.format import layout

from ..modelfile import File
from .chunks import chunk, contents, reads
from .extents import extents
from .graph import bodies, features, interface, kernel, operands_moved, steps
from .parameters import parameter, parameters_moved
from .tensors import arena, dims, dtype, overlap, place, replaced_operand, storage

# How often each change is made.
_SHARES = {
    overlap: 24,
    parameter: 26,
    contents: 12,
    replaced_operand: 6,
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
    interface: 1,
    extents: 8,
    features: 0.3,
}
_CHANGES, _WEIGHTS = list(_SHARES), list(_SHARES.values())


def mutated(file: File, rng: Random) -> tuple[bytes, list[str]]:
    """Return the bytes of a damaged copy, and descriptions of the changes."""
    file, changes = file.copy(), []
    n_changes = rng.choices((1, 2, 3, 4), (50, 25, 15, 10))[0]
    for _ in range(20):
        if len(changes) == n_changes:
            break
        (change,) = rng.choices(_CHANGES, _WEIGHTS)
        description = change(file, rng)
        if description:
            changes.append(description)
    data = file.data()
    if rng.random() < 0.03:
        data, description = _raw(data, rng)
        changes.append(description)
    return data, changes


def _raw(data, rng):
    """Flip bits of the tables, whatever they mean, and make the digest right."""
    n, damaged = _tables_nbytes(data), bytearray(data)
    flipped = []
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.choice((rng.randrange(12, 24), rng.randrange(56, n), rng.randrange(56, n)))
        damaged[at] ^= 1 << rng.randrange(8)
        flipped.append(str(at))
    n = _tables_nbytes(damaged)
    return layout.signed(bytes(damaged[:n])) + damaged[n:], f"bits of bytes {', '.join(flipped)}"


def _tables_nbytes(data):
    return struct.unpack_from(layout.HEADER, data)[5]
