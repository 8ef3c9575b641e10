// Functions of float32 by polynomials: see loops/curve.
//
// HIGH(a, b): a * b >> 32, where the core has an instruction for it; ZEROS(a): those before the
// first bit.

#define TOP 0x80000000u
#define UNIT 0x40000000
#define INFINITY 0x7f800000
#define NAN 0x7fc00000

#ifdef HIGH
// Of a polynomial at t * 2**-21; a bit of t above these does not count. A table is such that sums
// are below 2**30: a is twice that.
static inline int value(const int *w, int t)
{
    int a = w[1] << 1 ^ TOP;
    t = t << 10 & ~TOP;
    for (int i = 2; i < 6; i++)
        a = (HIGH(a, t) + w[i]) << 1 ^ TOP;
    return HIGH(a, t) + w[6] - UNIT;
}

// a * b >> 30, not negative
static inline int product(int a, int b)
{
    return (long long)a * b >> 30;
}

// a * m >> 24
static inline int times(int a, int m)
{
    return (unsigned long long)(unsigned)a * (unsigned)(m << 8) >> 32;
}

#else
// In a function of its own, all it has is in registers.
static __attribute__((noinline)) int value(const int *w, int t)
{
    int first, last, a = w[1] - UNIT;
    t = (unsigned)t << 11 >> 11;
    first = t >> 10;
    last = t & 1023;
#define TERM(i)                                                          \
    {                                                                    \
        int b = a >> 10;                                                 \
        a = (a & 1023) * t >> 10;                                        \
        a = (((a + b * last) >> 10) + b * first) >> 1;                   \
        a += w[i] - UNIT;                                                \
    }
    TERM(2) TERM(3) TERM(4) TERM(5) TERM(6)
    return a;
}

static __attribute__((noinline)) int product(int a, int b)
{
    int i = a & 32767, j = b & 32767;
    a >>= 15;
    b >>= 15;
    return ((a * j + (i * j >> 15) + i * b) >> 15) + a * b;
}

static inline int times(int a, int m)
{
    int b = a >> 15, low = m & 511;
    a &= 32767;
    m >>= 9;
    return (((b * low << 6) + (a * low >> 9) + a * m) >> 15) + b * m;
}
#endif

// Shifts a, which is positive, until it has 30 bits or s is 1.
static inline int normalized(int a, int *s)
{
#ifdef ZEROS
    int n = ZEROS(a) - 2;
    if (n >= *s)
        n = *s - 1;
    if (n > 0) {
        a <<= n;
        *s -= n;
    }
#else
    while (a < 1 << 29 && *s > 1) {
        a <<= 1;
        (*s)--;
    }
#endif
    return a;
}

static inline int curve(const int *x, const int *w, int *out, const int *p)
{
    const int *end = x + p[p_end];
    out += p[p_start];
    for (x += p[p_start]; x < end; x++) {
        int v = *x, magnitude = v & ~TOP;
        const int *side = v < 0 ? p + p_negative : p + p_positive;
        int a = side[p_limit];
        if (magnitude < side[p_limit_start]) {
            int m = magnitude & 0x7fffff, e = magnitude >> 23;
            if (e)
                m |= 0x800000;
            else
                e = 1;
            int t = (magnitude < side[p_segments_end] ? magnitude : side[p_segments_end])
                    - side[p_segments_start], s;
            const int *at = w + 7 * side[p_first_segment];
            if (t < 0) {
                s = (side[p_segments_start] >> 23) - e + 2;
                t = s < 26 ? (m + (1 << s >> 1)) >> s : 0;
                t -= t >> 21;
            } else {
                at += 7 * ((t >> 21) + 1);
            }
            int kind = at[0];
            a = value(at, t);
            s = 0;
            if (kind & 1) {
                s = kind >> 2 & 31;
                a = (a + (1 << s >> 1)) >> s;
                if (side[p_slope]) {
                    s = 156 - side[p_point] - e;
                    t = s < 31 ? ((m << 6) + (1 << s >> 1)) >> s : 0;
                    t = product(t, side[p_slope]);
                    a = side[p_signs] & 2 ? a - t : a + t;
                }
                s = a >> 22;
                at = w + 7 * (p[p_powers] + (a >> 20 & 3));
                kind = (kind & 2) | (at[0] & 4092);
                a = value(at, a << 1);
            }
            s += (kind >> 2 & 1023) - 386;
            if (kind & 2) {
                s += e - 126;
                if (a > 0)
                    a = times(a, m);
            }
            if (a <= 0) {
                a = 0;
                s = s > 0;
            } else if (s > 1) {
                a = normalized(a, &s);
            }
            if (s > 254)
                a = INFINITY;
            else if (s > 0)
                a = ((a + 32) >> 6) + ((s - 1) << 23);
            else if (a) {
                s = 7 - s;
                a = s < 31 ? (a + (1 << s >> 1)) >> s : 0;
            }
        }
        a |= side[p_signs] << 31;
        if (magnitude > INFINITY)
            a = NAN;
        *out++ = a;
    }
    return 0;
}
