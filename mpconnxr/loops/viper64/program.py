"""Interpreter of a program: see loops/program. Viper form for 64-bit words.

Pointers to 32 bits load them without their sign. views has 64-bit addresses, of word 1 of each.
"""

import sys

import micropython

if sys.maxsize <= 0x7FFFFFFF:
    raise ImportError("words of 32 bits")

HOW = 2


@micropython.viper
def run(what) -> int:
    entries, advance, code, words, views = what[2]
    while True:
        k = advance(code, words, views)  # an object: an index must be one
        if int(k) > 239:
            break
        f, a, b, c, d = entries[k]
        f(a, b, c, d)
    return int(k)


@micropython.viper
def advance(code: ptr8, words: ptr32, views: ptr32) -> int:
    at = words[0]
    k = 255
    while words[1]:
        k = code[at]
        at += 1
        if k > 252:
            if k == 254:
                i = 3 + code[at]
                if words[i] == 0:
                    words[i] = 1 + (code[at + 3] | code[at + 4] << 8)
                words[i] = words[i] - 1
                if words[i]:
                    at -= 1 + (code[at + 1] | code[at + 2] << 8)
                else:
                    at += 5
                continue
            if k == 255:
                at -= 1  # so that later calls end here, too
                break
            k = 256 + (code[at] | code[at + 1] << 8)
            at += 2
            break
        i = 8
        while True:
            n = code[at]
            at += 1
            if n == 0:
                break
            i += n >> 4
            n = n & 15
            while n:
                v = code[at]
                at += 1
                adds = 1 - (v & 1)
                shift = 1
                if v < 128:  # the most frequent case
                    value = v >> 2
                    v = v & 2
                else:
                    value = (v & 127) >> 1
                    shift = 6
                    while v & 128:
                        v = code[at]
                        at += 1
                        value = value | (v & 127) << shift
                        shift += 7
                    shift = 1
                    v = value & 1
                    value >>= 1
                if v:
                    value = 0 - 1 - value
                if i - 8 < words[2]:
                    at_view = 2 * (i - 8)
                    view = ptr32(views[at_view] | views[at_view + 1] << 32)
                    shift = 0
                    v = view[shift] if adds else view[shift] & 255
                    view[shift] = v + value
                else:
                    if adds:
                        value += words[i]
                    words[i] = value
                i += 1
                n -= 1
        if k != 252:
            i = 1
            words[i] = words[i] - 1
            break
        k = 255
    i = 0
    words[i] = at
    return k
