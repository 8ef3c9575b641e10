// Requantization: see loops/qdot. A channel's word and M become a Scale, once for all positions.
//
// The same quick way as in loops/viper/qdot: v / 2**shift times factor is most of the product,
// and is all of it but near the middle of two steps, where bits 17 to 20 are 0.

typedef struct {
    int added;  // c plus what makes a value that is within limits positive
    u32 end;  // values from there on are not quick
    int shift, factor, addend;
    int bits, m, limit;  // f, M; the most that v can be
} Scale;

typedef struct {
    int zy, low, high;
} Range;

INLINE Range range_of(int zy, int low, int high)
{
    int bias = 1 << 29;
    return (Range){zy - bias, low - bias, high - bias};
}

INLINE void get_scale(Scale *s, const int *table, const Range *r)
{
    int f = table[0] & 31, c = table[0] >> 5;
    s->bits = f;
    s->m = table[1];
    s->limit = 0;
    s->end = 0;
    s->shift = s->factor = s->addend = 0;
    if (RARELY(f > 25)) {
        s->added = c << (f - 25);
        return;
    }
    s->limit = (1 << 25) >> f;
    s->end = 2 * s->limit;
    s->added = c + s->limit;
    int factor = (table[1] >> 16) & 32767;
    s->addend = (r->zy << 21) + 1146816 - (factor << 15);
    s->shift = 10 - f;
    if (f > 10) {
        factor <<= f - 10;
        s->shift = 0;
    }
    s->factor = factor;
}

// Any value, exactly: half is rounded to even.
NOINLINE int scaled_slowly(const Scale *s, int v, const Range *r)
{
    int f = s->bits;
    v -= s->limit;
    if (f > 25) {
        v >>= f - 25;
        f = 0;
    }
    int most = (1 << 25) >> f;
    v = max(min(v, most), -most) << f;
    int low = s->m & 32767, high = (s->m >> 15) & 65535, part = v & 4095;
    v >>= 12;
    int lowest = part * low;
    low = v * low + (lowest >> 12);
    part = part * high + (low >> 3);
    v = v * high + (part >> 12);
    int rest = ((lowest | part) & 4095) | (low & 7);
    v = (v + 524287 + (rest ? 1 : (v >> 20) & 1)) >> 20;
    return max(min(v + r->zy, r->high), r->low);
}

INLINE int scaled(const Scale *s, int v, const Range *r)
{
    if (RARELY((u32)v >= s->end))
        return scaled_slowly(s, v, r);
    int t = (v >> s->shift) * s->factor + s->addend;
    if (RARELY(!((t >> 17) & 15)))
        return scaled_slowly(s, v, r);
    return max(min(t >> 21, r->high), r->low);
}
