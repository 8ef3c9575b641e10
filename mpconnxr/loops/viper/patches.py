"""im2col of bytes: see loops/patches. Viper form.

The emitter keeps the first three locals in registers, in .mpy files two: where it reads, where it
writes (in `w`), and in `out`, as if it were an address, the flip, then the sum of the items, which
are read once more for it.
What a row of the kernel sees is padding, items, padding; where these begin is known before the
rows. Of positions of one row that see no padding only the first one's place is computed.
"""

from .._bytes import copy, next_place
from .._hints import unroll
from .._viper import ptr8, ptr32


def patches(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    bias, image, w = 1 << 29, int(x) + p[0], out
    padding, kw, step, down, oy, ox = p[19], p[3], p[6], p[5], p[16], p[17]
    across = p[12] * p[14]
    inside = 0  # how many of the next positions see no padding, and differ in their column alone
    base, three, five = image, 0, 0
    is_three = 1 if step == 1 and kw == 3 else 0
    is_five = 1 if step == 1 and kw == 5 else 0
    tail = p[21]
    for left in range(p[20], 0, -1):
        if inside:
            inside -= 1
            base += across
            cut, three, five = 0, is_three, is_five
        else:
            y0 = p[22] + oy * p[11] - bias
            x0 = p[23] + ox * p[12] - bias
            base = image + y0 * p[13] + x0 * p[14]
            lead = 0
            if x0 < 0:
                lead = min((p[10] - 1 - x0) // p[10], kw)
            last = kw
            room = p[8] - (kw - 1) * p[10]  # of corners whose rows are within
            if x0 >= room:
                last = max((p[8] - x0 + p[10] - 1) // p[10], lead)
            skipped, cut = lead * step, kw - last + lead
            if y0 < 0 or y0 + (p[2] - 1) * p[9] >= p[7]:
                cut = 1
            elif x0 + p[12] >= 0:
                inside = max(min((room - 1 - x0) // p[12], p[15] - 1 - ox), 0)
            three = 0 if cut else is_three
            five = 0 if cut else is_five
        record, w, out = int(w), ptr8(4 + int(w)), ptr8(p[18])
        plane = base
        for c in range(p[1], 0, -1):
            at, y = plane, y0
            for ky in range(p[2], 0, -1):
                x = ptr8(at)
                if three:
                    w = copy(x, w, out, 3)
                elif five:
                    w = copy(x, w, out, 5)
                else:
                    row_end = kw + int(w)
                    end = row_end
                    if cut:
                        lead_end = row_end
                        if y >= 0 and y < p[7]:
                            lead_end, end = lead + int(w), last + int(w)
                            x = ptr8(skipped + at)
                        while lead_end > int(w):
                            w[0] = padding
                            w = ptr8(1 + int(w))
                        y += p[9]
                    several = end - 3
                    while several > int(w):
                        for n in unroll(4):
                            w[0] = x[0] ^ int(out)
                            w = ptr8(1 + int(w))
                            x = ptr8(step + int(x))
                    while end > int(w):
                        w[0] = x[0] ^ int(out)
                        w, x = ptr8(1 + int(w)), ptr8(step + int(x))
                    while row_end > int(w):
                        w[0] = padding
                        w = ptr8(1 + int(w))
                at += down
            plane += p[4]
        end = int(w)
        if tail:
            end = tail + int(w)
            while end > int(w):
                w[0] = 0
                w = ptr8(1 + int(w))
        several, x, out = end - 15, ptr8(4 + record), ptr8(0)
        while several > int(x):
            out = ptr8(x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7] + int(out))
            out = ptr8(x[8] + x[9] + x[10] + x[11] + x[12] + x[13] + x[14] + x[15] + int(out))
            x = ptr8(16 + int(x))
        while end > int(x):
            out = ptr8(x[0] + x[1] + x[2] + x[3] + int(out))
            x = ptr8(4 + int(x))
        ptr32(record)[0] = int(out)
        ox, oy = next_place(ox, oy, p)
