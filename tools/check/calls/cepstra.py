"""Random calls of loops/cepstra: see on_board_loops."""

from array import array


def cepstra(d):
    bands = d.between(1, 40)
    logs = array("i", [d.below(1 << 14) >> d.below(14) for _ in range(bands)])
    table = array("H", [d.between(0, 32768) for _ in range(4 * bands + 1)])
    n = d.between(1, bands)
    return logs, table, d.blank("i", n + 1), [bands, n, d.between(3, 8)]
