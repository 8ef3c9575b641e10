// The integer helpers that gcc calls, for Xtensa cores: Debian's libgcc for lx106 leaves out those
// that the ESP8266 has in its ROM, and has none for the windowed ABI.
// Written without 64-bit operators but +, - and comparisons, which would call these functions.
#include <stdint.h>

#ifndef NAME // tests give others, beside those of their own compiler
#define NAME(x) x
#endif

typedef union {
    uint64_t whole;
    struct {
        uint32_t lo, hi;
    };
} words_t;

static uint32_t udivmod32(uint32_t n, uint32_t d, uint32_t *rest) {
    uint32_t q = 0;
    #ifdef HAVE_DIV32
    __asm ("quou %0, %1, %2" : "=a" (q) : "a" (n), "a" (d));
    *rest = n - q * d;
    #else
    uint32_t r = 0;
    for (int i = 31; i >= 0; i--) {
        r = r << 1 | (n >> i & 1);
        if (r >= d) {
            r -= d;
            q |= (uint32_t)1 << i;
        }
    }
    *rest = r;
    #endif
    return q;
}

uint32_t NAME(__udivsi3)(uint32_t a, uint32_t b) {
    uint32_t rest;
    return udivmod32(a, b, &rest);
}

uint32_t NAME(__umodsi3)(uint32_t a, uint32_t b) {
    uint32_t rest;
    udivmod32(a, b, &rest);
    return rest;
}

static uint32_t magnitude32(int32_t v) {
    return v < 0 ? -(uint32_t)v : (uint32_t)v;
}

int32_t NAME(__divsi3)(int32_t a, int32_t b) {
    uint32_t rest, q = udivmod32(magnitude32(a), magnitude32(b), &rest);
    return (a ^ b) < 0 ? (int32_t)-q : (int32_t)q;
}

int32_t NAME(__modsi3)(int32_t a, int32_t b) {
    uint32_t rest;
    udivmod32(magnitude32(a), magnitude32(b), &rest);
    return a < 0 ? (int32_t)-rest : (int32_t)rest;
}

static uint64_t shift_left(uint64_t v, uint32_t n) {
    words_t x = {v};
    if (n & 32) {
        x.hi = x.lo << (n & 31);
        x.lo = 0;
    } else if (n) {
        x.hi = x.hi << n | x.lo >> (32 - n);
        x.lo <<= n;
    }
    return x.whole;
}

static uint64_t shift_right(uint64_t v, uint32_t n) {
    words_t x = {v};
    if (n & 32) {
        x.lo = x.hi >> (n & 31);
        x.hi = 0;
    } else if (n) {
        x.lo = x.lo >> n | x.hi << (32 - n);
        x.hi >>= n;
    }
    return x.whole;
}

uint64_t NAME(__ashldi3)(uint64_t v, int n) {
    return shift_left(v, n);
}

uint64_t NAME(__lshrdi3)(uint64_t v, int n) {
    return shift_right(v, n);
}

int64_t NAME(__ashrdi3)(int64_t v, int n) {
    return v < 0 ? (int64_t)~shift_right(~(uint64_t)v, n) : (int64_t)shift_right(v, n);
}

static int leading_zeros32(uint32_t x) {
    int n = 0;
    for (int half = 16; half; half >>= 1) {
        if (!(x >> (32 - half))) {
            n += half;
            x <<= half;
        }
    }
    return n + !(x >> 31);
}

static int leading_zeros64(uint64_t v) {
    words_t x = {v};
    return x.hi ? leading_zeros32(x.hi) : 32 + leading_zeros32(x.lo);
}

int NAME(__clzsi2)(uint32_t x) {
    return leading_zeros32(x);
}

int NAME(__ctzsi2)(uint32_t x) {
    return 31 - leading_zeros32(x & -x);
}

int NAME(__clzdi2)(uint64_t x) {
    return leading_zeros64(x);
}

static uint64_t product(uint32_t a, uint32_t b) {
    uint32_t a0 = a & 0xffff, a1 = a >> 16, b0 = b & 0xffff, b1 = b >> 16;
    uint32_t low = a0 * b0, m = a1 * b0 + (low >> 16), n = a0 * b1 + (m & 0xffff);
    words_t r;
    r.hi = a1 * b1 + (m >> 16) + (n >> 16);
    r.lo = n << 16 | (low & 0xffff);
    return r.whole;
}

uint64_t NAME(__umulsidi3)(uint32_t a, uint32_t b) {
    return product(a, b);
}

uint64_t NAME(__muldi3)(uint64_t a, uint64_t b) {
    words_t x = {a}, y = {b}, r = {product(x.lo, y.lo)};
    r.hi += x.lo * y.hi + x.hi * y.lo;
    return r.whole;
}

static uint64_t udivmod64(uint64_t n, uint64_t d, uint64_t *rest) {
    uint64_t q = 0;
    if (n >= d) {
        int s = leading_zeros64(d) - leading_zeros64(n);
        d = shift_left(d, s);
        for (; s >= 0; s--) {
            q += q;
            if (n >= d) {
                n -= d;
                q += 1;
            }
            d = shift_right(d, 1);
        }
    }
    *rest = n;
    return q;
}

uint64_t NAME(__udivdi3)(uint64_t a, uint64_t b) {
    uint64_t rest;
    return udivmod64(a, b, &rest);
}

uint64_t NAME(__umoddi3)(uint64_t a, uint64_t b) {
    uint64_t rest;
    udivmod64(a, b, &rest);
    return rest;
}

uint64_t NAME(__udivmoddi4)(uint64_t a, uint64_t b, uint64_t *rest) {
    return udivmod64(a, b, rest);
}

static uint64_t magnitude64(int64_t v) {
    return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

int64_t NAME(__divdi3)(int64_t a, int64_t b) {
    uint64_t rest, q = udivmod64(magnitude64(a), magnitude64(b), &rest);
    return (a < 0) != (b < 0) ? (int64_t)-q : (int64_t)q;
}

int64_t NAME(__moddi3)(int64_t a, int64_t b) {
    uint64_t rest;
    udivmod64(magnitude64(a), magnitude64(b), &rest);
    return a < 0 ? (int64_t)-rest : (int64_t)rest;
}
