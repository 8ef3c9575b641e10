"""im2col of bytes: see loops/patches. Viper form.

The emitter keeps the first three locals in registers (two in .mpy files): the input pointer, the
output pointer (in `w`), and in `out`, cast to a pointer, the flip, then the sum of the elements,
which are read again for it.

A row of the kernel covers padding, elements, padding; where these begin is computed before the
rows. For positions of one row that cover no padding, only the first one's start is computed.
"""

from .._bytes import copy, next_place
from .._hints import unroll
from .._viper import ptr8, ptr32


def patches(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    bias, image, w = 1 << 29, int(x) + p[_X_START], out
    padding, kw, step, down, oy, ox = (
        p[_PADDING],
        p[_KERNEL_COLUMNS],
        p[_KERNEL_COLUMN_STEP],
        p[_KERNEL_ROW_STEP],
        p[_ROW],
        p[_COLUMN],
    )
    if p[_ZERO_START]:
        padding = out[p[_ZERO_START]]
    while ox >= p[_OUT_COLUMNS]:
        ox -= p[_OUT_COLUMNS]
        oy += 1
    across = p[_COLUMN_STRIDE] * p[_X_COLUMN_STRIDE]
    inside = 0  # number of next positions without padding that differ only in their column
    base, three, five = image, 0, 0
    is_three = 1 if step == 1 and kw == 3 else 0
    is_five = 1 if step == 1 and kw == 5 else 0
    tail = p[_RECORD_PADDING]
    for left in range(p[_POSITIONS], 0, -1):
        if inside:
            inside -= 1
            base += across
            cut, three, five = 0, is_three, is_five
        else:
            y0 = p[_CORNER_ROW] + oy * p[_ROW_STRIDE] - bias
            x0 = p[_CORNER_COLUMN] + ox * p[_COLUMN_STRIDE] - bias
            base = image + y0 * p[_X_ROW_STRIDE] + x0 * p[_X_COLUMN_STRIDE]
            lead = 0
            if x0 < 0:
                lead = min((p[_COLUMN_DILATION] - 1 - x0) // p[_COLUMN_DILATION], kw)
            last = kw
            corners = p[_COLUMNS] - (kw - 1) * p[_COLUMN_DILATION]  # corners whose kernel row fits
            if x0 >= corners:
                last = max(
                    (p[_COLUMNS] - x0 + p[_COLUMN_DILATION] - 1) // p[_COLUMN_DILATION], lead
                )
            skipped, cut = lead * step, kw - last + lead
            if y0 < 0 or y0 + (p[_KERNEL_ROWS] - 1) * p[_ROW_DILATION] >= p[_ROWS]:
                cut = 1
            elif x0 + p[_COLUMN_STRIDE] >= 0:
                inside = max(
                    min((corners - 1 - x0) // p[_COLUMN_STRIDE], p[_OUT_COLUMNS] - 1 - ox), 0
                )
            three = 0 if cut else is_three
            five = 0 if cut else is_five
        record, w, out = int(w), ptr8(4 + int(w)), ptr8(p[_FLIP])
        plane = base
        for c in range(p[_CHANNELS], 0, -1):
            at, y = plane, y0
            for ky in range(p[_KERNEL_ROWS], 0, -1):
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
                        if y >= 0 and y < p[_ROWS]:
                            lead_end, end = lead + int(w), last + int(w)
                            x = ptr8(skipped + at)
                        while lead_end > int(w):
                            w[0] = padding
                            w = ptr8(1 + int(w))
                        y += p[_ROW_DILATION]
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
            plane += p[_X_CHANNEL_STRIDE]
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
        ox, oy = next_place(ox, oy, p[_OUT_COLUMNS])
