"""Random calls of loops/rotary: see on_board_loops."""


def turn(d):
    batches, heads, rows, pairs = (
        d.between(1, 2),
        d.between(1, 3),
        d.between(1, 3),
        d.between(1, 4),
    )
    width = 2 * pairs + d.below(3)
    apart = [1, 2] if d.below(2) else [pairs, 1]
    first = d.below(batches * heads * rows)
    x, out = _strides(d, heads, rows, width), _strides(d, heads, rows, width)
    p = [first, batches * heads * rows, 0, heads, rows, pairs, width] + x + apart + out
    p += [rows * 2 * pairs, 2 * pairs, pairs]
    return d.words(240), d.words(60), d.blank("i", 240), p


def _strides(d, heads, rows, width):
    """Of batches, heads and rows, in either order."""
    if d.below(2):
        return [heads * rows * width, rows * width, width]
    return [heads * rows * width, width, heads * width]
