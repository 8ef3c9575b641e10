"""One Fourier transform of float32, in integers. Written once, in the common subset.

p    line, first item of the result, op, n, inner, parts, length, n_out (see the kernel); then
     written by load32: biased exponent of the largest part, and 1 if the line has inf or NaN; last
     a factor of 28 bits for an inverse (0: none), and the power of two by which that is too large

A number is two words, its real and its imaginary part in 28 bits, plus BIAS; a line has one
exponent. Before a pass it is shifted down if parts may reach 2**29. The passes are those of
loops/dft. A product is that of halves, of 14 bits and more. Each pass loses half a unit of these
28 bits, so that the result is as exact as that of a transform in float32.

Made from tools/loops/common/fourier.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def load32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """x's line into the first half of out, as complex numbers: zeros behind it, or the mirrored
    conjugate.

    Access:
        n, inner, parts = p[3:6]
        first = (p[0] // inner * n * inner + p[0] % inner) * parts
        reads x[first : first + ((min(n, p[6]) - 1) * inner + 1) * parts] if min(n, p[6])
        writes out[0 : 2 * p[6]]
        writes p[8 : 10]
    """
    length = p[6]
    inner = p[4]
    parts = p[5]
    zero = 1 << 29
    n = p[3]
    if n > length:
        n = length
    line = p[0]
    first = (line // inner * p[3] * inner + line % inner) * parts
    i = first
    most = 1
    j = 0
    while j < n:
        k = 0
        while k < parts:
            e = (x[i + k] >> 23) & 255
            if e > most:
                most = e
            k += 1
        i += inner * parts
        j += 1
    flag = 1 if most == 255 else 0
    i = 8
    p[i] = most
    i += 1
    p[i] = flag
    if flag:
        n = 0
    i = first
    j = 0
    while j < length:
        m = zero
        k = zero
        if j < n:
            v = x[i]
            e = (v >> 23) & 255
            m = v & 0x7FFFFF
            if e:
                m = m | 0x800000
            else:
                e = 1
            e = most - e
            if e > 30:
                e = 30
            m = ((m << 4) + (1 << e >> 1)) >> e
            if (v >> 31) & 1:
                m = 0 - m
            m += 1 << 29
            if parts == 2:
                v = x[i + 1]
                e = (v >> 23) & 255
                k = v & 0x7FFFFF
                if e:
                    k = k | 0x800000
                else:
                    e = 1
                e = most - e
                if e > 30:
                    e = 30
                k = ((k << 4) + (1 << e >> 1)) >> e
                if (v >> 31) & 1:
                    k = 0 - k
                k += 1 << 29
        out[2 * j] = m
        out[2 * j + 1] = k
        i += inner * parts
        j += 1
    if p[2] == 2:
        i = 1
        out[i] = zero
        if length % 2 == 0:
            out[length + 1] = zero
        j = length // 2 + 1
        while j < length:
            out[2 * j] = out[2 * (length - j)]
            out[2 * j + 1] = zero + zero - out[2 * (length - j) + 1]
            j += 1


@micropython.viper
def transform32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """w: the table, 28 bits behind the point, plus BIAS; p[1] becomes where in out the result is.

    Access:
        requires p[6] > 0
        given the table has cosines and sines
        reads w[0 : 2 * p[6]] if p[6] > 1
        updates out[0 : 4 * p[6]] if p[6] > 1
        writes p[1:2]
        writes p[8:9]
    """
    length = p[6]
    source = 0
    zero = 1 << 29
    target = 2 * length
    count = 1
    is_forward = p[2] == 0
    while length % (2 * count) == 0:
        count = count + count
    done = length // count
    most = zero >> 1
    if done > 1:
        # the sums as they are written, exact, for an odd length; none is larger than that of sizes
        most = 1
        shift = 1
        t = 0
        while t < count:
            i = source + 2 * t
            v = done
            j = 0
            while j < done:
                a = out[i] - zero
                b = out[i + 1] - zero
                if a < 0:
                    a = 0 - a
                if b < 0:
                    b = 0 - b
                v += (a + b) >> 14
                i += 2 * count
                j += 1
            if v > most:
                most = v
            t += 1
        while most >> shift >> 15:
            shift += 1
        most = 1
        t = 0
        while True:
            if t >= length:
                break
            k = t // count
            at = 0
            i = source + 2 * (t % count)
            high = 0
            low = 0
            more = 0
            rest = 0
            j = 0
            while j < done:
                c = w[2 * at * count] - zero
                s = w[2 * at * count + 1] - zero
                if is_forward:
                    s = 0 - s
                a = out[i] - zero
                b = out[i + 1] - zero
                ah = a >> 14
                a = a & 16383
                bh = b >> 14
                b = b & 16383
                ch = c >> 14
                c = c & 16383
                sh = s >> 14
                s = s & 16383
                v = ah * ch - bh * sh
                v += (ah * c + a * ch - bh * s - b * sh + ((a * c - b * s) >> 14) + 8192) >> 14
                high += v >> 14
                low += v & 16383
                v = ah * sh + bh * ch
                v += (ah * s + a * sh + bh * c + b * ch + ((a * s + b * c) >> 14) + 8192) >> 14
                more += v >> 14
                rest += v & 16383
                i += 2 * count
                at += k
                if at >= done:
                    at -= done
                j += 1
            i = target + 2 * t
            a = ((high << (15 - shift)) + (low >> (shift - 1)) + 1) >> 1
            b = ((more << (15 - shift)) + (rest >> (shift - 1)) + 1) >> 1
            most = most | (a ^ (a >> 31)) | (b ^ (b >> 31))
            out[i] = a + zero
            out[i + 1] = b + zero
            t += 1
        i = 8
        p[i] = p[8] + shift
        i = source
        source = target
        target = i
    while True:
        if 1 >= count:
            break
        # transform t takes in t + half, its items in between
        half = count >> 1
        down = 0
        if most >= 222000000:
            down = 1
        if most >= 444000000:
            down = 2
        i = 8
        p[i] = p[8] + down
        most = 1
        k = 0
        while True:
            if k >= done:
                break
            c = w[2 * k * half] - zero
            s = w[2 * k * half + 1] - zero
            if is_forward:
                s = 0 - s
            ch = c >> 14
            c = c & 16383
            sh = s >> 14
            s = s & 16383
            i = source + 2 * k * count
            j = target + 2 * k * half
            end = j + 2 * half
            while True:
                if j >= end:
                    break
                a = (out[i + 2 * half] - zero) >> down
                b = (out[i + 2 * half + 1] - zero) >> down
                ah = a >> 14
                a = a & 16383
                bh = b >> 14
                b = b & 16383
                v = ah * ch - bh * sh
                v += (ah * c + a * ch - bh * s - b * sh + ((a * c - b * s) >> 14) + 8192) >> 14
                b = ah * s + a * sh + bh * c + b * ch + ((a * s + b * c) >> 14) + 8192 >> 14
                b += ah * sh + bh * ch
                a = (out[i] - zero) >> down
                at = a - v
                a += v
                most = most | (a ^ (a >> 31)) | (at ^ (at >> 31))
                out[j] = a + zero
                out[j + 2 * done * half] = at + zero
                a = (out[i + 1] - zero) >> down
                at = a - b
                a += b
                most = most | (a ^ (a >> 31)) | (at ^ (at >> 31))
                out[j + 1] = a + zero
                out[j + 2 * done * half + 1] = at + zero
                i += 2
                j += 2
            k += 1
        i = source
        source = target
        target = i
        done = done + done
        count = half
    i = 1
    p[i] = source


@micropython.viper
def store32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """The result, in x, as float32; NaN if the line had inf or NaN.

    Access:
        inner, n, parts = p[4], p[7], 1 if p[2] == 2 else 2
        first = (p[0] // inner * n * inner + p[0] % inner) * parts
        reads x[p[1] : p[1] + 2 * n]
        writes out[first : first + ((n - 1) * inner + 1) * parts] if n
    """
    inner = p[4]
    parts = 2
    j = p[1]
    line = p[0]
    one = 1
    if p[2] == 2:
        parts = 1
    factor = p[10]
    e = p[8] - p[11]
    ch = factor >> 14
    c = factor & 16383
    i = (line // inner * p[7] * inner + line % inner) * parts
    n = 0
    while n < p[7]:
        k = 0
        while k < parts:
            v = x[j + k] - (1 << 29)
            sign = 0
            if factor:
                a = v >> 14
                v = v & 16383
                v = a * ch + ((a * c + v * ch + ((v * c) >> 14) + 8192) >> 14)
            if v < 0:
                v = 0 - v
                sign = 1
            a = e + 2
            if v:
                while v < one << 17:
                    v = v << 12
                    a -= 12
                while v < one << 29:
                    v = v << 1
                    a -= 1
                s = 6
                if a < 1:
                    s = 7 - a
                    if s > 30:
                        s = 30
                    a = 1
                v = ((v + (one << s >> 1)) >> s) + ((a - 1) << 23)
                if a > 254:
                    v = (one << 31) - (one << 23)
            if p[9]:
                v = 0x1FF
                v = v << 22
                sign = 0
            if sign:
                v = v - (one << 31)
            out[i + k] = v
            k += 1
        i += inner * parts
        j += 2
        n += 1
