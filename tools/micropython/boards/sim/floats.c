// The floating-point helpers that gcc calls, in integers: IEEE 754 single precision, rounded to the
// nearest (ties to even), with subnormals; every NaN that comes out is the same one. Of doubles
// only conversions, which is all that MicroPython with single floats uses.
#include <stdbool.h>
#include <stdint.h>

#ifndef NAME // tests give others, beside those of their own compiler
#define NAME(x) x
#endif

enum { MANTISSA_BITS = 23, EXPONENT_MAX = 255, BIAS = 127, DOUBLE_MANTISSA_BITS = 52 };
#define SIGN 0x80000000u
#define INFINITY_BITS 0x7f800000u
#define NAN_BITS 0x7fc00000u
#define DOUBLE_MANTISSA (((uint64_t)1 << DOUBLE_MANTISSA_BITS) - 1)

static uint32_t bits_of(float f) {
    return ((union { float f; uint32_t u; }) {f}).u;
}

static float float_of(uint32_t u) {
    return ((union { uint32_t u; float f; }) {u}).f;
}

static uint64_t double_bits_of(double f) {
    return ((union { double f; uint64_t u; }) {f}).u;
}

static double double_of(uint64_t u) {
    return ((union { uint64_t u; double f; }) {u}).f;
}

static int exponent_of(uint32_t u) {
    return u >> MANTISSA_BITS & EXPONENT_MAX;
}

static bool is_nan(uint32_t u) {
    return u << 1 > INFINITY_BITS << 1;
}

static bool is_zero(uint32_t u) {
    return !(u << 1);
}

// A finite number is mantissa * 2**exponent.
static uint32_t mantissa_of(uint32_t u, int *exponent) {
    int e = exponent_of(u);
    *exponent = (e ? e : 1) - (BIAS + MANTISSA_BITS);
    return (u & 0x7fffff) | (e ? 0x800000 : 0);
}

// m * 2**e, rounded; sign is 0 or SIGN.
static float rounded(uint32_t sign, int e, uint64_t m) {
    if (!m) {
        return float_of(sign);
    }
    int top = 63 - __builtin_clzll(m) + e;
    if (top > BIAS) {
        return float_of(sign | INFINITY_BITS);
    }
    int last = top - MANTISSA_BITS; // exponent of the last bit that is kept
    if (last < -149) {
        last = -149;
    }
    int n = last - e;
    uint32_t kept = 0;
    if (n <= 0) {
        kept = (uint32_t)(m << -n);
    } else if (n <= 64) {
        kept = n == 64 ? 0 : (uint32_t)(m >> n);
        uint64_t half = (uint64_t)1 << (n - 1), rest = m & (half | (half - 1));
        kept += rest > half || (rest == half && (kept & 1));
    }
    // A mantissa that has become 2**24 carries into the exponent, as it should.
    return float_of(sign | (((uint32_t)(last + 149) << MANTISSA_BITS) + kept));
}

float NAME(__addsf3)(float fa, float fb) {
    uint32_t a = bits_of(fa), b = bits_of(fb);
    if (is_nan(a) || is_nan(b)) {
        return float_of(NAN_BITS);
    }
    if (exponent_of(a) == EXPONENT_MAX) {
        return exponent_of(b) == EXPONENT_MAX && a != b ? float_of(NAN_BITS) : fa;
    }
    if (exponent_of(b) == EXPONENT_MAX) {
        return fb;
    }
    if (a << 1 < b << 1) {
        uint32_t t = a;
        a = b;
        b = t;
    }
    int ea, eb;
    uint64_t x = (uint64_t)mantissa_of(a, &ea) << 38, y = (uint64_t)mantissa_of(b, &eb) << 38;
    int d = ea - eb;
    if (d > 62) {
        y = y != 0;
    } else if (d) {
        uint64_t z = y >> d;
        y = z | (z << d != y); // what is lost only has to be there, for rounding
    }
    uint64_t m = (a ^ b) & SIGN ? x - y : x + y;
    return m ? rounded(a & SIGN, ea - 38, m) : float_of(a & b & SIGN);
}

float NAME(__negsf2)(float f) {
    return float_of(bits_of(f) ^ SIGN);
}

float NAME(__subsf3)(float a, float b) {
    return NAME(__addsf3)(a, float_of(bits_of(b) ^ SIGN));
}

float NAME(__mulsf3)(float fa, float fb) {
    uint32_t a = bits_of(fa), b = bits_of(fb), sign = (a ^ b) & SIGN;
    if (is_nan(a) || is_nan(b)) {
        return float_of(NAN_BITS);
    }
    if (exponent_of(a) == EXPONENT_MAX || exponent_of(b) == EXPONENT_MAX) {
        return float_of(is_zero(a) || is_zero(b) ? NAN_BITS : sign | INFINITY_BITS);
    }
    int ea, eb;
    uint64_t x = mantissa_of(a, &ea), y = mantissa_of(b, &eb);
    return rounded(sign, ea + eb, x * y);
}

