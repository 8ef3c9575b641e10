// Exact sums of mantissas: see loops/viper/block_dot for how. C and assembler for Xtensa.
//
// Two channels at a time: 11.1 instructions a multiply-accumulate in the unrolled part. Of the two,
// the halves of an element and their sum are the same.
//
// Forms: xtensawin

#include "xtensa/core_c.h"

#define PART 120  // elements, whose sums fit
#define WIDE 0xFFFFFF

typedef struct {
    int a, h, b;
} Sums;

// A, H and B of two channels from `sums` on += elements times weights. a2 x, a3 and a4 w of each,
// a5 x, a6 its upper half, a7 the sum of both, a8 to a13 sums, a14, a15 and a0 the same of a
// weight, or products.
__asm__(
    ".balign 4\n"
    "block12: entry a1, 48\n"
    ".macro add_weight from, i, a, h, b\n"
    "l32i a14, \\from, 4 * \\i; srai a15, a14, 12; add a0, a14, a15\n"
    "mull a14, a14, a5; mull a15, a15, a6; mull a0, a0, a7\n"
    "add \\a, \\a, a14; add \\h, \\h, a15; add \\b, \\b, a0\n"
    ".endm\n"
    ".macro add_mantissa i\n"
    "l32i a5, a2, 4 * \\i; srai a6, a5, 12; add a7, a5, a6\n"
    "add_weight a3, \\i, a8, a9, a10; add_weight a4, \\i, a11, a12, a13\n"
    ".endm\n"
    "s32i a0, a1, 0; s32i a5, a1, 4; s32i a6, a1, 8\n"
    "sub a7, a5, a2; srli a7, a7, 4; slli a7, a7, 4; add a7, a7, a2; s32i a7, a1, 12\n"
    "l32i a8, a6, 0; l32i a9, a6, 4; l32i a10, a6, 8\n"
    "l32i a11, a6, 12; l32i a12, a6, 16; l32i a13, a6, 20\n"
    "beq a2, a7, BLOCK_REST\n"
    "BLOCK_FOUR: add_mantissa 0; add_mantissa 1; add_mantissa 2; add_mantissa 3\n"
    "l32i a5, a1, 12; addi a2, a2, 16; addi a3, a3, 16; addi a4, a4, 16\n"
    "bne a2, a5, BLOCK_FOUR\n"
    "BLOCK_REST: l32i a5, a1, 4; beq a2, a5, BLOCK_DONE\n"
    "add_mantissa 0; addi a2, a2, 4; addi a3, a3, 4; addi a4, a4, 4\n"
    "j BLOCK_REST\n"
    "BLOCK_DONE: l32i a0, a1, 0; l32i a6, a1, 8\n"
    "s32i a8, a6, 0; s32i a9, a6, 4; s32i a10, a6, 8\n"
    "s32i a11, a6, 12; s32i a12, a6, 16; s32i a13, a6, 20\n"
    "retw\n");
void block12(const int *x, const int *w, const int *second, const int *end, Sums *sums);

INLINE void start(Sums *s)
{
    s->a = s->h = 0;
    s->b = 1 << 30;
}

// Limbs of 24, 24 and 16 bits += a part's sums.
INLINE void carry(const Sums *s, int *out)
{
    int a = s->a, h = s->h, b = s->b - a - 8193 * h;
    a -= (h << 24) + (b << 12);
    int c = ((u32)a >> 12) + (b & 4095);
    h += ((u32)b >> 12) + (c >> 12) - (1 << 18);
    int low = out[0] + (a & 4095) + ((c & 4095) << 12);
    int middle = out[1] + (h & WIDE) + (low >> 24);
    out[0] = low & WIDE;
    out[2] += (h >> 24) + (middle >> 24);
    out[1] = middle & WIDE;
}

int dots(const int *x, const int *w, int *out, const int *p)
{
    int k = p[p_columns];
    const int *row = x + p[p_x_start];
    Sums sums[2];
    w += p[p_w_start];
    out += p[p_out_start];
    for (int rows = p[p_rows]; rows; rows--) {
        const int *end = row + k, *of_channel = w;
        int low = 0, high = 1 << 16;
        for (const int *item = row; item != end; item++) {
            low += *item;
            high += low >> 24;
            low &= WIDE;
        }
        out[0] = low;
        out[1] = high;
        out[2] = 0;
        out += 3;
        for (int left = p[p_channels]; left > 0; left -= 2) {
            const int *item = row, *first = of_channel, *second = first + k;
            int spare[3];  // of the second channel where there is none
            int *other = left > 1 ? out + 3 : spare;
            if (left == 1)
                second = first;
            out[0] = out[1] = other[0] = other[1] = 0;
            out[2] = other[2] = 1 << 15;
            while (item != end) {
                const int *stop = end - item > PART ? item + PART : end;
                start(&sums[0]);
                start(&sums[1]);
                block12(item, first, second, stop, sums);
                carry(&sums[0], out);
                carry(&sums[1], other);
                first += stop - item;
                second += stop - item;
                item = stop;
            }
            of_channel += 2 * k;
            out += left > 1 ? 6 : 3;
        }
        row += p[p_x_row_stride];
    }
    return 0;
}
