"""Rows of floats to mantissas, each row with its exponent: weights that only a run knows: see loops/block_rows. Compiled from viper.

Machine code, made from mpconnxr/loops/block_rows.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.asm_thumb
def rows(r0, r1, r2, r3):
    data(2, 0xF000, 0xF801, 0xBDF2, 0xB5F0, 0xB08B, 0x9206, 0x68DA, 0x691E, 0x9202, 0x685A)
    data(2, 0x6819, 0x18B2, 0x9209, 0x2200, 0x9005, 0x4694, 0x9A09, 0x4296, 0xD108, 0x695A)
    data(2, 0x4663, 0x2000, 0x9906, 0x0092, 0x05DB, 0x5053, 0xB00B, 0xBDF0, 0x000C, 0x2000)
    data(2, 0x689A, 0x9207, 0x1852, 0x9203, 0x9A03, 0x4294, 0xDB29, 0x15C0, 0x28FF, 0xD030)
    data(2, 0x2800, 0xD100, 0x3001, 0x9A02, 0x9101, 0x0097, 0x9A06, 0x19D2, 0x9208, 0x9A01)
    data(2, 0x9C03, 0x42A2, 0xDB26, 0x2200, 0x42A1, 0xDC00, 0x9A07, 0x9C02, 0x1889, 0x18A2)
    data(2, 0x9C06, 0x9202, 0x00B2, 0x50A0, 0x699A, 0x3601, 0x2A00, 0xD0CB, 0x9805, 0x008A)
    data(2, 0x5812, 0x20FF, 0x15D2, 0x4002, 0x4282, 0xD000, 0x4662, 0x3101, 0xE7BF, 0x9D05)
    data(2, 0x00A2, 0x58AA, 0x0052, 0x0852, 0x4290, 0xDA00, 0x0010, 0x3401, 0xE7C8, 0x22FF)
    data(2, 0x4694, 0xE7CE, 0x9A01, 0x9C05, 0x0092, 0x58A2, 0x27FF, 0x24FF, 0x0255, 0x9204)
    data(2, 0x15D2, 0x0A6D, 0x4014, 0x423A, 0xD01E, 0x2280, 0x0412, 0x18AD, 0x2200, 0x1B04)
    data(2, 0x2C17, 0xDC09, 0x3201, 0x40A2, 0x3401, 0x1952, 0x4122, 0x2480, 0x0424, 0x42A2)
    data(2, 0xD100, 0x4A08, 0x9C04, 0x2C00, 0xDA00, 0x4252, 0x2480, 0x0424, 0x1912, 0x9C08)
    data(2, 0xC404, 0x9A01, 0x9408, 0x3201, 0x9201, 0xE7A8, 0x2401, 0xE7E1, 0x46C0, 0xFFFF)
    data(2, 0x007F)


@micropython.viper
def batches(p: ptr32, w):
    """Products of loops/block_products whose weights become mantissas, a batch of them at a time.

    p    as there; then 74 what rows takes, 81 batches of weights to advance a step of n0 and n1,
         83 what peak takes for the word that rows makes of inf and nan: p[86] gets it
    w    as there; then loops products and rows, the parts of p from 74 and from 83 on

    Access: of the loops it calls
    """
    special = w[4]
    whole = w[5]
    floats = w[12]
    scratch = w[14]
    peak = w[16]
    products = w[18]
    rows = w[19]
    rows_p = w[20]
    flag_p = w[21]
    last = p[1]
    held = 0 - 1
    while p[0] < last:
        batch = p[0] // p[2]
        first = (batch // p[6] * p[81] + batch % p[6] * p[82]) * p[4] * (p[3] + p[80])
        if first != held:
            held = first
            i = 74
            p[i] = first
            i = 13
            p[i] = (first + p[3])
            rows(floats, floats, scratch, rows_p)
            peak(scratch, scratch, whole, flag_p)
        n = p[2] - p[0] % p[2]
        if n > last - p[0]:
            n = last - p[0]
        i = 1
        p[i] = (p[0] + n)
        if p[86] < 255:
            products(whole, w)
        while p[0] < p[1]:
            special(whole, w)
            i = 0
            p[i] = (p[0] + 1)