float NAME(__divsf3)(float fa, float fb) {
    uint32_t a = bits_of(fa), b = bits_of(fb), sign = (a ^ b) & SIGN;
    bool infinite_a = exponent_of(a) == EXPONENT_MAX, infinite_b = exponent_of(b) == EXPONENT_MAX;
    if (is_nan(a) || is_nan(b) || (infinite_a && infinite_b) || (is_zero(a) && is_zero(b))) {
        return float_of(NAN_BITS);
    }
    if (infinite_a || is_zero(b)) {
        return float_of(sign | INFINITY_BITS);
    }
    if (infinite_b || is_zero(a)) {
        return float_of(sign);
    }
    int ea, eb;
    uint32_t x = mantissa_of(a, &ea), y = mantissa_of(b, &eb);
    int n = __builtin_clz(x);
    uint64_t dividend = (uint64_t)(x << n) << 32, q = dividend / y;
    return rounded(sign, ea - eb - n - 32, q | (q * y != dividend));
}

// Below, at or above 0 as a is below, at or above b.
static int compared(float fa, float fb, int unordered) {
    uint32_t a = bits_of(fa), b = bits_of(fb);
    if (is_nan(a) || is_nan(b)) {
        return unordered;
    }
    int32_t x = a & ~SIGN, y = b & ~SIGN;
    x = a & SIGN ? -x : x;
    y = b & SIGN ? -y : y;
    return (x > y) - (x < y);
}

#define COMPARISON(name, unordered) \
    int NAME(name)(float a, float b) { \
        return compared(a, b, unordered); \
    }
COMPARISON(__eqsf2, 1)
COMPARISON(__nesf2, 1)
COMPARISON(__ltsf2, 1)
COMPARISON(__lesf2, 1)
COMPARISON(__gtsf2, -1)
COMPARISON(__gesf2, -1)

int NAME(__unordsf2)(float a, float b) {
    return is_nan(bits_of(a)) || is_nan(bits_of(b));
}

float NAME(__floatundisf)(uint64_t v) {
    return rounded(0, 0, v);
}

float NAME(__floatdisf)(int64_t v) {
    return v < 0 ? rounded(SIGN, 0, -(uint64_t)v) : rounded(0, 0, v);
}

float NAME(__floatunsisf)(uint32_t v) {
    return rounded(0, 0, v);
}

float NAME(__floatsisf)(int32_t v) {
    return NAME(__floatdisf)(v);
}

// |f| without its fraction, at most limit.
static uint64_t truncated(float f, uint64_t limit) {
    int e;
    uint64_t m = mantissa_of(bits_of(f), &e);
    if (e < 0) {
        return e > -24 ? m >> -e : 0;
    }
    uint64_t v = e > 40 ? limit : m << e;
    return v < limit ? v : limit;
}

static bool is_negative(float f) {
    return bits_of(f) & SIGN;
}

uint32_t NAME(__fixunssfsi)(float f) {
    uint32_t v = truncated(f, UINT32_MAX);
    return is_negative(f) ? -v : v;
}

int32_t NAME(__fixsfsi)(float f) {
    uint32_t v = truncated(f, (uint32_t)INT32_MAX + is_negative(f));
    return is_negative(f) ? (int32_t)-v : (int32_t)v;
}

uint64_t NAME(__fixunssfdi)(float f) {
    uint64_t v = truncated(f, UINT64_MAX);
    return is_negative(f) ? -v : v;
}

int64_t NAME(__fixsfdi)(float f) {
    uint64_t v = truncated(f, (uint64_t)INT64_MAX + is_negative(f));
    return is_negative(f) ? (int64_t)-v : (int64_t)v;
}

double NAME(__extendsfdf2)(float f) {
    uint32_t a = bits_of(f), m = a & 0x7fffff;
    uint64_t sign = (uint64_t)(a >> 31) << 63;
    int e = exponent_of(a), wider = DOUBLE_MANTISSA_BITS - MANTISSA_BITS;
    if (e == EXPONENT_MAX) {
        return double_of(sign | (uint64_t)0x7ff << DOUBLE_MANTISSA_BITS | (uint64_t)m << wider);
    }
    if (!e) {
        if (!m) {
            return double_of(sign);
        }
        int n = __builtin_clz(m) - 8;
        m = (m << n) & 0x7fffff;
        e = 1 - n;
    }
    return double_of(sign | (uint64_t)(e + 896) << DOUBLE_MANTISSA_BITS | (uint64_t)m << wider);
}

float NAME(__truncdfsf2)(double d) {
    uint64_t a = double_bits_of(d), m = a & DOUBLE_MANTISSA;
    uint32_t sign = (uint32_t)(a >> 32) & SIGN;
    int e = (int)(a >> DOUBLE_MANTISSA_BITS) & 0x7ff;
    if (e == 0x7ff) {
        return float_of(m ? NAN_BITS : sign | INFINITY_BITS);
    }
    return e ? rounded(sign, e - 1075, m | (DOUBLE_MANTISSA + 1)) : float_of(sign);
}

double NAME(__floatunsidf)(uint32_t v) {
    if (!v) {
        return 0.0;
    }
    int n = __builtin_clz(v);
    uint64_t m = ((uint64_t)v << (21 + n)) & DOUBLE_MANTISSA;
    return double_of(((uint64_t)(1054 - n) << DOUBLE_MANTISSA_BITS) | m);
}

double NAME(__floatsidf)(int32_t v) {
    double magnitude = NAME(__floatunsidf)(v < 0 ? -(uint32_t)v : (uint32_t)v);
    return v < 0 ? double_of(double_bits_of(magnitude) | (uint64_t)1 << 63) : magnitude;
}
