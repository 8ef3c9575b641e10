"""Which nodes' float32 products are sums in block floating point, and which are floats'.

Sums are exact in either case; with fast16 mantissas are short, so that a word holds a sum.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ..ir import Graph, walk

MODES = ("exact", "fast16", "python")  # of --float
_KERNELS = ("block_conv", "block_gemm", "conv_max_pool")
_UINT32 = 12  # of short mantissas


@dataclass(frozen=True)
class Precision:
    """How nodes are lowered. mode: see MODES; plain: names of nodes that compute with floats;
    bits: of the weights of the others, if that many hold them without loss; long: names that
    fast16 leaves as exact has them.
    """

    mode: str = "exact"
    plain: Collection[str] = ()
    bits: int = 24
    long: Collection[str] = ()

    def is_exact(self, name: str) -> bool:
        """Whether the products of the node of this name are exact."""
        return self.mode != "python" and name not in self.plain

    def is_short(self, name: str) -> bool:
        """Whether the node of this name has short mantissas, where its products are exact."""
        return self.mode == "fast16" and name not in self.long

    def notes(self, graph: Graph) -> list[str]:
        """What a user should know of the nodes that are not as the mode says."""
        wide = "computed with floats; its range is too wide for blocks"
        found = [f"{name}: {wide}" for name in self.plain]
        if self.mode != "fast16":
            return found
        found += [
            f"{name}: exact; it would lose too much with --float fast16" for name in self.long
        ]
        steps = [s for s in walk(graph.steps) if s.kernel in _KERNELS and s.macs]
        others = [s.node for s in steps if s.inputs[1].dtype != _UINT32]
        others = [
            name for name in dict.fromkeys(others) if name.partition(" ")[2] not in self.long
        ]
        return found + [f"{name}: exact; --float fast16 is not for its weights" for name in others]
