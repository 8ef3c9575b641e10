// Copies rows of planes with padding: see loops/planes. C for Xtensa.
//
// 4 instructions a byte of neighbours, 6 of others.
//
// Forms: xtensawin

#include "xtensa/core_c.h"

INLINE u8 *padded(u8 *out, u8 *end, int padding)
{
    for (; out != end; out++)
        *out = padding;
    return out;
}

int planes(const u8 *x, const u8 *w, u8 *out, const int *p)
{
    const u8 *plane = x + p[p_x_start];
    int step = p[p_x_column_stride], flip = p[p_flip], padding = p[p_padding];
    out += p[p_out_start];
    for (int planes = p[p_planes]; planes; planes--, plane += p[p_x_plane_stride]) {
        u32 y = p[p_first_row] - (1 << 29);
        for (int rows = p[p_out_rows]; rows; rows--, y++) {
            u8 *end = out + p[p_out_columns];
            if (y < (u32)p[p_rows]) {
                const u8 *from = plane + (int)y * p[p_x_row_stride];
                out = padded(out, out + p[p_left_padding], padding);
                u8 *last = out + p[p_columns], *fours = last - 3;
                if (step == 1)
                    for (; out < fours; out += 4, from += 4) {
                        int a = from[0], b = from[1], c = from[2], d = from[3];
                        out[0] = a ^ flip;
                        out[1] = b ^ flip;
                        out[2] = c ^ flip;
                        out[3] = d ^ flip;
                    }
                for (; out != last; out++, from += step)
                    *out = *from ^ flip;
            }
            out = padded(out, end, padding);
        }
    }
    return 0;
}
