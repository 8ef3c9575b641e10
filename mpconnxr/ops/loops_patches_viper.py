"""im2col of bytes: see loops_patches. Viper form.

The emitter keeps the first three locals in registers, in .mpy files two: where it reads, where it
writes (in `w`), and in `out`, as if it were an address, the flip, then the sum of the items, which
are read once more for it.
What a row of the kernel sees is padding, items, padding; where these begin is known before the
rows.
"""

import micropython


@micropython.viper
def patches(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    bias = 1 << 29
    image = int(x) + p[0]
    w = out
    padding = p[19]
    kw = p[3]
    step = p[6]
    down = p[5]
    oy = p[16]
    ox = p[17]
    left = p[20]
    while left:
        y0 = p[22] + oy * p[11] - bias
        x0 = p[23] + ox * p[12] - bias
        base = image + y0 * p[13] + x0 * p[14]
        lead = 0
        if x0 < 0:
            lead = (p[10] - 1 - x0) // p[10]
            if lead > kw:
                lead = kw
        last = kw
        if x0 + (kw - 1) * p[10] >= p[8]:
            last = (p[8] - x0 + p[10] - 1) // p[10]
            if last < lead:
                last = lead
        skipped = lead * step
        cut = kw - last + lead
        if y0 < 0 or y0 + (p[2] - 1) * p[9] >= p[7]:
            cut = 1
        record = int(w)
        w = ptr8(4 + int(w))
        out = ptr8(p[18])
        c = p[1]
        while c:
            at = base
            y = y0
            ky = p[2]
            while ky:
                row_end = kw + int(w)
                end = row_end
                x = ptr8(at)
                if cut:
                    lead_end = row_end
                    if y >= 0 and y < p[7]:
                        lead_end = lead + int(w)
                        end = last + int(w)
                        x = ptr8(skipped + at)
                    while int(w) < lead_end:
                        w[0] = padding
                        w = ptr8(1 + int(w))
                    y += p[9]
                if step == 1:
                    several = end - 2
                    while int(w) < several:
                        w[0] = x[0] ^ int(out)
                        w = ptr8(1 + int(w))
                        w[0] = x[1] ^ int(out)
                        w = ptr8(1 + int(w))
                        w[0] = x[2] ^ int(out)
                        w = ptr8(1 + int(w))
                        x = ptr8(3 + int(x))
                else:
                    several = end - 3
                    while int(w) < several:
                        w[0] = x[0] ^ int(out)
                        w = ptr8(1 + int(w))
                        x = ptr8(step + int(x))
                        w[0] = x[0] ^ int(out)
                        w = ptr8(1 + int(w))
                        x = ptr8(step + int(x))
                        w[0] = x[0] ^ int(out)
                        w = ptr8(1 + int(w))
                        x = ptr8(step + int(x))
                        w[0] = x[0] ^ int(out)
                        w = ptr8(1 + int(w))
                        x = ptr8(step + int(x))
                while int(w) < end:
                    w[0] = x[0] ^ int(out)
                    w = ptr8(1 + int(w))
                    x = ptr8(step + int(x))
                if cut:
                    while int(w) < row_end:
                        w[0] = padding
                        w = ptr8(1 + int(w))
                at += down
                ky -= 1
            base += p[4]
            c -= 1
        end = p[21] + int(w)
        while int(w) < end:
            w[0] = 0
            w = ptr8(1 + int(w))
        several = end - 7
        x = ptr8(4 + record)
        out = ptr8(0)
        while int(x) < several:
            out = ptr8(x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7] + int(out))
            x = ptr8(8 + int(x))
        if int(x) < end:
            out = ptr8(x[0] + x[1] + x[2] + x[3] + int(out))
        ptr32(record)[0] = int(out)
        ox += 1
        if ox == p[15]:
            ox = 0
            oy += 1
        left -= 1
