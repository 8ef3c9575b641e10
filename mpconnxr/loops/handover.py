"""Synchronization of the two cores of a board that run one model.

fence   Do nothing; in machine code, a memory barrier that makes the other core's writes visible.
meet    A call in a program: wait until the other core reaches the same point of its program.
        words are those of this core's program; me is 1 or 2. If the other core gives up, end this
        program, too. The first core also gives up after it has waited for 2**29 rounds. If one
        core runs both programs, stop this one and note how many calls it still has to make.
begin   Before a run, reset both programs, whose words are given, to their start.
attend  Run on the second core while the model exists: run program box[0] on each request of the
        first core.

idle is a function that takes some microseconds, in which another thread can run if two share a
core.

h holds words in memory that both cores read:

    0     1 while two cores run, 0 if one core runs both programs
    1, 2  number of such points that the first core, and the second, has reached in this run
    3, 4  number of runs requested of the second core, and number of runs done
    5     1: both give up
    6     1: the second core must end
    7     of a stopped program: number of calls left
"""

from ._words import set_at


def fence(us: int):
    pass


def meet(h: ptr32, words: ptr32, me: int, idle):
    if h[0] == 0:
        i = set_at(h, 7, words[1])
        i = set_at(words, 1, 0)
        return
    n = h[me + 0] + 1
    h[me + 0] = n
    me = 3 - me
    rounds = 1 << 29
    while h[me + 0] < n and h[5] == 0:
        rounds -= 1
        if rounds & 1023 == 0:
            idle(1)
            if rounds == 0 and me == 2:
                i = set_at(h, 5, 1)
    if h[5]:
        i = set_at(words, 1, 0)


def begin(h: ptr32, words: ptr32, other: ptr32):
    i = 0
    while i < 8:
        if i != 2:
            words[i] = 0
            other[i] = 0
        i += 1
    i = set_at(words, 1, 1 << 28)
    i = set_at(other, 1, 1 << 28)
    i = set_at(h, 1, 0)
    i = set_at(h, 2, 0)
    i = set_at(h, 5, 0)


def attend(h: ptr32, box, run, idle):
    while h[6] == 0:
        idle(20)
        if h[3] != h[4]:
            idle(0)
            run(box[0])
            idle(0)
            i = set_at(h, 4, h[3])
