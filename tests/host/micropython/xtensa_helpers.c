// Compares the helpers for Xtensa with this computer's own arithmetic, on random and special values.
//     cc -DROUNDS=100000 -I tools/micropython/boards/sim xtensa_helpers.c -lm
// Prints each difference, the first ones, and ends with status 1.
#include <math.h>
#include <stdio.h>

#define NAME(x) tested##x
#include "floats.c"
#include "integers.c"

typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

static long differences;

static u32 any32(void) {
    static u64 state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 16;
}

static u64 any64(void) {
    u64 v = (u64)any32() << 32;
    return (v | any32()) >> (any32() & 63);
}

// Bits of a float: often a special one, one near 1, or a subnormal.
static u32 any_float(void) {
    static const u32 special[] = {
        0, SIGN, 1, SIGN | 1, 0x7fffff, 0x800000, 0x807fffff, 0x3f800000,
        0x7f7fffff, INFINITY_BITS, 0xff800000, NAN_BITS, 0x4effffff, 0x4f000000, 0xcf000000, 0x5f000000,
    };
    u32 kind = any32() & 15;
    if (kind == 0) {
        return special[any32() & 15];
    }
    if (kind < 6) {
        return (any32() & 0x807fffff) | (120 + any32() % 16) << MANTISSA_BITS;
    }
    return any32() & (kind == 6 ? 0x80ffffff : 0xffffffff);
}

static void same(const char *name, u64 found, u64 wanted, u64 a, u64 b) {
    if (found != wanted && differences++ < 20) {
        printf("%s(%#llx, %#llx): %#llx, not %#llx\n", name, (long long)a, (long long)b,
            (long long)found, (long long)wanted);
    }
}

static void same_float(const char *name, float found, float wanted, u64 a, u64 b) {
    if (!(isnan(found) && isnan(wanted))) {
        same(name, bits_of(found), bits_of(wanted), a, b);
    }
}

static void arithmetic(u32 a, u32 b, float x, float y) {
    same_float("add", tested__addsf3(x, y), x + y, a, b);
    same_float("sub", tested__subsf3(x, y), x - y, a, b);
    same_float("mul", tested__mulsf3(x, y), x * y, a, b);
    same_float("div", tested__divsf3(x, y), x / y, a, b);
    same("lt", tested__ltsf2(x, y) < 0, x < y, a, b);
    same("le", tested__lesf2(x, y) <= 0, x <= y, a, b);
    same("gt", tested__gtsf2(x, y) > 0, x > y, a, b);
    same("ge", tested__gesf2(x, y) >= 0, x >= y, a, b);
    same("eq", tested__eqsf2(x, y) == 0, x == y, a, b);
    same("ne", tested__nesf2(x, y) != 0, x != y, a, b);
    same("unordered", tested__unordsf2(x, y) != 0, isnan(x) || isnan(y), a, b);
}

static void conversions(u32 a, float x) {
    same_float("s32 to float", tested__floatsisf(a), (float)(s32)a, a, 0);
    same_float("u32 to float", tested__floatunsisf(a), (float)a, a, 0);
    // Those out of range are not defined in C.
    if (x >= -0x1p31f && x < 0x1p31f) {
        same("float to s32", (u32)tested__fixsfsi(x), (u32)(s32)x, a, 0);
    }
    if (x > -1 && x < 0x1p32f) {
        same("float to u32", tested__fixunssfsi(x), (u32)x, a, 0);
    }
    if (x >= -0x1p63f && x < 0x1p63f) {
        same("float to s64", tested__fixsfdi(x), (s64)x, a, 0);
    }
    if (x > -1 && x < 0x1p64f) {
        same("float to u64", tested__fixunssfdi(x), (u64)x, a, 0);
    }
    if (!isnan(x)) {
        same("to double", double_bits_of(tested__extendsfdf2(x)), double_bits_of(x), a, 0);
    }
    double d = x * (1 + ldexp((s32)any32(), -60));
    same_float("from double", tested__truncdfsf2(d), (float)d, double_bits_of(d), 0);
    same("s32 to double", double_bits_of(tested__floatsidf(a)), double_bits_of((s32)a), a, 0);
    same("u32 to double", double_bits_of(tested__floatunsidf(a)), double_bits_of(a), a, 0);
}

static void integers32(u32 a, u32 b) {
    if (a) {
        same("clz", tested__clzsi2(a), __builtin_clz(a), a, 0);
        same("ctz", tested__ctzsi2(a), __builtin_ctz(a), a, 0);
    }
    same("long mul", tested__umulsidi3(a, b), (u64)a * b, a, b);
    if (b && !(a == SIGN && b == UINT32_MAX)) {
        same("div", tested__divsi3(a, b), (s32)a / (s32)b, a, b);
        same("mod", tested__modsi3(a, b), (s32)a % (s32)b, a, b);
        same("udiv", tested__udivsi3(a, b), a / b, a, b);
        same("umod", tested__umodsi3(a, b), a % b, a, b);
    }
}

static void integers64(u64 a, u64 b) {
    u64 rest;
    u32 n = b & 63;
    same_float("s64 to float", tested__floatdisf(a), (float)(s64)a, a, 0);
    same_float("u64 to float", tested__floatundisf(a), (float)a, a, 0);
    same("mul64", tested__muldi3(a, b), a * b, a, b);
    same("shl64", tested__ashldi3(a, n), a << n, a, n);
    same("shr64", tested__lshrdi3(a, n), a >> n, a, n);
    same("asr64", tested__ashrdi3(~a, n), (s64)~a >> n, a, n);
    if (a) {
        same("clz64", tested__clzdi2(a), __builtin_clzll(a), a, 0);
    }
    if (b && !(a == (u64)1 << 63 && b == UINT64_MAX)) {
        same("udiv64", tested__udivdi3(a, b), a / b, a, b);
        same("umod64", tested__umoddi3(a, b), a % b, a, b);
        same("div64", tested__divdi3(a, b), (s64)a / (s64)b, a, b);
        same("mod64", tested__moddi3(a, b), (s64)a % (s64)b, a, b);
        same("udivmod64", tested__udivmoddi4(a, b, &rest) + rest, a / b + a % b, a, b);
    }
}

int main(void) {
    for (long i = 0; i < ROUNDS; i++) {
        u32 a = any_float(), b = any_float();
        volatile float x = float_of(a), y = float_of(b);
        arithmetic(a, b, x, y);
        same_float("neg", tested__negsf2(x), -x, a, 0);
        conversions(a, x);
        integers32(a, b);
        integers64(any64(), any64());
    }
    return differences != 0;
}
