// Quotients of float32 by their bits: see loops/div. C.
//
// The quotient's 24 bits, and one to round by, take three divisions on ARMv7-M, of 8 bits each.
//
// Forms: thumb armv7m

#define TOP 0x80000000u
#define INFINITY 0x7f800000u
#define NAN 0x7fc00000u
#define FIRST 0x800000u

// A mantissa of 24 bits, also of a denormal, which is not 0.
static inline unsigned significand(unsigned m, int *e)
{
    m &= FIRST - 1;
    if (*e)
        return m | FIRST;
    for (*e = 1; m < FIRST; m <<= 1)
        --*e;
    return m;
}

static inline unsigned quotient(unsigned m, unsigned n, int e)
{
    unsigned q = 1, rest, low, half;
    if (m < n) {
        m <<= 1;
        e--;
    }
    rest = m - n;
#if __ARM_ARCH >= 7
    for (int i = 0; i < 3; i++) {
        unsigned d = (rest <<= 8) / n;
        rest -= d * n;
        q = q << 8 | d;
    }
#else
#define BIT                     \
    rest <<= 1;                 \
    q <<= 1;                    \
    if (rest >= n) {            \
        rest -= n;              \
        q++;                    \
    }
    while (q < 1 << 24) {
        BIT BIT BIT BIT
        BIT BIT BIT BIT
    }
#endif
    if (e >= 255)
        return INFINITY;
    int s = 1;
    if (e < 1) {
        s = e > -26 ? 2 - e : 28;
        e = 1;
    }
    low = q & ((1u << s) - 1);
    half = 1u << (s - 1);
    q >>= s;
    if (low > half || (low == half && (rest || (q & 1))))
        q++;
    return q + ((e - 1) << 23);
}

int div32(const int *x, const int *w, int *out, const int *p)
{
    int i = p[p_x_start], j = p[p_w_start], k = p[p_out_start];
    int end = k + p[p_columns], last = k + p[p_rows] * p[p_columns];
    while (k < last) {
        unsigned m = x[i], n = w[j], sign = (m ^ n) & TOP, result;
        m &= ~TOP;
        n &= ~TOP;
        int e = m >> 23, d = n >> 23;
        if (m > INFINITY || n > INFINITY || (m == n && (m == 0 || m == INFINITY))) {
            sign = 0;
            result = NAN;
        } else if (m == INFINITY || n == 0) {
            result = INFINITY;
        } else if (n == INFINITY || m == 0) {
            result = 0;
        } else {
            m = significand(m, &e);
            n = significand(n, &d);
            result = quotient(m, n, e + 127 - d);
        }
        out[k++] = result | sign;
        i += p[p_x_stride];
        j += p[p_w_stride];
        if (k == end) {
            i += p[p_x_row_stride] - p[p_columns] * p[p_x_stride];
            j += p[p_w_row_stride] - p[p_columns] * p[p_w_stride];
            end = k + p[p_columns];
        }
    }
    return 0;
}
