// Functions of float32 by polynomials: see loops/curve. C.
//
// 105 to 195 instructions an element on ARMv7-M, where a product of a and t takes one, smull; 185
// to 350 on ARMv6-M.
//
// Forms: thumb armv7m

#if __ARM_ARCH >= 7
static inline int high(int a, int b)
{
    int low, result;
    __asm__("smull %0, %1, %2, %3" : "=&r"(low), "=&r"(result) : "r"(a), "r"(b));
    return result;
}

#define HIGH high
#define ZEROS __builtin_clz
#endif

#include "curve.h"

int curve32(const int *x, const int *w, int *out, const int *p)
{
    return curve(x, w, out, p);
}
