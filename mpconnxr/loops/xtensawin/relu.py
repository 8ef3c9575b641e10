"""max(x, 0) on the bits of float32: see loops/relu. Compiled from viper.

Machine code, made from mpconnxr/loops/relu.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.asm_xtensawin
def relu32(a2, a3, a4, a5):
    data(2, 0x0006, 0x0000, 0x4136, 0xA800, 0x8815, 0x0C05, 0x0605, 0x0004, 0x9820, 0x98A0)
    data(2, 0xCD09, 0x4005, 0xA0B8, 0xC990, 0xC9B3, 0x1B0B, 0xA788, 0xEB28, 0x020C, 0xF01D)
