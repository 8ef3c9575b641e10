"""max(x, 0) on the bits of float32: see loops/relu. Compiled from viper.

Machine code, made from mpconnxr/loops/relu.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.asm_thumb
def relu32(r0, r1, r2, r3):
    data(2, 0xF000, 0xF801, 0xBDF2, 0xB570, 0xCB48, 0x42B3, 0xDB01, 0x2000, 0xBD70, 0x009D)
    data(2, 0x5941, 0x3301, 0x43CC, 0x17E4, 0x4021, 0x5151, 0xE7F3)
