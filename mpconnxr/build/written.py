"""Track which bytes of the arena were written, so that load refuses a step that reads others.

A step writes its outputs. After a branch only what both bodies write counts as written. A loop
counts as run.

Spans are ascending starts and ends in turn, apart from each other: after a few steps mostly one.
"""

from ..errors import fail
from .reader import STORAGE_ARENA


class Written:
    """The bytes of the arena that inputs and the steps so far have written.

    Attributes:
        spans: starts and ends of contiguous bytes, ascending.
    """

    def __init__(self):
        self.spans = []

    def add(self, t):
        """Note that a tensor with the record t was written."""
        if t.storage != STORAGE_ARENA or not t.nbytes:
            return
        spans, start, end = self.spans, t.offset, t.offset + t.nbytes
        first = 0
        while first < len(spans) and spans[first + 1] < start:
            first += 2
        last = first
        while last < len(spans) and spans[last] <= end:
            last += 2
        if last > first:
            start, end = min(start, spans[first]), max(end, spans[last - 1])
        self.spans = spans[:first] + [start, end] + spans[last:]

    def check(self, t, i, reader):
        """Raise ModelError, naming the reader, unless tensor i with the record t was written."""
        if t.storage == STORAGE_ARENA and t.nbytes:
            spans, end = self.spans, t.offset + t.nbytes
            for k in range(0, len(spans), 2):
                if spans[k] <= t.offset and end <= spans[k + 1]:
                    return
            fail("{} reads tensor {}, which nothing wrote".format(reader, i))


def common(a, b):
    """Return the spans of the bytes that both lists of spans contain."""
    result = []
    for i in range(0, len(a), 2):
        for k in range(0, len(b), 2):
            start, end = max(a[i], b[k]), min(a[i + 1], b[k + 1])
            if start < end:
                result += [start, end]
    return result
