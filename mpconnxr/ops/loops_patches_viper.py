"""im2col of bytes: see loops_patches. Viper form.

The emitter keeps the first three locals in registers: where it reads, the sum (in `w`, as if it
were an address), and where it writes. What a row of the kernel sees is padding, items, padding;
where these begin is known before the rows.
"""

import micropython


@micropython.viper
def patches(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    bias = 1 << 29
    image = int(x) + p[0]
    flip = p[18]
    padding = p[19]
    kw = p[3]
    step = p[6]
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
        record = ptr32(out)
        out = ptr8(4 + int(out))
        w = ptr8(0)
        c = p[1]
        while c:
            at = base
            y = y0
            ky = p[2]
            while ky:
                row_end = kw + int(out)
                if y < 0 or y >= p[7]:
                    end = row_end
                    items_end = row_end
                else:
                    end = lead + int(out)
                    items_end = last + int(out)
                while int(out) < end:
                    out[0] = padding
                    w = ptr8(padding + int(w))
                    out = ptr8(1 + int(out))
                x = ptr8(skipped + at)
                while int(out) < items_end:
                    v = x[0] ^ flip
                    out[0] = v
                    w = ptr8(v + int(w))
                    out = ptr8(1 + int(out))
                    x = ptr8(step + int(x))
                while int(out) < row_end:
                    out[0] = padding
                    w = ptr8(padding + int(w))
                    out = ptr8(1 + int(out))
                at += p[5]
                y += p[9]
                ky -= 1
            base += p[4]
            c -= 1
        record[0] = int(w)
        end = p[21] + int(out)
        while int(out) < end:
            out[0] = 0
            out = ptr8(1 + int(out))
        ox += 1
        if ox == p[15]:
            ox = 0
            oy += 1
        left -= 1
