// Sums of short mantissas: see loops/short_dot. C and assembler for Xtensa.
//
// Four channels at a time: 3.4 instructions a multiply-accumulate in the unrolled part.
//
// Forms: xtensawin

#include "xtensa/core_c.h"

// Sums of four channels from `sums` on += elements times weights, whose rows are `step` bytes
// apart. a2 x, a3 to a6 w of each channel, a7 end, a8 to a11 sums, a12 element, a13 and a14
// products, a15 end of eights, then of fours.
__asm__(
    ".balign 4\n"
    "short14: entry a1, 32\n"
    "s32i a6, a1, 0; mov a7, a5\n"
    "l32i a8, a6, 0; l32i a9, a6, 4; l32i a10, a6, 8; l32i a11, a6, 12\n"
    "mov a12, a4; add a4, a3, a12; add a5, a4, a12; add a6, a5, a12\n"
    ".macro add_short i\n"
    "l32i a12, a2, 4 * \\i\n"
    "l16ui a13, a3, 2 * \\i; l16ui a14, a4, 2 * \\i\n"
    "mull a13, a13, a12; mull a14, a14, a12; add a8, a8, a13; add a9, a9, a14\n"
    "l16ui a13, a5, 2 * \\i; l16ui a14, a6, 2 * \\i\n"
    "mull a13, a13, a12; mull a14, a14, a12; add a10, a10, a13; add a11, a11, a14\n"
    ".endm\n"
    ".macro next_short n\n"
    "addi a2, a2, 4 * \\n; addi a3, a3, 2 * \\n; addi a4, a4, 2 * \\n\n"
    "addi a5, a5, 2 * \\n; addi a6, a6, 2 * \\n\n"
    ".endm\n"
    "sub a12, a7, a2; srli a12, a12, 5; slli a12, a12, 5; add a15, a2, a12\n"
    "beq a2, a15, SHORT_FOUR\n"
    "SHORT_EIGHT: add_short 0; add_short 1; add_short 2; add_short 3\n"
    "add_short 4; add_short 5; add_short 6; add_short 7; next_short 8\n"
    "bne a2, a15, SHORT_EIGHT\n"
    "SHORT_FOUR: sub a12, a7, a2; bbci a12, 4, SHORT_REST\n"
    "add_short 0; add_short 1; add_short 2; add_short 3; next_short 4\n"
    "SHORT_REST: beq a2, a7, SHORT_DONE\n"
    "SHORT_ONE: add_short 0; next_short 1\n"
    "bne a2, a7, SHORT_ONE\n"
    "SHORT_DONE: l32i a12, a1, 0\n"
    "s32i a8, a12, 0; s32i a9, a12, 4; s32i a10, a12, 8; s32i a11, a12, 12\n"
    "retw\n");
void short14(const int *x, const u16 *w, int step, const int *end, int *sums);

int dots(const int *x, const u16 *w, int *out, const int *p)
{
    int k = p[p_columns], padded = k + (k & 1), step = p[p_x_row_stride];
    const int *row = x + p[p_x_start];
    w += p[p_w_start];
    out += p[p_out_start];
    for (int rows = p[p_rows]; rows; rows--) {
        const int *end = row + k;
        const u16 *weights = w;
        int total = 0, left = p[p_channels];
        for (const int *item = row; item != end; item++)
            total += *item;
        total = (1 << 30) - (total << 14);
        for (; left > 3; left -= 4) {
            out[0] = out[1] = out[2] = out[3] = total;
            short14(row, weights, 2 * padded, end, out);
            weights += 4 * padded;
            out += 4;
        }
        for (; left; left--) {
            int sum = total;
            for (int i = 0; i < k; i++)
                sum += row[i] * weights[i];
            weights += padded;
            *out++ = sum;
        }
        row += step;
    }
    return 0;
}
