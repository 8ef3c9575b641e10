"""The scales and zero points of inputs and outputs, from a model's file.

Chunk 5 holds, for each input and then each output, a float32 scale (0: none) and an int32
zero_point: an integer q stands for (q - zero_point) * scale.
"""

import struct

from ..errors import ModelError

_GRID_NBYTES = 8
LARGEST = 1e30  # of a scale: what is scaled stays finite in single floats


def attach(tensors, grids):
    """Set the scale and zero_point of each tensor from the chunk `grids`. Raises ModelError."""
    if len(grids) != _GRID_NBYTES * len(tensors):
        raise ModelError("the grids of inputs and outputs have a wrong size")
    for i, t in enumerate(tensors):
        scale, zero_point = struct.unpack_from("<fi", grids, _GRID_NBYTES * i)
        if not 0.0 <= scale < LARGEST:  # or nan
            raise ModelError("the scale of an input or output is not valid")
        if scale > 0.0:
            t.scale, t.zero_point = scale, zero_point
