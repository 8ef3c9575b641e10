// Dot products of bytes with requantization: see loops/qdot. C and assembler for Xtensa.
//
// Four channels of two positions at a time: 2.9 instructions a multiply-accumulate, of one
// position 3.5, and some 20 for each requantization.
//
// Forms: xtensawin

#include "xtensa/core_c.h"
#include "xtensa/scale.h"

// Sums of four channels of two positions, from `sums` on, += K elements, 4 or more, times weights:
// those of the first position, then those of the second one. a2 x, a3 w, a4 x of the second
// position, a5 and a6 elements, a8 to a15 sums, a7 and a0 a weight and a product, by turns: a
// weight is loaded early, as it is not there at once.
__asm__(
    ".balign 4\n"
    "dots24: entry a1, 48\n"
    "s32i a0, a1, 0; s32i a5, a1, 4; s32i a6, a1, 8\n"
    "l32i a8, a6, 0; l32i a9, a6, 4; l32i a10, a6, 8; l32i a11, a6, 12\n"
    "l32i a12, a6, 16; l32i a13, a6, 20; l32i a14, a6, 24; l32i a15, a6, 28\n"
    ".macro add_two w, other, first, second, next=-1\n"
    "mull \\other, a5, \\w; mull \\w, a6, \\w; add \\first, \\first, \\other\n"
    ".if \\next >= 0; l8ui \\other, a3, \\next; .endif\n"
    "add \\second, \\second, \\w\n"
    ".endm\n"
    ".macro add_items i, next\n"
    "l8ui a5, a2, \\i; l8ui a6, a4, \\i\n"
    "add_two a7, a0, a8, a12, \\i + 4; add_two a0, a7, a9, a13, \\i + 8\n"
    "add_two a7, a0, a10, a14, \\i + 12; add_two a0, a7, a11, a15, \\next\n"
    ".endm\n"
    "FOUR24: l8ui a7, a3, 0\n"
    "add_items 0, 1; add_items 1, 2; add_items 2, 3; add_items 3, -1\n"
    "l32i a7, a1, 4\n"
    "addi a2, a2, 4; addi a4, a4, 4; addi a3, a3, 16\n"
    "bne a2, a7, FOUR24\n"
    "l32i a0, a1, 0; l32i a6, a1, 8\n"
    "s32i a8, a6, 0; s32i a9, a6, 4; s32i a10, a6, 8; s32i a11, a6, 12\n"
    "s32i a12, a6, 16; s32i a13, a6, 20; s32i a14, a6, 24; s32i a15, a6, 28\n"
    "retw\n");
void dots24(const u8 *x, const u8 *w, const u8 *second, const u8 *end, int *sums);

// The same of one position: a4 end, a5 sums.
__asm__(
    ".balign 4\n"
    "dots14: entry a1, 32\n"
    "l32i a8, a5, 0; l32i a9, a5, 4; l32i a10, a5, 8; l32i a11, a5, 12\n"
    ".macro add_element i\n"
    "l8ui a6, a2, \\i; l8ui a7, a3, \\i; mull a7, a7, a6\n"
    "l8ui a12, a3, \\i + 4; add a8, a8, a7; mull a12, a12, a6\n"
    "l8ui a7, a3, \\i + 8; add a9, a9, a12; mull a7, a7, a6\n"
    "l8ui a12, a3, \\i + 12; add a10, a10, a7; mull a12, a12, a6; add a11, a11, a12\n"
    ".endm\n"
    "FOUR14: add_element 0; add_element 1; add_element 2; add_element 3\n"
    "addi a2, a2, 4; addi a3, a3, 16\n"
    "bne a2, a4, FOUR14\n"
    "s32i a8, a5, 0; s32i a9, a5, 4; s32i a10, a5, 8; s32i a11, a5, 12\n"
    "retw\n");
void dots14(const u8 *x, const u8 *w, const u8 *end, int *sums);

