// Functions of float32 by polynomials: see loops/curve. C, for ARMv7-M.
//
// 105 to 195 instructions an item: a product of a and t takes one, smull.
//
// Forms: armv7m

#define TOP 0x80000000u
#define UNIT 0x40000000
#define INFINITY 0x7f800000
#define NAN 0x7fc00000

// a * b >> 32
static inline int high(int a, int b)
{
    int low, result;
    __asm__("smull %0, %1, %2, %3" : "=&r"(low), "=&r"(result) : "r"(a), "r"(b));
    return result;
}

// Of a polynomial at t * 2**-31. A table is such that sums are below 2**30: a is twice that.
static inline int value(const int *w, int t)
{
    int a = w[1] << 1 ^ TOP;
    for (int i = 2; i < 6; i++)
        a = (high(a, t) + w[i]) << 1 ^ TOP;
    return high(a, t) + w[6] - UNIT;
}

int curve32(const int *x, const int *w, int *out, const int *p)
{
    const int *end = x + p[1];
    out += p[0];
    for (x += p[0]; x < end; x++) {
        int v = *x, g = v & ~TOP;
        const int *h = v < 0 ? p + 11 : p + 3;
        int a = h[7];
        if (g < h[2]) {
            int m = g & 0x7fffff, e = g >> 23;
            if (e)
                m |= 0x800000;
            else
                e = 1;
            int t = (g < h[1] ? g : h[1]) - h[0], s, n;
            const int *at = w + 7 * h[3];
            if (t < 0) {
                s = (h[0] >> 23) - e + 2;
                t = s < 26 ? (m + (1 << s >> 1)) >> s : 0;
                t -= t >> 21;
            } else {
                at += 7 * ((t >> 21) + 1);
            }
            int kind = at[0];
            a = value(at, t << 10 & ~TOP);
            s = 0;
            if (kind & 1) {
                s = kind >> 2 & 31;
                a = (a + (1 << s >> 1)) >> s;
                if (h[4]) {
                    s = 156 - h[5] - e;
                    t = s < 31 ? ((m << 6) + (1 << s >> 1)) >> s : 0;
                    t = (long long)t * h[4] >> 30;
                    a = h[6] & 2 ? a - t : a + t;
                }
                s = a >> 22;
                at = w + 7 * (p[2] + (a >> 20 & 3));
                kind = (kind & 2) | (at[0] & 4092);
                a = value(at, a << 11 & ~TOP);
            }
            s += (kind >> 2 & 1023) - 386;
            if (kind & 2) {
                s += e - 126;
                if (a > 0)
                    a = (unsigned long long)(unsigned)a * (unsigned)(m << 8) >> 32;
            }
            if (a <= 0) {
                a = 0;
                s = s > 0;
            } else if (s > 1) {
                n = __builtin_clz(a) - 2;
                if (n >= s)
                    n = s - 1;
                if (n > 0) {
                    a <<= n;
                    s -= n;
                }
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
        a |= h[6] << 31;
        if (g > INFINITY)
            a = NAN;
        *out++ = a;
    }
    return 0;
}
