// Depthwise convolution of bytes: see loops/depthwise. C for Xtensa.
//
// 3 x 3 kernels with their weights in registers: some 50 instructions an output. Others: 4 a
// product and 5 a row.
//
// Forms: xtensawin

#include "xtensa/core_c.h"
#include "xtensa/scale.h"

typedef struct {
    const int *p;
    const int *weights;
    int kernel_row_step, kernel_column_step, out_column_step, out_row_step, position_step;
    int lines, line_bytes;  // bytes of x from a line's first output to behind its last one
    Range range;
    Scale scale;
} Call;

// A channel's plane.
NOINLINE void nine(const Call *c, const u8 *line, u8 *out)
{
    const int *w = c->weights;
    int a0 = w[0], a1 = w[1], a2 = w[2], a3 = w[3], a4 = w[4], a5 = w[5], a6 = w[6], a7 = w[7];
    int a8 = w[8];
    const u8 *x = line, *end = line + c->line_bytes;
    for (int lines = c->lines;;) {
        const u8 *row = x;
        int sum = c->scale.added;
        sum += row[0] * a0;
        sum += row[1] * a1;
        sum += row[2] * a2;
        row += c->kernel_row_step;
        sum += row[0] * a3;
        sum += row[1] * a4;
        sum += row[2] * a5;
        row += c->kernel_row_step;
        sum += row[0] * a6;
        sum += row[1] * a7;
        sum += row[2] * a8;
        *out = scaled(&c->scale, sum, &c->range);
        out += c->position_step;
        x += c->out_column_step;
        if (x == end) {
            if (!--lines)
                return;
            x = line = line + c->out_row_step;
            end = line + c->line_bytes;
        }
    }
}

// Rows of any kernel; in those of the compiler's choice the columns lie side by side.
INLINE int row_of(const u8 *x, const int *w, int columns, int step)
{
    int sum = 0;
    for (; columns > 3; columns -= 4) {
        sum += x[0] * w[0];
        x += step;
        sum += x[0] * w[1];
        x += step;
        sum += x[0] * w[2];
        x += step;
        sum += x[0] * w[3];
        x += step;
        w += 4;
    }
    for (; columns; columns--) {
        sum += *x * *w++;
        x += step;
    }
    return sum;
}

INLINE int five_of(const u8 *x, const int *w)
{
    return x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3] + x[4] * w[4];
}

INLINE int seven_of(const u8 *x, const int *w)
{
    return five_of(x, w) + x[5] * w[5] + x[6] * w[6];
}

NOINLINE void others(const Call *c, const u8 *x, u8 *out, int n)
{
    int columns = c->p[p_kernel_columns], step = c->kernel_column_step;
    int kind = step == 1 ? columns : 0;
    for (; n; n--) {
        const u8 *row = x;
        const int *w = c->weights, *end = w + c->p[p_kernel_rows] * columns;
        int sum = c->scale.added;
        for (; w != end; row += c->kernel_row_step, w += columns) {
            if (kind == 5)
                sum += five_of(row, w);
            else if (kind == 7)
                sum += seven_of(row, w);
            else if (kind == 3)
                sum += row[0] * w[0] + row[1] * w[1] + row[2] * w[2];
            else
                sum += row_of(row, w, columns, step);
        }
        *out = scaled(&c->scale, sum, &c->range);
        out += c->position_step;
        x += c->out_column_step;
    }
}

int depthwise8(u8 *x, const u8 *w, u8 *out, const int *p)
{
    Call c;
    int *room = (int *)x, size = p[p_kernel_rows] * p[p_kernel_columns];
    const int *table = (const int *)((p[p_is_table_in_x] ? x : w) + p[p_table_start]);
    const u8 *plane = x + p[p_x_start], *weight = w + p[p_w_start];
    c.p = p;
    c.weights = room;
    c.kernel_row_step = p[p_kernel_row_step];
    c.kernel_column_step = p[p_kernel_column_step];
    c.out_column_step = p[p_out_column_step];
    c.out_row_step = p[p_out_row_step];
    c.lines = p[p_out_rows];
    c.line_bytes = p[p_out_columns] * p[p_out_column_step];
    c.position_step = p[p_out_position_stride];
    c.range = range_of(p[p_out_zero_point], p[p_low], p[p_high]);
    out += p[p_out_start];
    for (int planes = p[p_planes]; planes; planes--, plane += p[p_x_plane_stride])
        for (int channels = p[p_depth_multiplier]; channels; channels--) {
            get_scale(&c.scale, table, &c.range);
            table += 2;
            for (int i = 0; i < size; i++)
                room[i] = *weight++ - p[p_w_zero_point];
            const u8 *line = plane;
            u8 *at = out;
            if (p[p_kernel_rows] == 3 && p[p_kernel_columns] == 3 && p[p_kernel_column_step] == 1)
                nine(&c, line, at);
            else
                for (int lines = p[p_out_rows]; lines; lines--) {
                    others(&c, line, at, p[p_out_columns]);
                    line += p[p_out_row_step];
                    at += p[p_out_columns] * p[p_out_position_stride];
                }
            out += p[p_out_channel_stride];
        }
    return 0;
}

//> depthwise33 = depthwise_dense = depthwise8
