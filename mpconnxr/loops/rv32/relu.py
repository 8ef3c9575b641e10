"""max(x, 0) on the bits of float32: see loops/relu. Compiled from viper.

Machine code, made from mpconnxr/loops/relu.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.asm_rv32
def relu32(a0, a1, a2, a3):
    data(2, 0xA009, 0x42CC, 0x429C, 0xC463, 0x00B7, 0x4501, 0x8082, 0x9713, 0x0027, 0x06B3)
    data(2, 0x00E6, 0x972A, 0x4318, 0x5363, 0x0007, 0x4701, 0xC298, 0x0785, 0xB7CD)
