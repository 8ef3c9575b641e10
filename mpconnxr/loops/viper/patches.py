"""im2col of bytes: see loops/patches. Viper form.

The emitter keeps the first three locals in registers, in .mpy files two: where it reads, where it
writes (in `w`), and in `out`, as if it were an address, the flip, then the sum of the items, which
are read once more for it.
What a row of the kernel sees is padding, items, padding; where these begin is known before the
rows. Of positions of one row that see no padding only the first one's place is computed.

Made from tools/loops/viper/patches.py by `make loops`:
change that file, not this one.
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
    across = p[12] * p[14]
    inside = 0  # how many of the next positions see no padding, and differ in their column alone
    base = image
    three = 0
    five = 0
    is_three = 1 if step == 1 and kw == 3 else 0
    is_five = 1 if step == 1 and kw == 5 else 0
    tail = p[21]
    left = p[20]
    while left:
        if inside:
            inside -= 1
            base += across
            cut = 0
            three = is_three
            five = is_five
        else:
            y0 = p[22] + oy * p[11] - bias
            x0 = p[23] + ox * p[12] - bias
            base = image + y0 * p[13] + x0 * p[14]
            lead = 0
            if x0 < 0:
                lead = (p[10] - 1 - x0) // p[10]
                if lead > kw:
                    lead = kw
            last = kw
            room = p[8] - (kw - 1) * p[10]  # of corners whose rows are within
            if x0 >= room:
                last = (p[8] - x0 + p[10] - 1) // p[10]
                if last < lead:
                    last = lead
            skipped = lead * step
            cut = kw - last + lead
            if y0 < 0 or y0 + (p[2] - 1) * p[9] >= p[7]:
                cut = 1
            elif x0 + p[12] >= 0:
                inside = (room - 1 - x0) // p[12]
                if inside > p[15] - 1 - ox:
                    inside = p[15] - 1 - ox
                if inside < 0:
                    inside = 0
            three = 0 if cut else is_three
            five = 0 if cut else is_five
        record = int(w)
        w = ptr8(4 + int(w))
        out = ptr8(p[18])
        plane = base
        c = p[1]
        while c:
            at = plane
            y = y0
            ky = p[2]
            while ky:
                x = ptr8(at)
                if three:
                    w[0] = x[0] ^ int(out)
                    w = ptr8(1 + int(w))
                    w[0] = x[1] ^ int(out)
                    w = ptr8(1 + int(w))
                    w[0] = x[2] ^ int(out)
                    w = ptr8(1 + int(w))
                elif five:
                    w[0] = x[0] ^ int(out)
                    w = ptr8(1 + int(w))
                    w[0] = x[1] ^ int(out)
                    w = ptr8(1 + int(w))
                    w[0] = x[2] ^ int(out)
                    w = ptr8(1 + int(w))
                    w[0] = x[3] ^ int(out)
                    w = ptr8(1 + int(w))
                    w[0] = x[4] ^ int(out)
                    w = ptr8(1 + int(w))
                else:
                    row_end = kw + int(w)
                    end = row_end
                    if cut:
                        lead_end = row_end
                        if y >= 0 and y < p[7]:
                            lead_end = lead + int(w)
                            end = last + int(w)
                            x = ptr8(skipped + at)
                        while lead_end > int(w):
                            w[0] = padding
                            w = ptr8(1 + int(w))
                        y += p[9]
                    several = end - 3
                    while several > int(w):
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
                    while end > int(w):
                        w[0] = x[0] ^ int(out)
                        w = ptr8(1 + int(w))
                        x = ptr8(step + int(x))
                    while row_end > int(w):
                        w[0] = padding
                        w = ptr8(1 + int(w))
                at += down
                ky -= 1
            plane += p[4]
            c -= 1
        end = int(w)
        if tail:
            end = tail + int(w)
            while end > int(w):
                w[0] = 0
                w = ptr8(1 + int(w))
        several = end - 15
        x = ptr8(4 + record)
        out = ptr8(0)
        while several > int(x):
            out = ptr8(x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7] + int(out))
            out = ptr8(x[8] + x[9] + x[10] + x[11] + x[12] + x[13] + x[14] + x[15] + int(out))
            x = ptr8(16 + int(x))
        while end > int(x):
            out = ptr8(x[0] + x[1] + x[2] + x[3] + int(out))
            x = ptr8(4 + int(x))
        ptr32(record)[0] = int(out)
        ox += 1
        if ox == p[15]:
            ox = 0
            oy += 1
        left -= 1
