"""Softmax of float32 on the bits, for kernel softmax: see loops/exponentials."""

from array import array

from .. import forms
from ..parameters import block

POWERS = (  # 2**(30 - i / 32)
    1073741824, 1050733750, 1028218693, 1006186086, 984625593, 963527097, 942880699, 922676709,
    902905650, 883558244, 864625413, 846098273, 827968132, 810226482, 792864999, 775875537,
    759250124, 742980960, 727060410, 711481005, 696235434, 681316544, 666717336, 652430958,
    638450708, 624770026, 611382492, 598281826, 585461880, 572916640, 560640217, 548626854,
)  # fmt: skip


class Lines:
    """The extent is lines of n items, inner apart from one another."""

    def __init__(self, x, out, n, inner):
        self.x, self.out, self.size, self.inner = x, out, n * inner, inner
        self.w = array("i", POWERS)
        self.p = block(0, 0, inner, 0, 0, 0, 0)
        loops = forms.get("exponentials")
        self.heights, self.exponentials = loops.heights, loops.exponentials
        self.shares = loops.shares

    def step(self, lo, hi):
        p, out = self.p, self.out
        while lo < hi:
            p[0] = lo // self.inner * self.size + lo % self.inner
            p[1] = p[0] + self.size
            self.heights(self.x, self.w, out, p)
            self.exponentials(out, self.w, out, p)
            self.shares(out, self.w, out, p)
            lo += 1
