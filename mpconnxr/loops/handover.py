"""How the two cores of a board hand work over. Written once, for Python and viper.

fence   nothing here; in machine code a barrier, so that a core sees what the other one has written
meet    a call of a program: waits until the other core is at the same place of its own program.
        words: of this core's program; me: 1 or 2. If the other core gives up, this one does: its
        program ends. So does the first one where it has waited for 2**29 rounds. Where one core
        runs both programs it stops this one, and notes how many calls it had still to make
begin   before a run: both programs, whose words these are, start at their beginnings
attend  what the second core does as long as a model needs it: runs the program box[0] each time
        that the first one asks for it

idle is a function of some microseconds, in which other threads run where two have one core.

h   words in memory that both cores read:
        0     1 while two cores run, 0 if one runs both programs
        1, 2  how often the first core, and the second one, has been at such a place in this run
        3, 4  how often the second core was asked to run its program, and how often it has
        5     1: both give up
        6     1: the second core is to end
        7     of a program that was stopped: calls that were left
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
