"""How the two cores of a board hand work over: see loops/handover. Compiled from viper.

Machine code, made from mpconnxr/loops/handover.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.asm_xtensawin
def fence(a2):
    data(2, 0x0006, 0x0000, 0x4136, 0x0C00, 0x1D02, 0x00F0)


@micropython.asm_xtensawin
def begin(a2, a3, a4):
    data(2, 0x0106, 0x0000, 0x0000, 0x1000, 0x4136, 0x0C00, 0x8008, 0x2098, 0x2866, 0x0C01)
    data(2, 0x3038, 0xA0A8, 0x0A99, 0xA840, 0x99A0, 0x1B0A, 0x6688, 0xEB58, 0xF881, 0x89FF)
    data(2, 0x8913, 0x9914, 0x9912, 0x9922, 0x0C52, 0x1D02, 0x00F0, 0x0000)


@micropython.viper
def meet(h: ptr32, words: ptr32, me: int, idle):
    if h[0] == 0:
        i = 7
        h[i] = words[1]
        i = 1
        words[i] = 0
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
                i = 5
                h[i] = 1
    if h[5]:
        i = 1
        words[i] = 0


@micropython.viper
def attend(h: ptr32, box, run, idle):
    while h[6] == 0:
        idle(20)
        if h[3] != h[4]:
            idle(0)
            run(box[0])
            idle(0)
            i = 4
            h[i] = h[3]
