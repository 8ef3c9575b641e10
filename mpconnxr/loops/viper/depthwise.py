"""Depthwise convolution of bytes with requantization: see loops/depthwise. Viper form.

As in loops/viper/qdot the sum is kept in `w`, a register, begins with the limit of the values, and
one product is enough for most of them; `out` points to the weights. Words that viper loads are
signed on 32-bit machines and unsigned on 64-bit ones: sums hold modulo 2**32 until their sign is
restored. The nine weights of 3 x 3 are locals: where they lie in memory, as all but three do, an
item takes one load less than with a pointer that lies there, too.

Made from tools/loops/viper/depthwise.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.viper
def depthwise8(x: ptr8, w: ptr8, out: ptr32, p: ptr32):
    room = int(x)
    blob = int(w) + p[13]
    tables = (int(x) if p[21] else int(w)) + p[12]
    place = int(out) + p[14]
    bias = 1 << 29
    sign = bias << 2
    mask = (bias << 3) - 1  # all ones on 32-bit machines, too
    is_wide = sign << 1
    least = p[19] - bias
    most = p[20] - bias
    middle = ((p[18] - bias) << 21) + 1146816
    pitch = p[6]
    step = p[7]
    between = p[16]
    kw = p[5]
    is_nine = 1 if p[4] == 3 and kw == 3 and step == 1 else 0
    is_five = 1 if p[4] == 5 and kw == 5 and step == 1 else 0
    is_seven = 1 if p[4] == 7 and kw == 7 and step == 1 else 0
    following = p[11] - pitch * (2 if is_nine else p[4])
    k = p[4] * kw
    behind = room + 4 * k
    plane = room + p[0]
    channel = 0
    while True:
        if channel == p[2] * p[3]:
            break
        table = ptr32(tables + 8 * channel)
        x = ptr8(blob + k * channel)
        out = ptr32(room)
        w = ptr8(p[17])
        while int(out) < behind:
            out[0] = x[0] - int(w)
            x = ptr8(1 + int(x))
            out = ptr32(4 + int(out))
        if is_nine:
            out = ptr32(room)
            k0 = out[0]
            k1 = out[1]
            k2 = out[2]
            k3 = out[3]
            k4 = out[4]
            k5 = out[5]
            k6 = out[6]
            k7 = out[7]
            k8 = out[8]
        f = table[0] & 31
        limit = 0
        shift = 0
        factor = 0
        addend = 0  # such that no value is in the quick way
        bits = 0
        if f < 26:
            limit = (1 << 25) >> f
            factor = (table[1] >> 16) & 32767
            addend = middle - (factor << 15)
            bits = 26 - f
            shift = 10 - f
            if shift < 0:
                factor = factor << (f - 10)
                shift = 0
        c = ((table[0] ^ sign) - sign) >> 5
        at = place
        line = plane
        c = c << (f - 25) if f > 25 else c + limit
        y = p[8]
        while y:
            first = line
            n = p[9]
            while n:
                x = ptr8(first)
                w = ptr8(c)
                if is_nine:
                    w = ptr8(x[0] * k0 + int(w))
                    w = ptr8(x[1] * k1 + int(w))
                    w = ptr8(x[2] * k2 + int(w))
                    x = ptr8(pitch + int(x))
                    w = ptr8(x[0] * k3 + int(w))
                    w = ptr8(x[1] * k4 + int(w))
                    w = ptr8(x[2] * k5 + int(w))
                    x = ptr8(pitch + int(x))
                    w = ptr8(x[0] * k6 + int(w))
                    w = ptr8(x[1] * k7 + int(w))
                    w = ptr8(x[2] * k8 + int(w))
                else:
                    out = ptr32(room)
                    if is_five:
                        w = ptr8(x[0] * out[0] + int(w))
                        w = ptr8(x[1] * out[1] + int(w))
                        w = ptr8(x[2] * out[2] + int(w))
                        w = ptr8(x[3] * out[3] + int(w))
                        w = ptr8(x[4] * out[4] + int(w))
                        x = ptr8(pitch + int(x))
                        out = ptr32(20 + int(out))
                        while behind > int(out):
                            w = ptr8(x[0] * out[0] + int(w))
                            w = ptr8(x[1] * out[1] + int(w))
                            w = ptr8(x[2] * out[2] + int(w))
                            w = ptr8(x[3] * out[3] + int(w))
                            w = ptr8(x[4] * out[4] + int(w))
                            x = ptr8(pitch + int(x))
                            w = ptr8(x[0] * out[5] + int(w))
                            w = ptr8(x[1] * out[6] + int(w))
                            w = ptr8(x[2] * out[7] + int(w))
                            w = ptr8(x[3] * out[8] + int(w))
                            w = ptr8(x[4] * out[9] + int(w))
                            x = ptr8(pitch + int(x))
                            out = ptr32(40 + int(out))
                    elif is_seven:
                        while behind > int(out):
                            w = ptr8(x[0] * out[0] + int(w))
                            w = ptr8(x[1] * out[1] + int(w))
                            w = ptr8(x[2] * out[2] + int(w))
                            w = ptr8(x[3] * out[3] + int(w))
                            w = ptr8(x[4] * out[4] + int(w))
                            w = ptr8(x[5] * out[5] + int(w))
                            w = ptr8(x[6] * out[6] + int(w))
                            x = ptr8(pitch + int(x))
                            out = ptr32(28 + int(out))
                    else:
                        start = int(x)
                        while int(out) < behind:
                            end = int(out) + 4 * kw
                            while end > int(out):
                                w = ptr8(x[0] * out[0] + int(w))
                                x = ptr8(step + int(x))
                                out = ptr32(4 + int(out))
                            start += pitch
                            x = ptr8(start)
                first = following + int(x)
                if is_wide:
                    w = ptr8(((int(w) & mask) ^ sign) - sign)
                x = ptr8((int(w) >> shift) * factor + addend)
                if int(w) >> bits or not 1966080 & int(x):
                    w = ptr8(int(w) - limit)
                    x = ptr8(f)
                    if f > 25:
                        w = ptr8(int(w) >> (f - 25))
                        x = ptr8(0)
                    v = (1 << 25) >> int(x)
                    if int(w) > v:
                        w = ptr8(v)
                    if int(w) < 0 - v:
                        w = ptr8(0 - v)
                    w = ptr8(int(w) << int(x))
                    low = table[1] & 32767
                    v = int(w) & 4095
                    x = ptr8((table[1] >> 15) & 65535)
                    w = ptr8(int(w) >> 12)
                    lowest = v * low
                    low = int(w) * low + (lowest >> 12)
                    v = v * int(x) + (low >> 3)
                    w = ptr8(int(w) * int(x) + (v >> 12))
                    v = ((lowest | v) & 4095) | (low & 7)
                    x = ptr8(1 if v else (int(w) >> 20) & 1)
                    x = ptr8((int(w) + 524287 + int(x)) >> 20)
                    x = ptr8(int(x) + p[18] - bias)
                else:
                    x = ptr8(int(x) >> 21)
                if least > int(x):
                    x = ptr8(least)
                elif most < int(x):
                    x = ptr8(most)
                w = ptr8(at)
                w[0] = int(x)
                at = between + int(w)
                n -= 1
            line += p[10]
            y -= 1
        place += p[15]
        channel += 1
        if channel % p[3] == 0:
            plane += p[1]


depthwise33 = depthwise_dense = depthwise8
