"""Rows of floats to mantissas, each row with its exponent: weights that only a run knows: see loops/block_rows. Compiled from viper.

Machine code, made from mpconnxr/loops/block_rows.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.asm_xtensawin
def rows(a2, a3, a4, a5):
    data(2, 0x0206, 0x0000, 0xFFFF, 0x007F, 0xFFFF, 0x7FFF, 0x8136, 0x3800, 0x6835, 0x3915)
    data(2, 0x3801, 0xA845, 0x4005, 0xA0D3, 0x336A, 0x3340, 0x39A0, 0x0C31, 0x0C0C, 0x461E)
    data(2, 0x0033, 0x2568, 0x0A3D, 0x86AA, 0x2169, 0x1189, 0x090C, 0x0446, 0x2000, 0xA063)
    data(2, 0x0668, 0xF281, 0x80FF, 0x1066, 0xA967, 0x9D01, 0x1B06, 0x6833, 0x6711, 0xE823)
    data(2, 0x9790, 0x3231, 0xFFA0, 0x1937, 0xCC06, 0x9D59, 0x460E, 0x0000, 0x09CD, 0x0188)
    data(2, 0x0AFD, 0x8840, 0x89A0, 0x4641, 0x0016, 0x0000, 0x6F20, 0x68A0, 0x3106, 0xFFE3)
    data(2, 0xB760, 0x3075, 0x1076, 0x8B8C, 0x180C, 0x8890, 0x8A01, 0x4677, 0x0000, 0x0EBD)
    data(2, 0xB9B0, 0x1CC0, 0x0C73, 0xB708, 0x1A23, 0x1B00, 0x0040, 0xA18E, 0x887A, 0xBB1B)
    data(2, 0x130C, 0x0B00, 0x8040, 0xB180, 0x3390, 0x3701, 0x0298, 0xD581, 0xD6FF, 0x0026)
    data(2, 0x8080, 0x0C60, 0x9016, 0x0166, 0x886A, 0x4168, 0xFF1B, 0x0689, 0x664B, 0x4169)
    data(2, 0x1188, 0x2F87, 0x0CA2, 0xA703, 0x0128, 0x2138, 0x0168, 0x0D99, 0x663A, 0xAA3A)
    data(2, 0x6538, 0x0169, 0x239C, 0x3A20, 0x38A0, 0x6203, 0xFFA0, 0x3730, 0x6775, 0x0113)
    data(2, 0x0C3D, 0xAA1B, 0x03CD, 0xDD4B, 0x3188, 0x1D87, 0x4602, 0xFFCA, 0x5528, 0xCC90)
    data(2, 0x4001, 0xA022, 0x02C9, 0x020C, 0xF01D, 0x0000)


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
