"""Softmax of float32 in integers, for kernel softmax: see loops/exponentials."""

from .. import forms
from ..blocks import block

POWERS = (  # 2**(30 - i / 32)
    1073741824, 1050733750, 1028218693, 1006186086, 984625593, 963527097, 942880699, 922676709,
    902905650, 883558244, 864625413, 846098273, 827968132, 810226482, 792864999, 775875537,
    759250124, 742980960, 727060410, 711481005, 696235434, 681316544, 666717336, 652430958,
    638450708, 624770026, 611382492, 598281826, 585461880, 572916640, 560640217, 548626854,
)  # fmt: skip


def emit(calls, x, out, shape):
    """Emit three calls for each line of n elements; shape is (outer, n, inner).

    The elements of a line lie `inner` elements apart.
    """
    outer, n, inner = shape
    loops, powers = forms.get("exponentials"), calls.constants("i", POWERS)
    for i in calls.repeat(outer):
        for k in calls.repeat(inner):
            p = block(
                "exponentials.shares",
                start=i * n * inner + k,
                end=i * n * inner + k + n * inner,
                stride=inner,
                largest=0,
                shift=0,
                sum_high=0,
                sum_low=0,
            )
            calls.call(loops.heights, x, powers, out, p)
            calls.call(loops.exponentials, out, powers, out, None)
            calls.call(loops.shares, out, powers, out, None)
