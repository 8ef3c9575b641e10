"""Run on the board: feed a deployed model with what a sensor's generator yields.

The first line of the output describes the model as a dict. Then each inference prints MS US
OUTPUTS: milliseconds since the start, microseconds of the run, and the elements of each output.
"""

import time
from array import array

MOST = 64  # printed elements of an output


def monitor(rows, path, every, most):
    """Print inferences.

    Args:
        rows: the generator.
        path: path of the model.
        every: samples between two inferences; 0: a quarter of the model's input.
        most: inferences after which to end; 0: never.
    """
    import mpconnxr

    model = mpconnxr.load(path)
    x, window, start, n = model.inputs[0], None, time.ticks_ms(), 0
    outputs = [(t.name, t.dtype, list(t.shape)) for t in model.outputs]
    print({"input": (x.name, x.dtype, list(x.shape)), "outputs": outputs, "labels": names(model)})
    for row in rows:
        if window is None:
            window = Window(x, row)
            every = every or max(1, window.n // 4)
        n += window.add(row)
        if not window.is_full or n < every:
            continue
        n = 0
        window.put()
        ms = time.ticks_diff(time.ticks_ms(), start)
        began = time.ticks_us()
        results = model.run()
        us = time.ticks_diff(time.ticks_us(), began)
        print(ms, us, ";".join([numbers(t) for t in results]))
        most -= 1
        if not most:
            return


def names(model):
    """Return the model's labels; None without labels or without the module that reads them."""
    try:
        return model.labels
    except ImportError:
        return None


def numbers(t):
    """Return the first elements of a tensor, separated by commas."""
    if t.dtype.startswith(("string", "map", "seq")):
        return str(t.data[0]) if len(t.data) else ""
    values = t.floats() if "float" in t.dtype else t.data
    return ",".join([str(values[i]) for i in range(min(MOST, len(values)))])


class Window:
    """The newest samples, as many as fill an input.

    An input (.., n, channels) has interleaved channels, (.., channels, n) a row for each.

    Attributes:
        n: samples in the window.
    """

    def __init__(self, x, row):
        self.x, self.at, self.seen = x, 0, 0
        one = 1 if is_block(row) or isinstance(row, (int, float)) else len(row)
        dims = [d for d in x.shape if d != 1]
        self.by_channel = len(dims) == 2 and dims[1] != one and dims[0] == one
        if is_block(row) and len(dims) == 2:
            one = min(dims)
            self.by_channel = dims[0] == one
        if x.nelem % one:
            raise ValueError(f"samples of {one} numbers do not fill {x.name} {x.shape}")
        self.channels, self.n = one, x.nelem // one
        self.kept = [0] * x.nelem

    @property
    def is_full(self):
        """True if enough samples have come."""
        return self.seen >= self.n

    def add(self, row):
        """Add a sample or a block; return the number of samples."""
        if isinstance(row, (int, float)):
            row = (row,)
        kept, at, end = self.kept, self.at, len(self.kept)
        for value in row:
            kept[at] = value
            at += 1
            if at == end:
                at = 0
        self.at = at
        samples = len(row) // self.channels
        self.seen = min(self.n, self.seen + samples)
        return samples

    def put(self):
        """Write the window into the input, the oldest sample first."""
        kept, at, c = self.kept, self.at, self.channels
        values = kept[at:] + kept[:at]
        if self.by_channel:
            values = [values[i] for k in range(c) for i in range(k, len(values), c)]
        x = self.x
        if x.scale is not None:
            x.quantize(values)
        elif "float16" in x.dtype or "float8" in x.dtype:
            raise ValueError(f"{x.name} is {x.dtype}: monitor fills float32 and integers")
        else:
            for i in range(len(values)):
                x.data[i] = values[i]


def is_block(row):
    """Return True if the sensor yielded a block of samples."""
    return isinstance(row, (array, bytes, bytearray, memoryview))
