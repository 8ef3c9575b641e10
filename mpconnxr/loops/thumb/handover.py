"""How two cores hand work over: see loops/handover. Assembler, ARMv6-M instructions only.

Machine code, made from tools/asm/arm/handover.S by `make loops`:
change that file, not this one.
"""

import micropython

from ..handover import attend, begin  # calls of Python's, and what takes no time


@micropython.asm_thumb
def fence(r0):
    data(2, 0xF3BF, 0x8F5F)


@micropython.asm_thumb
def meet(r0, r1, r2, r3):
    data(2, 0x6803, 0x2B00, 0xD102, 0x684B, 0x61C3, 0xE015, 0xF3BF, 0x8F5F, 0x0092, 0x5883)
    data(2, 0x3301, 0x5083, 0x2501, 0x076D, 0x4252, 0x320C, 0x6944, 0x2C00, 0xD108, 0x5884)
    data(2, 0x429C, 0xDA07, 0x3D01, 0xD1F7, 0x2A08, 0xD1F5, 0x2401, 0x6144, 0x2300, 0x604B)
    data(2, 0xF3BF, 0x8F5F, 0x2000)
