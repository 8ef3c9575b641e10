// Functions of float32 by polynomials: see loops/curve. C.
//
// A product of a and t takes one instruction, mulh.
//
// Forms: rv32

#define HIGH(a, b) ((int)((long long)(a) * (b) >> 32))

#include "curve.h"

int curve32(const int *x, const int *w, int *out, const int *p)
{
    return curve(x, w, out, p);
}
