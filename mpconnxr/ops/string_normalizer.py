"""string_normalizer: remove stop words and change the case of the other strings.

Serves StringNormalizer (all opsets). The order of the strings is kept; if none is left, the output
is one empty string.

    x       strings (C) or (1, C);  stopwords  strings, a constant
    table   int32 (K, 8), a constant: runs of letters beyond ASCII whose code points are
            equidistant, as first, last, step and difference to the other case; four words for
            lower case, then for upper
    out     strings, x's rank, of a length known only at run time; or of x's shape, if x has one
            string or no word can be removed
Letters that have no single counterpart (such as German sharp s) stay. Raises ModelError. A step
allocates the strings and the list that it makes.
"""

# params
_CASE = const(0)  # 0: unchanged, 1: lower, 2: upper
_HEEDS_CASE = const(1)  # flag: comparison is case-sensitive
_N_PARAMS = const(2)

OBJECTS = True
_ROW = 4  # words of a run of letters


def prepare(node):
    node.expect(3, 1, _N_PARAMS)
    x, stopwords, table = node.inputs
    out = node.outputs[0]
    node.expect_dtype("string", x, stopwords, out)
    node.expect_dtype("int32", table)
    case, heeds = node.extents(0, _N_PARAMS)
    node.require(case < 3 and heeds < 2, "params")
    node.require(len(out.shape) == len(x.shape) in (1, 2), "shapes")
    node.require(len(x.shape) == 1 or out.shape[0] == 1, "shapes")
    if not out.is_open:
        node.require(not x.is_open and out.shape == x.shape and x.nelem > 0, "shapes")
        node.require(x.nelem == 1 or not stopwords.nelem, "words that may be dropped")
    node.require(table.nelem % (2 * _ROW) == 0, "table")
    half = table.nelem // 2
    lower, upper = _runs(node, table.data, 0, half), _runs(node, table.data, half, 2 * half)
    step = _Normalizer(x, out)
    step.change = _Changer(lower if case == 1 else upper, case == 1).change if case else None
    step.fold = None if heeds else _Changer(lower, True).change
    words = stopwords.data
    step.stops = {w if heeds else step.fold(w): True for w in words}
    return 1, step.step


def _runs(node, table, at, end):
    """Return a list of (first, last, step, difference)."""
    runs = []
    while at < end:
        first, last, step, delta = [table[at + k] for k in range(_ROW)]
        node.require(127 < first <= last < 0x110000 and step > 0, "table")
        for code in (first + delta, last + delta):
            node.require(0 <= code < 0xD800 or 0xE000 <= code < 0x110000, "table")
        runs.append((first, last, step, delta))
        at += _ROW
    return runs


class _Changer:
    """Changes the case of a string: ASCII letters by Python, others by the runs."""

    def __init__(self, runs, to_lower):
        self.runs = runs
        self.to_lower = to_lower

    def change(self, s):
        s = s.lower() if self.to_lower else s.upper()
        for c in s:
            if ord(c) > 127:
                return "".join([chr(self._code(ord(c))) for c in s])
        return s

    def _code(self, code):
        if code > 127:
            for first, last, step, delta in self.runs:
                if first <= code <= last and (code - first) % step == 0:
                    return code + delta
        return code


class _Normalizer:
    """The step.

    `change` changes the case, or is None; `fold` makes strings of any case equal, or is None.
    """

    def __init__(self, x, out):
        self.x, self.out = x, out

    def step(self, lo, hi):
        result = []
        for s in self.x.data:
            if (self.fold(s) if self.fold else s) not in self.stops:
                result.append(self.change(s) if self.change else s)
        result = result or [""]
        if self.out.is_open:
            self.out.set((len(result),) if len(self.x.shape) == 1 else (1, len(result)), result)
            return
        for i in range(len(result)):
            self.out.data[i] = result[i]
