"""Rows of floats to mantissas, each row with its exponent: weights that only a run knows: see loops/block_rows. Compiled from viper.

Machine code, made from mpconnxr/loops/block_rows.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.asm_rv32
def rows(a0, a1, a2, a3):
    data(2, 0xA009, 0xA303, 0x0106, 0xAF03, 0x0046, 0x428C, 0xAF83, 0x00C6, 0x1101, 0x02B7)
    data(2, 0x8000, 0x0E37, 0x0080, 0xCE22, 0xCC26, 0xCA4A, 0xC84E, 0xC652, 0xC456, 0xC25A)
    data(2, 0xC05E, 0x9F1A, 0x4881, 0xC293, 0xFFF2, 0x0393, 0x0FF0, 0x4405, 0x0493, 0xFFFE)
    data(2, 0x495D, 0x1363, 0x03E3, 0x4ADC, 0x08DE, 0x4501, 0x078A, 0x963E, 0x2023, 0x0116)
    data(2, 0x4472, 0x44E2, 0x4952, 0x49C2, 0x4A32, 0x4AA2, 0x4B12, 0x4B82, 0x6105, 0x8082)
    data(2, 0xAA83, 0x0086, 0x87AE, 0x4801, 0x8A33, 0x00BA, 0xCA63, 0x0547, 0x5813, 0x4178)
    data(2, 0x0163, 0x0678, 0x1363, 0x0008, 0x4805, 0x9E93, 0x002F, 0x9EB2, 0x89AE, 0xCB63)
    data(2, 0x0549, 0x4781, 0x4363, 0x00BA, 0x87D6, 0x95BE, 0x9FBE, 0x1793, 0x0023, 0x97B2)
    data(2, 0xA023, 0x0107, 0x4E9C, 0x0305, 0xDBD9, 0x9793, 0x0025, 0x97AA, 0x439C, 0x87DD)
    data(2, 0xF793, 0x0FF7, 0x8363, 0x0077, 0x87C6, 0x0585, 0x88BE, 0xBFB5, 0x9713, 0x0027)
    data(2, 0x972A, 0x4318, 0x7733, 0x0057, 0x5363, 0x00E8, 0x883A, 0x0785, 0xBF61, 0x0893)
    data(2, 0x0FF0, 0xB755, 0x9793, 0x0029, 0x97AA, 0xAB03, 0x0007, 0x5713, 0x417B, 0x7713)
    data(2, 0x0FF7, 0x7BB3, 0x009B, 0xCB1D, 0x9BF2, 0x0733, 0x40E8, 0x4781, 0x4C63, 0x00E9)
    data(2, 0x17B3, 0x00E4, 0x97DE, 0x0705, 0xD7B3, 0x40E7, 0x9463, 0x01C7, 0x0793, 0xFFFE)
    data(2, 0x5463, 0x000B, 0x07B3, 0x40F0, 0x97F2, 0xA023, 0x00FE, 0x0985, 0x0E91, 0xB785)
    data(2, 0x4705, 0xB7F1)


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
