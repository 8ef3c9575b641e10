"""How each node's float32 products are summed: in block floating point or in Python's floats.

Sums in blocks are exact. With fast16, mantissas are short, so that a word holds a sum.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ..ir import Graph, walk

_KERNELS = ("block_conv", "block_gemm", "conv_max_pool")
_UINT32 = 12  # dtype of short mantissas


@dataclass(frozen=True)
class Precision:
    """How nodes are lowered.

    Attributes:
        mode: one of FLOAT_MODES.
        plain: names of nodes that compute with floats.
        bits: bits of the weights of other nodes, if that many represent them without loss.
        long: names of nodes that fast16 computes like exact.
    """

    mode: str = "exact"
    plain: Collection[str] = ()
    bits: int = 24
    long: Collection[str] = ()

    def is_exact(self, name: str) -> bool:
        """Return True if the products of the node of this name are exact."""
        return self.mode != "python" and name not in self.plain

    def is_short(self, name: str) -> bool:
        """Return True if the node of this name has short mantissas, if its products are exact."""
        return self.mode == "fast16" and name not in self.long

    def notes(self, graph: Graph) -> list[str]:
        """Return notes on the nodes that are not computed as the mode says."""
        wide = "computed with floats; its range is too wide for blocks"
        notes = [f"{name}: {wide}" for name in self.plain]
        if self.mode != "fast16":
            return notes
        notes += [
            f"{name}: exact; it would lose too much with --float fast16" for name in self.long
        ]
        steps = [s for s in walk(graph.steps) if s.kernel in _KERNELS and s.macs]
        others = [s.node for s in steps if s.inputs[1].dtype != _UINT32]
        others = [
            name for name in dict.fromkeys(others) if name.partition(" ")[2] not in self.long
        ]
        return notes + [f"{name}: exact; --float fast16 is not for its weights" for name in others]
