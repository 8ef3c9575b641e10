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
    const u8 *plane = x + p[0];
    int step = p[6], flip = p[12], padding = p[13];
    out += p[10];
    for (int planes = p[1]; planes; planes--, plane += p[2]) {
        u32 y = p[11] - (1 << 29);
        for (int rows = p[4]; rows; rows--, y++) {
            u8 *end = out + p[7];
            if (y < (u32)p[3]) {
                const u8 *from = plane + (int)y * p[5];
                out = padded(out, out + p[8], padding);
                u8 *last = out + p[9], *fours = last - 3;
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
