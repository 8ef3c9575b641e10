// exp(m), m from 0 to ln(2), by its series, in ARMv6-M instructions. Numbers have 27
// fractional bits. A division by a number that is not a power of 2 is approximated by shifts, and
// corrected by its remainder.

// r1 = r5 * m >> 27
.macro times_m
    lsrs r1, r5, #14; lsls r2, r5, #18; lsrs r2, #18
    mov r3, r2; muls r3, r4; lsrs r3, #14
    muls r2, r6; adds r3, r2
    mov r2, r1; muls r2, r4; adds r3, r2; lsrs r3, #13
    muls r1, r6; lsls r1, #1; adds r1, r3
.endm

// r1 = r1 // 3, for r1 up to 2**28
.macro divide_by_3
    lsrs r2, r1, #2
    lsrs r3, r1, #4; adds r2, r3; lsrs r3, r2, #4; adds r2, r3
    lsrs r3, r2, #8; adds r2, r3; lsrs r3, r2, #16; adds r2, r3
    lsls r3, r2, #1; adds r3, r2; subs r1, r3
    movs r3, #11; muls r1, r3; lsrs r1, #5; adds r1, r2
.endm

// r5 = exp(m); r5 and r7 are one, r4 the lower 14 bits of m, r6 the others. Changes r1 to r3.
.macro exp_series
    // r1 = r5 * m >> 27
    times_m
    // r5 = one + r1 // 10
    lsrs r1, #1; lsrs r2, r1, #3
    lsrs r3, r1, #4; adds r2, r3; lsrs r3, r2, #4; adds r2, r3
    lsrs r3, r2, #8; adds r2, r3; lsrs r3, r2, #16; adds r2, r3
    lsls r3, r2, #2; adds r3, r2; subs r1, r3
    movs r3, #13; muls r1, r3; lsrs r1, #6; adds r1, r2
    adds r5, r1, r7
    times_m
    // r5 = one + r1 // 9
    lsrs r2, r1, #3; subs r2, r1, r2; lsrs r3, r2, #6; adds r2, r3
    lsrs r3, r2, #12; adds r3, r2
    lsrs r2, #24; adds r2, r3; lsrs r2, #3; lsls r3, r2, #3
    adds r3, r2; subs r1, r3; adds r1, #7; lsrs r1, #4
    adds r1, r2; adds r5, r1, r7
    times_m
    // r5 = one + r1 // 8
    lsrs r1, #3; adds r5, r1, r7
    times_m
    // r5 = one + r1 // 7
    lsrs r2, r1, #1
    lsrs r3, r1, #4; adds r2, r3; lsrs r3, r2, #6; adds r2, r3
    lsrs r3, r2, #12; adds r3, r2
    lsrs r2, #24; adds r2, r3; lsrs r2, #2; lsls r3, r2, #3
    subs r3, r2; subs r1, r3; adds r1, #1; lsrs r1, #3
    adds r1, r2; adds r5, r1, r7
    times_m
    // r5 = one + r1 // 6, half of it as by 3
    lsrs r1, #1
    divide_by_3
    adds r5, r1, r7
    times_m
    // r5 = one + r1 // 5, as half of it by 10
    lsrs r2, r1, #3
    lsrs r3, r1, #4; adds r2, r3; lsrs r3, r2, #4; adds r2, r3
    lsrs r3, r2, #8; adds r2, r3; lsrs r3, r2, #16; adds r2, r3
    lsls r3, r2, #2; adds r3, r2; subs r1, r3
    movs r3, #13; muls r1, r3; lsrs r1, #6; adds r1, r2
    adds r5, r1, r7
    times_m
    // r5 = one + r1 // 4
    lsrs r1, #2; adds r5, r1, r7
    times_m
    // r5 = one + r1 // 3
    divide_by_3
    adds r5, r1, r7
    times_m
    // r5 = one + r1 // 2
    lsrs r1, #1; adds r5, r1, r7
    times_m
    adds r5, r1, r7
.endm
