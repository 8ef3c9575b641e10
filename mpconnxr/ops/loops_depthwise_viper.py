"""Depthwise convolution of bytes with requantization: see loops_depthwise. Viper form.

As in loops_qdot_viper the sum is kept in `out`, a register, and one product is enough for most
values. Words that viper loads are signed on 32-bit machines and unsigned on 64-bit ones: sums hold
modulo 2**32 until their sign is restored.
"""

import micropython


@micropython.viper
def depthwise8(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    items = out
    room = int(x)
    blob = int(w) + p[13]
    tables = (int(x) if p[21] else int(w)) + p[12]
    bias = 1 << 29
    sign = bias << 2
    mask = (bias << 3) - 1  # all ones on 32-bit machines, too
    zy = p[18] - bias
    least = p[19] - bias
    most = p[20] - bias
    middle = (zy << 21) + 1015744
    pitch = p[6]
    step = p[7]
    of_nine = p[4] == 3 and p[5] == 3 and step == 1
    k = p[4] * p[5]
    plane = room + p[0]
    channel = 0
    while channel < p[2] * p[3]:
        table = ptr32(tables + 8 * channel)
        x = ptr8(blob + k * channel)
        w = ptr32(room)
        i = 0
        while i < k:
            w[i] = x[i] - p[17]
            i += 1
        f = table[1] & 63
        before = 0
        if f > 31:
            before = f - 32
            f = 0
        limit = (1 << 25) >> f
        factor = (table[1] >> 17) & 32767
        at = p[14] + channel * p[15]
        row = plane
        y = p[8]
        while y:
            first = row
            n = p[9]
            while n:
                w = ptr32(room)
                out = ptr8(table[0])
                x = ptr8(first)
                if of_nine:
                    out = ptr8(x[0] * w[0] + int(out))
                    out = ptr8(x[1] * w[1] + int(out))
                    out = ptr8(x[2] * w[2] + int(out))
                    x = ptr8(pitch + int(x))
                    out = ptr8(x[0] * w[3] + int(out))
                    out = ptr8(x[1] * w[4] + int(out))
                    out = ptr8(x[2] * w[5] + int(out))
                    x = ptr8(pitch + int(x))
                    out = ptr8(x[0] * w[6] + int(out))
                    out = ptr8(x[1] * w[7] + int(out))
                    out = ptr8(x[2] * w[8] + int(out))
                else:
                    start = first
                    i = p[4]
                    while i:
                        x = ptr8(start)
                        end = int(w) + 4 * p[5]
                        while int(w) < end:
                            out = ptr8(x[0] * w[0] + int(out))
                            x = ptr8(step + int(x))
                            w = ptr32(4 + int(w))
                        start += pitch
                        i -= 1
                x = ptr8((((int(out) & mask) ^ sign) - sign) >> before)
                v = 0 - 1
                if int(x) <= limit and int(x) + limit >= 0:
                    v = ((int(x) << f) >> 10) * factor + middle
                if (v & 2097151) < 1998592:
                    v = v >> 21
                else:
                    if int(x) > limit:
                        x = ptr8(limit)
                    if int(x) < 0 - limit:
                        x = ptr8(0 - limit)
                    x = ptr8(int(x) << f)
                    high = (table[1] >> 20) & 4095
                    low = (table[1] >> 8) & 4095
                    i = int(x) & 4095
                    x = ptr8(int(x) >> 12)
                    v = int(x) * low + i * high + ((i * low) >> 12) + 2048
                    v = int(x) * high + (v >> 12)
                    v = ((v + 32767 + ((v >> 16) & 1)) >> 16) + zy
                if v < least:
                    v = least
                if v > most:
                    v = most
                items[at] = v
                at += p[16]
                first += p[11]
                n -= 1
            row += p[10]
            y -= 1
        channel += 1
        if channel % p[3] == 0:
            plane += p[1]


depthwise33 = depthwise_dense = depthwise8