INLINE int dots11(const u8 *x, const u8 *w, const u8 *end)
{
    int sum = 0;
    do {
        sum += x[0] * w[0];
        sum += x[1] * w[1];
        sum += x[2] * w[2];
        sum += x[3] * w[3];
        x += 4;
        w += 4;
    } while (x != end);
    return sum;
}

typedef struct {
    const u8 *first, *weights;
    const int *table;
    u8 *out;
    int columns, positions, channels, position_step, channel_step, x_step, w_zero_point, has_sums;
    Range range;
} Call;

// All positions from c->first on; where they lack their sums, that is one, of this sum.
NOINLINE void of_positions(const Call *c, int sum)
{
    const u8 *row = c->weights;
    const int *table = c->table;
    u8 *out = c->out;
    int step = c->position_step, channel_step = c->channel_step, columns = c->columns;
    int sums[8];
    Scale scales[4];
    for (int left = c->channels; left; ) {
        const u8 *x = c->first;
        u8 *at = out;
        int n = c->positions, many = left > 3 ? 4 : 1;
        for (int i = 0; i < many; i++)
            get_scale(&scales[i], table + 2 * i, &c->range);
        if (many == 1) {
            for (; n; n--) {
                int zero_sum = (c->has_sums ? ((int *)x)[-1] : sum) * c->w_zero_point;
                int dot = dots11(x, row, x + columns);
                *at = scaled(scales, dot + scales[0].added - zero_sum, &c->range);
                at += step;
                x += c->x_step;
            }
        }
        if (many == 4 && c->has_sums) {
            for (; n > 1; n -= 2) {
                const u8 *y = x + c->x_step;
                int zero_sum = ((int *)x)[-1] * c->w_zero_point;
                int zero_sum_2 = ((int *)y)[-1] * c->w_zero_point;
                for (int i = 0; i < 4; i++) {
                    sums[i] = scales[i].added - zero_sum;
                    sums[i + 4] = scales[i].added - zero_sum_2;
                }
                dots24(x, row, y, x + columns, sums);
                u8 *to = at;
                for (int i = 0; i < 4; i++) {
                    to[0] = scaled(&scales[i], sums[i], &c->range);
                    to[step] = scaled(&scales[i], sums[i + 4], &c->range);
                    to += channel_step;
                }
                at += 2 * step;
                x = y + c->x_step;
            }
        }
        for (; n; n--) {
            int zero_sum = (c->has_sums ? ((int *)x)[-1] : sum) * c->w_zero_point;
            for (int i = 0; i < 4; i++)
                sums[i] = scales[i].added - zero_sum;
            dots14(x, row, x + columns, sums);
            u8 *to = at;
            for (int i = 0; i < 4; i++) {
                *to = scaled(&scales[i], sums[i], &c->range);
                to += channel_step;
            }
            at += step;
            x += c->x_step;
        }
        out += many * channel_step;
        row += many * columns;
        table += 2 * many;
        left -= many;
    }
}

int qdots8(const u8 *x, const u8 *w, u8 *out, const int *p)
{
    Call c;
    c.weights = w + p[p_w_start];
    c.table = (const int *)((p[p_is_table_in_x] ? x : w) + p[p_table_start]);
    c.columns = p[p_columns];
    c.channels = p[p_channels];
    c.out = out + p[p_out_start];
    c.position_step = p[p_out_position_stride];
    c.channel_step = p[p_out_channel_stride];
    c.w_zero_point = p[p_w_zero_point];
    c.range = range_of(p[p_out_zero_point], p[p_low], p[p_high]);
    c.first = x + p[p_x_start];
    c.x_step = p[p_x_position_stride];
    c.has_sums = p[p_has_sums];
    if (c.has_sums) {
        c.positions = p[p_positions];
        of_positions(&c, 0);
        return 0;
    }
    c.positions = 1;
    for (int n = p[p_positions]; n; n--) {
        int sum = 0;
        for (const u8 *item = c.first, *end = item + c.columns; item != end; item += 4)
            sum += item[0] + item[1] + item[2] + item[3];
        of_positions(&c, sum);
        c.first += c.x_step;
        c.out += c.position_step;
    }
    return 0;
}

//> qdots8_many = qdots8
