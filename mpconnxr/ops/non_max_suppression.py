"""non_max_suppression: boxes that do not overlap a better one too much, by batch and class.

    IOU = area of the intersection / area of the union

Serves NonMaxSuppression (all opsets). Boxes are taken in descending order of score, of equal
scores the first. A box is selected if its score exceeds the least score and its IOU with every box
selected before does not exceed the threshold.

    boxes    float32 (batches, n, 4): two corners y, x, y, x, or centre x, y, width, height
    scores   float32 (batches, classes, n)
    most     int64 (1): boxes per batch and class;  iou, least score  float32 (1)
    out      int64, rows of batch, class, box: as many as there may be at most
    scratch  int32 (n)
Raises ModelError, and InputError for more rows than the dim's bound. A step allocates boxed
floats, and tuples of them for each comparison of boxes.
"""

# params
_COUNT = const(0)  # dim of the number of rows
_CENTER = const(1)  # flag
_BATCHES = const(2)
_CLASSES = const(3)
_N = const(4)
_N_PARAMS = const(5)


def prepare(node):
    node.expect(5, 1, _N_PARAMS, 1)
    boxes, scores, most, iou, least = node.inputs
    out, order = node.outputs[0], node.scratch[0]
    node.expect_dtype("float32", boxes, scores, iou, least)
    node.expect_dtype("int64", most, out)
    node.expect_dtype("int32", order)
    centre, batches, classes, n = node.extents(_CENTER, _N_PARAMS - _CENTER)
    count = node.dim(_COUNT)
    node.require(centre < 2 and batches * n * 4 == boxes.nelem, "boxes")
    node.require(batches * classes * n == scores.nelem and n <= order.nelem, "scores or scratch")
    node.require(min(most.nelem, iou.nelem, least.nelem) > 0, "empty operand")
    node.require(3 * min(count.bound, scores.nelem) <= out.nelem, "output size")
    nms = _Suppression(boxes.data, scores.data, order.data, out.data, (classes, n))
    nms.limits, nms.count = (most.data, iou.data, least.data), count
    nms.area = _central if centre else _cornered
    return (batches * classes, nms.step) if scores.nelem else (1, nms.nothing)


def _cornered(boxes, i):
    """Return (low y, low x, high y, high x) of a box that is given as two corners."""
    y, x, v, u = boxes[i], boxes[i + 1], boxes[i + 2], boxes[i + 3]
    return min(y, v), min(x, u), max(y, v), max(x, u)


def _central(boxes, i):
    """Return (low y, low x, high y, high x) of a box that is given as centre and size."""
    x, y, w, h = boxes[i], boxes[i + 1], boxes[i + 2] / 2, boxes[i + 3] / 2
    return y - h, x - w, y + h, x + w


class _Suppression:
    """The step; its extent is pairs of batch and class."""

    def __init__(self, boxes, scores, order, out, shape):
        self.boxes, self.scores, self.order, self.out = boxes, scores, order, out
        self.classes, self.n = shape
        self.rows = 0  # rows of the output written so far

    def nothing(self, lo, hi):
        self.count.set(0)

    def step(self, lo, hi):
        rows = self.rows if lo else 0  # continue where the last part of this run ended
        while lo < hi:
            rows = self._choose(lo, self._sorted(lo * self.n), rows)
            lo += 1
        self.rows = rows
        self.count.set(rows)

    def _sorted(self, base):
        """Sort the boxes with a sufficient score into `order`, best first; return their number."""
        least = self.limits[2][0]
        n_boxes = i = 0
        while i < self.n:
            score = self.scores[base + i]
            if score > least:
                low, high = 0, n_boxes
                while low < high:
                    middle = (low + high) // 2
                    if self.scores[base + self.order[middle]] >= score:
                        low = middle + 1
                    else:
                        high = middle
                self._insert(low, n_boxes, i)
                n_boxes += 1
            i += 1
        return n_boxes

    def _insert(self, at, k, i):
        while k > at:
            self.order[k] = self.order[k - 1]
            k -= 1
        self.order[at] = i

    def _choose(self, pair, n_boxes, rows):
        """Select boxes of one pair; return the number of output rows written so far."""
        first, batch, k = rows, pair // self.classes, 0
        while k < n_boxes and rows - first < self.limits[0][0]:
            box = self.order[k]
            if not self._is_covered(box, batch * self.n, first, rows):
                if rows >= self.count.bound:
                    self.count.set(rows + 1)  # raises
                self.out[rows * 3] = batch
                self.out[rows * 3 + 1] = pair % self.classes
                self.out[rows * 3 + 2] = box
                rows += 1
            k += 1
        return rows

    def _is_covered(self, box, base, row, rows):
        while row < rows:
            other = self.out[row * 3 + 2]
            if self._overlap(4 * (base + box), 4 * (base + other)):
                return True
            row += 1
        return False

    def _overlap(self, i, j):
        a, b = self.area(self.boxes, i), self.area(self.boxes, j)
        height = min(a[2], b[2]) - max(a[0], b[0])
        width = min(a[3], b[3]) - max(a[1], b[1])
        own, other = (a[2] - a[0]) * (a[3] - a[1]), (b[2] - b[0]) * (b[3] - b[1])
        if not (height > 0 and width > 0 and own > 0 and other > 0):
            return False
        shared = height * width
        return shared > self.limits[1][0] * (own + other - shared)
